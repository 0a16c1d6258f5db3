"""Moving in: feeds, folders, marks, filters, old articles; resumed, stopped, rehearsed."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from articles.models import Article, Mark, Subscriber
from articles.moving import files, taking
from articles.moving.models import Move
from articles.moving.taking import begin_move, go_on, stop
from articles.moving.values import (
    ForeignAccount,
    ForeignFilter,
    MovedFeed,
    MovedItem,
    MovedPart,
    MovingError,
)
from articles.moving.wording import came, sentence_of
from articles.personal.following import follow
from crawler.notices.models import Rule
from crawler.web.limits import LimitReached
from feeds.models import Feed
from tests.factories import make_article, make_feed, make_subscriber, make_token, make_user
from tests.html import flat

pytestmark = pytest.mark.django_db
BACKEND = "crawler.accounts.backends.NameOrMailBackend"
NEWS, OLD = "https://news.example/feed", "https://old.example/feed"
AT = 1_700_000_000.0
NOW = datetime.now(UTC)


class OtherReader:
    """A server whose parts come one after the other; an exception in their place is raised once."""

    def __init__(self, *parts: MovedPart | MovingError) -> None:
        self.parts, self.asked = list(parts), list[ForeignAccount]()

    def next_part(self, account: ForeignAccount) -> MovedPart:
        self.asked.append(account)
        part = self.parts[int(account.cursor or 0)]
        if isinstance(part, MovingError):
            self.parts.pop(int(account.cursor or 0))
            raise part
        return part


def item(number: int, **fields: Any) -> MovedItem:
    values = {
        "feed_url": NEWS,
        "url": f"https://news.example/{number}",
        "title": f"Item {number}",
        "published": AT + number,
        "content": f"<p>Text {number}</p>",
        "text": f"Text {number}",
    }
    return MovedItem(**(values | fields))


@pytest.fixture
def reader() -> Subscriber:
    return Subscriber.objects.create(user=make_user("mara", staff=True))


def move_in(
    monkeypatch: pytest.MonkeyPatch, reader: Subscriber, *parts: MovedPart | MovingError,
    is_rehearsal: bool = False, begin: bool = True,
) -> tuple[Move, OtherReader]:  # fmt: skip
    other = OtherReader(*parts)
    monkeypatch.setattr(taking, "next_part", other.next_part)
    move = begin_move(reader, "greader", "https://rss.example", "mara", "water", is_rehearsal=is_rehearsal)
    if begin:
        finish(move)
    return move, other


def finish(move: Move) -> None:
    now = datetime.now(UTC)
    while (pause := go_on(move.pk, now)) is not None:
        now += timedelta(seconds=pause + 0.001)
        Feed.objects.filter(last_attempt=None).update(last_attempt=now)
    move.refresh_from_db()


def visited(url: str = NEWS, **fields: Any) -> Feed:
    return make_feed(url, last_attempt=datetime.now(UTC), last_success=datetime.now(UTC), **fields)


def test_all_that_an_account_has_comes(monkeypatch: pytest.MonkeyPatch, reader: Subscriber) -> None:
    feed = visited(title="News")
    here = make_article(feed, identity="tag:1", url="https://news.example/1", title="Item 1")
    move, other = move_in(
        monkeypatch,
        reader,
        MovedPart(feeds=(MovedFeed(NEWS, "My news", "Sea/Boats"), MovedFeed(OLD, "Old", "")), cursor="1"),
        MovedPart(
            items=(
                item(1, read=True, starred=AT, labels=("Ferry",)),
                item(2, read=True),
                item(3),
                item(4, feed_url=OLD, starred=0.0, url="https://old.example/4"),
                item(5, feed_url="https://gone.example/", starred=AT, url="https://gone.example/5"),
                item(6, feed_url="https://gone.example/", url="https://gone.example/6"),
            ),
            left_out=("rules are not told",),
            cursor="2",
        ),
        MovedPart(filters=(ForeignFilter("miniflux", '{"block_rules": "EntryTitle=(?i)deal\\nX=1"}'),)),
    )
    assert move.state == Move.State.DONE
    assert {account.secret for account in other.asked} == {"water"}
    assert move.sealed == ""
    followed = {row.feed.url: (row.folder, row.title) for row in reader.subscriptions.all()}
    assert followed == {NEWS: ("Sea/Boats", "My news"), OLD: ("", "")}  # a new feed has the title itself
    marks = {mark.article.url: mark for mark in Mark.objects.filter(subscriber=reader)}
    first = marks["https://news.example/1"]
    assert (first.article_id, bool(first.read), first.labels) == (here.pk, True, ["Ferry"])
    assert first.starred == datetime.fromtimestamp(AT, UTC)
    second = Article.objects.get(url="https://news.example/2")
    assert (second.title, second.text, second.content) == ("Item 2", "Text 2", "<p>Text 2</p>")
    assert second.published == datetime.fromtimestamp(AT + 2, UTC)
    assert Article.objects.get(url="https://news.example/3").pk not in {m.article_id for m in marks.values()}
    assert marks["https://old.example/4"].starred is not None
    (saved,) = reader.saved_pages.all()
    assert (saved.article.url, saved.article.text) == ("https://gone.example/5", "Text 5")
    assert Mark.objects.get(article=saved.article).starred is not None
    assert Article.objects.filter(url="https://gone.example/6").count() == 0
    assert Rule.objects.get().expression == "(?i)deal"
    assert "X=1" in move.left_out
    assert "rules are not told" in move.left_out
    assert move.counts["articles"] == 3
    assert sentence_of(move) == "It is all here."
    assert "2 feeds" in came(move)


def test_items_wait_for_the_first_visit_to_their_feed(
    monkeypatch: pytest.MonkeyPatch, reader: Subscriber
) -> None:
    move, _other = move_in(
        monkeypatch, reader, MovedPart(feeds=(MovedFeed(NEWS),), items=(item(1, read=True),)), begin=False
    )
    now = datetime.now(UTC)
    assert go_on(move.pk, now) == 0.0
    assert go_on(move.pk, now) == pytest.approx(30.0)
    assert not Article.objects.exists()
    assert go_on(move.pk, now + timedelta(seconds=1)) == pytest.approx(29.0)
    feed = Feed.objects.get(url=NEWS)
    make_article(feed, identity="guid-1", url="https://news.example/1", title="Item 1")
    Feed.objects.update(last_attempt=now)
    finish(move)
    assert Article.objects.count() == 1
    assert Mark.objects.get().read is not None


def test_a_process_that_ends_in_the_middle_loses_and_doubles_nothing(
    monkeypatch: pytest.MonkeyPatch, reader: Subscriber
) -> None:
    visited()
    parts = [
        MovedPart(items=tuple(item(n) for n in range(k * 10, k * 10 + 10)), cursor=str(k + 2))
        for k in range(3)
    ]
    parts[-1] = MovedPart(items=parts[-1].items)
    move, _other = move_in(
        monkeypatch, reader, MovedPart(feeds=(MovedFeed(NEWS),), cursor="1"), *parts, begin=False
    )
    stored = taking._store_items
    calls: Iterator[int] = iter(range(100))

    def fail_at_times(*arguments: Any) -> None:
        stored(*arguments)
        if next(calls) % 2 == 0:
            raise OSError("killed")

    monkeypatch.setattr(taking, "_store_items", fail_at_times)
    for _ in range(40):
        try:
            if go_on(move.pk, datetime.now(UTC)) is None:
                break
        except OSError:
            continue
    move.refresh_from_db()
    assert move.state == Move.State.DONE
    assert Article.objects.count() == 30
    assert move.counts["items"] == 30


def test_of_two_processes_one_keeps_a_part(monkeypatch: pytest.MonkeyPatch, reader: Subscriber) -> None:
    move, other = move_in(
        monkeypatch, reader, MovedPart(feeds=(MovedFeed(NEWS),), items=(item(1),), cursor="1"), MovedPart(),
        begin=False,
    )  # fmt: skip
    asked = other.next_part

    def twice(account: ForeignAccount) -> MovedPart:
        monkeypatch.setattr(taking, "next_part", asked)
        go_on(move.pk, datetime.now(UTC))
        return asked(account)

    monkeypatch.setattr(taking, "next_part", twice)
    go_on(move.pk, datetime.now(UTC))
    move.refresh_from_db()
    assert (move.parts_read, move.counts["items"], move.parts.count()) == (1, 1, 1)


def test_a_rehearsal_changes_nothing(monkeypatch: pytest.MonkeyPatch, reader: Subscriber) -> None:
    visited()
    items = tuple(item(number, read=True) for number in range(taking.REHEARSED))
    move, other = move_in(
        monkeypatch,
        reader,
        MovedPart(
            feeds=(MovedFeed(NEWS, folder="Sea"), MovedFeed(OLD)),
            filters=(ForeignFilter("freshrss", '{"read": ["intitle:ferry", "date:P1W"]}', NEWS),),
            cursor="1",
            about=50_000,
        ),
        MovedPart(items=items, cursor="2", about=50_000),
        is_rehearsal=True,
    )
    assert (move.state, len(other.asked)) == (Move.State.DONE, 2)
    assert not reader.subscriptions.exists()
    assert not Mark.objects.exists()
    assert not Rule.objects.exists()
    assert Feed.objects.count() == 1
    assert came(move) == [
        "2 feeds", "1 folder", "1 rule", "1,000 articles", "1,000 that you have read",
        "Only the first 1,000 articles were looked at, of about 50,000.",
    ]  # fmt: skip
    assert move.left_out == ["date:P1W"]


def test_readers_make_no_articles_that_others_see(monkeypatch: pytest.MonkeyPatch) -> None:
    feed = visited()
    known = make_article(feed, url="https://news.example/1", identity="guid-1")
    plain = make_subscriber("olga")
    move, _other = move_in(
        monkeypatch,
        plain,
        MovedPart(feeds=(MovedFeed(NEWS),), items=(item(1, starred=AT), item(2, starred=AT))),
    )
    assert move.state == Move.State.DONE
    assert list(Article.objects.values_list("pk", flat=True)) == [known.pk]
    assert Mark.objects.get(subscriber=plain).article_id == known.pk
    assert plain.carried_marks.count() == 1
    assert "1 mark waits for its article." in came(move)


def test_failures_are_named_and_tried_again(monkeypatch: pytest.MonkeyPatch, reader: Subscriber) -> None:
    busy = MovingError("too-slow", "the server does not answer in time")
    move, _other = move_in(monkeypatch, reader, busy, MovedPart(feeds=(MovedFeed(NEWS),)), begin=False)
    now = datetime.now(UTC)
    pause = go_on(move.pk, now)
    assert pause == 60.0
    move.refresh_from_db()
    assert sentence_of(move) == "It goes on by itself: the server does not answer in time."
    assert go_on(move.pk, now) == pytest.approx(60.0)
    assert go_on(move.pk, now + timedelta(seconds=61)) is None
    move.refresh_from_db()
    assert (move.state, move.failure) == (Move.State.DONE, "")
    wrong = MovingError("wrong-login", "name or password are not accepted there")
    move, _other = move_in(monkeypatch, reader, wrong)
    assert (move.state, move.sealed) == (Move.State.FAILED, "")
    assert sentence_of(move) == "It ended: name or password are not accepted there."
    many = [MovingError("too-slow", "slow") for _ in range(9)]
    move, other = move_in(monkeypatch, reader, *many)
    assert (move.state, len(other.asked)) == (Move.State.FAILED, taking.MAX_ATTEMPTS)


def test_a_server_that_asks_to_wait_is_not_asked_before(
    monkeypatch: pytest.MonkeyPatch, reader: Subscriber
) -> None:
    move, other = move_in(
        monkeypatch,
        reader,
        MovedPart(cursor="1", wait=600.0),
        MovedPart(feeds=(MovedFeed(NEWS),)),
        begin=False,
    )
    now = datetime.now(UTC)
    assert go_on(move.pk, now) == pytest.approx(600.0)
    assert go_on(move.pk, now + timedelta(seconds=500)) == pytest.approx(100.0)
    assert len(other.asked) == 1
    assert go_on(move.pk, now + timedelta(seconds=601)) is None


def test_it_can_be_stopped(monkeypatch: pytest.MonkeyPatch, reader: Subscriber) -> None:
    move, _other = move_in(
        monkeypatch, reader, MovedPart(feeds=(MovedFeed(NEWS),), items=(item(1),), cursor="1"), begin=False
    )
    go_on(move.pk, datetime.now(UTC))
    stop(move)
    assert go_on(move.pk, datetime.now(UTC)) is None
    move.refresh_from_db()
    assert (move.state, move.sealed, move.parts.count()) == (Move.State.STOPPED, "", 0)


def test_a_person_has_two_at_a_time(reader: Subscriber) -> None:
    for _ in range(taking.MAX_OPEN):
        begin_move(reader, "fever", "https://a.example", "a", "b", is_rehearsal=True)
    with pytest.raises(LimitReached):
        begin_move(reader, "fever", "https://a.example", "a", "b", is_rehearsal=True)


def test_pages(monkeypatch: pytest.MonkeyPatch, client: Client, reader: Subscriber) -> None:
    client.force_login(reader.user, BACKEND)
    assert "Move in from another reader" in client.get("/me/move/").text
    assert "Move in" in client.get("/settings/data/").text
    wrong = client.post("/me/move/", {"kind": "greader"})
    assert wrong.status_code == 422
    assert "Write the address of the other reader." in wrong.text
    form = {"kind": "greader", "url": "rss.example", "login": "a", "secret": "b", "rehearsal": "1"}
    begun = client.post("/me/move/", form)
    move = Move.objects.get()
    assert (begun.url, move.url, move.is_rehearsal) == (f"/me/move/{move.pk}/", "https://rss.example", True)
    page = client.get(begun.url)
    assert "hx-trigger" in page.text
    assert "0 articles are read at the other reader so far." in flat(page.text)
    part = client.get(begun.url, headers={"HX-Request": "true"})
    assert "<html" not in part.text
    client.post(f"/me/move/{move.pk}/stop/")
    assert "It was stopped." in client.get(begun.url).text
    client.force_login(make_user("olga"), BACKEND)
    assert client.get(begun.url).status_code == 404
    opml = '<opml version="2.0"><body><outline text="a" xmlUrl="https://a.example/f"/></body></opml>'
    monkeypatch.setattr(taking, "read_export_file", lambda *_: MovedPart(feeds=(MovedFeed(NEWS),)))
    sent = client.post("/me/move/", {"kind": "file", "file": SimpleUploadedFile("f.opml", opml.encode())})
    assert "It is all here." in client.get(sent.url).text


def test_the_api(monkeypatch: pytest.MonkeyPatch, client: Client, reader: Subscriber) -> None:
    headers = {"Authorization": make_token(reader.user)}

    def post(path: str, body: object) -> Any:
        text = json.dumps(body)
        return client.post(f"/api/moves/{path}", text, content_type="application/json", headers=headers)

    assert post("", {"kind": "greader"}).status_code == 400
    begun = post("", {"kind": "greader", "url": "https://rss.example", "login": "a", "secret": "water"})
    assert begun.status_code == 201
    assert "water" not in begun.text
    key = begun.json()["id"]
    assert client.get(f"/api/moves/{key}/", headers=headers).json()["state"] == "reading"
    assert post(f"{key}/stop/", {}).json()["state"] == "stopped"
    monkeypatch.setattr(taking, "read_export_file", lambda *_: MovedPart(feeds=(MovedFeed(NEWS),)))
    file = SimpleUploadedFile("f.opml", b"<opml/>")
    sent = client.post("/api/moves/", {"file": file, "rehearsal": "true"}, headers=headers)
    assert (sent.status_code, sent.json()["counts"]["feeds"], sent.json()["state"]) == (201, 1, "done")


def test_the_command(monkeypatch: pytest.MonkeyPatch, reader: Subscriber, tmp_path: Path) -> None:
    def said(*arguments: str) -> str:
        out = StringIO()
        call_command("import_from", "mara", *arguments, stdout=out, stderr=StringIO())
        return out.getvalue()

    other = OtherReader(MovedPart(feeds=(MovedFeed(NEWS),), left_out=("a sentence",)))
    monkeypatch.setattr(taking, "next_part", other.next_part)
    monkeypatch.setenv("FRESHET_IMPORT_SECRET", "water")
    assert said("greader", "https://rss.example", "--login", "m") == (
        "It is all here.\n  1 feed\n  left out: a sentence\n"
    )
    assert other.asked[0].secret == "water"
    with pytest.raises(CommandError, match="No such file"):
        said("file", str(tmp_path / "none"))
    other.parts[0] = MovingError("wrong-login", "name or password are not accepted there")
    with pytest.raises(CommandError, match="It ended"):
        said("greader", "https://rss.example")


def test_many_items_take_a_bounded_number_of_queries(
    monkeypatch: pytest.MonkeyPatch, reader: Subscriber, django_assert_max_num_queries: Any
) -> None:
    visited()
    items: Sequence[MovedItem] = [item(number, read=True) for number in range(taking.ITEMS)]
    move, _other = move_in(
        monkeypatch, reader, MovedPart(feeds=(MovedFeed(NEWS),), items=tuple(items)), begin=False
    )
    go_on(move.pk, datetime.now(UTC))
    with django_assert_max_num_queries(60):
        go_on(move.pk, datetime.now(UTC))
    assert Mark.objects.count() == taking.ITEMS


def test_what_moves_out_can_move_in(
    client: Client, reader: Subscriber, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    feed = visited(title="News")
    follow(reader, feed, folder="Sea", title="Mine")
    stranger = make_article(make_feed(), title="Of a feed that is not followed")
    first, second = (make_article(feed, title=f"Item {n}", content=f"<p>{n}</p>") for n in (1, 2))
    make_article(feed, title="Item 3")
    Mark.objects.create(subscriber=reader, article=first, starred=NOW, labels=["Ferry"])
    Mark.objects.create(subscriber=reader, article=second, read=NOW)
    client.force_login(reader.user, BACKEND)
    data = b"".join(client.get("/me/move/out.zip").streaming_content)  # type: ignore[arg-type]
    file = tmp_path / "out.zip"
    call_command("export_account", "mara", str(file), "--for-readers", stdout=StringIO())
    assert set(zipfile.ZipFile(file).namelist()) == {"feeds.opml", "starred.json", "articles-001.json"}
    part = files.read_export("out.zip", data)
    assert part.feeds == (MovedFeed(NEWS, "Mine", "Sea"),)
    found = [(item.read, item.starred is not None, item.labels) for item in part.items]
    assert sorted(found) == [(False, False, ()), (False, True, ("Ferry",)), (True, False, ())]
    assert stranger.url not in {item.url for item in part.items}
