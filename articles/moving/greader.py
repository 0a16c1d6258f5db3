"""Accounts at servers that speak Google Reader's interface. Knows no Django.

FreshRSS, Miniflux, Inoreader, The Old Reader, BazQux, tt-rss with a plugin, and Freshet itself. Starred items
come first, then those of each label, then all, so that what matters most is there soonest. An item may come
several times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec

from articles.moving.http import Http, ServerAnswer, WaitError, check_status, typed_address, wrong_login
from articles.moving.streams import Subscriptions, item_of, label_of, subscriptions_of
from articles.moving.values import (
    ForeignAccount,
    MovedItem,
    MovedPart,
    MovingError,
    cursor_in,
    cursor_text,
    fields,
    objects,
    text,
)
from crawler.reading.limits import LIMITS
from crawler.text.characters import storable
from crawler.text.marking import gettext_noop

STARRED = "user/-/state/com.google/starred"
READING_LIST = "user/-/state/com.google/reading-list"
LABEL = "user/-/label/"
PLACES = ("", "/api/greader.php", "/p/api/greader.php", "/reader", "/greader")
"""Ends of addresses at which servers have the interface, behind the one that a person types."""
LONG_ID = "tag:google.com,2005:reader/item/"
MAX_DIGITS = 19
"""Of an id of 64 bits; The Old Reader's are 24 hexadecimal digits, which may all be decimal."""
MAX_LABELS = 500
MAX_PAGES = 50_000
"""Requests for items of one account, against servers whose continuations never end."""
FEWEST = 10
_ENDS = ("/reader/api/0", "/accounts/ClientLogin", "/i/index.php", "/i", "/index.php")
_NO_LABELS = ("folder", "active_search")
"""Types of what servers name among the labels."""
NO_FILTERS = gettext_noop("Filters and rules: this interface does not hand them out.")
UNKNOWN_STARS = gettext_noop("The times at which items were starred: this interface does not hand them out.")


class StreamCursor(msgspec.Struct, frozen=True, omit_defaults=True):
    """The place up to which an account was read.

    `phase` is "feeds", "starred", "labels" or "all"; `labels` are those still to be read, the first now, and
    `next` is the continuation within a stream. `by_ids` is for servers that name items before they give them.
    """

    base: str = ""
    phase: str = "feeds"
    labels: tuple[str, ...] = ()
    next: str = ""
    by_ids: bool = False
    pages: int = 0

    @property
    def stream(self) -> str:
        """Return the id of the stream that is being read."""
        if self.phase == "labels":
            return f"{LABEL}{self.labels[0]}"
        return STARRED if self.phase == "starred" else READING_LIST


def step(account: ForeignAccount, http: Http) -> MovedPart:
    """Return the next part of an account: its feeds, then its items. Raises MovingError.

    A server that asks to wait gets an empty part with the cursor as it was.
    """
    cursor = cursor_in(account.cursor, StreamCursor)
    try:
        session = _sign_in(account, cursor.base, http)
        cursor = msgspec.structs.replace(cursor, base=session.base)
        if cursor.phase == "feeds":
            return _feeds(session, cursor)
        return _items(session, cursor, max(account.items, FEWEST))
    except WaitError as error:
        return MovedPart(cursor=cursor_text(cursor), wait=error.seconds)


@dataclass(frozen=True, slots=True)
class _Session:
    """A signed-in client of the interface at `base`."""

    http: Http
    base: str
    headers: Mapping[str, str]

    def get(self, path: str, **query: object) -> ServerAnswer:
        url = f"{self.base}/reader/api/0/{path}"
        return self.http.get(url, {"output": "json", "client": "freshet", **query}, self.headers)

    def post(self, path: str, form: Mapping[str, object]) -> ServerAnswer:
        url = f"{self.base}/reader/api/0/{path}"
        return self.http.post(url, form, {"output": "json", "client": "freshet"}, self.headers)


def _sign_in(account: ForeignAccount, base: str, http: Http) -> _Session:
    """Return a client that is signed in, at a known base or at the first usual place that takes it."""
    refusal: MovingError | None = None
    for place in [base] if base else places(account.url):
        try:
            token = _token(account, place, http)
            return _Session(http, place, {"Authorization": f"GoogleLogin auth={token}"})
        except MovingError as error:
            if error.kind not in ("wrong-place", "not-found", "elsewhere"):
                raise
            if refusal is None and isinstance(error.__cause__, MovingError):
                refusal = error.__cause__
    raise refusal or MovingError(
        "no-interface",
        gettext_noop("no interface of Google Reader was found at this address; it may be switched off there"),
    )


def places(url: str) -> list[str]:
    """Return the addresses at which the interface may be, the likeliest first. Raises MovingError."""
    base = typed_address(url)
    for end in _ENDS:
        base = base.removesuffix(end).rstrip("/")
    bases = [f"{base}{place}" for place in PLACES if not place or not base.endswith(place)]
    return list(dict.fromkeys(bases))


def _token(account: ForeignAccount, base: str, http: Http) -> str:
    """Return the token for further requests: without a login the secret is one already.

    Raises MovingError, of the kind "wrong-place" if the interface is not here.
    """
    if not account.login:
        http_answer = http.get(
            f"{base}/reader/api/0/tag/list",
            {"output": "json"},
            {"Authorization": f"GoogleLogin auth={account.secret}"},
        )
        if http_answer.is_page or http_answer.status in (404, 405):
            raise MovingError("wrong-place", "")
        check_status(http_answer)
        return account.secret
    form = {
        "Email": account.login,
        "Passwd": account.secret,
        "service": "reader",
        "accountType": "HOSTED_OR_GOOGLE",
        "source": "freshet",
        "client": "freshet",
    }
    response = http.post(f"{base}/accounts/ClientLogin", form)
    return _token_in(response)


def _token_in(response: ServerAnswer) -> str:
    lines = dict(line.strip().partition("=")[::2] for line in response.text[:20_000].splitlines())
    token = lines.get("Auth", "")
    if response.status == 200 and token and not response.is_page and token.isascii() and token.isprintable():
        return token
    if response.is_page or response.status in (404, 405, 410):
        # Pages of people's sign-in answer so, too; whether it was the password is known after all places.
        raise MovingError("wrong-place", "") from (wrong_login() if response.status in (401, 403) else None)
    if response.status in (200, 400, 401, 403):
        raise wrong_login()
    check_status(response)
    raise MovingError("wrong-place", "")


def _feeds(session: _Session, cursor: StreamCursor) -> MovedPart:
    subscriptions = subscriptions_of(session.get("subscription/list").json())
    labels = tuple(_labels(session.get("tag/list").json(), subscriptions))[:MAX_LABELS]
    after = msgspec.structs.replace(cursor, phase="starred", labels=labels)
    return MovedPart(
        feeds=subscriptions.feeds, left_out=(NO_FILTERS, UNKNOWN_STARS), cursor=cursor_text(after)
    )


def _labels(reply: object, subscriptions: Subscriptions) -> Iterator[str]:
    """Yield the labels that are no folders. Some servers name the type, for others a feed must be inside."""
    excluded_names = set(subscriptions.folders)
    for tag in objects(fields(reply).get("tags")):
        name = storable(label_of(tag.get("id")), LIMITS.address)
        if name and name not in excluded_names and tag.get("type") not in _NO_LABELS:
            excluded_names.add(name)
            yield name


def _items(session: _Session, cursor: StreamCursor, page_size: int) -> MovedPart:
    if cursor.phase == "labels" and not cursor.labels:
        cursor = msgspec.structs.replace(cursor, phase="all")
    # The addresses behind ids, and the folders, which categories of items name as well.
    subscriptions = subscriptions_of(session.get("subscription/list").json())
    page, by_ids = _page(session, cursor, page_size)
    cursor = msgspec.structs.replace(cursor, by_ids=by_ids, pages=cursor.pages + 1)
    label = cursor.labels[0] if cursor.phase == "labels" else ""
    items = tuple(
        _moved(objects(page.get("items")), subscriptions, starred=cursor.phase == "starred", label=label)
    )
    continuation = storable(text(page.get("continuation")), LIMITS.address)
    is_last = not items or continuation in ("", cursor.next) or cursor.pages >= MAX_PAGES
    after = _next_stream(cursor) if is_last else msgspec.structs.replace(cursor, next=continuation)
    return MovedPart(items=items, cursor=cursor_text(after) if after else "")


def _moved(
    items: Iterable[Mapping[str, Any]], subscriptions: Subscriptions, *, starred: bool, label: str
) -> Iterator[MovedItem]:
    for item in items:
        yield item_of(item, subscriptions.urls, subscriptions.folders, starred=starred, label=label)


def _next_stream(cursor: StreamCursor) -> StreamCursor | None:
    """Return the begin of the stream after this one, None after the last."""
    if cursor.phase == "all" or cursor.pages >= MAX_PAGES:
        return None
    labels = cursor.labels[1:] if cursor.phase == "labels" else cursor.labels
    return msgspec.structs.replace(cursor, phase="labels" if labels else "all", labels=labels, next="")


def _page(session: _Session, cursor: StreamCursor, page_size: int) -> tuple[Mapping[str, Any], bool]:
    """Return a page of a stream, and whether the server names its items first."""
    if not cursor.by_ids:
        try:
            page = _smaller(session, cursor, page_size)
            if isinstance(page.get("items"), list):
                return page, False
        except MovingError as error:
            if error.kind not in ("not-found", "not-understood"):
                raise
    return _page_by_ids(session, cursor, page_size), True


def _smaller(session: _Session, cursor: StreamCursor, page_size: int) -> Mapping[str, Any]:
    """Return a page of a stream, with fewer items if they are too large together."""
    # The Old Reader takes the stream from the query, others from the path.
    query: dict[str, object] = {"n": page_size, "s": cursor.stream}
    if cursor.next:
        query["c"] = cursor.next
    path = f"stream/contents/{quote(cursor.stream, safe='/-')}"
    try:
        return fields(session.get(path, **query).json())
    except MovingError as error:
        if error.kind != "too-large" or page_size <= FEWEST:
            raise
    return fields(session.get(path, **query | {"n": max(page_size // 10, FEWEST)}).json())


def _long_id(key: str) -> str:
    """Return the long form of a decimal id, which all servers take; Miniflux reads digits as hexadecimal."""
    digits = key.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= MAX_DIGITS):
        return key
    return f"{LONG_ID}{int(key) % 2**64:016x}"


def _page_by_ids(session: _Session, cursor: StreamCursor, page_size: int) -> Mapping[str, Any]:
    """Return a page of a server such as Miniflux, which names the items of a stream and then gives them."""
    query: dict[str, object] = {"s": cursor.stream, "n": page_size}
    if cursor.next:
        query["c"] = cursor.next
    id_page = fields(session.get("stream/items/ids", **query).json())
    rows = objects(id_page.get("itemRefs"))[:page_size]
    ids = [_long_id(key) for row in rows if (key := text(row.get("id")))]
    if not ids:
        return {}
    token = session.get("token")
    check_status(token)
    form = {"i": ids, "T": token.text.strip()[:1000]}
    contents = fields(session.post("stream/items/contents", form).json())
    return {"items": contents.get("items"), "continuation": id_page.get("continuation")}
