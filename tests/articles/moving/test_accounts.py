"""Moving in from servers that speak Google Reader's, Fever's or Miniflux's interface."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import msgspec
import pytest

from articles.moving import fever, greader, http, miniflux, program
from articles.moving.http import Http
from articles.moving.values import ForeignAccount, ForeignFilter, MovedFeed, MovedItem, MovedPart, MovingError
from tests.articles.moving.reader_servers import (
    HTML,
    LOGIN,
    SECRET,
    TOKEN,
    Asked,
    Fever,
    GoogleReader,
    Miniflux,
    ReaderServer,
    Said,
)

READ, STARRED = "user/1005/state/com.google/read", "user/-/state/com.google/starred"
READING_LIST = "user/-/state/com.google/reading-list"


@pytest.fixture(autouse=True)
def no_spacing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "SPACING", 0.0)


def parts(account: ForeignAccount, most: int = 60) -> Iterator[MovedPart]:
    """Yield all parts, each by a client of its own, as other processes would ask for them."""
    cursor = ""
    for _ in range(most):
        with Http("Freshet/test") as client:
            part = program.step(
                ForeignAccount(
                    account.kind, account.url, account.login, account.secret, cursor, account.items
                ),
                client,
            )
        yield part
        cursor = part.cursor
        if not cursor:
            return
    raise AssertionError("it does not end")


def all_of(account: ForeignAccount) -> tuple[list[MovedFeed], list[MovedItem]]:
    every = list(parts(account))
    return [feed for part in every for feed in part.feeds], [item for part in every for item in part.items]


def item(number: int, stream: str, *categories: str, **rest: Any) -> dict[str, Any]:
    return {
        "id": f"tag:google.com,2005:reader/item/{number:016x}",
        "title": f"Fish &amp; Chips {number}",
        "published": 1_700_000_000 + number,
        "crawlTimeMsec": "1700000000123",
        "categories": [READING_LIST, *categories],
        "canonical": [{"href": f"https://one.example/{number}"}],
        "summary": {"content": f"<p onclick='x()'>Text {number}</p><script>alert(1)</script>"},
        "origin": {"streamId": stream, "title": "One"},
        "author": "Ada",
    } | rest


def account(server: ReaderServer, kind: str = "greader", **rest: Any) -> ForeignAccount:
    return ForeignAccount(kind, server.url, **{"login": LOGIN, "secret": SECRET, "items": 10} | rest)


def numeric() -> GoogleReader:
    """An account as FreshRSS has it: numbers for feeds, folders with a type."""
    label = "user/-/label/To read/later"
    items = [
        item(n, "feed/12", *([READ] if n % 2 else []), *([label] if n == 3 else []), "user/-/label/News")
        for n in range(25)
    ]
    starred = [item(100, "feed/13", STARRED, alternate=[{"href": "https://two.example/x"}], canonical=[])]
    return GoogleReader(
        "/api/greader.php",
        {READING_LIST: items, STARRED: starred, label: [items[3]]},
        [
            {
                "id": "feed/12",
                "title": "One &amp; only",
                "url": "https://one.example/feed",
                "categories": [{"id": "user/-/label/News", "label": "News"}],
            },
            {"id": "feed/13", "title": "Two", "url": "https://two.example/feed", "categories": []},
        ],
        [
            {"id": STARRED},
            {"id": "user/-/label/News", "type": "folder"},
            {"id": "user/-/label/Empty folder", "type": "folder"},
            {"id": label, "type": "tag"},
        ],
    )


def test_google_reader_with_numbers_for_feeds() -> None:
    with ReaderServer(numeric()) as server:
        feeds, items = all_of(account(server))
    assert feeds == [
        MovedFeed("https://one.example/feed", "One & only", "News"),
        MovedFeed("https://two.example/feed", "Two"),
    ]
    first, labelled, *rest = items
    assert (first.feed_url, first.url, first.starred) == (
        "https://two.example/feed",
        "https://two.example/x",
        0.0,
    )
    assert (labelled.labels, labelled.read, labelled.starred) == (("To read/later",), True, None)
    assert [one.url for one in rest] == [f"https://one.example/{n}" for n in range(25)]
    assert [one.read for one in rest] == [bool(n % 2) for n in range(25)]
    assert [one.labels for one in rest if one.labels] == [("To read/later",)]
    assert rest[4] == MovedItem(
        feed_url="https://one.example/feed",
        url="https://one.example/4",
        title="Fish & Chips 4",
        author="Ada",
        content="<p>Text 4</p>",
        published=1_700_000_004.0,
        text="Text 4",
    )


def test_the_place_of_the_interface_is_looked_for_once() -> None:
    with ReaderServer(numeric()) as server:
        every = list(parts(account(server)))
        logins = [asked.path for asked in server.asked if asked.path.endswith("ClientLogin")]
    assert logins[:2] == ["/accounts/ClientLogin", "/api/greader.php/accounts/ClientLogin"]
    assert set(logins[2:]) == {"/api/greader.php/accounts/ClientLogin"}
    assert all(SECRET not in part.cursor and TOKEN not in part.cursor for part in every)


def test_google_reader_with_addresses_for_feeds() -> None:
    stream = "feed/https://one.example/feed?a=b"
    server = GoogleReader(
        streams={READING_LIST: [item(1, stream, guid="tag:one,1", content={"content": "x" * 600_000})]},
        subscriptions=[
            {"id": stream, "title": "One", "categories": [{"id": "user/7/label/N", "label": "N"}]}
        ],
    )
    with ReaderServer(server) as running:
        feeds, items = all_of(account(running))
    assert feeds == [MovedFeed("https://one.example/feed?a=b", "One", "N")]
    assert [(one.feed_url, one.identity, len(one.content)) for one in items] == [
        ("https://one.example/feed?a=b", "tag:one,1", 500_000)
    ]


def test_a_continuation_that_repeats_ends_a_stream() -> None:
    items = [item(n, "feed/12") for n in range(10)]
    with ReaderServer(GoogleReader(streams={READING_LIST: items, STARRED: items}, repeats=True)) as server:
        _, found = all_of(account(server))
    assert len(found) == 40


def test_a_server_that_names_items_first() -> None:
    items = [item(n, "feed/12", READ) | {"id": str(n)} for n in range(25)]
    with ReaderServer(GoogleReader(streams={READING_LIST: items}, names_first=True)) as server:
        _, found = all_of(account(server))
    assert [one.url for one in found] == [f"https://one.example/{n}" for n in range(25)]


def test_a_server_that_asks_to_wait() -> None:
    busy = Said("slow down", 429, {"Retry-After": "7"})
    with ReaderServer(numeric(), [None, None, busy]) as server:
        every = list(parts(account(server)))
    assert (every[0].wait, every[0].feeds, bool(every[0].cursor)) == (7.0, (), True)
    assert len(every[1].feeds) == 2
    assert sum(len(part.items) for part in every) == 27


@pytest.mark.parametrize(
    ("elsewhere", "wrong", "kind"),
    [
        (HTML, Said("Error=BadAuthentication\n", 401), "wrong-login"),
        (HTML, Said("Error=BadAuthentication\n", 200, {"Content-Type": "text/plain"}), "wrong-login"),
        (HTML, HTML, "no-interface"),
        (HTML, Said("<html>forbidden", 403, {"Content-Type": "text/html"}), "wrong-login"),
        (Said("", 302, {"Location": "https://other.example/"}), HTML, "no-interface"),
    ],
)
def test_a_wrong_password(elsewhere: Said, wrong: Said, kind: str) -> None:
    reader = GoogleReader("/api/greader.php", elsewhere=elsewhere, wrong=wrong)
    with ReaderServer(reader) as server, pytest.raises(MovingError) as caught:
        all_of(account(server, secret="wrong"))
    assert caught.value.kind == kind
    assert "wrong" not in caught.value.detail and caught.value.detail


def test_a_token_in_the_place_of_a_password() -> None:
    with ReaderServer(numeric()) as server:
        feeds, _ = all_of(account(server, login="", secret=TOKEN))
    assert len(feeds) == 2


def test_texts_that_nothing_can_store() -> None:
    broken = item(
        1,
        "feed/12",
        "user/-/label/a\ud800b\0",
        title="\ud800x\0",
        canonical=[{"href": "https://one.example/?a=1&copy=2&amp;b=3"}],
        author=["no", "text"],
        published=1e400,
        crawlTimeMsec=None,
        origin=None,
    )
    tags = [{"id": "user/-/label/a\ud800b\0", "type": "tag"}, {"id": 5}]
    with ReaderServer(GoogleReader(streams={READING_LIST: [broken]}, tags=tags)) as server:
        every = list(parts(account(server)))
    (found,) = [one for part in every for one in part.items]
    assert (found.title, found.labels, found.url) == ("x", ("ab",), "https://one.example/?a=1&copy=2&b=3")
    assert (found.author, found.published, found.feed_url) == ("", None, "")
    for part in every:
        msgspec.msgpack.encode(part)


def test_places() -> None:
    assert (
        greader.places("rss.example.org/api/greader.php/?x=1")[0] == "https://rss.example.org/api/greader.php"
    )
    assert greader.places("http://rss.example.org/i/?c=feed")[1] == "http://rss.example.org/api/greader.php"
    assert greader.places("https://bazqux.com/reader/api/0/")[0] == "https://bazqux.com"
    for bad in ("", "ftp://x.example", "https://ada:secret@x.example", "https://x.example:port", "a b"):
        with pytest.raises(MovingError):
            greader.places(bad)


def test_a_password_goes_to_no_other_server() -> None:
    def redirect(asked: Asked) -> Said:
        return Said("", 307, {"Location": other.url + asked.path})

    with ReaderServer(numeric()) as other, ReaderServer(redirect) as server:
        for kind in ("greader", "fever", "miniflux"):
            with pytest.raises(MovingError):
                all_of(account(server, kind))
        assert other.asked == []


def test_a_redirect_on_the_same_server() -> None:
    account_of = numeric()

    def moved(asked: Asked) -> Said:
        if asked.path.startswith("/old/"):
            return Said("", 301, {"Location": asked.path.removeprefix("/old")})
        return account_of(asked)

    with ReaderServer(moved) as server:
        part = next(parts(ForeignAccount("greader", f"{server.url}/old/api/greader.php", LOGIN, SECRET)))
    assert part.cursor


def test_an_answer_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_ANSWER", 20_000)
    items = [item(n, "feed/12", content={"content": "x" * 400}) for n in range(120)]
    with ReaderServer(GoogleReader(streams={READING_LIST: items})) as server:
        _, found = all_of(account(server, items=100))
    assert len(found) == 120


def test_answers_that_are_not_understood() -> None:
    for body in ("", "[]", "{", "null", '{"subscriptions": 5, "feeds": "x"}', "[" * 5000):
        reader = GoogleReader()

        def answer(asked: Asked, reader: GoogleReader = reader, body: str = body) -> Said:
            return reader(asked) if asked.path.endswith("ClientLogin") else Said(body)

        with ReaderServer(answer) as server:
            for kind in ("greader", "fever", "miniflux"):
                try:
                    all_of(account(server, kind))
                except MovingError as error:
                    assert error.detail


def test_fever() -> None:
    rows = [
        {
            "id": n,
            "feed_id": 7,
            "title": "A &lt; B",
            "author": "Ada",
            "html": f"<p>{n}</p>",
            "url": f"https://one.example/{n}",
            "is_saved": int(n in (3, 120)),
            "is_read": n % 2,
            "created_on_time": 1_700_000_000 + n,
        }
        for n in range(1, 131)
    ]
    with ReaderServer(Fever(items=rows)) as server:
        every = list(parts(account(server, "fever", items=100)))
    assert [feed for part in every for feed in part.feeds] == [
        MovedFeed("https://one.example/feed", "One", "Café"),
        MovedFeed("https://nine.example/feed", "Nine"),
    ]
    items = [one for part in every for one in part.items]
    assert [one.url for one in items[:2]] == ["https://one.example/3", "https://one.example/120"]
    assert [one.url for one in items[2:]] == [row["url"] for row in rows]
    assert [one.starred for one in items[:4]] == [0.0, 0.0, None, None]
    assert (items[2].title, items[2].read, items[3].read, items[2].text) == ("A < B", True, False, "1")
    assert items[2].published == 1_700_000_001.0
    assert every[-1].about == 130


def test_fever_with_a_wrong_password() -> None:
    with ReaderServer(Fever("/fever/")) as server, pytest.raises(MovingError) as caught:
        all_of(account(server, "fever", secret="wrong"))
    assert caught.value.kind == "wrong-login"
    assert fever.places("x.example/fever/")[0] == "https://x.example/fever/"


def flux() -> Miniflux:
    feed = {"id": 4, "feed_url": "https://one.example/feed", "title": "One", "category": {"title": "News"}}
    rules = {
        "blocklist_rules": "(?i)casino",
        "keeplist_rules": "",
        "block_filter_entry_rules": "EntryTitle=x",
    }
    entries = [
        {
            "id": n,
            "feed_id": 4,
            "status": "read" if n < 12 else "unread",
            "title": f"Title {n}",
            "url": f"https://one.example/{n}",
            "author": "Ada",
            "content": '<a href="/about">x</a>',
            "published_at": "2026-03-04T05:06:07Z",
            "starred": n == 20,
            "feed": feed,
        }
        for n in range(1, 26)
    ]
    user = {"username": "ada", "keep_filter_entry_rules": "EntryTitle=good"}
    return Miniflux([feed | rules | {"scraper_rules": "article"}], user, entries)


@pytest.mark.parametrize("way", [{}, {"login": "", "secret": TOKEN}])
def test_miniflux(way: dict[str, str]) -> None:
    with ReaderServer(flux()) as server:
        every = list(parts(account(server, "miniflux", **way)))
    assert every[0].feeds == (MovedFeed("https://one.example/feed", "One", "News"),)
    assert every[0].filters == (
        ForeignFilter("miniflux", json.dumps({"keep_filter_entry_rules": "EntryTitle=good"})),
        ForeignFilter(
            "miniflux",
            json.dumps({"blocklist_rules": "(?i)casino", "block_filter_entry_rules": "EntryTitle=x"}),
            "https://one.example/feed",
        ),
    )
    assert miniflux.NO_REWRITING in every[0].left_out
    items = [one for part in every for one in part.items]
    assert [one.url for one in items] == [f"https://one.example/{n}" for n in (20, *range(1, 26))]
    assert (items[0].starred, items[1].starred, items[1].read, items[0].read) == (0.0, None, True, False)
    assert items[0].content.startswith('<a href="https://one.example/about"')
    assert items[0].published == 1772600767.0
    assert every[-1].about == 25


def test_miniflux_with_a_wrong_token() -> None:
    with ReaderServer(flux()) as server, pytest.raises(MovingError) as caught:
        all_of(account(server, "miniflux", login="", secret="wrong"))
    assert caught.value.kind == "wrong-login"


def test_a_server_that_does_not_answer() -> None:
    with ReaderServer(flux()) as server:
        gone = account(server, "miniflux")
    with pytest.raises(MovingError) as caught:
        all_of(gone)
    assert caught.value.kind == "no-server"


def test_a_secret_is_in_no_text() -> None:
    assert SECRET not in repr(ForeignAccount("fever", "https://x.example", LOGIN, SECRET))


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"Retry-After": "30"}, 30, 30),
        ({"Retry-After": "-5"}, 1, 1),
        ({"Retry-After": "nan"}, 1, 1),
        ({"Retry-After": "inf"}, 86_400, 86_400),
        ({"Retry-After": "soon"}, 60, 60),
        ({}, 60, 60),
        ({"X-Reader-Limits-Reset-After": "4000.5"}, 4000.5, 4000.5),
    ],
)
def test_the_time_to_wait(headers: dict[str, str], least: float, most: float) -> None:
    with ReaderServer(flux(), [Said("", 429, headers)]) as server:
        part = next(parts(account(server, "miniflux")))
    assert least <= part.wait <= most
    assert part.cursor


def test_the_time_to_wait_may_be_a_date() -> None:
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=3600), usegmt=True)
    with ReaderServer(flux(), [Said("", 429, {"Retry-After": until})]) as server:
        part = next(parts(account(server, "miniflux")))
    assert 3000 <= part.wait <= 3601


def test_a_server_that_is_out_of_order() -> None:
    for status in (500, 503):
        with ReaderServer(lambda _, status=status: Said("", status)) as server:
            for kind in ("greader", "fever", "miniflux"):
                with pytest.raises(MovingError) as caught:
                    all_of(account(server, kind))
                assert caught.value.kind == "no-server"


def test_requests_keep_their_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "SPACING", 0.1)
    with ReaderServer(flux()) as server, Http() as client:
        begun = time.monotonic()
        for _ in range(3):
            client.get(f"{server.url}/v1/me")
        assert time.monotonic() - begun >= 0.2


def test_a_server_that_redirects_what_it_does_not_know_without_end() -> None:
    """FreshRSS sends every address outside of its interface to `./i/`, as relative as that."""
    server_of = numeric()
    server_of.elsewhere = Said("", 302, {"Location": "./i/"})
    with ReaderServer(server_of) as server:
        feeds, _items = all_of(account(server))
    assert feeds
