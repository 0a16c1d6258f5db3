"""The search for what rules tell of: articles, stories, changed pages, feeds, crawls, the disk."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Left
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from articles.edits.listing import edits, edits_with_articles
from articles.edits.wording import edit_in_words
from articles.enrichment.models import Enrichment
from articles.listing import lean
from articles.models import Subscription
from articles.personal.following import subscriber_of, within
from articles.personal.selection import followed_articles, on_topics
from articles.saved.highlighting import highlights_of
from crawler.database.readers import reading_as
from crawler.frontier.models import Crawl
from crawler.notices.models import Notice, Rule
from crawler.notices.rules.matching import ArticleConditions, MatchedArticle, meets
from crawler.notices.wording import has_any
from crawler.text.patterns import PatternAllowance
from crawler.web.roles import OPERATOR, is_at_least
from crawler.web.sentences import translated
from crawler.web.templatetags.freshet import size
from feeds.models import Feed
from feeds.phrases import failure_words
from recrawl.changes.page_values import values_of, with_values
from recrawl.comparing.values import crosses
from recrawl.models import Change

if TYPE_CHECKING:
    from articles.models import Article, ArticleQuerySet

OVERLAP = timedelta(minutes=10)
"""Rows of other transactions may appear late; what was noticed already is known by its key."""
MAX_NOTICED = 200
"""Happenings of one rule at one look; the rest are found at the next."""
MAX_LOOKED_AT = 2000
"""Rows of one rule at one look, known ones included."""
MAX_LOOK_BACK = timedelta(days=2)
FAILS_FOR = timedelta(hours=6)
"""Time after which a feed counts as one that cannot be read."""
STATEMENT_SECONDS = 5
LITTLE_ROOM = 2e9
"""Bytes below which the disk is nearly full."""
EXCERPT = 280
BODY = 10_000
"""Characters of an article in which a rule's words are looked for."""


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that a rule may tell of; `key` names it once and for all."""

    key: str
    at: datetime
    title: str
    text: str = ""
    url: str = ""
    path: str = ""
    source: str = ""
    image: str = ""
    story: int | None = None
    body: str = ""
    """More text in which a rule's words may be; no message has it."""


def look(rule: Rule, now: datetime) -> int:
    """Note what has happened since the rule last looked. Returns the number of new notices.

    Running twice notes nothing twice. A query that takes too long makes the rule look again later.
    """
    since = max(rule.looked - OVERLAP, now - MAX_LOOK_BACK)
    with reading_as(rule.user_id), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = %s", [f"{STATEMENT_SECONDS}s"])
        wanted_happenings = [
            happening for happening in _happenings(rule, since, now) if _wanted(rule, happening)
        ]
        new = _unknown(rule, wanted_happenings)
        _keep(rule, new[:MAX_NOTICED])
        looked_until = now if len(new) <= MAX_NOTICED else max(rule.looked, new[MAX_NOTICED - 1].at)
        Rule.objects.filter(pk=rule.pk).update(looked=looked_until)
    return len(new[:MAX_NOTICED])


def preview(rule: Rule, now: datetime, limit: int = 3) -> list[Happening]:
    """Return the newest of what the rule would have told of in the last 30 days."""
    happenings = [
        happening
        for happening in _happenings(rule, now - timedelta(days=30), now)
        if _wanted(rule, happening)
    ]
    return sorted(happenings, key=lambda happening: happening.at, reverse=True)[:limit]


def _unknown(rule: Rule, happenings: list[Happening]) -> list[Happening]:
    """Return the happenings that the rule has not noticed yet, the earliest first."""
    keys = [happening.key for happening in happenings]
    known_keys = set(rule.notices.filter(key__in=keys).values_list("key", flat=True))
    unknown = [happening for happening in happenings if happening.key not in known_keys]
    return sorted(unknown, key=lambda happening: happening.at)


def _keep(rule: Rule, happenings: list[Happening]) -> None:
    """Store a notice of each happening; held back where its story was told already."""
    stories = {happening.story for happening in happenings if happening.story}
    told_stories = set(rule.notices.filter(story__in=stories, held="").values_list("story", flat=True))
    rows = []
    for happening in happenings:
        is_told = rule.once_a_story and happening.story is not None and happening.story in told_stories
        rows.append(
            Notice(
                rule=rule,
                key=happening.key,
                at=happening.at,
                title=happening.title[:300],
                text=happening.text,
                url=happening.url,
                path=happening.path,
                source=happening.source[:300],
                image=happening.image,
                story=happening.story,
                held=Notice.Held.STORY if is_told else Notice.Held.NOT,
            )
        )
        if happening.story is not None:
            told_stories.add(happening.story)
    Notice.objects.bulk_create(rows, ignore_conflicts=True)


def _wanted(rule: Rule, happening: Happening) -> bool:
    text = f"{happening.title}\n{happening.text}\n{happening.source}\n{happening.body}"
    if rule.words.strip() and not has_any(text, rule.words):
        return False
    return not (rule.without_words.strip() and has_any(text, rule.without_words))


def _happenings(rule: Rule, since: datetime, until: datetime) -> Iterator[Happening]:
    if rule.when in Rule.OPERATORS and not is_at_least(rule.user, OPERATOR):
        return
    yield from _SOURCES[rule.when](rule, since, until)


def _articles_of(rule: Rule) -> ArticleQuerySet:
    from articles.models import Article  # noqa: PLC0415 - a name for types above

    if rule.query:
        articles = Article.objects.search(rule.query)
    elif rule.feed_id is not None:
        articles = Article.objects.all()
    elif rule.topic is not None:
        articles = Article.objects.filter(on_topics([rule.topic]))
    else:
        articles = followed_articles(subscriber_of(rule.user), rule.folder)
    return articles.filter(feed=rule.feed_id) if rule.feed_id is not None else articles


def _articles(rule: Rule, since: datetime, until: datetime) -> Iterator[Happening]:
    """Yield articles that came, published since the rule was made: a new feed's old ones are no news."""
    rows = _articles_of(rule).filter(fetched__gt=since, fetched__lte=until, published__gt=rule.created)
    newest = _with_body(rule, lean(rows.order_by("fetched", "id")))[:MAX_LOOKED_AT]
    allowance, conditions = PatternAllowance(), _of_articles_alone(rule)
    for article in newest.prefetch_related("enrichment"):
        if conditions.is_empty or meets(conditions, _parts_of(article), allowance):
            yield _of_article(article)


def _of_articles_alone(rule: Rule) -> ArticleConditions:
    """Return the conditions of a rule without what `_wanted` asks: words that may stand anywhere."""
    conditions = rule.conditions
    return conditions if conditions.looked_in else replace(conditions, words="", without_words="")


def _parts_of(article: Article) -> MatchedArticle:
    enrichment = getattr(article, "enrichment", None)
    story = enrichment.story_id if enrichment else None
    is_copy = story is not None and Enrichment.objects.filter(story=story, article__lt=article.pk).exists()
    return MatchedArticle(
        article.title, getattr(article, "body", ""), article.author, article.url,
        tags=article.categories, language=article.language, is_copy=is_copy,
    )  # fmt: skip


def _with_body(rule: Rule, articles: QuerySet[Article]) -> QuerySet[Article]:
    """Load the articles' text, too, where a rule looks into it: its words may stand anywhere in it."""
    looks = rule.words or rule.without_words or not _of_articles_alone(rule).is_empty
    return articles.annotate(body=Left("text", BODY)) if looks else articles


def _of_article(article: Article) -> Happening:
    enrichment = getattr(article, "enrichment", None)
    text = " ".join(str(getattr(article, "excerpt", "")).split())[:EXCERPT]
    return Happening(
        key=f"article:{article.pk}",
        at=article.fetched,
        title=article.title.strip() or text[:120] or _("Untitled"),
        text=text,
        url=article.url,
        path=reverse("read-article", args=[article.pk]),
        source=str(article.feed),
        image=article.image,
        story=enrichment.story_id if enrichment else None,
        body=getattr(article, "body", ""),
    )


def _stories(rule: Rule, since: datetime, until: datetime) -> Iterator[Happening]:
    """Yield stories with an article that came in this time, once enough feeds tell them."""
    articles = _articles_of(rule).filter(
        fetched__gt=since, fetched__lte=until, enrichment__story__isnull=False
    )
    stories = list(articles.order_by().values_list("enrichment__story", flat=True).distinct()[:MAX_LOOKED_AT])
    from articles.models import Article  # noqa: PLC0415 - a name for types above

    members = Article.objects.filter(
        enrichment__story__in=stories, published__gt=rule.created - MAX_LOOK_BACK
    )
    counts = members.order_by().values("enrichment__story").annotate(feeds=Count("feed", distinct=True))
    enough = {row["enrichment__story"]: row["feeds"] for row in counts if row["feeds"] >= rule.feeds_at_least}
    firsts = _with_body(rule, lean(members.filter(enrichment__story__in=enough)))
    firsts = firsts.order_by("enrichment__story", "published")
    for article in firsts.distinct("enrichment__story").prefetch_related("enrichment"):
        happening = _of_article(article)
        number = enough[happening.story] if happening.story else 0
        message = ngettext("%(count)d feed tells it", "%(count)d feeds tell it", number) % {"count": number}
        yield Happening(
            f"story:{happening.story}",
            until,
            happening.title,
            f"{message}. {happening.text}",
            happening.url,
            happening.path,
            happening.source,
            happening.image,
            happening.story,
            happening.body,
        )


def _edits(rule: Rule, since: datetime, until: datetime) -> Iterator[Happening]:
    """Yield edits of articles after their publication."""
    after = max(since, rule.created)
    rows = edits_with_articles(edits()).filter(seen__gt=after, seen__lte=until)
    if rule.query or rule.feed_id is not None or rule.topic is not None or rule.folder:
        rows = rows.filter(article__in=_articles_of(rule).order_by().values("pk"))
    else:
        rows = rows.filter(article__feed__in=subscriber_of(rule.user).subscriptions.values("feed"))
    for version in rows.order_by("seen", "id")[:MAX_LOOKED_AT]:
        yield Happening(
            key=f"edit:{version.article_id}:{version.number}",
            at=version.seen,
            title=version.title or str(version.article),
            text=edit_in_words(version),
            url=version.article.url,
            path=f"{reverse('versions', args=[version.article_id])}?b={version.number}",
            source=str(version.article.feed),
        )


def _marks(rule: Rule, since: datetime, until: datetime) -> Iterator[Happening]:
    """Yield the highlights that the person has made, which a place such as Readwise gathers."""
    rows = highlights_of(subscriber_of(rule.user)).filter(
        created__gt=max(since, rule.created), created__lte=until
    )
    if rule.query or rule.feed_id is not None or rule.topic is not None or rule.folder:
        rows = rows.filter(article__in=_articles_of(rule).order_by().values("pk"))
    for row in rows.order_by("created", "id")[:MAX_LOOKED_AT]:
        yield Happening(
            key=f"highlight:{row.pk}",
            at=row.created,
            title=str(row.article),
            text=f"{row.quote}\n\n{row.note}".strip(),
            url=row.article.url,
            path=f"{reverse('read-article', args=[row.article_id])}#h{row.pk}",
            source=row.article.author or str(row.article.feed),
        )


def _changes(rule: Rule, since: datetime, until: datetime) -> Iterator[Happening]:
    """Yield changes of watched pages with enough lines, whose value begins to meet the rule's condition."""
    after = max(since, rule.created)
    rows = Change.objects.counting().filter(at__gt=after, at__lte=until)
    if rule.page_id is not None:
        rows = rows.filter(page=rule.page_id)
    elif rule.site_id is not None:
        rows = rows.filter(site=rule.site_id)
    rows = rows.select_related("site", "page").defer("difference").order_by("at")
    for change in (with_values(rows) if rule.condition else rows)[:MAX_LOOKED_AT]:
        if rule.condition and not crosses(rule.condition, rule.number, *values_of(change)):
            continue
        if change.kind == Change.Kind.EDITED and change.added + change.removed < rule.lines_at_least:
            continue
        lines = ngettext(
            "%(added)d line came, %(removed)d went", "%(added)d lines came, %(removed)d went", change.added
        ) % {"added": change.added, "removed": change.removed}
        parts = [change.get_kind_display(), lines if change.added or change.removed else "", change.summary]
        yield Happening(
            key=f"change:{change.pk}",
            at=change.at,
            title=change.title or change.page.url,
            text=". ".join(str(part) for part in parts if part)[:EXCERPT],
            url=change.page.url,
            path=change.get_absolute_url(),
            source=str(change.site),
        )


def _feeds(rule: Rule, since: datetime, until: datetime) -> Iterator[Happening]:
    """Yield feeds that cannot be read for hours or have ended, and those of them that can be read again."""
    if rule.feed_id is not None:
        feeds = Feed.objects.filter(pk=rule.feed_id)
    else:
        rows = Subscription.objects.filter(within(rule.folder), subscriber__user=rule.user_id)
        feeds = Feed.objects.filter(pk__in=rows.values("feed"), removed__isnull=True)
    failing = Q(failing_since__lte=until - FAILS_FOR, failure_streak__gt=1) | Q(status=Feed.Status.GONE)
    for feed in feeds.filter(failing).only(
        "title", "url", "failure", "failing_since", "status", "last_attempt"
    ):
        begun = feed.failing_since or feed.last_attempt or until
        message = (
            failure_words(feed.failure, feed.failing_since, until)
            if feed.failure
            else _("Ended by its publisher")
        )
        yield Happening(
            f"feed:{feed.pk}:fails:{begun:%Y%m%d%H%M}",
            begun,
            _("%(feed)s cannot be read") % {"feed": feed},
            f"{message}.",
            feed.url,
            feed.get_absolute_url(),
            str(feed),
        )
    yield from _recovered(rule, feeds, until)


def _recovered(rule: Rule, feeds: QuerySet[Feed], until: datetime) -> Iterator[Happening]:
    keys = rule.notices.filter(
        key__startswith="feed:", key__contains=":fails:", at__gt=until - timedelta(days=90)
    )
    last = {int(key.split(":")[1]): key for key in keys.order_by("id").values_list("key", flat=True)}
    well = feeds.filter(pk__in=last, failure_streak=0, status=Feed.Status.ACTIVE)
    for feed in well.only("title", "url", "last_success"):
        yield Happening(
            last[feed.pk].replace(":fails:", ":reads:"),
            feed.last_success or until,
            _("%(feed)s can be read again") % {"feed": feed},
            "",
            feed.url,
            feed.get_absolute_url(),
            str(feed),
        )


def _crawls(rule: Rule, since: datetime, until: datetime) -> Iterator[Happening]:
    ended = Crawl.objects.filter(finished__gt=max(since, rule.created), finished__lte=until)
    for crawl in ended.order_by("finished")[:MAX_LOOKED_AT]:
        yield Happening(
            key=f"crawl:{crawl.pk}",
            at=crawl.finished or until,
            title=_("Crawl %(number)d is %(state)s")
            % {"number": crawl.pk, "state": crawl.get_state_display()},
            text=translated(crawl.reason),
            path=crawl.get_absolute_url(),
            source=_("Crawls"),
        )


def _disk(rule: Rule, since: datetime, until: datetime) -> Iterator[Happening]:
    free = shutil.disk_usage(settings.DATA_DIR).free
    if free < LITTLE_ROOM:
        message = _("%(free)s are free on the disk of Freshet's data. Make room, or let Freshet keep less.")
        yield Happening(
            f"disk:{until:%Y%m%d}",
            until,
            _("The disk is nearly full"),
            message % {"free": size(free)},
            path=reverse("overview"),
            source="Freshet",
        )


_SOURCES: dict[str, Callable[[Rule, datetime, datetime], Iterator[Happening]]] = {
    Rule.When.ARTICLE: _articles,
    Rule.When.STORY: _stories,
    Rule.When.EDIT: _edits,
    Rule.When.MARK: _marks,
    Rule.When.PAGE: _changes,
    Rule.When.FEED: _feeds,
    Rule.When.CRAWL: _crawls,
    Rule.When.DISK: _disk,
}
