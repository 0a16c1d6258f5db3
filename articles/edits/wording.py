"""Edits in words, and two versions of a text word by word."""

from __future__ import annotations

from dataclasses import dataclass

from cydifflib import SequenceMatcher
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from articles.edits.models import ArticleVersion
from crawler.text.word_differences import word_difference
from crawler.web.templatetags.freshet import amount

MAX_WORK = 2_000_000
"""Old lines times new lines; beyond, the texts are shown one after the other."""


@dataclass(frozen=True, slots=True)
class MarkedWords:
    """Some words of a line: `mark` is `del`, `ins`, or "" for words that stayed."""

    text: str
    mark: str = ""


def edit_in_words(version: ArticleVersion) -> str:
    """Return what was edited: "the headline, 2 words; a sentence added"."""
    if version.number == 1:
        return _("as first published")
    if "gone" in version.kinds:
        return _("taken back by its publisher")
    parts = []
    if "headline" in version.kinds:
        parts.append(_("the headline"))
    if version.change:
        message = (
            _("a number: %(old)s became %(new)s")
            if "number" in version.kinds
            else _("%(old)s became %(new)s")
        )
        parts.append(message % {"old": version.change[0], "new": version.change[1]})
    elif version.words:
        parts.append(
            ngettext("%(count)s word", "%(count)s words", version.words) % {"count": amount(version.words)}
        )
    if version.added:
        message = ngettext("a sentence added", "%(count)s sentences added", version.added)
        parts.append(message % {"count": amount(version.added)})
    if version.removed:
        message = ngettext("a sentence taken away", "%(count)s sentences taken away", version.removed)
        parts.append(message % {"count": amount(version.removed)})
    return ", ".join(parts) or _("its text")


def times_edited(count: int) -> str:
    """Return "changed twice since it was published", "" for none."""
    if not count:
        return ""
    if count == 1:
        return _("changed once since it was published")
    if count == 2:
        return _("changed twice since it was published")
    return ngettext(
        "changed %(count)s time since it was published",
        "changed %(count)s times since it was published",
        count,
    ) % {"count": amount(count)}


def marked_lines(old: str, new: str) -> list[list[MarkedWords]]:
    """Return the paragraphs of two texts as one, word by word: what went, what came, and what stayed."""
    before, after = old.split("\n") if old else [], new.split("\n") if new else []
    if len(before) * len(after) > MAX_WORK:
        return [[MarkedWords(line, "del")] for line in before] + [
            [MarkedWords(line, "ins")] for line in after
        ]
    lines: list[list[MarkedWords]] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += [[MarkedWords(line)] for line in before[a:b]]
            continue
        pairs = min(b - a, d - c)
        lines += [marked_words(before[a + i], after[c + i]) for i in range(pairs)]
        lines += [[MarkedWords(line, "del")] for line in before[a + pairs : b]]
        lines += [[MarkedWords(line, "ins")] for line in after[c + pairs : d]]
    return [line for line in lines if any(words.text.strip() for words in line)]


def marked_words(old: str, new: str) -> list[MarkedWords]:
    """Return two lines as one."""
    removed, added = word_difference(old, new)
    words: list[MarkedWords] = []
    remaining = list(added)
    for piece in removed:
        if piece.differs:
            words.append(MarkedWords(piece.text, "del"))
            continue
        while remaining and (remaining[0].differs or remaining[0].text != piece.text):
            new_piece = remaining.pop(0)
            words.append(MarkedWords(new_piece.text, "ins" if new_piece.differs else ""))
        words.append(MarkedWords(piece.text))
        if remaining:
            remaining.pop(0)
    words += [MarkedWords(piece.text, "ins" if piece.differs else "") for piece in remaining]
    return words
