"""The lists of the reader: which articles, in which order, with what each row shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import cache, lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.db.models import Count, F, FilteredRelation, Q
from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.dateformat import format as format_date
from django.utils.dates import WEEKDAYS
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from articles.enrichment.models import Enrichment
from articles.interest.feedback import given
from articles.interest.log import hidden_articles
from articles.interest.scoring import ranked, reasons
from articles.listing import lean
from articles.models import Article, ArticleQuerySet, Subscriber
from articles.personal.following import folder_named
from articles.personal.labels import label_named, labelled
from articles.personal.marking import marked_starred, unread_by
from articles.personal.selection import RANKED, followed_articles, once_a_story
from articles.saved.models import Highlight, SavedPage
from articles.saved.wording import saved_in_words
from crawler.reading.sources.kinds import SAVED

PAGE_ARTICLES = 24
"""Two screens; a list of 30 was 66 kB of HTML before compression (`benchmarks.pages`, 20 feeds)."""
# OFFSET reads all rows before it; nobody pages through 24,000 articles.
LAST_PAGE = 1000
SHOWS = ("unread", "all", "starred", "saved")
KEPT = ("starred", "saved")
"""Lists of what a person keeps, which are not there to be worked through."""
ONLY = ("unread", "notes", *Highlight.Color.values)
"""What of the saved pages is shown: unread ones, those with notes, or with highlights of one colour."""
ORDERS = {
    "new": gettext_lazy("Newest first"),
    "old": gettext_lazy("Oldest first"),
    "interest": gettext_lazy("What interests you first"),
}


@dataclass(frozen=True, slots=True)
class ReadingList:
    """A list of articles as its address names it: of a feed, a folder, a label or all; marks, and order.

    A page begins `after` the last article (key) of the page before, because what is read leaves the list;
    without it, and by interest, pages are counted.
    """

    feed: int | None = None
    folder: str = ""
    label: str = ""
    show: str = "unread"
    order: str = "new"
    only: str = ""
    page: int = 1
    after: int = 0

    @classmethod
    def from_parameters(cls, parameters: QueryDict) -> ReadingList:
        """Return the list that the parameters of an address name; unknown values count as not given."""
        show, order, only = (parameters.get(name, "") for name in ("show", "order", "only"))
        return cls(
            feed=_number(parameters.get("feed", "")) or None,
            folder=folder_named(parameters.get("folder", "")),
            label=label_named(parameters.get("label", "")),
            show=show if show in SHOWS else "unread",
            order=order if order in ORDERS else "new",
            only=only if show == "saved" and only in ONLY else "",
            page=min(max(_number(parameters.get("page", "")), 1), LAST_PAGE),
            after=_number(parameters.get("after", "")),
        )

    @property
    def query(self) -> str:
        """The parameters of its address, without those that have their usual value."""
        return _query_of(self)

    @property
    def suffix(self) -> str:
        """The parameters with a question mark before them, "" if there are none."""
        return f"?{self.query}" if self.query else ""

    @property
    def first_suffix(self) -> str:
        """The parameters of the first page of the list."""
        return self.suffix if self.page == 1 else replace(self, page=1).suffix

    def address(self, article: int | None = None, **changes: Any) -> str:
        """Return the address of this list with these changes, or of an article in it."""
        query = replace(self, **changes).query if changes else self.query
        path = read_path() if article is None else f"{read_path()}{article}/"
        return f"{path}?{query}" if query else path

    def articles(self, subscriber: Subscriber) -> ArticleQuerySet:
        """Return the articles of the list in its order; by interest they are ordered later."""
        if self.label:
            rows = Article.objects.filter(labelled(subscriber, self.label)).newest_first()
        elif self.show == "starred":
            rows = Article.objects.filter(marked_starred(subscriber)).newest_first()
        elif self.show == "saved":
            rows = saved_articles(subscriber, self.only).newest_first()
        elif self.feed is not None:
            feeds = subscriber.subscriptions.filter(feed=self.feed, feed__removed__isnull=True).values("feed")
            rows = Article.objects.filter(feed__in=feeds).newest_first()
        else:
            rows = followed_articles(subscriber, self.folder)
        # What a person keeps is shown even if it was hidden as a copy or by taste.
        if self.show not in KEPT and not self.label:
            rows = rows.exclude(pk__in=hidden_articles(subscriber))
            if self.feed is None:
                rows = once_a_story(rows, subscriber)
        if self.show == "unread":
            rows = rows.filter(unread_by(subscriber))
        return rows.order_by("published", "id") if self.order == "old" else rows

    def keys(self, subscriber: Subscriber) -> ListPage:
        """Return the primary keys of its page, and whether another page follows."""
        articles, first = self.articles(subscriber), (self.page - 1) * PAGE_ARTICLES
        explored: frozenset[int] = frozenset()
        if self.order == "interest":
            placed = ranked(subscriber, articles[:RANKED])
            placed = placed[first : first + PAGE_ARTICLES + 1]
            entries = [entry.article_id for entry in placed]
            explored = frozenset(entry.article_id for entry in placed if entry.exploring)
        else:
            # What was read has left the list, so that counting would skip as many unread ones.
            if self.page > 1 and (place := _place(self.after)):
                articles, first = _beside(articles, place, newer=self.order == "old"), 0
            entries = list(articles.values_list("pk", flat=True)[first : first + PAGE_ARTICLES + 1])
        has_next = len(entries) > PAGE_ARTICLES and self.page < LAST_PAGE
        return ListPage(entries[:PAGE_ARTICLES], has_next, explored)

    def ranked_keys(self, subscriber: Subscriber) -> list[int]:
        """Return the keys of all its articles by interest."""
        return [entry.article_id for entry in ranked(subscriber, self.articles(subscriber)[:RANKED])]

    def before(self, articles: ArticleQuerySet, key: int) -> ArticleQuerySet:
        """Filter to the articles that stand before one in the list; by interest to none."""
        place = _place(key)
        if place is None or self.order == "interest":
            return articles.none()
        return _beside(articles, place, newer=self.order != "old")

    def neighbours(
        self, subscriber: Subscriber, article: Article
    ) -> tuple[Neighbour | None, Neighbour | None]:
        """Return the articles before and after one in the list, None at its ends.

        By interest there are none: the order changes with every article that is opened.
        """
        if self.order == "interest":
            return None, None
        rows = self.articles(subscriber).exclude(pk=article.pk)
        place = (article.published, article.pk)
        newer, older = _beside(rows, place, newer=True), _beside(rows, place, newer=False)
        columns = ("published", "pk", "title", "identity", "language", "feed__title", "feed__url")
        nearest_newer = newer.order_by("published", "id").values_list(*columns)[:1]
        nearest_older = older.order_by("-published", "-id").values_list(*columns)[:1]
        # Each half by the index; an OR of both directions would sort the whole list.
        nearest = [Neighbour(*row) for row in nearest_newer.union(nearest_older, all=True)]
        next_newer = next((row for row in nearest if (row.published, row.key) > place), None)
        next_older = next((row for row in nearest if (row.published, row.key) < place), None)
        return (next_older, next_newer) if self.order == "old" else (next_newer, next_older)


def _place(key: int) -> tuple[datetime, int] | None:
    """Return where an article stands in lists by date, None for an unknown one."""
    return Article.objects.filter(pk=key).values_list("published", "pk").first() if key else None


def _beside(articles: ArticleQuerySet, place: tuple[datetime, int], *, newer: bool) -> ArticleQuerySet:
    """Filter to the articles that are newer than a place, or older."""
    published, key = place
    if newer:
        return articles.filter(Q(published__gt=published) | Q(published=published, pk__gt=key))
    return articles.filter(Q(published__lt=published) | Q(published=published, pk__lt=key))


class ListPage(NamedTuple):
    """One page of a list: its articles in order, and those placed to learn whether they are liked."""

    keys: list[int]
    has_next: bool
    explored: frozenset[int]


class Neighbour(NamedTuple):
    """The article before or after another one in a list."""

    published: datetime
    key: int
    article_title: str
    identity: str
    language: str
    feed_title: str
    feed_url: str

    @property
    def title(self) -> str:
        """The title of the article, else its identity."""
        return self.article_title or self.identity

    @property
    def source(self) -> str:
        """The title of the feed, else its address."""
        return self.feed_title or self.feed_url


def saved_articles(subscriber: Subscriber, only: str = "") -> ArticleQuerySet:
    """Return what a person saved, and articles of feeds with highlights of theirs."""
    saved = SavedPage.objects.filter(subscriber=subscriber)
    marked = Highlight.objects.filter(subscriber=subscriber)
    if only in Highlight.Color.values:
        return Article.objects.filter(pk__in=marked.filter(color=only).values("article"))
    if only == "notes":
        saved, marked = saved.exclude(note=""), marked.exclude(note="")
    keys = saved.values("article").order_by().union(marked.values("article").order_by())
    rows = Article.objects.filter(pk__in=keys)
    return rows.filter(unread_by(subscriber)) if only == "unread" else rows


@cache
def read_path() -> str:
    """Return the path of the reader."""
    return reverse("read")


@lru_cache(maxsize=256)
def _query_of(reading_list: ReadingList) -> str:
    usual = ReadingList()
    values = {
        name: getattr(reading_list, name)
        for name in ("feed", "folder", "label", "show", "order", "only", "page")
    }
    values["after"] = reading_list.after if reading_list.page > 1 else 0
    return urlencode(
        {name: value for name, value in values.items() if value and value != getattr(usual, name)}
    )


@dataclass(slots=True)
class Row:
    """One article of a list with what its row shows."""

    article: Article
    source: str
    is_read: bool
    is_starred: bool
    also_in: int = 0
    story: int | None = None
    is_open: bool = False
    kept: str = ""
    """What a saved page has: its highlights and notes, or why its text is not here."""
    why: str = ""
    said: frozenset[str] = frozenset()

    @property
    def anchor(self) -> str:
        """The id of the row in a page."""
        return f"a{self.article.pk}"

    @property
    def path(self) -> str:
        """The path of the article's page in the reader."""
        return f"{read_path()}{self.article.pk}/"

    @property
    def tastes(self) -> list[tuple[str, str, bool]]:
        """Its buttons "More" and "Less": the word that each posts, its label, and whether it is pressed."""
        return [
            ("neither" if word in self.said else word, label, word in self.said)
            for word, label in (("more", _("More")), ("less", _("Less")))
        ]

    @property
    def title(self) -> str:
        """The title, else the first words of the text."""
        excerpt = getattr(self.article, "excerpt", "") or ""
        return self.article.title.strip() or " ".join(excerpt.split()[:14]) or _("Untitled")


@dataclass(slots=True)
class OfflineRow(Row):
    """A row with the text of its article, to read without a network."""

    body: str = ""


@dataclass(slots=True)
class Day:
    """The rows of one day, or of a month, under its name; `date` is its first day."""

    name: str
    date: date
    is_month: bool = False
    rows: list[Row] = field(default_factory=list)


def rows_of(
    subscriber: Subscriber,
    keys: Sequence[int],
    names: Mapping[int, str],
    opened: int | None = None,
    *,
    says_kept: bool = False,
) -> list[Row]:
    """Return the rows of these articles in this order, in at most two queries, four if it `says_kept`.

    `names` has the subscriber's names for feeds, by feed. With `says_kept` each says what it has as a saved
    page.
    """
    with_marks = lean(Article.objects.all()).annotate(
        mark=FilteredRelation("marks", condition=Q(marks__subscriber=subscriber)),
        was_read=F("mark__read"),
        was_starred=F("mark__starred"),
        story_key=F("enrichment__story_id"),
    )
    articles: dict[int, Any] = with_marks.in_bulk(keys)
    saved_notes = saved_in_words(subscriber, keys) if says_kept else {}
    members = _member_counts({article.story_key for article in articles.values()} - {None})
    return [
        Row(
            article,
            source_of(article, names),
            is_read=article.was_read is not None,
            is_starred=article.was_starred is not None,
            also_in=members.get(article.story_key, 1) - 1,
            story=article.story_key,
            is_open=key == opened,
            kept=saved_notes.get(key, ""),
        )
        for key in keys
        if (article := articles.get(key)) is not None
    ]


def source_of(article: Article, names: Mapping[int, str]) -> str:
    """Return the name of an article's feed as the person calls it; of a saved page its host."""
    if article.feed.kind == SAVED:
        return (urlsplit(article.url).hostname or "").removeprefix("www.")
    return names.get(article.feed_id) or str(article.feed)


def explain_rows(
    subscriber: Subscriber, rows: Sequence[Row], now: datetime, explored: Collection[int] = ()
) -> None:
    """Set on each row why it is in a list by interest, and the subscriber's feedback on it."""
    keys = [row.article.pk for row in rows]
    why, feedback = reasons(subscriber, keys, now), given(subscriber, keys)
    for row in rows:
        key = row.article.pk
        row.why = _("Something new to try") if key in explored else why.get(key, "")
        row.said = feedback[key]


def by_day(rows: Sequence[Row], now: datetime) -> list[Day]:
    """Group rows that follow each other by the day of publication, in the reader's time zone.

    Months that ended a week ago are groups of their own: an old article would often be alone on its day.
    """
    days: list[Day] = []
    today = timezone.localdate(now)
    for row in rows:
        published = timezone.localdate(row.article.published)
        is_month = month_after(published) <= today - timedelta(days=7)
        first = published.replace(day=1) if is_month else published
        if not days or (days[-1].date, days[-1].is_month) != (first, is_month):
            name = month_name(first, today) if is_month else day_name(first, today)
            days.append(Day(name, first, is_month))
        days[-1].rows.append(row)
    return days


def month_after(day: date) -> date:
    """Return the first day of the month after a day's."""
    if (day.year, day.month) == (9999, 12):
        return date.max
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)


def month_name(first: date, today: date) -> str:
    """Return the name of a month, with its year if that is another than today's."""
    if first.year == today.year:
        return format_date(first, pgettext("date format of a month", "F"))
    return format_date(first, pgettext("date format of a month", "F Y"))


def day_name(day: date, today: date) -> str:
    """Return the name of a day: Today, Yesterday, a weekday of this week, else the date."""
    if day == today:
        return _("Today")
    if day == today - timedelta(days=1):
        return _("Yesterday")
    if today - timedelta(days=7) < day < today:
        return str(WEEKDAYS[day.weekday()])
    is_this_year = day.year == today.year
    return format_date(
        day, pgettext("date format", "j F") if is_this_year else pgettext("date format", "j F Y")
    )


def _member_counts(stories: Collection[int]) -> dict[int, int]:
    """Return the number of articles of each of these stories."""
    if not stories:
        return {}
    members = Enrichment.objects.filter(story__in=stories).order_by().values_list("story")
    return dict(members.annotate(members=Count("article")))


def _number(text: str) -> int:
    # int() takes digits of every script and of any length; a bigint does not.
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 15 else 0
