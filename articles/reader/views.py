"""Pages of the reader: the list with the article beside it, marks, and the counts that are polled."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from urllib.parse import unquote

from django.conf import settings
from django.db.models import (
    Exists,
    F,
    FilteredRelation,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    prefetch_related_objects,
)
from django.db.models.functions import Left
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.html import escape
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_POST, require_safe

from articles.body import audio_of, body_of, media_of, peertube_player, reading_seconds, text_of
from articles.edits.models import ArticleVersion
from articles.edits.wording import times_edited
from articles.enrichment.models import Enrichment
from articles.enrichment.views import told
from articles.exporting.answers import export_page
from articles.exporting.formats import ExportFormat
from articles.exporting.querying import article_rows, keys_in
from articles.exporting.rows import ExportRow
from articles.interest import feedback
from articles.interest.log import Kind, note
from articles.modelled.wording import panel
from articles.models import Article, ArticleQuerySet, Mark, Subscriber
from articles.personal.following import offered_feeds, subscriber_of
from articles.personal.labels import (
    MAX_NAMES,
    TooManyLabels,
    add_labels,
    as_known,
    labels_of,
    remove_labels,
)
from articles.personal.marking import mark_all_read, mark_read, star
from articles.personal.selection import own_feeds_of
from articles.reader.begin_views import beginnings_for
from articles.reader.counts import Counts, feeds_with, unread_counts, unread_of_feed, unread_on_topics
from articles.reader.lists import (
    KEPT,
    ORDERS,
    OfflineRow,
    ReadingList,
    Row,
    by_day,
    explain_rows,
    month_after,
    rows_of,
    source_of,
)
from articles.reader.undo import undo_reading, undo_token
from articles.saved.collecting import names_to_add_to
from articles.saved.highlighting import marked_body
from articles.saved.marks import sentences
from articles.saved.models import Highlight
from articles.saved.wording import saved_in_words, saving_in_words
from crawler.web.pages import wants_part
from crawler.web.syndication.item import point, stored_details
from feeds.models import Feed

WORDS = ("read", "unread", "star", "unstar", "more", "less", "neither")
MAX_MEMBERS = 20
MAX_PASSED = 200
MAX_OFFLINE = 100
MAX_OFFLINE_SAVED = 50
"""Saved pages, the newest, that are kept to read without a network beside the unread articles."""
TITLES = {
    "all": gettext_lazy("All articles"),
    "starred": gettext_lazy("Starred"),
    "saved": pgettext_lazy("list of pages", "Saved"),
    "unread": gettext_lazy("All feeds"),
}


@require_safe
def read(request: HttpRequest) -> HttpResponse:
    """Show a list of articles; for htmx the list alone, or its next page."""
    subscriber = _subscriber(request)
    reading_list = ReadingList.from_parameters(request.GET)
    part = request.headers.get("HX-Target", "") if wants_part(request) else ""
    if part.startswith("rest"):
        context = _list(request, subscriber, reading_list, _names(subscriber))
        return _varying(render(request, "read/_rows.html", context))
    frame = _frame(request, subscriber, reading_list)
    context = frame | _list(request, subscriber, reading_list, frame["counts"].names)
    if reading_list.page > 1 and not context["rows"]:  # what was on it is read meanwhile
        return HttpResponseRedirect(reading_list.address(page=1))
    if part == "list":
        return _varying(render(request, "read/_list_answer.html", context))
    if not frame["follows"] and reading_list == ReadingList() and not Feed.objects.exists():
        return _varying(render(request, "read/welcome.html", context | beginnings_for(request)))
    return _varying(render(request, "read/read.html", context))


@require_safe
def article(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an article beside the list it was opened from; for htmx the article alone."""
    subscriber = _subscriber(request)
    reading_list = ReadingList.from_parameters(request.GET)
    article_row = get_object_or_404(_with_columns_shown(subscriber), pk=pk)
    if feedback.note_opening(request, pk):
        mark_read(subscriber, [pk], datetime.now(UTC))
    if wants_part(request):
        names = {article_row.feed_id: getattr(article_row, "own_title", None) or ""}
        context = _article(request, subscriber, reading_list, article_row, names)
        context["row"] = _row_of(article_row, context)
        if reading_list.show == "saved":
            context["row"].kept = saved_in_words(subscriber, [pk]).get(pk, "")
        response = render(request, "read/_article_answer.html", context)
        return _varying(_with_unread_count(response, subscriber, article_row, reading_list))
    frame = _frame(request, subscriber, reading_list)
    names = frame["counts"].names
    context = frame | _article(request, subscriber, reading_list, article_row, names)
    context |= _list(request, subscriber, reading_list, names, opened=pk)
    return _varying(render(request, "read/read.html", context))


@require_POST
def mark(request: HttpRequest, pk: int, word: str) -> HttpResponse:
    """Mark one article as read, starred, or liked, or take the mark back; for htmx answers with its row.

    "more" and "less" ask for more and fewer like it, "neither" takes both back.
    """
    if word not in WORDS:
        raise Http404(f"there is no button {word!r}")
    subscriber, now = subscriber_of(request.user), datetime.now(UTC)
    marked = get_object_or_404(_with_own_title(Article.objects.only("pk", "feed_id"), subscriber), pk=pk)
    if word in {"read", "unread"}:
        mark_read(subscriber, [pk], now, read=word == "read")
    elif word in {"star", "unstar"}:
        star(subscriber, [pk], now, starred=word == "star")
    elif word == "neither":
        feedback.take_back(subscriber, pk, "more", now)
        feedback.take_back(subscriber, pk, "less", now)
    else:
        feedback.give(subscriber, pk, word, now)
    reading_list = ReadingList.from_parameters(request.GET)
    if not wants_part(request):
        return HttpResponseRedirect(reading_list.address(pk if "stay" in request.POST else None))
    opened = pk if request.GET.get("open") else None
    (row,) = rows_of(
        subscriber, [pk], {marked.feed_id: getattr(marked, "own_title", None) or ""}, opened=opened
    )
    if reading_list.order == "interest":
        explain_rows(subscriber, [row], now)
    response = render(request, "read/_mark_answer.html", {"row": row, "list": reading_list})
    if word not in {"read", "unread"}:
        return response
    return _with_unread_count(response, subscriber, marked, reading_list)


@require_POST
def label(request: HttpRequest, pk: int) -> HttpResponse:
    """Give an article the label in `add`, or take the one in `remove` away; answers htmx with its labels."""
    subscriber = subscriber_of(request.user)
    row = get_object_or_404(Article.objects.only("pk"), pk=pk)
    remove_labels(subscriber, [pk], [request.POST.get("remove", "")])
    problem = ""
    try:
        add_labels(subscriber, [pk], [as_known(subscriber, request.POST.get("add", ""))])
    except TooManyLabels:
        problem = ngettext(
            "One person has %(number)d label at most.", "One person has %(number)d labels at most.", MAX_NAMES
        ) % {"number": MAX_NAMES}
    reading_list = ReadingList.from_parameters(request.GET)
    if not wants_part(request):
        return HttpResponseRedirect(reading_list.address(pk))
    labels = Mark.objects.filter(subscriber=subscriber, article=pk).values_list("labels", flat=True).first()
    context = {"article": row, "labels": labels or [], "list": reading_list, "problem": problem}
    return render(request, "read/_labels_answer.html", context | _side(request, subscriber))


@require_POST
def mark_list(request: HttpRequest) -> HttpResponse:
    """Mark the articles of the list as read, and offer to undo it.

    `above`, the key of an article, limits this to the articles before it; `day` to one day; `newest` to
    those that were stored when the page was made: what came since, nobody has seen.
    """
    subscriber, now = subscriber_of(request.user), datetime.now(UTC)
    reading_list = ReadingList.from_parameters(request.GET)
    rows = reading_list.articles(subscriber)
    if newest := _key(request.POST.get("newest", "")):
        rows = rows.filter(pk__lte=newest)
    if request.POST.get("above"):
        rows = reading_list.before(rows, _key(request.POST["above"]))
    if request.POST.get("day"):
        rows = _of_day(rows, request.POST["day"])
    count = mark_all_read(subscriber, rows, now)
    return _after_marking(request, subscriber, reading_list, count, now)


@require_POST
def mark_passed(request: HttpRequest) -> HttpResponse:
    """Mark the articles in `articles` as read and star those in `starred`.

    Both are comma-separated keys, from scrolling past or from use without a network.
    """
    subscriber, now = subscriber_of(request.user), datetime.now(UTC)
    read, starred = (
        [_key(text) for text in request.POST.get(name, "").split(",")[:MAX_PASSED] if text]
        for name in ("articles", "starred")
    )
    mark_read(subscriber, read, now)
    if starred:
        star(subscriber, starred, now)
    return render(request, "read/_counts_answer.html", _side(request, subscriber))


@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """Show the newest unread articles and saved pages with their texts, a page that the browser keeps."""
    subscriber = _subscriber(request)
    rows = ReadingList().articles(subscriber).select_related("feed", "page")
    saved = ReadingList(show="saved").articles(subscriber).select_related("feed", "page")
    columns = ("search", "page__html", "feed__fingerprints")
    names = _names(subscriber)
    articles = [
        OfflineRow(row, source_of(row, names), False, False, body=body_of(row).shown)
        for row in [*rows.defer(*columns)[:MAX_OFFLINE], *saved.defer(*columns)[:MAX_OFFLINE_SAVED]]
    ]
    return render(request, "read/offline.html", {"rows": articles, "now": datetime.now(UTC)})


@require_safe
def export(request: HttpRequest) -> HttpResponseBase:
    """Return all articles of the list as a file, in the format that `as` names."""
    subscriber = _subscriber(request)
    reading_list = ReadingList.from_parameters(request.GET)
    title = reading_list.folder or reading_list.label or str(TITLES[reading_list.show])
    if reading_list.feed:
        title = _names(subscriber).get(reading_list.feed) or _feed_title(reading_list.feed)

    def rows(form: ExportFormat) -> Iterator[ExportRow]:
        if reading_list.order == "interest":
            keys: Iterator[int] = iter(reading_list.ranked_keys(subscriber))
        else:
            keys = keys_in(reading_list.articles(subscriber))
        return article_rows(keys, subscriber, form)

    return export_page(request, rows, title)


def _feed_title(key: int) -> str:
    return str(Feed.objects.filter(pk=key).only("title", "url").first() or "")


@require_safe
def story(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the other articles of an article's story, in the order in which they appeared."""
    key = get_object_or_404(Enrichment.objects.only("story"), pk=pk).story_id
    if key is None:
        raise Http404("the article belongs to no story")
    if not wants_part(request):
        return HttpResponseRedirect(reverse("story", args=[key]))
    members = list(told().filter(story=key)[: MAX_MEMBERS + 1])
    context = {"members": members, "pk": pk, "list": ReadingList.from_parameters(request.GET)}
    return _varying(render(request, "read/_story.html", context))


@require_safe
@xframe_options_sameorigin
def film(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the player of a PeerTube film that an article links to (`u`), alone on a page for a frame.

    Every PeerTube site has a host of its own, so that this page's policy allows frames of that host alone.
    """
    rows = Article.objects.select_related("feed", "page").defer("search", "page__html", "feed__fingerprints")
    article_row, url = get_object_or_404(rows, pk=pk), request.GET.get("u", "")
    player, body = peertube_player(url), body_of(article_row)
    # Only hosts that an article links to may be framed, or the page would frame any site under our name.
    if not player or f'href="{escape(url)}"' not in body.feed + body.page:
        raise Http404("the article has no such film")
    response = render(request, "read/film.html", {"player": player})
    policy = settings.CONTENT_SECURITY_POLICY | {
        "frame-src": "https://" + player.split("/")[2],
        "frame-ancestors": "'self'",
    }
    response.headers["Content-Security-Policy"] = "; ".join(map(" ".join, policy.items()))
    return response


@require_POST
def undo(request: HttpRequest) -> HttpResponse:
    """Undo the marking of articles as read."""
    subscriber = subscriber_of(request.user)
    reading_list = ReadingList.from_parameters(request.GET)
    count = undo_reading(subscriber, request.POST.get("token", ""))
    message = (
        _("It is too late to undo this.")
        if count is None
        else ngettext("%(count)d article unread again.", "%(count)d articles unread again.", count)
        % {"count": count}
    )
    return _answer(request, subscriber, reading_list, {"words": message})


@require_safe
def counts(request: HttpRequest) -> HttpResponse:
    """Answer with the unread counts where they differ from what the page shows, else with 204.

    The page sends the total it shows and the key of the newest article in its list.
    """
    subscriber = subscriber_of(request.user)
    context = _side(request, subscriber)
    current: Counts = context["counts"]
    if request.GET.get("total", "") == str(current.total):
        return HttpResponse(status=204)
    total = request.GET.get("total", "")
    if total.isascii() and total.isdecimal() and len(total) < 10 and current.total > int(total):
        context["fresh"] = current.total - int(total)
        context["list"] = ReadingList.from_parameters(request.GET)
    return render(request, "read/_counts_answer.html", context)


def _key(text: str) -> int:
    # Nineteen digits may exceed a bigint, which PostgreSQL refuses.
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def _of_day(articles: ArticleQuerySet, text: str) -> ArticleQuerySet:
    """Filter to the articles of a day or month (ISO 8601) in the reader's zone; to none for anything else."""
    try:
        is_month = len(text) == len("2026-01")
        day, zone = date.fromisoformat(f"{text}-01" if is_month else text), timezone.get_current_timezone()
        after = month_after(day) if is_month else day + timedelta(days=1)
        start, end = (datetime.combine(start_day, time.min, zone) for start_day in (day, after))
        return articles.filter(published__gte=start, published__lt=end)
    except (ValueError, OverflowError):
        return articles.none()


def _subscriber(request: HttpRequest) -> Subscriber:
    """Return the requesting subscriber with its topics, which list and sidebar need."""
    subscriber = subscriber_of(request.user)
    prefetch_related_objects([subscriber], "topics")
    return subscriber


def _names(subscriber: Subscriber) -> dict[int, str]:
    """Return the subscriber's own names of feeds."""
    return dict(subscriber.subscriptions.exclude(title="").values_list("feed_id", "title"))


def _with_own_title(articles: QuerySet[Article], subscriber: Subscriber) -> QuerySet[Article]:
    """Annotate `own_title`: the subscriber's name for the feed, "" if the subscriber gives none, None if the
    subscriber does not follow the feed.
    """
    titles = subscriber.subscriptions.filter(feed=OuterRef("feed")).values("title")
    return articles.annotate(own_title=Subquery(titles[:1]))


def _with_unread_count(
    response: HttpResponse, subscriber: Subscriber, marked: Article, reading_list: ReadingList
) -> HttpResponse:
    """Add the unread articles of a feed to an answer, for app.js to show in the sidebar.

    If the subscriber does not follow the feed, adds the unread count of the topics instead; of an article
    with copies in followed feeds, whatever changed with it.
    """
    count: dict[str, Any]
    if feeds := feeds_with(subscriber, marked.pk):
        count = _counts_of(unread_counts(subscriber), feeds, reading_list)
    elif getattr(marked, "own_title", None) is None:
        count = {"topics": unread_on_topics(subscriber)}
    else:
        count = {"feed": marked.feed_id, "unread": unread_of_feed(subscriber, marked.feed_id)}
    response.headers["HX-Trigger-After-Settle"] = json.dumps({"freshet:unread": count})
    return response


def _counts_of(current: Counts, feeds: Collection[int], reading_list: ReadingList) -> dict[str, Any]:
    """Return the unread articles of these feeds, of the folders around them, of the list and of all."""
    changed = [count for count in current.feeds if count.feed in feeds]
    folders = [
        folder
        for folder in current.folders
        if any(f"{count.folder}/".startswith(f"{folder.name}/") for count in changed)
    ]
    return {
        "feeds": {str(count.feed): count.unread for count in changed},
        "folders": {folder.name: folder.unread for folder in folders},
        "topics": current.on_topics,
        "total": current.total,
        "list": current.unread_of(reading_list.feed, reading_list.folder),
    }


def _with_columns_shown(subscriber: Subscriber) -> QuerySet[Article]:
    """Return articles with feed, page, enrichment, and whether they are starred, without long columns."""
    rows = Article.objects.select_related("feed", "page", "enrichment", "saved").annotate(
        mark=FilteredRelation("marks", condition=Q(marks__subscriber=subscriber)),
        is_starred=Q(mark__starred__isnull=False),
        labels=F("mark__labels"),
        excerpt=Left("text", 280),
        has_highlights=Exists(Highlight.objects.filter(subscriber=subscriber, article=OuterRef("pk"))),
        has_versions=Exists(ArticleVersion.objects.filter(article=OuterRef("pk"))),
    )
    return _with_own_title(rows, subscriber).defer(
        "search", "page__html", "feed__fingerprints", "enrichment__signature", "enrichment__bands"
    )


def _row_of(article_row: Article, context: dict[str, Any]) -> Row:
    """Return the row of the article that was just opened."""
    members: list[Enrichment] = context["members"]
    return Row(
        article_row,
        context["source_name"],
        is_read=True,
        is_starred=context["mark"]["starred"],
        also_in=len(members),
        story=members[0].story_id if members else None,
        is_open=True,
    )


def _list(
    request: HttpRequest,
    subscriber: Subscriber,
    reading_list: ReadingList,
    names: Mapping[int, str],
    opened: int | None = None,
) -> dict[str, Any]:
    keys, has_next, explored = reading_list.keys(subscriber)
    last = keys[-1] if has_next else 0
    if opened is not None and opened not in keys and reading_list.page == 1:
        keys = _with_opened(keys, opened, oldest_first=reading_list.order == "old")
    rows = rows_of(subscriber, keys, names, opened, says_kept=reading_list.show == "saved")
    now = datetime.now(UTC)
    is_looked_at = request.method == "GET" and "prefetch" not in request.headers.get("Sec-Purpose", "")
    if is_looked_at and opened is None:  # beside an article it is not looked at, or was before
        note(subscriber, keys, Kind.SHOWN, now)
    if reading_list.order == "interest":
        explain_rows(subscriber, rows, now, explored)
    days = [] if reading_list.order == "interest" else by_day(rows, now)
    return {
        "list": reading_list,
        "days": days,
        "rows": rows,
        "older": reading_list.address(page=reading_list.page + 1, after=last) if has_next else "",
        "older_page": reading_list.page + 1,
        "orders": ORDERS,
        "newest": Article.objects.order_by("-pk").values_list("pk", flat=True).first() or 0,
    }


def _with_opened(keys: list[int], opened: int, *, oldest_first: bool) -> list[int]:
    """Return the keys with the key of the open article at its place by date.

    Opening marks it as read, so the unread list does not contain it.
    """
    places = dict(Article.objects.filter(pk__in=[*keys, opened]).values_list("pk", "published"))
    if opened not in places:
        return keys
    place = (places[opened], opened)
    behind = (n for n, key in enumerate(keys) if ((places.get(key, place[0]), key) > place) == oldest_first)
    first_behind = next(behind, len(keys))
    return [*keys[:first_behind], opened, *keys[first_behind:]]


def _side(request: HttpRequest, subscriber: Subscriber) -> dict[str, Any]:
    """Return the sidebar's context: counts, topics, kept searches, and folded folders."""
    return {
        "counts": unread_counts(subscriber),
        "own_labels": labels_of(subscriber),
        "topics": list(subscriber.topics.all()),
        "searches": list(subscriber.personal_feeds.exclude(query="").only("name", "query")),
        "folded": _folded(request),
    }


def _frame(request: HttpRequest, subscriber: Subscriber, reading_list: ReadingList) -> dict[str, Any]:
    """Return the context of the sidebar and of the list's bar."""
    side = _side(request, subscriber)
    current: Counts = side["counts"]
    title = (
        current.names.get(reading_list.feed or 0)
        or reading_list.folder
        or reading_list.label
        or TITLES[reading_list.show]
    )
    follows = bool(current.feeds) or bool(side["topics"])
    return side | {
        "title": _("For you") if reading_list.order == "interest" else title,
        "saving": saving_in_words(subscriber) if reading_list.show == "saved" else None,
        "given_url": request.GET.get("url", "")[:2000],
        "unread": 0
        if reading_list.label or reading_list.show in KEPT
        else current.unread_of(reading_list.feed, reading_list.folder),
        "follows": follows,
        "here": 0 if follows else offered_feeds(subscriber),
        "own_feeds": [] if reading_list.feed else own_feeds_of(subscriber, reading_list.folder),
    }


def _folded(request: HttpRequest) -> list[str]:
    """Return the names of the folders that are folded, from the cookie that app.js writes."""
    return unquote(request.COOKIES.get("freshet-folded", "")).split("\n")


def _article(
    request: HttpRequest,
    subscriber: Subscriber,
    reading_list: ReadingList,
    row: Article,
    names: Mapping[int, str],
) -> dict[str, Any]:
    body, details, audio = body_of(row), stored_details(row.details), audio_of(row)
    requested = request.GET.get("text", "")
    source = requested if requested in {"feed", "page"} and getattr(body, requested) else body.source
    shown_body = body.page if source == "page" else body.feed
    marks = Highlight.objects.filter(subscriber=subscriber, article=row)
    highlights = list(marks) if getattr(row, "has_highlights", True) else []
    marked, lost = marked_body(shown_body, highlights)
    previous, following = reading_list.neighbours(subscriber, row)
    story = row.enrichment.story_id if hasattr(row, "enrichment") else None
    members = list(told().filter(story=story).exclude(pk=row.pk)[:MAX_MEMBERS]) if story else []
    return {
        "article": row,
        "list": reading_list,
        "source_name": source_of(row, names),
        "body": marked,
        "highlights": highlights,
        "lost": {highlight.pk for highlight in lost},
        "colors": Highlight.Color.choices,
        "saved": getattr(row, "saved", None),
        "edited": _edits_in_words(row.pk) if getattr(row, "has_versions", True) else ("", False),
        "modelled": panel(subscriber, row.pk),
        "shows_related": bool(settings.EMBEDDINGS_URL) and not settings.DEMO,
        "own_collections": names_to_add_to(subscriber),
        "sentences": sentences(shown_body) if "mark" in request.GET else [],
        "source": source,
        "has_both": bool(body.feed and body.page),
        "minutes": max(round(reading_seconds(text_of(shown_body)) / 60), 1) if shown_body else 0,
        "audio": audio,
        "details": details,
        "place": point(details).split(),
        "length": details.duration or (audio or {}).get("duration", 0),
        "files": [file for file in media_of(row) if not file["type"].startswith(("image/", "audio/"))],
        "mark": {"starred": getattr(row, "is_starred", False)},
        "labels": getattr(row, "labels", None) or [],
        "members": members,
        "previous": reading_list.address(previous.key) if previous else "",
        "next": reading_list.address(following.key) if following else "",
        "previous_article": previous,
        "next_article": following,
        "opened": True,
    }


def _edits_in_words(article: int) -> tuple[str, bool]:
    """Return how often an article was edited, in words, and whether it was taken back by its publisher."""
    kinds = list(ArticleVersion.objects.filter(article=article, number__gt=1).values_list("kinds", flat=True))
    return times_edited(len(kinds)), any("gone" in each for each in kinds[-1:])


def _after_marking(
    request: HttpRequest, subscriber: Subscriber, reading_list: ReadingList, count: int, now: datetime
) -> HttpResponse:
    token = undo_token(subscriber, now, count) if count else ""
    message = (
        ngettext("%(count)d article marked as read.", "%(count)d articles marked as read.", count)
        % {"count": count}
        if count
        else _("There was nothing to mark as read.")
    )
    return _answer(request, subscriber, reading_list, {"words": message, "token": token})


def _answer(
    request: HttpRequest, subscriber: Subscriber, reading_list: ReadingList, toast: dict[str, str]
) -> HttpResponse:
    """Answer with the list as it is now and a message, or without htmx with the whole page."""
    frame = _frame(request, subscriber, reading_list)
    names = frame["counts"].names
    context = frame | _list(request, subscriber, reading_list, names) | {"toast": toast}
    name = "read/_list_answer.html" if wants_part(request) else "read/read.html"
    return render(request, name, context)


def _varying(response: HttpResponse) -> HttpResponse:
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response
