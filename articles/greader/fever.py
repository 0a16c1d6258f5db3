"""The Fever API, version 3, which Reeder, ReadKit, FeedMe and others speak besides Google Reader's.

One address answers everything: the query names the lists that are wanted, the form has the key and the marks
to make. Source: feedafever.com/api as its clients use it.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from articles.greader.access import digest
from articles.greader.items import with_texts
from articles.greader.models import AppPassword
from articles.greader.wire import cross_origin
from articles.models import Article, ArticleQuerySet, Mark, Subscriber
from articles.personal.marking import mark_all_read, mark_read, marked_starred, star, unread_by
from articles.personal.selection import followed_articles
from articles.saved.saving import save_by_app
from crawler.database.readers import read_as
from crawler.web.attempts import count_attempt, too_many
from crawler.web.pictures.loading import picture_cache
from crawler.web.syndication.item import full_body, title_of, web_url
from feeds.icons import icon_key

VERSION = 3
MAX_ITEMS = 50
MAX_IDS = 20_000
MAX_KEY = 64
NO_FOLDER = "Other feeds"
NO_ICON = "image/gif;base64,R0lGODlhAQABAIAAAObm5gAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw=="


@login_not_required
@csrf_exempt
@cross_origin
@never_cache
def fever(request: HttpRequest) -> HttpResponse:
    """Answer a client: make the marks that it sends, then return the lists that it asks for."""
    now = datetime.now(UTC)
    key = request.POST.get("api_key", "").lower()[:MAX_KEY]
    password = _password_of(request, key, now)
    reply: dict[str, Any] = {"api_version": VERSION, "auth": int(password is not None)}
    if password is None:
        return JsonResponse(reply)
    AppPassword.objects.filter(pk=password.pk).update(last_used=now)
    subscriber = password.subscriber
    read_as(subscriber.user_id)
    reply["last_refreshed_on_time"] = str(int(now.timestamp()))
    marks = {**request.GET.dict(), **request.POST.dict()}  # Read You marks by the address
    if marks.get("mark"):
        reply |= _mark(subscriber, marks, now)
    for name, list_of in _LISTS.items():
        if name in request.GET:
            reply |= list_of(subscriber, request.GET)
    return JsonResponse(reply, json_dumps_params={"ensure_ascii": False})


def _password_of(request: HttpRequest, key: str, now: datetime) -> AppPassword | None:
    """Return the app password behind a key; None for a wrong one, and after too many wrong ones."""
    if not key:
        return None
    rows = AppPassword.objects.select_related("subscriber__user").filter(subscriber__user__is_active=True)
    row = rows.filter(fever=digest(key)).first()
    if row is None and not too_many("reader-token", request, now, key):
        count_attempt("reader-token", request, now, key)
    return row


def _groups(subscriber: Subscriber, query: Mapping[str, str]) -> dict[str, Any]:
    names = _folders(subscriber)
    groups = [{"id": key, "title": name or NO_FOLDER} for key, name in names.items()]
    return {"groups": groups, "feeds_groups": _feeds_groups(subscriber)}


def _feeds(subscriber: Subscriber, query: Mapping[str, str]) -> dict[str, Any]:
    rows = subscriber.subscriptions.select_related("feed").order_by("id")
    columns = ("subscriber", "title", "feed__title", "feed__url", "feed__site_url", "feed__last_success")
    feeds = [
        {
            "id": row.feed_id,
            "favicon_id": row.feed_id,
            "title": row.title or row.feed.title or row.feed.url,
            "url": row.feed.url,
            "site_url": web_url(row.feed.site_url),
            "is_spark": 0,
            "last_updated_on_time": int(row.feed.last_success.timestamp()) if row.feed.last_success else 0,
        }
        for row in rows.only(*columns)
    ]
    return {"feeds": feeds, "feeds_groups": _feeds_groups(subscriber)}


def _favicons(subscriber: Subscriber, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the icons that are in the cache of pictures; a grey dot for others."""
    cache = picture_cache()
    columns = ("subscriber", "feed__icon", "feed__image", "feed__site_url", "feed__canonical_url")
    rows = subscriber.subscriptions.select_related("feed").only(*columns)
    icons = []
    for row in rows:
        stored = cache.read(icon_key(row.feed), "icon")
        data = _encoded(stored.body) if stored and not stored.failure else NO_ICON
        icons.append({"id": row.feed_id, "data": data})
    return {"favicons": icons}


def _encoded(picture: bytes) -> str:
    return f"image/webp;base64,{base64.b64encode(picture).decode()}"


def _items(subscriber: Subscriber, query: Mapping[str, str]) -> dict[str, Any]:
    """Return at most 50 items: after `since_id`, before `max_id`, or those of `with_ids`."""
    articles = _articles(subscriber)
    if ids := query.get("with_ids", ""):
        keys = [int(key) for key in ids.split(",")[:MAX_ITEMS] if _is_number(key.strip())]
        chosen = articles.filter(pk__in=keys).order_by("pk")
    elif _is_number(max_id := query.get("max_id", "")):
        before = Q(pk__lt=int(max_id)) if int(max_id) else Q()
        chosen = articles.filter(before).order_by("-pk")
    else:
        since = query.get("since_id", "")
        chosen = articles.filter(pk__gt=int(since) if _is_number(since) else 0).order_by("pk")
    rows = list(with_texts(chosen)[:MAX_ITEMS])
    marks = {
        mark.article_id: mark
        for mark in Mark.objects.filter(subscriber=subscriber, article__in=[row.pk for row in rows])
    }
    return {"items": [_item(row, marks.get(row.pk)) for row in rows], "total_items": articles.count()}


def _item(article: Article, mark: Mark | None) -> dict[str, Any]:
    page = article.page.content if article.page else ""
    return {
        "id": article.pk,
        "feed_id": article.feed_id,
        "title": title_of(article.title, article.text),
        "author": article.author,
        "html": full_body(article.content, article.summary, article.text, page),
        "url": web_url(article.url),
        "is_saved": int(bool(mark and mark.starred)),
        "is_read": int(bool(mark and mark.read)),
        "created_on_time": int(article.published.timestamp()),
    }


def _unread(subscriber: Subscriber, query: Mapping[str, str]) -> dict[str, Any]:
    rows = _articles(subscriber).filter(unread_by(subscriber)).order_by("-pk")
    return {"unread_item_ids": ",".join(map(str, rows.values_list("pk", flat=True)[:MAX_IDS]))}


def _saved(subscriber: Subscriber, query: Mapping[str, str]) -> dict[str, Any]:
    rows = Article.objects.filter(marked_starred(subscriber)).order_by("-pk")
    return {"saved_item_ids": ",".join(map(str, rows.values_list("pk", flat=True)[:MAX_IDS]))}


def _links(subscriber: Subscriber, query: Mapping[str, str]) -> dict[str, Any]:
    return {"links": []}


def _mark(subscriber: Subscriber, form: Mapping[str, str], now: datetime) -> dict[str, Any]:
    """Mark an item, a feed or a group. Returns the list that the change concerns, as clients expect."""
    kind, state, key = form.get("mark", ""), form.get("as", ""), form.get("id", "")
    if kind == "item" and _is_number(key):
        keys = list(_articles(subscriber).filter(pk=int(key)).values_list("pk", flat=True))
        if state in {"read", "unread"}:
            mark_read(subscriber, keys, now, read=state == "read")
        elif state in {"saved", "unsaved"}:
            star(subscriber, keys, now, starred=state == "saved")
            save_by_app(subscriber, keys, now, saved=state == "saved")
        return _saved(subscriber, form) if state in {"saved", "unsaved"} else _unread(subscriber, form)
    if state != "read" or not key.lstrip("-").isdecimal():
        return {}
    articles = _articles(subscriber).filter(fetched__lt=_until(form.get("before", ""), now))
    if kind == "feed":
        mark_all_read(subscriber, articles.filter(feed=int(key[:18])), now)
    elif kind == "group":
        name, is_all = _folders(subscriber).get(int(key[:18])), int(key[:18]) == 0
        feeds = subscriber.subscriptions.all() if is_all else subscriber.subscriptions.filter(folder=name)
        if is_all or name is not None:
            mark_all_read(subscriber, articles.filter(feed__in=feeds.values("feed")), now)
    return _unread(subscriber, form)


def _until(before: str, now: datetime) -> datetime:
    """Return the time before which articles are marked: that of `before`, or now without one."""
    # Read You sent milliseconds, so that news came to be read that it had never shown.
    seconds = before[:-3] if len(before) == 13 else before
    if not _is_number(seconds) or len(seconds) >= 11:
        return now
    # The second includes all of it: apps send the time of the answer before, which has no fractions.
    return datetime.fromtimestamp(int(seconds) + 1, UTC)


def _articles(subscriber: Subscriber) -> ArticleQuerySet:
    return followed_articles(subscriber)


def _folders(subscriber: Subscriber) -> dict[int, str]:
    """Return a subscriber's folders by the numbers that clients know them by, which follow from the names.

    Feeds without a folder are in one without a name: Read You needs a group of every feed.
    """
    names = subscriber.subscriptions.values_list("folder", flat=True).distinct()
    return {zlib.crc32(name.encode()) & 0x7FFFFFFF or 1: name for name in sorted(names)}


def _feeds_groups(subscriber: Subscriber) -> list[dict[str, Any]]:
    numbers = {name: key for key, name in _folders(subscriber).items()}
    feeds: dict[int, list[str]] = {}
    rows = subscriber.subscriptions.order_by("id").values_list("folder", "feed_id")
    for folder, feed in rows:
        feeds.setdefault(numbers[folder], []).append(str(feed))
    return [{"group_id": key, "feed_ids": ",".join(ids)} for key, ids in feeds.items()]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 18


_LISTS: dict[str, Callable[[Subscriber, Mapping[str, str]], dict[str, Any]]] = {
    "groups": _groups,
    "feeds": _feeds,
    "favicons": _favicons,
    "items": _items,
    "links": _links,
    "unread_item_ids": _unread,
    "saved_item_ids": _saved,
}
