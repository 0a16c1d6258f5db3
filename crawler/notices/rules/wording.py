"""Tell a rule about articles in words."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from crawler.notices.models import Rule


def rule_in_words(rule: Rule) -> str:
    """Return a rule's name, else its conditions and deeds as a sentence."""
    if rule.name:
        return rule.name
    conditions = "; ".join(_conditions(rule)) or pgettext("condition of a rule", "any article")
    place = _place(rule)
    about = (
        _("%(conditions)s, in %(place)s") % {"conditions": conditions, "place": place}
        if place
        else conditions
    )
    return _("%(conditions)s: %(deeds)s") % {"conditions": about, "deeds": deeds_in_words(rule)}


def deeds_in_words(rule: Rule) -> str:
    """Return what a rule does, such as "mark it read, label it Work"."""
    names = dict(Rule.Deed.choices)
    words = []
    for deed in rule.deeds:
        if deed == Rule.Deed.LABEL:
            labels = ", ".join(rule.labels)
            words.append(pgettext("what a rule does", "label it %(labels)s") % {"labels": labels})
        else:
            words.append(str(names.get(deed, deed)))
    return ", ".join(words)


def _place(rule: Rule) -> str:
    if rule.feed is not None:
        return str(rule.feed)
    return rule.topic.value if rule.topic is not None else rule.folder


def _conditions(rule: Rule) -> Iterator[str]:
    """Yield each condition in a few words."""
    part = dict(Rule.LookedIn.choices)[rule.looked_in] if rule.looked_in else ""
    where = _(" in %(part)s") % {"part": part} if part else ""
    for value, words in (
        (rule.words, _("with “%(value)s”%(where)s")),
        (rule.without_words, _("without “%(value)s”%(where)s")),
        (rule.expression, _("that /%(value)s/ finds%(where)s")),
        (rule.without_expression, _("that /%(value)s/ does not find%(where)s")),
        (rule.author, _("by %(value)s")),
        (rule.tag, _("with the tag %(value)s")),
        (rule.language, _("in the language %(value)s")),
        (rule.query, _("that the search “%(value)s” finds")),
    ):
        if value:
            yield words % {"value": value, "where": where}
    if rule.longer_than is not None:
        longer = ngettext("longer than %(count)d word", "longer than %(count)d words", rule.longer_than)
        yield longer % {"count": rule.longer_than}
    if rule.shorter_than is not None:
        shorter = ngettext("shorter than %(count)d word", "shorter than %(count)d words", rule.shorter_than)
        yield shorter % {"count": rule.shorter_than}
    if rule.copies:
        yield _("that another feed has told before")
