"""Do what rules say to articles, and undo it.

Everything that one application of rules sets has its time, to the microsecond: that is how it is undone, and
no mark that a person has made has it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from django.db import connection, transaction

from articles.enrichment.models import Enrichment
from articles.models import Article, Mark, Subscriber
from articles.personal.following import renew_outputs, subscriber_of
from articles.personal.labels import MAX_NAMES, add_labels, labels_of, remove_labels
from articles.personal.marking import mark, mark_read
from articles.saved.models import SavedPage
from articles.saved.saving import remove_saved, save_article
from crawler.fetching.http.urls import BadUrl
from crawler.notices.models import Rule, RuleHit
from crawler.web.limits import LimitReached

Deed = Rule.Deed
MAX_UNDONE = 200_000
COLUMNS: dict[str, frozenset[str]] = {
    "read": frozenset((Deed.READ, Deed.MUTE)),
    "starred": frozenset((Deed.STAR,)),
    "muted": frozenset((Deed.MUTE,)),
    "raised": frozenset((Deed.UP,)),
}
"""Columns of marks, and the deeds that set them."""


@transaction.atomic(savepoint=False)
def act(
    hits: Mapping[Rule, Sequence[int]], at: datetime, *, again: bool = False, just_stored: bool = False
) -> int:
    """Do the deeds of rules to those of their articles (primary keys) that they have not hit before.

    With `again` also to those that were undone. Returns the number of hits. No rule hits an article twice, so
    that it does not matter how often it is asked. All rules of one person take a statement for each deed.
    Articles that were just stored have no copies yet: these become read when they are found
    (`mark_stories_read`). Looking for them was a fifth of the cost of rules.
    """
    new = _new_hits(hits, at, again=again)
    rules = {rule.pk: rule for rule in hits}
    by_owner: dict[int, dict[Rule, list[int]]] = defaultdict(dict)
    for key, articles in new.items():
        by_owner[rules[key].user_id][rules[key]] = articles
    for _owner, own in sorted(by_owner.items()):
        _act_for(subscriber_of(next(iter(own)).user), own, at, just_stored=just_stored)
    return sum(map(len, new.values()))


def _act_for(
    subscriber: Subscriber, hits: Mapping[Rule, Sequence[int]], at: datetime, *, just_stored: bool
) -> None:
    for column, deeds in COLUMNS.items():
        marked = {key for rule, keys in hits.items() if deeds & set(rule.deeds) for key in keys}
        if marked and column == "read" and not just_stored:
            mark_read(subscriber, sorted(marked), at)
        elif marked:
            mark(subscriber, sorted(marked), column, at)
    for rule, articles in hits.items():
        if Deed.LABEL in rule.deeds:
            _label(rule, subscriber, articles)
        if Deed.SAVE in rule.deeds:
            _save(subscriber, articles, at)


@transaction.atomic
def undo(rule: Rule, now: datetime, at: datetime | None = None) -> int:
    """Undo all that a rule did, or what it did at one time. Returns the number of articles.

    What a person has changed since stays as they left it, and what another rule says as well stays so.
    """
    hits = RuleHit.objects.filter(rule=rule, undone__isnull=True)
    if at is not None:
        hits = hits.filter(at=at)
    rows = list(hits.order_by("article_id").values_list("article_id", "at", "labels")[:MAX_UNDONE])
    if not rows:
        return 0
    subscriber = subscriber_of(rule.user)
    articles, times = {row[0] for row in rows}, {row[1] for row in rows}
    for column, deeds in COLUMNS.items():
        if deeds & set(rule.deeds):
            _clear_marks(subscriber, column, articles - _also_hit(rule, articles, deeds), times)
    by_labels: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for article, _moment, labels in rows:
        by_labels[tuple(labels)].append(article)
    for names, labelled in by_labels.items():
        remove_labels(subscriber, labelled, names)
    _forget_saved(subscriber, times)
    hits.update(undone=now)
    renew_outputs(subscriber)
    return len(rows)


def _new_hits(hits: Mapping[Rule, Sequence[int]], at: datetime, *, again: bool) -> dict[int, list[int]]:
    """Note that rules hit these articles. Returns those that each had not hit, by the rule's key."""
    pairs = sorted({(rule.pk, article) for rule, articles in hits.items() for article in articles})
    if not pairs:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO {RuleHit._meta.db_table} AS hit (rule_id, article_id, at, labels)
            SELECT given.rule, article.id, %(at)s, '{{}}'
            FROM unnest(%(rules)s::bigint[], %(articles)s::bigint[]) AS given(rule, article)
            JOIN {Article._meta.db_table} AS article ON article.id = given.article ORDER BY 1, 2
            ON CONFLICT (rule_id, article_id) DO UPDATE SET at = EXCLUDED.at, labels = '{{}}', undone = NULL
            WHERE %(again)s AND hit.undone IS NOT NULL
            RETURNING rule_id, article_id
            """,  # noqa: S608 - the tables' own names
            {
                "rules": [rule for rule, _article in pairs],
                "articles": [article for _rule, article in pairs],
                "at": at,
                "again": again,
            },
        )
        new: dict[int, list[int]] = defaultdict(list)
        for key, article in cursor.fetchall():
            new[key].append(article)
    return new


def _also_hit(rule: Rule, articles: Collection[int], deeds: Collection[str]) -> set[int]:
    """Return those of these articles to which another rule of the same person does the same."""
    others = RuleHit.objects.filter(
        rule__user=rule.user_id, rule__deeds__overlap=list(deeds), article__in=articles, undone__isnull=True
    ).exclude(rule=rule)
    return set(others.values_list("article_id", flat=True))


def _label(rule: Rule, subscriber: Subscriber, articles: Sequence[int]) -> None:
    """Give the articles the rule's labels, as far as there is room, and note which they did not have."""
    known = set(labels_of(subscriber))
    labels = sorted(set(rule.labels))
    room = max(MAX_NAMES - len(known), 0)
    allowed = [label for label in labels if label in known]
    allowed += [label for label in labels if label not in known][:room]
    had = dict(
        Mark.objects.filter(subscriber=subscriber, article__in=articles).values_list("article", "labels")
    )
    new: dict[tuple[str, ...], list[int]] = {}
    for article in articles:
        new.setdefault(tuple(sorted(set(allowed) - set(had.get(article, ())))), []).append(article)
    add_labels(subscriber, articles, allowed)
    for names, some in new.items():
        RuleHit.objects.filter(rule=rule, article__in=some).update(labels=list(names))


def _save(subscriber: Subscriber, articles: Sequence[int], at: datetime) -> None:
    """Keep copies of the articles, as many as the person may keep."""
    rows = Article.objects.filter(pk__in=articles).select_related("feed", "page").defer("search")
    for article in rows.order_by("pk"):
        with suppress(BadUrl, LimitReached):
            save_article(subscriber, article, at, SavedPage.Way.RULE)


def _clear_marks(
    subscriber: Subscriber, column: str, articles: Collection[int], times: Collection[datetime]
) -> None:
    """Clear marks of these times on articles, and where they are read on their copies."""
    stories = Enrichment.objects.filter(article__in=articles, story__isnull=False).values("story")
    copies = Enrichment.objects.filter(story__in=stories).values_list("article_id", flat=True)
    keys = {*articles, *copies} if column == "read" else articles
    marks = Mark.objects.filter(**{f"{column}__in": sorted(times)}, subscriber=subscriber, article__in=keys)
    locked = list(marks.order_by("article_id").select_for_update().values_list("pk", flat=True))
    Mark.objects.filter(pk__in=locked).update(**{column: None})


def _forget_saved(subscriber: Subscriber, times: Collection[datetime]) -> None:
    """Remove the copies that a rule made, but those that the person has written on."""
    copies = subscriber.saved_pages.filter(
        way=SavedPage.Way.RULE, saved__in=sorted(times), note="", article__highlights=None
    )
    remove_saved(subscriber, list(copies.values_list("article_id", flat=True)))
