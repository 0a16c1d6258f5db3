"""What readers read: streams, subscriptions, tags and counts."""

from __future__ import annotations

from django.http import HttpResponse

from articles.greader import atom
from articles.greader.access import edit_token
from articles.greader.items import REFERENCE, items_of, references, with_texts
from articles.greader.names import FEED, LABEL, READING_LIST, STARRED, BadInput, Stream, item_key
from articles.greader.streams import (
    MOST_COUNTED,
    StreamSelection,
    Unread,
    Window,
    feed_key,
    from_microseconds,
    microseconds,
    page,
    select,
    unread_counts,
)
from articles.greader.wire import Asked, in_json, plain, reads
from articles.personal.following import export_subscriptions
from articles.personal.selection import followed

DEFAULT_ITEMS = 20
MOST_ITEMS = 1000
MOST_REFERENCES = 10_000


@reads
def token(asked: Asked) -> HttpResponse:
    """The short-lived token that original readers send with every write."""
    return plain(edit_token(asked.login))


@reads
def user_info(asked: Asked) -> HttpResponse:
    """Whose account this is."""
    user = asked.subscriber.user
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
def subscriptions(asked: Asked) -> HttpResponse:
    """What the subscriber follows, with folders as labels."""
    rows = asked.subscriber.subscriptions.order_by("id").select_related("feed")
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
                    "iconUrl": "",
                }
                for row in rows.only(*columns)
            ]
        }
    )


@reads
def export(asked: Asked) -> HttpResponse:
    """What the subscriber follows as OPML."""
    return HttpResponse(export_subscriptions(asked.subscriber), "text/x-opml; charset=utf-8")


@reads
def tags(asked: Asked) -> HttpResponse:
    """The star, and the folders in use."""
    names = asked.subscriber.subscriptions.exclude(folder="").order_by("folder")
    folders = names.values_list("folder", flat=True).distinct()
    return in_json({"tags": [{"id": STARRED}, *({**_folder(name), "sortid": name} for name in folders)]})


@reads
def unread_count(asked: Asked) -> HttpResponse:
    """Unread articles of each feed, each folder and all; each feed's up to MOST_COUNTED."""
    feeds = unread_counts(asked.subscriber)
    folders: dict[str, list[Unread]] = {}
    for each in feeds:
        if each.folder:
            folders.setdefault(each.folder, []).append(each)
    counts = [_count(f"{FEED}{each.feed}", [each]) for each in feeds]
    counts += [_count(f"{LABEL}{folder}", inside) for folder, inside in sorted(folders.items())]
    return in_json({"max": MOST_COUNTED, "unreadcounts": [*counts, _count(READING_LIST, feeds)]})


@reads
def contents(asked: Asked, stream: str = "") -> HttpResponse:
    """A page of a stream with its items."""
    stream = stream or asked.parameters.one("s", READING_LIST)
    wanted, window = _selection(asked, [asked.stream(stream)]), _window(asked, MOST_ITEMS)
    articles, continuation = page(with_texts(select(asked.subscriber, wanted)), window)
    answer = {
        "direction": "ltr",
        "id": stream,
        "title": _title(asked, wanted.streams[0]),
        "updated": int(asked.now.timestamp()),
        "items": items_of(asked.subscriber, articles),
    }
    return in_json(answer | ({"continuation": continuation} if continuation else {}))


@reads
def contents_as_atom(asked: Asked, stream: str) -> HttpResponse:
    """The same page as Atom."""
    wanted, window = _selection(asked, [asked.stream(stream)]), _window(asked, MOST_ITEMS)
    articles, continuation = page(with_texts(select(asked.subscriber, wanted)), window)
    items = items_of(asked.subscriber, articles)
    body = atom.write_stream(stream, _title(asked, wanted.streams[0]), items, continuation, asked.now)
    return HttpResponse(body, atom.CONTENT_TYPE)


@reads
def item_ids(asked: Asked) -> HttpResponse:
    """A page of one or more streams as ids alone."""
    asked.parameters.needed("s")
    wanted, window = _selection(asked, asked.streams("s")), _window(asked, MOST_REFERENCES)
    articles, continuation = page(select(asked.subscriber, wanted).only(*REFERENCE), window)
    answer = {"itemRefs": references(articles)}
    return in_json(answer | ({"continuation": continuation} if continuation else {}))


@reads
def item_contents(asked: Asked) -> HttpResponse:
    """The items with the given ids, as far as they belong to what the subscriber follows."""
    asked.parameters.needed("i")
    keys = {item_key(text) for text in asked.parameters.all("i", MOST_ITEMS)}
    articles = with_texts(followed(asked.subscriber).filter(pk__in=keys))
    if _oldest_first(asked):
        articles = articles.order_by("published", "id")
    return in_json(
        {
            "direction": "ltr",
            "id": READING_LIST,
            "title": "Reading list",
            "updated": int(asked.now.timestamp()),
            "items": items_of(asked.subscriber, list(articles)),
        }
    )


@reads
def preferences(asked: Asked) -> HttpResponse:
    """None are kept."""
    return in_json({"prefs": []})


@reads
def stream_preferences(asked: Asked) -> HttpResponse:
    """None are kept."""
    return in_json({"streamprefs": {}})


def _selection(asked: Asked, streams: list[Stream]) -> StreamSelection:
    """What xt (exclude), it (include), ot and nt (seconds) say, beside the streams. Raises BadInput."""
    since, until = (asked.parameters.whole(name, 0) for name in ("ot", "nt"))
    return StreamSelection(
        streams=streams,
        include=asked.streams("it"),
        exclude=asked.streams("xt"),
        since=from_microseconds(since * 1_000_000) if since else None,
        until=from_microseconds(until * 1_000_000) if until else None,
    )


def _window(asked: Asked, most: int) -> Window:
    """What n, c and r say; an n above `most` gets a page of `most` and a continuation. Raises BadInput."""
    size = min(asked.parameters.whole("n", DEFAULT_ITEMS, least=1), most)
    return Window(size, asked.parameters.one("c"), _oldest_first(asked))


def _oldest_first(asked: Asked) -> bool:
    order = asked.parameters.one("r")
    if order not in {"", "d", "n", "o"}:
        raise BadInput("the order r is o (oldest first), or n or d (newest first)")
    return order == "o"


def _title(asked: Asked, stream: Stream) -> str:
    if stream.kind == "state":
        return stream.name.replace("-", " ").capitalize()
    if stream.kind == "label":
        return stream.name
    rows = asked.subscriber.subscriptions.filter(feed=feed_key(asked.subscriber, stream.name))
    titles = rows.values_list("title", "feed__title", "feed__url").first()
    return next((title for title in titles or () if title), "")


def _folder(name: str) -> dict[str, str]:
    return {"id": f"{LABEL}{name}", "label": name, "type": "folder"}


def _count(stream_id: str, feeds: list[Unread]) -> dict[str, str | int]:
    newest = max((each.newest for each in feeds if each.newest), default=None)
    return {
        "id": stream_id,
        "count": sum(each.count for each in feeds),
        "newestItemTimestampUsec": str(microseconds(newest) if newest else 0),
    }
