"""Make rules of what other programs and archives bring, and write them into archives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

import msgspec
from django.contrib.auth.models import User
from django.db import transaction

from articles.models import Subscriber
from articles.moving.taking import register_filters
from articles.moving.values import ForeignFilter
from articles.personal.archive import ArchivePart, register_part
from articles.personal.following import folder_named
from articles.personal.labels import MAX_LABELS, label_named
from crawler.notices.models import ARTICLE_CONDITIONS, Rule
from crawler.notices.rules.foreign import ForeignRules, rules_of
from crawler.notices.rules.matching import ArticleConditions, check_expression
from crawler.text.characters import storable
from crawler.text.patterns import LONGEST, PatternError
from feeds.models import Feed

MAX_RULES = 1_000
"""Rules of one person."""
_LONGEST = {
    "words": 300, "without_words": 300, "author": 200, "tag": 200, "language": 20,
    "expression": LONGEST, "without_expression": LONGEST, "looked_in": 8,
}  # fmt: skip
_MAX_WORDS = 2**31 - 1


class RuleRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A rule about articles in `rules.json`: feeds by address, topics by kind and value."""

    deeds: list[str]
    name: str = ""
    feed_url: str = ""
    folder: str = ""
    topic: tuple[str, str] | None = None
    query: str = ""
    words: str = ""
    without_words: str = ""
    looked_in: str = ""
    expression: str = ""
    without_expression: str = ""
    author: str = ""
    tag: str = ""
    language: str = ""
    longer_than: int | None = None
    shorter_than: int | None = None
    copies: bool = False
    labels: list[str] = []
    paused: bool = False


def carried_rules(subscriber: Subscriber) -> Iterator[RuleRow]:
    """Yield a subscriber's rules about articles. Where messages go stays behind."""
    rows = Rule.objects.acting().filter(user=subscriber.user_id).select_related("feed", "topic")
    for rule in rows.order_by("pk"):
        yield RuleRow(
            deeds=rule.deeds,
            name=rule.name,
            feed_url=rule.feed.url if rule.feed else "",
            folder=rule.folder,
            topic=(rule.topic.kind, rule.topic.value) if rule.topic else None,
            query=rule.query,
            labels=rule.labels,
            paused=rule.paused,
            **{name: getattr(rule, name) for name in ("words", "without_words", *ARTICLE_CONDITIONS)},
        )


@transaction.atomic
def take_rules(
    subscriber: Subscriber, rows: Iterable[RuleRow], feeds: Mapping[str, int], now: datetime
) -> int:
    """Make the rules of an archive that are not here yet. Returns how many are new.

    Those about a feed or a topic that is not here, and those whose expression is none, are left out.
    """
    topics = {(topic.kind, topic.value): topic for topic in subscriber.topics.all()}
    count = 0
    for row in rows:
        if (row.feed_url and row.feed_url not in feeds) or (row.topic and row.topic not in topics):
            continue
        conditions = ArticleConditions(
            **{name: getattr(row, name) for name in ("words", "without_words", *ARTICLE_CONDITIONS)}
        )
        rule = Rule(
            user_id=subscriber.user_id, name=row.name[:200], feed_id=feeds.get(row.feed_url),
            folder=folder_named(row.folder), topic=topics.get(row.topic) if row.topic else None,
            query=storable(row.query, 300), paused=row.paused,
        )  # fmt: skip
        count += _make(rule, conditions, row.deeds, row.labels, now)
    return count


@transaction.atomic
def take_foreign(
    user: User, foreign: ForeignRules, feed: int | None = None, folder: str = "", now: datetime | None = None
) -> int:
    """Make the rules that another program's filters became, for a feed, a folder or all. Returns how many."""
    if feed is not None and not Feed.objects.filter(pk=feed).exists():
        return 0
    count = 0
    for taken_rule in foreign.rules:
        rule = Rule(user=user, feed_id=feed, folder=folder_named(folder))
        count += _make(
            rule, taken_rule.conditions, taken_rule.deeds, taken_rule.labels, now or datetime.now(UTC)
        )
    return count


def _make(
    rule: Rule, conditions: ArticleConditions, deeds: Iterable[str], labels: Iterable[str], now: datetime
) -> bool:
    """Store a rule unless the same one is here, there are too many, or it is none. Returns whether it is."""
    try:
        check_expression(conditions.expression)
        check_expression(conditions.without_expression)
    except PatternError:
        return False
    for name in ("words", "without_words", *ARTICLE_CONDITIONS):
        value = getattr(conditions, name)
        if isinstance(value, str):
            value = storable(value, _LONGEST[name]) if value else ""
        elif name in {"longer_than", "shorter_than"} and value is not None:
            value = min(max(value, 0), _MAX_WORDS)
        setattr(rule, name, value)
    rule.labels = sorted({name for label in labels if (name := label_named(label))})[:MAX_LABELS]
    chosen = {deed for deed in deeds if deed != Rule.Deed.LABEL or rule.labels}
    rule.deeds = [deed for deed in Rule.Deed.values if deed in chosen]
    if not rule.deeds or rule.looked_in not in Rule.LookedIn.values or _is_here(rule):
        return False
    if Rule.objects.filter(user=rule.user_id).count() >= MAX_RULES:
        return False
    rule.when, rule.looked, rule.acted = Rule.When.ARTICLE, now, now
    rule.save()
    return True


def _is_here(rule: Rule) -> bool:
    names = (
        "user_id", "feed_id", "topic_id", "folder", "query", "words", "without_words", "deeds", "labels",
        *ARTICLE_CONDITIONS,
    )  # fmt: skip
    values = {name: getattr(rule, name) for name in names}
    equal = {name: value for name, value in values.items() if value is not None}
    absent = {f"{name}__isnull": True for name, value in values.items() if value is None}
    return Rule.objects.filter(**equal, **absent).exists()


def take_filter(
    subscriber: Subscriber, foreign: ForeignFilter, feed: int | None, is_rehearsal: bool
) -> tuple[int, list[str]]:
    """Make the rules of a foreign filter, or count them. Returns how many, and what has no equal."""
    rules = rules_of(foreign.program, foreign.text)
    if is_rehearsal:
        return len(rules.rules), rules.left_out
    return take_foreign(subscriber.user, rules, feed, foreign.folder), rules.left_out


register_part("rules", ArchivePart(RuleRow, carried_rules, take_rules))
register_filters(take_filter)
