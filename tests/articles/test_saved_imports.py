"""Another program's file becomes saved pages, each once, with what it says of them."""

from __future__ import annotations

import io
import json
import resource
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client

from articles.models import Article, Mark, Page, Subscriber
from articles.personal import labels
from articles.personal.archive import read_archive, write_archive
from articles.personal.labels import add_labels
from articles.saved import saving, taking, tasks
from articles.saved.calls import SavedFileError
from articles.saved.models import Highlight, SavedImport, SavedPage
from articles.saved.saving import PageToSave, save_page
from articles.saved.taking import begin_import, failed_pages, imports_of, take_some, try_failed_again
from crawler.isolation.calls import ProgramError
from tests.articles.test_saved_files import SAMPLES, packed
from tests.factories import make_article, make_feed, make_subscriber, make_token

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC)


@pytest.fixture
def mara() -> Subscriber:
    return make_subscriber("mara")


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The imports whose task was sent."""
    keys: list[int] = []
    monkeypatch.setattr(tasks.take_saved, "delay", keys.append)
    monkeypatch.setattr(tasks.take_saved, "apply_async", lambda args, **_: keys.append(args[0]))
    return keys


def taken(subscriber: Subscriber, content: str | bytes, name: str = "") -> Any:
    data = content if isinstance(content, bytes) else content.encode()
    row = begin_import(subscriber, name, data)
    while take_some(row.pk):
        pass
    return imports_of(subscriber).get(pk=row.pk)


def pages_of(number: int, host: str = "https://h{}.example/") -> str:
    rows = [f"{host.format(n % 100)}{n},Page {n},t{n % 40}" for n in range(number)]
    return "url,title,tags\n" + "\n".join(rows)


@pytest.mark.parametrize("program, sample", SAMPLES)
def test_the_file_of_each_program_becomes_a_saved_page(
    mara: Subscriber, program: str, sample: object
) -> None:
    row = taken(mara, sample if isinstance(sample, str) else json.dumps(sample))
    assert (row.program, row.total, row.position, row.known, row.problem_count) == (program, 1, 1, 0, 0)
    page = SavedPage.objects.select_related("article__page").get(subscriber=mara)
    assert (page.way, page.source_id, page.article.url) == ("file", row.pk, "https://a.example/")
    assert page.article.page is not None and page.article.page.requested
    assert Mark.objects.get(subscriber=mara, article=page.article_id).read is not None
    assert bytes(SavedImport.objects.get(pk=row.pk).content) == b""


BACKUP = packed(
    {
        "metadata_0.json": json.dumps(
            [{"slug": "a", "title": "A", "url": "https://a.example/", "state": "Archived",
              "labels": ["x", "y"], "savedAt": "2020-05-01T10:00:00Z"}]
        ),
        "content/a.html": "<html><head><script>evil()</script><title>T</title></head><body onload='evil()'>"
        "<p>"
        "Words that were <b>kept</b> here.</p><script>evil()</script><img src=x onerror=evil()>"
        "<a href='javascript:evil()'>go</a><iframe src='https://evil.example/'></iframe></body></html>",
        "highlights/a.md": "The page's note\n\n> were kept\n\nmy thought\n\n> not in it\n",
    }
)  # fmt: skip


def test_a_kept_page_has_its_text_at_once_and_no_script(mara: Subscriber) -> None:
    row = taken(mara, BACKUP, "omnivore.zip")
    article = Article.objects.get(saved__subscriber=mara)
    assert "<b>kept</b>" in article.content
    assert not any(word in article.content for word in ("evil", "script", "iframe", "onerror"))
    assert "Words that were kept here." in article.text
    assert article.published == datetime(2020, 5, 1, 10, tzinfo=UTC)
    assert article.saved.note == "The page's note"
    assert Mark.objects.get(subscriber=mara, article=article).labels == ["x", "y"]
    placed, unplaced = Highlight.objects.filter(article=article).order_by("-end")
    assert (placed.quote, placed.note, unplaced.quote, unplaced.end) == (
        "were kept",
        "my thought",
        "not in it",
        0,
    )
    assert (row.stored, row.waiting, row.failed) == (0, 1, 0)


def test_colours_tags_and_times_of_highlights_come_along(mara: Subscriber) -> None:
    marks = [
        ["One", "A", "why", color, "x,y", "2021-08-13 00:47:25+00:00", "https://a.example/"]
        for color in ("yellow", "green", "blue", "red", "mauve")
    ]
    rows = [[f"{mark[0]} {number}", *mark[1:]] for number, mark in enumerate(marks)]
    content = "Highlight,Book Title,Note,Color,Tags,Highlighted at,URL\n" + "\n".join(
        ",".join(f'"{cell}"' for cell in row) for row in rows
    )
    taken(mara, content)
    assert [row.color for row in Highlight.objects.order_by("quote")] == ["y", "g", "b", "r", "y"]
    first = Highlight.objects.earliest("quote")
    assert (first.tags, first.note) == (["x", "y"], "why")
    assert first.created == datetime(2021, 8, 13, 0, 47, 25, tzinfo=UTC)
    again = taken(mara, content)
    assert (again.known, Highlight.objects.count(), SavedPage.objects.count()) == (1, 5, 1)


def test_a_page_saved_before_keeps_its_note_and_gets_the_text_that_the_file_has(mara: Subscriber) -> None:
    save_page(mara, PageToSave("https://a.example/", note="mine"), NOW)
    row = taken(mara, BACKUP)
    article = Article.objects.get(saved__subscriber=mara)
    assert (row.known, article.saved.note, "kept" in article.text) == (1, "mine\nThe page's note", True)


def test_copies_that_cost_too_much_are_left_out_and_named(
    mara: Subscriber, monkeypatch: pytest.MonkeyPatch
) -> None:
    def clean(_part: bytes) -> None:
        raise ProgramError("too-costly", "it takes more memory than is allowed")

    monkeypatch.setattr(taking, "clean_part", clean)
    row = taken(mara, BACKUP)
    assert (row.position, row.problem_count, row.problems[0]["text"]) == (1, 1, "https://a.example/")
    assert Article.objects.get(saved__subscriber=mara).content == ""


def test_content_that_was_damaged_ends_the_import(mara: Subscriber) -> None:
    row = begin_import(mara, "", pages_of(500).encode())
    assert take_some(row.pk)
    SavedImport.objects.update(content=b"")
    assert not take_some(row.pk)
    assert (imports_of(mara).get().problem_count, SavedPage.objects.count()) == (1, 200)


def test_deep_and_crowded_copies_are_cleaned_in_time(mara: Subscriber) -> None:
    copies = ["<div>" * 200_000, "<p " + "a=b " * 200_000 + ">x", "<b><i>" * 100_000, "x" * 11_000_000]
    rows = [{"url": f"https://h.example/{number}", "is_archived": 0, "is_starred": 0, "content": copy}
            for number, copy in enumerate(copies)]  # fmt: skip
    began = time.monotonic()
    row = taken(mara, json.dumps(rows))
    print(f"\nhostile copies: {time.monotonic() - began:.1f} s")
    assert (row.position, SavedPage.objects.count()) == (4, 4)
    assert time.monotonic() - began < 60


def test_ten_thousand_pages_are_taken_over_a_part_at_a_time(mara: Subscriber) -> None:
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    row = begin_import(mara, "big.csv", pages_of(10_000).encode())
    read = time.monotonic()
    while take_some(row.pk):
        pass
    ended = time.monotonic()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"\n10,000 pages: read in {read - began:.1f} s, stored in {ended - read:.1f} s")
    print(f"peak memory {peak // 1024} MB, {(peak - before) // 1024} MB more than before")
    dead = Page.objects.filter(host__name__regex=r"^h\d?[02468]\.")
    dead.update(status=Page.Status.FAILED, failure="no-answer", attempts=8)
    Page.objects.filter(status="waiting", pk__in=Page.objects.filter(status="waiting")[:4000]).update(
        status=Page.Status.STORED, fetched=NOW
    )
    began = time.monotonic()
    row = imports_of(mara).get()
    print(f"progress counted in {(time.monotonic() - began) * 1000:.0f} ms")
    assert (row.position, row.stored, row.failed, row.waiting) == (10_000, 4000, 5000, 1000)
    assert failed_pages(row).count() == 5000
    assert failed_pages(row)[0].article.page.failure == "no-answer"
    assert Mark.objects.exclude(labels=[]).count() == 10_000
    assert try_failed_again(row) == 5000
    assert imports_of(mara).get().waiting == 6000
    assert ended - read < 120


def test_a_process_that_ends_in_the_middle_neither_loses_nor_doubles(
    mara: Subscriber, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = begin_import(mara, "", pages_of(1000).encode())
    assert take_some(row.pk)
    with pytest.raises(KeyboardInterrupt), transaction.atomic():
        take_some(row.pk)
        raise KeyboardInterrupt
    assert SavedPage.objects.count() == SavedImport.objects.get().position == 200

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(taking, "add_labels_to_each", killed)
        with pytest.raises(KeyboardInterrupt):
            take_some(row.pk)
    assert SavedPage.objects.count() == SavedImport.objects.get().position == 200
    while take_some(row.pk):
        pass
    assert not take_some(row.pk)
    assert SavedPage.objects.count() == Article.objects.count() == Page.objects.count() == 1000
    assert imports_of(mara).get().known == 0
    again = taken(mara, pages_of(1000))
    assert (again.known, again.stored + again.waiting, SavedPage.objects.count()) == (1000, 0, 1000)


def test_the_task_goes_on_until_it_is_done_and_after_a_crash(mara: Subscriber, sent: list[int]) -> None:
    row = begin_import(mara, "", pages_of(2100).encode())
    tasks.go_on_with_imports()
    assert sent == [row.pk]
    for number in (1000, 2000, 2100):
        tasks.take_saved(sent.pop())
        assert SavedPage.objects.count() == number
    assert sent == []
    tasks.go_on_with_imports()
    assert sent == []


def test_labels_beyond_the_limit_are_named_and_the_others_stay(
    mara: Subscriber, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labels, "MAX_NAMES", 2)
    article = make_article()
    add_labels(mara, [article.pk], ["known"])
    row = taken(mara, 'url,title,tags\nhttps://a.example/,A,known\nhttps://b.example/,B,"known,new,newer"\n')
    assert labels.labels_of(mara) == ["known", "new"]
    assert (row.position, row.problem_count) == (2, 1)
    assert row.problems[0]["text"] == "https://b.example/" and "newer" in row.problems[0]["why"]


def test_pages_beyond_the_limit_are_named(mara: Subscriber, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saving, "MAX_SAVED", 3)
    row = taken(mara, pages_of(5))
    assert (row.position, SavedPage.objects.count(), row.problem_count) == (5, 3, 2)
    assert "at most" in row.problems[0]["why"]


def test_one_person_has_no_more_than_some_files_under_way(mara: Subscriber) -> None:
    for _number in range(taking.MAX_UNDER_WAY):
        begin_import(mara, "", pages_of(1).encode())
    with pytest.raises(taking.LimitReached):
        begin_import(mara, "", pages_of(1).encode())


@pytest.mark.parametrize("data, words", [
    (b"", "empty"), (b"\0" * 1000, "table"), (b"PK\x03\x04nothing", "damaged"), (b"hello", "table"),
    (b"{}", ""), (b"[" * 100_000, ""),
])  # fmt: skip
def test_a_file_that_cannot_be_used_ends_with_a_sentence(mara: Subscriber, data: bytes, words: str) -> None:
    with pytest.raises(SavedFileError) as error:
        begin_import(mara, "it.bin", data)
    assert words in str(error.value) and str(error.value).endswith(".")
    assert not SavedImport.objects.exists()


def test_a_bomb_ends_with_a_sentence(mara: Subscriber) -> None:
    bomb = packed({f"{number}.html": b"\0" * 60_000_000 for number in range(6)})
    assert len(bomb) < 1_000_000
    with pytest.raises(SavedFileError, match="256 MB"):
        begin_import(mara, "bomb.zip", bomb)


@pytest.mark.parametrize("piece", [b"\0", b" ", b"[", b"a\n"])
def test_a_hundred_megabytes_of_nothing_end_with_a_sentence(mara: Subscriber, piece: bytes) -> None:
    data = piece * (100_000_000 // len(piece))
    began = time.monotonic()
    with pytest.raises(SavedFileError) as error:
        begin_import(mara, "", data)
    print(f"\n{piece!r}: {time.monotonic() - began:.1f} s: {error.value}")
    assert time.monotonic() - began < 90
    with pytest.raises(SavedFileError, match="larger than 100 MB"):
        begin_import(mara, "", b" " * (100 * 1024 * 1024 + 1))


def test_the_page_takes_a_file_and_shows_how_far_it_is(mara: Subscriber, sent: list[int]) -> None:
    client = Client()
    client.force_login(mara.user)
    upload = SimpleUploadedFile("pocket.csv", pages_of(300).encode() + b"\njavascript:x,X,\n")
    answer = client.post("/saved/imports/", {"file": upload})
    row = SavedImport.objects.get()
    assert answer["Location"] == f"/saved/imports/{row.pk}/" and sent == [row.pk]
    assert "0 of 300 pages are here, 0 read." in " ".join(
        client.get("/settings/data/").content.decode().split()
    )
    tasks.take_saved(row.pk)
    Page.objects.filter(pk__in=Page.objects.all()[:60]).update(status=Page.Status.FAILED, failure="no-answer")
    page = " ".join(client.get(answer["Location"]).content.decode().split())
    assert "300 of 300 pages are here, 0 read, 60 could not be read." in page
    assert "javascript: is not an address of a web page." in page and "hx-get" in page
    assert page.count("/read/") >= 50
    part = client.get(answer["Location"], headers={"HX-Request": "true"}).content.decode()
    assert part.lstrip().startswith("<div") and "<html" not in part
    listed = client.get("/saved/imports/", headers={"HX-Request": "true"}).content.decode()
    assert 'id="saved-imports"' in listed and "<html" not in listed
    assert client.get("/saved/imports/").status_code == 302
    client.post(answer["Location"])
    assert Page.objects.filter(status="waiting").count() == 300


def test_an_error_is_shown_where_it_was_made(mara: Subscriber) -> None:
    client = Client()
    client.force_login(mara.user)
    answer = client.post("/saved/imports/", {"file": SimpleUploadedFile("x.csv", b"hello")})
    assert answer.status_code == 422
    assert 'id="e-saved-file"' in answer.content.decode() and "no known program" in answer.content.decode()
    assert client.post("/saved/imports/").status_code == 422


def test_nobody_sees_another_ones_files(mara: Subscriber) -> None:
    row = taken(mara, pages_of(1))
    tom = make_subscriber("tom")
    client = Client()
    assert client.get(f"/saved/imports/{row.pk}/").status_code == 302
    client.force_login(tom.user)
    for path in (f"/saved/imports/{row.pk}/", f"/api/saved/imports/{row.pk}/",
                 f"/api/saved/imports/{row.pk}/failed/"):  # fmt: skip
        assert client.get(path).status_code == 404
    assert client.post(f"/saved/imports/{row.pk}/").status_code == 404
    assert client.post(f"/api/saved/imports/{row.pk}/try-again/").status_code == 404
    assert client.get("/api/saved/imports/").json()["results"] == []
    assert row.name not in client.get("/settings/data/").content.decode() or not row.name


def test_the_api_takes_a_file_and_tells_how_far_it_is(mara: Subscriber, sent: list[int]) -> None:
    client, headers = Client(), {"Authorization": make_token(mara.user)}
    upload = SimpleUploadedFile("a.csv", pages_of(3).encode())
    answer = client.post("/api/saved/imports/", {"file": upload}, headers=headers)
    assert answer.status_code == 201, answer.content
    assert (answer.json()["name"], answer.json()["total"], answer.json()["position"]) == ("a.csv", 3, 0)
    for content_type in ("application/json", "text/csv", "application/octet-stream"):
        body = pages_of(2, "https://raw.example/{}/")
        answer = client.post(
            "/api/saved/imports/?name=b.csv", body, content_type=content_type, headers=headers
        )
        assert (answer.status_code, answer.json()["name"]) == (201, "b.csv")
        while take_some(answer.json()["id"]):
            pass
    Page.objects.filter(url__contains="/1").update(status=Page.Status.FAILED, failure="no-answer")
    first = next(row for row in client.get("/api/saved/imports/", headers=headers).json()["results"]
                 if row["failed"])  # fmt: skip
    assert client.get(f"/api/saved/imports/{first['id']}/", headers=headers).json()["failed"] == 1
    failed = client.get(f"/api/saved/imports/{first['id']}/failed/", headers=headers).json()
    assert [row["failure"] for row in failed["results"]] == ["no-answer"]
    again = client.post(f"/api/saved/imports/{first['id']}/try-again/", headers=headers)
    assert (again.json()["failed"], again.json()["waiting"]) == (0, 2)
    wrong = client.post("/api/saved/imports/", "hello", content_type="text/plain", headers=headers)
    assert wrong.status_code == 400 and "known program" in wrong.json()["file"][0]
    assert client.post("/api/saved/imports/", {"file": "text"}, headers=headers).status_code == 400
    assert client.get("/api/saved/99999/", headers=headers).status_code == 404


def test_the_command_takes_all_pages_at_once(mara: Subscriber, tmp_path: Path) -> None:
    file = tmp_path / "pocket.csv"
    file.write_text(pages_of(450))
    out = io.StringIO()
    call_command("import_saved", "mara", file, stdout=out)
    assert "450 pages, 450 new" in out.getvalue()
    assert SavedPage.objects.count() == 450
    file.write_text("hello")
    with pytest.raises(CommandError, match="no known program"):
        call_command("import_saved", "mara", file)
    with pytest.raises(CommandError):
        call_command("import_saved", "mara", tmp_path / "missing.csv")


def test_saved_pages_and_highlights_go_to_another_account(mara: Subscriber) -> None:
    feed = make_feed()
    article = make_article(feed, text="Some words of an article.")
    gone = make_article(feed, title="Gone")
    mara.subscriptions.create(feed=feed)
    taken(mara, BACKUP)
    saved = Article.objects.get(saved__subscriber=mara)
    for row in (article, gone):
        Highlight.objects.create(
            subscriber=mara, article=row, quote=f"words of {row.pk}", color="r", tags=["t"]
        )
    out = io.BytesIO()
    write_archive(mara, out, NOW)
    with zipfile.ZipFile(out) as archive:
        (row,) = json.loads(archive.read("saved.json"))
        assert (row["url"], row["title"], row["tags"], row["note"]) == (
            "https://a.example/", "A", ["x", "y"], "The page's note",
        )  # fmt: skip
        highlights = json.loads(archive.read("highlights.json"))
        assert sorted(row["feed_url"] for row in highlights) == ["", "", feed.url, feed.url]
    moved_from = saved.saved
    url = gone.url
    gone.delete()
    tom = make_subscriber("tom", feed)
    counts = read_archive(tom, out.getvalue(), NOW, makes_articles=False)
    assert (counts.saved, counts.highlights) == (1, 4)
    assert "1 saved page" in counts.in_words() and "4 highlights" in counts.in_words()
    page = tom.saved_pages.get(article__url="https://a.example/")
    assert (page.note, page.saved) == (moved_from.note, moved_from.saved)
    mark = Mark.objects.get(subscriber=tom, article=page.article_id)
    assert (mark.labels, mark.read is not None) == (["x", "y"], True)
    assert page.article.highlights.count() == 2
    assert tom.highlights.get(article=article).tags == ["t"]
    assert tom.highlights.get(article__saved__subscriber=tom, article__url=url).color == "r"
    again = read_archive(tom, out.getvalue(), NOW, makes_articles=False)
    assert (again.saved, again.highlights, tom.highlights.count()) == (0, 0, 4)
    assert mara.saved_pages.count() == 1 and mara.highlights.count() == 3
