"""Lists as files: every format is read back by a strict parser, rows are hidden and streamed as in lists."""

from __future__ import annotations

import csv
import io
import json
import re
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from rest_framework.test import APIClient
from warcio.archiveiterator import ArchiveIterator

from articles.enrichment.models import Enrichment, Story
from articles.exporting.formats import FORMATS
from articles.exporting.rows import ExportedList, ExportRow, doi_in
from articles.models import Article, Mark, Page, Subscriber
from articles.personal.following import subscriber_of
from articles.saved.models import Highlight
from articles.saved.saving import PageToSave, save_page
from crawler.engine.models import Host
from crawler.text.keys import digest
from tests.factories import make_article, make_feed, make_subscriber, make_token, make_user
from tests.reports.exporting import parsed_bibtex, parsed_ris

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
HOSTILE = [
    "=cmd|' /C calc'!A0",
    "+1", "-2", "@SUM(A1)", "\t=1", "＝1",
    "two\nlines\r\nand ER  - \nTY  - JOUR",
    "unbalanced { brace", "closing } brace", "back\\slash", "100 % of #1 & _under_ $5 ^~",
    'say "so", comma; semicolon',
    "line\u2028separator\u2029and\x85next",
    "bell\x07 and escape\x1b[31m",
    "\u202eright to left\u202c שלום",
    "[link](javascript:alert(1)) ![x](y) <script>alert(1)</script>",
    "# heading", "1. list", "```", "---", "a | b", "<i>italic</i>", "emoji 🧭 e\u0301",
]  # fmt: skip


def written(name: str, rows: list[ExportRow], title: str = "List") -> bytes:
    return b"".join(FORMATS[name].write(rows, ExportedList(title)))


def row(**fields: Any) -> ExportRow:
    values: dict[str, Any] = {
        "key": "7", "url": "https://example.org/a_b?c=1&d=%20#e", "title": "A flood in Visby",
        "authors": ["Åsa Ödman"], "published": AT, "updated": AT, "seen": AT, "site": "The Times",
        "tags": ["water"], "summary": "Short.", "text": "Long text.", "html": "<p>Long text.</p>",
    }  # fmt: skip
    return ExportRow(**values | fields)


def plain(text: str) -> str:
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text).split())


@pytest.mark.parametrize("title", HOSTILE)
def test_hostile_words_harm_no_format(title: str) -> None:
    rows = [
        row(key=str(n), title=title, authors=[title], tags=[title], note=title, summary=title) for n in (1, 2)
    ]
    table = list(csv.DictReader(io.StringIO(written("csv", rows).decode(), newline="")))
    assert [each["title"].removeprefix("'") for each in table] == [plain(title)] * 2
    for cell in (cell for each in table for cell in each.values()):
        assert not re.match(r"\s*[=+\-@＝]|[\t\r\n]", cell)
    lines = written("jsonl", rows).decode().splitlines()
    assert [json.loads(line)["title"] for line in lines] == [title] * 2
    feed = json.loads(written("json-feed", rows))
    assert [item["title"] for item in feed["items"]] == [plain(title)] * 2
    entries = parsed_bibtex(written("bibtex", rows).decode())
    assert [entry["title"] for entry in entries] == [plain(title)] * 2
    assert len({entry["key"] for entry in entries}) == 2
    references = parsed_ris(written("ris", rows).decode())
    assert [each["TI"] for each in references] == [[plain(title)]] * 2
    assert len(json.loads(written("csl", rows))) == 2
    records = list(ArchiveIterator(io.BytesIO(written("warc", rows))))
    assert len(records) == 5
    headings = [line for line in written("markdown", rows).decode().split("\n") if line.startswith("#")]
    assert len(headings) == 3
    assert headings[1].endswith("](<https://example.org/a_b?c=1&d=%20#e>)")


def test_markdown_shows_what_was_written() -> None:
    text = written(
        "markdown", [row(title="A [b] *c*", note="# no heading\n- no list", text="1. no\n    code")]
    )
    assert text.decode() == (
        "# List\n\n## [A \\[b\\] \\*c\\*](<https://example.org/a_b?c=1&d=%20#e>)\n\n"
        "*Åsa Ödman · The Times · 2026-03-04*\n\n\\#water\n\n\\# no heading\n\n\\- no list\n\n1\\. no"
        "\n\ncode\n\n"
    )


def test_addresses_that_are_none_become_no_links() -> None:
    bad = [row(url="javascript:alert(1)"), row(url="https://a.example/x y\r\nER  - "), row(url="")]
    assert b"](<" not in written("markdown", bad)
    assert all("UR" not in each for each in parsed_ris(written("ris", bad).decode()))
    assert all("url" not in item for item in json.loads(written("json-feed", bad))["items"])
    uris = [each.rec_headers.get_header("WARC-Target-URI") for each in
            ArchiveIterator(io.BytesIO(written("warc", bad)))]  # fmt: skip
    assert set(uris[1:]) == {"urn:freshet:7"}


def test_citations_have_what_they_need() -> None:
    bodies = row(authors=["Ministry of Trade and Industry", "Ada Example"], doi="10.1000/a_b")
    (entry,) = parsed_bibtex(written("bibtex", [bodies]).decode())
    assert entry["author"] == "{Ministry of Trade and Industry} and Ada Example"
    assert (entry["url"], entry["urldate"]) == ("https://example.org/a_b?c=1&d=%20#e", "2026-03-04")
    assert (entry["doi"], entry["type"]) == ("10.1000/a_b", "online")
    assert entry["key"] == "industry2026flood-7"
    (reference,) = parsed_ris(written("ris", [row()]).decode())
    assert reference["TY"] == ["NEWS"]
    assert (reference["PY"], reference["DA"]) == (["2026"], ["2026/03/04/"])
    (item,) = json.loads(written("csl", [row()]))
    assert item["issued"] == {"date-parts": [[2026, 3, 4]]}
    assert (item["type"], item["author"]) == ("article-newspaper", [{"literal": "Åsa Ödman"}])


def test_an_empty_list_is_a_valid_file() -> None:
    assert json.loads(written("json-feed", []))["items"] == []
    assert json.loads(written("csl", [])) == []
    assert len(list(ArchiveIterator(io.BytesIO(written("warc", []))))) == 1
    assert written("csv", []).count(b"\r\n") == 1


def test_years_before_1000_keep_their_figures() -> None:
    early = row(published=datetime(33, 4, 3, tzinfo=UTC))
    assert b"date = {0033-04-03}" in written("bibtex", [early])
    assert b"PY  - 0033" in written("ris", [early])


def test_dois_are_found_in_addresses() -> None:
    assert doi_in("https://doi.org/10.1000/xyz123?a=1") == "10.1000/xyz123"
    assert doi_in("tag:1", "https://journal.example/doi/full/10.1080/13608746.2016.1208906") == (
        "10.1080/13608746.2016.1208906"
    )
    assert doi_in("https://example.org/10.1000/no") == ""


@pytest.fixture
def reader() -> Subscriber:
    return make_subscriber("reader", make_feed("https://news.example/feed", title="News"))


@pytest.fixture
def client(reader: Subscriber) -> Client:
    client = Client()
    client.force_login(reader.user)
    return client


def articles_of(reader: Subscriber, count: int) -> list[Article]:
    feed = reader.subscriptions.get().feed
    return [
        make_article(feed, title=f"Headline {n}", published=AT.replace(minute=n % 60), summary="<p>Sum</p>")
        for n in range(count)
    ]


def body(answer: Any) -> bytes:
    assert answer.status_code == 200, answer.content
    return b"".join(answer.streaming_content)


@pytest.mark.parametrize("name", FORMATS)
def test_every_list_has_every_format(client: Client, reader: Subscriber, name: str) -> None:
    (article,) = articles_of(reader, 1)
    story = Story.objects.create()
    Enrichment.objects.update_or_create(article=article, defaults={"story": story})
    for path in ("/api/articles/export/?", "/api/stories/export/?", "/read/export/?show=all&",
                 "/search/export/?q=Headline&", f"{reverse('story-export', args=[story.pk])}?"):  # fmt: skip
        answer = client.get(f"{path}as={name}")
        assert answer["Content-Type"] == FORMATS[name].media_type
        assert re.fullmatch(
            rf'attachment; filename="[a-z0-9-]+\.{re.escape(FORMATS[name].ending)}"',
            answer["Content-Disposition"],
        )
        content = body(answer)
        if name == "warc":
            content = b"".join(each.content_stream().read() for each in ArchiveIterator(io.BytesIO(content)))
        assert b"Headline 0" in content, path
    for path in ("/api/saved/export/?", "/api/changes/export/?", "/sites/export/?"):
        assert body(client.get(f"{path}as={name}")) is not None


def test_filters_of_the_list_hold(client: Client, reader: Subscriber) -> None:
    articles_of(reader, 3)
    make_article(make_feed(title="Other"), title="Elsewhere")
    feed = reader.subscriptions.get().feed_id
    text = body(client.get(f"/api/articles/export/?as=jsonl&feed={feed}&ordering=published")).decode()
    assert [json.loads(line)["title"] for line in text.splitlines()] == [f"Headline {n}" for n in range(3)]
    assert client.get("/api/articles/export/?as=csv&since=nonsense").status_code == 400


def test_the_persons_marks_and_notes_come_along(client: Client, reader: Subscriber) -> None:
    (article,) = articles_of(reader, 1)
    Mark.objects.create(subscriber=reader, article=article, read=AT, starred=AT, labels=["river"])
    other = make_subscriber("other")
    Mark.objects.create(subscriber=other, article=article, labels=["theirs"])
    Highlight.objects.create(subscriber=reader, article=article, quote="mine", note="why")
    Highlight.objects.create(subscriber=other, article=article, quote="not mine")
    (line,) = body(client.get("/api/articles/export/?as=jsonl")).decode().splitlines()
    given = json.loads(line)
    assert (given["labels"], given["read"], given["starred"]) == (["river"], True, True)
    assert [each["quote"] for each in given["highlights"]] == ["mine"]


def test_saved_pages_come_with_note_and_tags(client: Client, reader: Subscriber) -> None:
    wanted = PageToSave("https://example.org/page", title="A page", tags=["keep"], note="read it")
    save_page(reader, wanted, datetime.now(UTC), "api")
    for path in ("/api/saved/export/?as=jsonl", "/api/saved/export/?as=jsonl&tag=keep",
                 "/read/export/?as=jsonl&show=saved"):  # fmt: skip
        given = json.loads(body(client.get(path)))
        assert (given["title"], given["labels"], given["note"]) == ("A page", ["keep"], "read it")
    assert body(client.get("/api/saved/export/?as=jsonl&tag=other")) == b""


def test_nobody_else_sees_private_rows_while_they_stream(reader: Subscriber) -> None:
    owner, other = make_user("owner"), make_user("stranger", staff=True)
    feed = make_feed("https://letters.example/feed", owner=owner)
    letter = make_article(feed, title="Secret letter", owner=owner)
    story = Story.objects.create()
    Enrichment.objects.update_or_create(article=letter, defaults={"story": story})
    subscriber_of(owner).subscriptions.create(feed=feed)
    page = reverse("story-export", args=[story.pk])
    paths = ["/api/articles/export/?as=jsonl", "/api/stories/export/?as=jsonl",
             "/search/export/?as=jsonl&q=secret", f"{page}?as=jsonl"]  # fmt: skip
    for user, is_there in ((owner, True), (other, False), (owner, True)):
        client = Client()
        client.force_login(user)
        token = APIClient(headers={"Authorization": make_token(user)})
        for path in paths:
            assert (b"Secret letter" in body(client.get(path))) is is_there, (user, path)
            if path.startswith("/api/"):
                assert (b"Secret letter" in body(token.get(path))) is is_there, (user, path)


def test_two_answers_that_are_read_by_turns_keep_apart() -> None:
    owner, other = make_user("owner"), make_user("stranger")
    feed = make_feed("https://letters.example/feed", owner=owner)
    make_article(feed, title="Secret letter", owner=owner)
    answers = []
    for user in (other, owner):
        client = Client()
        client.force_login(user)
        answers.append(client.get("/api/articles/export/?as=jsonl"))
    # The second request has ended its view last: whoever reads on then reads for its person.
    assert b"Secret" not in b"".join(answers[0].streaming_content)  # type: ignore[attr-defined]
    assert b"Secret" in b"".join(answers[1].streaming_content)  # type: ignore[attr-defined]


def test_unknown_formats_are_refused_with_a_sentence(client: Client) -> None:
    for path in ("/api/articles/export/", "/api/changes/export/", "/read/export/", "/search/export/?q=a&"):
        answer = client.get(f"{path}{'' if '?' in path else '?'}as=docx")
        assert answer.status_code == 400
        assert "there are csv, jsonl" in answer.content.decode()
    assert client.get("/search/export/?as=csv").status_code == 400


def test_programs_may_accept_the_format_alone(client: Client, reader: Subscriber) -> None:
    articles_of(reader, 1)
    assert b"Headline" in body(client.get("/api/articles/export/?as=csv", headers={"Accept": "text/csv"}))


def test_strangers_are_refused() -> None:
    for path in (
        "/api/articles/export/",
        "/api/saved/export/",
        "/api/stories/export/",
        "/api/changes/export/",
    ):
        assert Client().get(path).status_code in {401, 403}
    for path in ("/read/export/", "/search/export/", "/sites/export/"):
        assert Client().get(path).status_code == 302


@pytest.mark.parametrize("name", ["csv", "jsonl", "warc"])
def test_queries_do_not_grow_with_the_rows(client: Client, reader: Subscriber, name: str) -> None:
    counts: list[int] = []
    body(client.get(f"/read/export/?show=all&as={name}"))  # reads what this process keeps
    for more in (2, 12):
        articles_of(reader, more)
        with CaptureQueriesContext(connection) as queries:
            body(client.get(f"/read/export/?show=all&as={name}"))
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_only_wanted_columns_are_read(client: Client, reader: Subscriber) -> None:
    articles_of(reader, 2)
    for name, unread in (("csv", ('"html"', '"content"')), ("jsonl", ('"html"',)), ("warc", ())):
        with CaptureQueriesContext(connection) as queries:
            body(client.get(f"/api/articles/export/?as={name}"))
        statements = " ".join(query["sql"] for query in queries)
        assert not [column for column in unread if f'_page".{column}' in statements]
        assert '"fingerprints"' not in statements
        assert '"articles_article"."search"' not in statements


def test_warc_has_the_page_as_it_was_received(client: Client, reader: Subscriber) -> None:
    (article,) = articles_of(reader, 1)
    host = Host.objects.create(name="pages.example")
    article.page = Page.objects.create(
        url=article.url, url_key=digest(article.url), host=host, status="stored", fetched=AT,
        html=zlib.compress("<p>Größe</p>".encode("latin-1")), content_type="text/html; charset=iso-8859-1",
    )  # fmt: skip
    article.save()
    stream = io.BytesIO(body(client.get("/api/articles/export/?as=warc")))
    info, response, facts = [
        (each.rec_type, each.rec_headers, each.http_headers, each.content_stream().read())
        for each in ArchiveIterator(stream, check_digests="raise")
    ]
    assert (info[0], response[0], facts[0]) == ("warcinfo", "response", "metadata")
    assert response[1].get_header("WARC-Date") == "2026-03-04T05:06:07Z"
    assert response[2].get_header("Content-Type") == "text/html; charset=iso-8859-1"
    assert response[3].decode("latin-1") == "<p>Größe</p>"
    assert b"title: Headline 0" in facts[3]


def test_the_command_writes_what_the_person_sees(reader: Subscriber, tmp_path: Path) -> None:
    articles_of(reader, 3)
    hidden = make_article(
        make_feed(owner=make_user("owner")), title="Secret", owner=User.objects.get(username="owner")
    )
    Mark.objects.create(subscriber=reader, article=hidden, starred=AT)
    out = io.StringIO()
    call_command("export", "reader", "--as", "jsonl", stdout=out)
    assert [json.loads(line)["title"] for line in out.getvalue().splitlines()] == [
        "Headline 2", "Headline 1", "Headline 0",
    ]  # fmt: skip
    file = tmp_path / "list.warc.gz"
    call_command("export", "reader", "--as", "warc", "--output", str(file))
    assert len(list(ArchiveIterator(io.BytesIO(file.read_bytes())))) == 7
    assert [each.name for each in tmp_path.iterdir()] == ["list.warc.gz"]
    out = io.StringIO()
    call_command("export", "reader", "--starred", stdout=out)
    assert len(out.getvalue().splitlines()) == 1
    out = io.StringIO()
    call_command("export", "reader", "--query", "Headline 1", stdout=out)
    assert "Headline 1" in out.getvalue() and "Headline 2" not in out.getvalue()
    with pytest.raises(CommandError, match="nobody"):
        call_command("export", "ghost")


def links(page: bytes, beginning: str) -> list[str]:
    return [each for each in re.findall(r'href="([^"]*)"', page.decode()) if each.startswith(beginning)]


def test_pages_offer_the_files(client: Client, reader: Subscriber) -> None:
    (article,) = articles_of(reader, 1)
    story = Story.objects.create()
    Enrichment.objects.update_or_create(article=article, defaults={"story": story})
    for page, beginning in (
        ("/read/?show=all", "/read/export/?show=all&amp;as="),
        ("/search/?q=headline", "/search/export/?q=headline"),
        (reverse("story", args=[story.pk]), f"{reverse('story-export', args=[story.pk])}?as="),
        ("/sites/?show=all", "/sites/export/?show=all&amp;as="),
    ):  # fmt: skip
        found = links(client.get(page).content, beginning)
        assert len(found) >= len(FORMATS), page
        for address in found:
            body(client.get(address.replace("&amp;", "&")))


def test_people_get_a_byte_order_mark_for_spreadsheets(client: Client, reader: Subscriber) -> None:
    assert body(client.get("/read/export/?as=csv")).startswith("\ufeffid,".encode())
    assert body(client.get("/api/articles/export/?as=csv")).startswith(b"id,")


def test_rows_are_read_while_they_are_written(reader: Subscriber) -> None:
    read: list[str] = []

    def rows() -> Iterator[ExportRow]:
        for number in range(100):
            read.append(str(number))
            yield row(key=str(number))

    for name, form in FORMATS.items():
        read.clear()
        parts = iter(form.write(rows(), ExportedList("List")))
        for _ in range(4):
            next(parts)
        assert len(read) < 5, name
