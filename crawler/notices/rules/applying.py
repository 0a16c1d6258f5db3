"""Apply rules to articles: when they arrive, once more when they are enriched, and to what is there.

A rule is asked of an article's own words in the transaction that stores it, so that nobody sees what is
muted. What is known later (the page's text, its language, that it is a copy) is asked at the next tick, as
are rules that save pages or search. What a rule has hit is never asked again (`RuleHit`), so that either may
run twice.
"""

from __future__ import annotations

import logging
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet

from articles.enrichment.models import Enrichment
from articles.models import Article, Subscription
from articles.personal.following import subscriber_of
from articles.personal.selection import followed_articles, on_topics
from crawler.database.readers import reading_as
from crawler.notices.models import Rule
from crawler.notices.rules.deeds import act
from crawler.notices.rules.matching import MatchedArticle, Matcher, meets
from crawler.text.patterns import PatternAllowance

log = logging.getLogger(__name__)

AT_ONCE = 500
"""Articles that are read together."""
BODY = 50_000
"""Characters of an article's text that rules look at."""
MAX_PASSED = 20_000
"""Articles of one pass at a tick; the next goes on."""
OLD_OF_NEW_FEED = 1_000
"""Articles that a feed had when it was followed, and that rules are applied to."""
MAX_PREVIEWED, PREVIEW_DAYS = 2_000, 30
MAX_APPLIED = 100_000
"""Articles that are there, the newest, that a rule is applied to when a person wants it."""
SLACK = timedelta(minutes=1)
LATE = timedelta(days=2)
"""Time after its arrival within which an article's enrichment makes rules look at it again."""
Identity = tuple[int, uuid.UUID]
"""The feed of an article, and the key of its identity there."""
COLUMNS = ("pk", "feed_id", "title", "text", "author", "url", "categories", "language")


@dataclass(frozen=True, slots=True)
class ActingRules:
    """All rules that do something to articles: by key, by owner, by owner and feed, and for matching."""

    by_key: Mapping[int, Rule]
    by_user: Mapping[int, Sequence[int]]
    by_feed: Mapping[tuple[int, int], Sequence[int]]
    matcher: Matcher
    of_folders: dict[tuple[int, str, bool], frozenset[int]] = field(default_factory=dict)
    """Rules about no feed that are asked of the feeds in a folder, on arrival or later."""

    def everywhere(self, user: int, folder: str, *, on_arrival: bool) -> frozenset[int]:
        """Return the rules of a person about no feed that are asked of the feeds in a folder."""
        place = (user, folder, on_arrival)
        if place not in self.of_folders:
            rules = (self.by_key[key] for key in self.by_user[user])
            keys = (rule.pk for rule in rules if not rule.feed_id and _is_asked(rule, folder, on_arrival))
            self.of_folders[place] = frozenset(keys)
        return self.of_folders[place]


_latest: tuple[object, ActingRules] | None = None


def acting_rules() -> ActingRules:
    """Return the rules that are not paused. They are read again when one of them has changed."""
    global _latest  # noqa: PLW0603 - a process stores articles many times a second
    rows = Rule.objects.active().acting()
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*), max(changed) FROM {Rule._meta.db_table} WHERE deeds <> '{{}}' AND NOT paused"  # noqa: S608
        )
        stamp = cursor.fetchone()
    if _latest is None or _latest[0] != stamp:
        rules = {rule.pk: rule for rule in rows.select_related("user", "topic").order_by("pk")}
        by_user, by_feed = defaultdict(list), defaultdict(list)
        for key, rule in rules.items():
            by_user[rule.user_id].append(key)
            if rule.feed_id:
                by_feed[rule.user_id, rule.feed_id].append(key)
        matcher = Matcher({key: rule.conditions for key, rule in rules.items()})
        _latest = (stamp, ActingRules(rules, by_user, by_feed, matcher))
    return _latest[1]


def apply_on_arrival(new: Mapping[int, Sequence[Any]], now: datetime) -> int:
    """Apply rules to articles that were just stored, by the keys of their feeds. Returns the number of hits.

    The rows, with an article's columns, are those that storing has in memory; PostgreSQL is asked for the
    keys of the few that are hit. Reading all of them back was a quarter of the cost of rules. Runs in the
    caller's transaction; an error undoes its own work alone, and the next tick makes up for it.
    """
    rules = acting_rules()
    if not rules.by_key:
        return 0
    try:
        with transaction.atomic():
            hits = _hits_among(rules, new)
            if not hits:
                return 0
            keys = _primary_keys({pair for pairs in hits.values() for pair in pairs})
            stored = {rule: [keys[pair] for pair in pairs if pair in keys] for rule, pairs in hits.items()}
            return act(stored, now, just_stored=True)
    except Exception:
        log.exception("rules could not be applied to new articles")
        return 0


def _hits_among(rules: ActingRules, new: Mapping[int, Sequence[Any]]) -> dict[Rule, list[Identity]]:
    """Return feed and identity of the articles that each rule hits."""
    rules_of_feeds = _rules_of_feeds(rules, new, on_arrival=True)
    allowance, hits = PatternAllowance(), defaultdict(list)
    for feed, keys in rules_of_feeds.items():
        for row in new[feed]:
            for rule in rules.matcher.matching(_matched(row), keys, allowance):
                hits[rules.by_key[rule]].append((feed, row.identity_key))
    return hits


def _matched(row: Any) -> MatchedArticle:
    """Return the parts of an article's row that rules look at."""
    return MatchedArticle(
        row.title, row.text[:BODY], row.author, row.url, tags=row.categories, language=row.language
    )


def _primary_keys(identities: Collection[Identity]) -> dict[Identity, int]:
    """Return the primary keys of articles by their feeds and identities."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT feed_id, identity_key, id FROM {Article._meta.db_table}
            JOIN unnest(%s::bigint[], %s::uuid[]) AS hit(feed, key) ON feed_id = feed AND identity_key = key
            """,  # noqa: S608 - the table's own name
            [[feed for feed, _key in identities], [key for _feed, key in identities]],
        )
        return {(feed, key): pk for feed, key, pk in cursor.fetchall()}


def apply_at_tick(now: datetime) -> int:
    """Apply rules to articles that were enriched since the last time, and to those of feeds newly followed.

    Returns the number of hits.
    """
    rules = acting_rules()
    if not rules.by_key:
        return 0
    since = min(rule.acted for rule in rules.by_key.values()) - SLACK
    count, keys = 0, list(_enriched(since, now)[:MAX_PASSED])
    for part in (keys[start : start + AT_ONCE] for start in range(0, len(keys), AT_ONCE)):
        with transaction.atomic():
            count += _apply(rules, _articles(Article.objects.filter(pk__in=part)), now)
            count += _apply_searches(rules, part, now)
    count += _apply_to_followed(rules, since, now)
    if len(keys) < MAX_PASSED:
        Rule.objects.filter(pk__in=rules.by_key).update(acted=now)
        for rule in rules.by_key.values():
            rule.acted = now
    return count


def preview(rule: Rule, now: datetime) -> tuple[int, list[int]]:
    """Return of how many articles of the last 30 days how the rule would hit, as keys, newest first."""
    rows = _in_scope(rule).filter(published__gt=now - timedelta(days=PREVIEW_DAYS))
    keys = list(rows.order_by("-published", "-id").values_list("pk", flat=True)[:MAX_PREVIEWED])
    return len(keys), _hit_by(rule, keys)


def apply_to_present(rule: Rule, now: datetime) -> int:
    """Apply a rule to the articles that are there, the newest first. Returns the number of hits."""
    newest = _in_scope(rule).order_by("-published", "-id")
    keys = list(newest.values_list("pk", flat=True)[:MAX_APPLIED])
    count = 0
    for start in range(0, len(keys), AT_ONCE):
        hits = _hit_by(rule, keys[start : start + AT_ONCE])
        count += act({rule: hits}, now, again=True)
    return count


def _hit_by(rule: Rule, keys: Sequence[int]) -> list[int]:
    """Return those of these articles that a rule hits, in their order."""
    allowance, matches = PatternAllowance(), set()
    for start in range(0, len(keys), AT_ONCE):
        rows = Article.objects.filter(pk__in=keys[start : start + AT_ONCE])
        for key, _feed, article in _articles(rows):
            if meets(rule.conditions, article, allowance):
                matches.add(key)
    return [key for key in keys if key in matches]


def _in_scope(rule: Rule) -> QuerySet[Article]:
    """Return the articles that a rule is about, whatever its conditions."""
    subscriber = subscriber_of(rule.user)
    with reading_as(rule.user_id):
        rows: QuerySet[Article] = followed_articles(subscriber, rule.folder)
        if rule.feed_id is not None:
            rows = rows.filter(feed=rule.feed_id)
        if rule.topic is not None:
            rows = rows.filter(on_topics([rule.topic]))
        if rule.query:
            rows = rows.filter(pk__in=Article.objects.search(rule.query).values("pk"))
    return rows


def _apply(
    rules: ActingRules, articles: Iterable[tuple[int, int, MatchedArticle]], now: datetime, *,
    subscriptions: QuerySet[Subscription] | None = None,
) -> int:  # fmt: skip
    """Match articles with the rules of those who follow their feeds, and act. Returns the number of hits."""
    rows = list(articles)
    rules_of_feeds = _rules_of_feeds(
        rules, {feed for _key, feed, _article in rows}, subscriptions=subscriptions
    )
    allowance, hits = PatternAllowance(), defaultdict(list)
    for key, feed, article in rows:
        for rule in rules.matcher.matching(article, rules_of_feeds.get(feed, ()), allowance):
            hits[rules.by_key[rule]].append(key)
    return act(hits, now)


def _rules_of_feeds(
    rules: ActingRules, feeds: Collection[int], *, on_arrival: bool = False,
    subscriptions: QuerySet[Subscription] | None = None,
) -> dict[int, frozenset[int]]:  # fmt: skip
    """Return the keys of the rules that are asked of the articles of each feed."""
    rows = Subscription.objects.all() if subscriptions is None else subscriptions
    rows = rows.filter(feed__in=list(feeds), subscriber__user__in=list(rules.by_user))
    keys_of_feeds: dict[int, frozenset[int]] = {}
    for feed, user, folder in rows.values_list("feed", "subscriber__user", "folder"):
        keys = rules.everywhere(user, folder, on_arrival=on_arrival)
        about = [rules.by_key[key] for key in rules.by_feed.get((user, feed), ())]
        keys |= frozenset(rule.pk for rule in about if _is_asked(rule, folder, on_arrival))
        keys_of_feeds[feed] = keys_of_feeds[feed] | keys if feed in keys_of_feeds else keys
    return keys_of_feeds


def _is_asked(rule: Rule, folder: str, on_arrival: bool) -> bool:
    """Return whether a rule is asked of a feed in this folder; those that search have a turn of their own."""
    is_within = not rule.folder or folder == rule.folder or folder.startswith(f"{rule.folder}/")
    is_late = Rule.Deed.SAVE in rule.deeds or rule.copies  # saving locks the feed of saved pages
    return is_within and not (rule.query or rule.topic_id) and not (on_arrival and is_late)


def _apply_searches(rules: ActingRules, keys: Sequence[int], now: datetime) -> int:
    """Apply rules with a search or a topic, each in a statement of its own. Returns the number of hits."""
    hits = {}
    for rule in rules.by_key.values():
        if rule.query or rule.topic_id:
            in_scope = _in_scope(rule).filter(pk__in=keys).order_by("pk").values_list("pk", flat=True)
            hits[rule] = _hit_by(rule, list(in_scope))
    return act(hits, now)


def _apply_to_followed(rules: ActingRules, since: datetime, now: datetime) -> int:
    """Apply rules to what feeds had when people began to follow them. Returns the number of hits."""
    new_subscriptions = Subscription.objects.filter(
        created__gt=since, subscriber__user__in=list(rules.by_user)
    )
    count = 0
    for feed in new_subscriptions.order_by("feed").values_list("feed", flat=True).distinct():
        newest = Article.objects.filter(feed=feed).order_by("-id").values_list("pk", flat=True)
        keys = list(newest[:OLD_OF_NEW_FEED])
        with transaction.atomic():
            rows = _articles(Article.objects.filter(pk__in=keys))
            count += _apply(rules, rows, now, subscriptions=new_subscriptions)
    return count


def _enriched(since: datetime, now: datetime) -> QuerySet[Article, int]:
    rows = Article.objects.filter(fetched__gt=now - LATE, enrichment__state=Enrichment.State.DONE)
    rows = rows.filter(enrichment__at__gt=since, enrichment__at__lte=now)
    return rows.order_by("pk").values_list("pk", flat=True)


def _articles(rows: QuerySet[Article]) -> Iterator[tuple[int, int, MatchedArticle]]:
    """Yield the key, the feed and the parts of articles."""
    earlier = Enrichment.objects.filter(story=OuterRef("enrichment__story"), article__lt=OuterRef("pk"))
    values = rows.annotate(is_copy=Exists(earlier)).order_by("pk").values_list(*COLUMNS, "is_copy")
    for key, feed, title, text, author, url, tags, language, is_copy in values.iterator(AT_ONCE):
        yield (
            key,
            feed,
            MatchedArticle(title, text[:BODY], author, url, tags=tags, language=language, is_copy=is_copy),
        )
