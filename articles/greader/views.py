"""Read-only endpoints for reader apps: streams, subscriptions, tags and counts."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from articles.greader import atom
from articles.greader.access import edit_token
from articles.greader.items import REFERENCE, items_of, references, with_texts
from articles.greader.names import FEED, LABEL, READING_LIST, STARRED, BadInput, Stream, item_key
from articles.greader.streams import (
    MAX_COUNTED,
    StreamSelection,
    Unread,
    Window,
    feed_key,
    from_microseconds,
    microseconds,
    page,
    select,
    unread_by_label,
    unread_counts,
)
from articles.greader.wire import ApiCall, cross_origin, in_json, plain, reads
from articles.personal.following import export_subscriptions
from articles.personal.selection import followed_articles
from crawler.web.pictures.addresses import icon_address

DEFAULT_ITEMS = 20
MAX_ITEMS = 1000
MAX_REFERENCES = 10_000


@reads
def token(call: ApiCall) -> HttpResponse:
    """Return the short-lived edit token that older readers send with every write."""
    return plain(edit_token(call.login))


@login_not_required
@cross_origin
@require_safe
def compatibility(request: HttpRequest) -> HttpResponse:
    """Answer the check by which some apps find out whether the server's addresses work (FreshRSS's)."""
    return plain("PASS")


@reads
def user_info(call: ApiCall) -> HttpResponse:
    """Return the account's name and id."""
    user = call.subscriber.user
    return in_json(
        {
            "userId": str(user.pk),
            "userName": user.get_username(),
            "userProfileId": str(user.pk),
            "userEmail": user.email or user.get_username(),
            "isBloggerUser": False,
            "signupTimeSec": int(user.date_joined.timestamp()),
        }
    )


@reads
def subscriptions(call: ApiCall) -> HttpResponse:
    """Return the subscriptions, with folders as labels."""
    rows = call.subscriber.subscriptions.order_by("id").select_related("feed")
    columns = ("subscriber", "folder", "title", "created", "feed__title", "feed__url", "feed__site_url")
    return in_json(
        {
            "subscriptions": [
                {
                    "id": f"{FEED}{row.feed_id}",
                    "title": row.title or row.feed.title or row.feed.url,
                    "categories": [_folder(row.folder)] if row.folder else [],
                    "sortid": f"{row.pk:08X}",
                    "firstitemmsec": str(microseconds(row.created) // 1000),
                    "url": row.feed.url,
                    "htmlUrl": row.feed.site_url,
                    "iconUrl": call.request.build_absolute_uri(icon_address(row.feed_id)),
                }
                for row in rows.only(*columns)
            ]
        }
    )


@reads
def export(call: ApiCall) -> HttpResponse:
    """Return the subscriptions as OPML."""
    return HttpResponse(export_subscriptions(call.subscriber), "text/x-opml; charset=utf-8")


@reads
def tags(call: ApiCall) -> HttpResponse:
    """Return the starred state, the folders (also those without feeds), and the labels of articles."""
    names = call.subscriber.subscriptions.exclude(folder="").values_list("folder", flat=True).distinct()
    folders = {*names, *call.subscriber.folders}
    rows: list[dict[str, str | int]] = [{"id": STARRED}]
    rows += [{**_folder(name), "sortid": name} for name in sorted(folders)]
    for name, (count, _newest) in sorted(unread_by_label(call.subscriber).items()):
        if name not in folders:
            rows.append({"id": f"{LABEL}{name}", "type": "tag", "sortid": name, "unread_count": count})
    return in_json({"tags": rows})


@reads
def unread_count(call: ApiCall) -> HttpResponse:
    """Return unread counts of each feed, folder and label and of all feeds; each feed's up to MAX_COUNTED."""
    feeds = unread_counts(call.subscriber)
    folders: dict[str, list[Unread]] = {}
    for unread in feeds:
        if unread.folder:
            folders.setdefault(unread.folder, []).append(unread)
    counts = [_count(f"{FEED}{unread.feed}", [unread]) for unread in feeds]
    counts += [_count(f"{LABEL}{folder}", inside) for folder, inside in sorted(folders.items())]
    counts += [
        _count(f"{LABEL}{name}", [Unread(0, "", count, newest)])
        for name, (count, newest) in sorted(unread_by_label(call.subscriber).items())
        if name not in folders
    ]
    return in_json({"max": MAX_COUNTED, "unreadcounts": [*counts, _count(READING_LIST, feeds)]})


@reads
def contents(call: ApiCall, stream: str = "") -> HttpResponse:
    """Return a page of a stream with its items."""
    stream = stream or call.parameters.one("s", READING_LIST)
    selection, window = _selection(call, [call.stream(stream)]), _window(call, MAX_ITEMS)
    articles, continuation = page(with_texts(select(call.subscriber, selection)), window)
    body = {
        "direction": "ltr",
        "id": stream,
        "title": _title(call, selection.streams[0]),
        "updated": int(call.now.timestamp()),
        "items": items_of(call.subscriber, articles),
    }
    return in_json(body | ({"continuation": continuation} if continuation else {}))


@reads
def contents_as_atom(call: ApiCall, stream: str) -> HttpResponse:
    """Return a page of a stream as Atom."""
    selection, window = _selection(call, [call.stream(stream)]), _window(call, MAX_ITEMS)
    articles, continuation = page(with_texts(select(call.subscriber, selection)), window)
    items = items_of(call.subscriber, articles)
    body = atom.write_stream(stream, _title(call, selection.streams[0]), items, continuation, call.now)
    return HttpResponse(body, atom.CONTENT_TYPE)


@reads
def item_ids(call: ApiCall) -> HttpResponse:
    """Return a page of one or more streams as ids alone."""
    call.parameters.needed("s")
    selection, window = _selection(call, call.streams("s")), _window(call, MAX_REFERENCES)
    articles, continuation = page(select(call.subscriber, selection).only(*REFERENCE), window)
    body = {"itemRefs": references(articles)}
    return in_json(body | ({"continuation": continuation} if continuation else {}))


@reads
def item_contents(call: ApiCall) -> HttpResponse:
    """Return the items with the given ids that the subscriber follows, MAX_ITEMS to a page."""
    call.parameters.needed("i")
    keys = {item_key(text) for text in call.parameters.all("i", MAX_REFERENCES)}
    window = Window(MAX_ITEMS, call.parameters.one("c"), _oldest_first(call))
    articles, continuation = page(with_texts(followed_articles(call.subscriber).filter(pk__in=keys)), window)
    body = {
        "direction": "ltr",
        "id": READING_LIST,
        "title": "Reading list",
        "updated": int(call.now.timestamp()),
        "items": items_of(call.subscriber, articles),
    }
    return in_json(body | ({"continuation": continuation} if continuation else {}))


@reads
def preferences(call: ApiCall) -> HttpResponse:
    """Return no preferences, because none are stored."""
    return in_json({"prefs": []})


@reads
def stream_preferences(call: ApiCall) -> HttpResponse:
    """Return no stream preferences, because none are stored."""
    return in_json({"streamprefs": {}})


def _selection(call: ApiCall, streams: list[Stream]) -> StreamSelection:
    """Parse xt (exclude), it (include), ot and nt (seconds), besides the streams. Raises BadInput.

    The second nt includes all of it, as `ts` does: apps send the times of articles without their fractions.
    """
    since, until = (call.parameters.whole(name, 0) for name in ("ot", "nt"))
    return StreamSelection(
        streams=streams,
        include=call.streams("it"),
        exclude=call.streams("xt"),
        since=from_microseconds(since * 1_000_000) if since else None,
        until=from_microseconds((until + 1) * 1_000_000 - 1) if until else None,
    )


def _window(call: ApiCall, max_size: int) -> Window:
    """Parse n, c and r; n is capped at `max_size`, with a continuation. Raises BadInput."""
    size = min(call.parameters.whole("n", DEFAULT_ITEMS, minimum=1), max_size)
    return Window(size, call.parameters.one("c"), _oldest_first(call))


def _oldest_first(call: ApiCall) -> bool:
    order = call.parameters.one("r")
    if order not in {"", "d", "n", "o"}:
        raise BadInput("the order r is o (oldest first), or n or d (newest first)")
    return order == "o"


def _title(call: ApiCall, stream: Stream) -> str:
    if stream.kind == "state":
        return stream.name.replace("-", " ").capitalize()
    if stream.kind == "label":
        return stream.name
    rows = call.subscriber.subscriptions.filter(feed=feed_key(call.subscriber, stream.name))
    titles = rows.values_list("title", "feed__title", "feed__url").first()
    return next((title for title in titles or () if title), "")


def _folder(name: str) -> dict[str, str]:
    return {"id": f"{LABEL}{name}", "label": name, "type": "folder"}


def _count(stream_id: str, feeds: list[Unread]) -> dict[str, str | int]:
    newest = max((unread.newest for unread in feeds if unread.newest), default=None)
    return {
        "id": stream_id,
        "count": sum(unread.count for unread in feeds),
        "newestItemTimestampUsec": str(microseconds(newest) if newest else 0),
    }
