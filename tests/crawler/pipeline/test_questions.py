"""The twelve questions, answered from a small recorded world, on pages, in the API and by the command."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.html import escape

from crawler.pipeline.models import Document
from crawler.pipeline.sparql.questions import QUESTIONS, recognised
from crawler.pipeline.sparql.replica import Replica
from crawler.pipeline.transform.dispatch import transform
from crawler.pipeline.transform.graph import SourceDocument
from crawler.reading.detect import detect
from tests.crawler.pipeline import test_store
from tests.crawler.pipeline.test_store import indexed
from tests.factories import make_feed, make_user
from tests.html import flat

pytestmark = pytest.mark.django_db

COURIER, GAZETTE, RADIO = "http://courier.example", "http://gazette.example", "http://radio.example"
CC_BY = "http://licences.example/by"


def feed(site: str, title: str, language: str, items: str) -> str:
    return (
        '<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>'
        f"<title>{title}</title><link>{site}/</link><language>{language}</language>{items}</channel></rss>"
    )


def item(path: str, title: str, author: str, hour: int, more: str = "") -> str:
    return (
        f"<item><title>{title}</title><link>{path}</link><dc:creator>{author}</dc:creator>"
        f"<pubDate>Mon, 02 Nov 2026 {hour:02}:30:00 GMT</pubDate>{more}</item>"
    )


def page(title: str, language: str, links: list[str], head: str = "") -> str:
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    text = f'<html lang="{language}"><head><title>{title}</title>{head}</head><body>{anchors}</body></html>'
    return f"<!DOCTYPE html>{text}"


WORLD = {
    f"{COURIER}/feed": feed(
        COURIER,
        "Courier",
        "en-GB",
        item("/wall", "The harbour wall", "Ann Lee", 6) + item("/fish", "Less fish", "Ann Lee", 6),
    ),
    f"{GAZETTE}/feed": feed(
        GAZETTE, "Gazette", "de", item("/mauer", "Die Mauer", "Bo", 9) + item("/lee", "Gast", "Ann Lee", 17)
    ),
    f"{RADIO}/feed": feed(
        RADIO,
        "Radio",
        "en",
        item("/1", "One", "Cy", 9, '<enclosure url="/1.mp3" type="audio/mpeg" length="700"/>')
        + item("/2", "Two", "Cy", 9, '<enclosure url="/2.mp3" type="audio/mpeg" length="many"/>'),
    ),
    f"{COURIER}/wall": page(
        "The harbour wall",
        "en",
        [f"{GAZETTE}/mauer", f"{COURIER}/fish"],
        f'<link rel="license" href="{CC_BY}">',
    ),
    f"{COURIER}/fish": page("Less fish", "en", [f"{GAZETTE}/mauer"], f'<link rel="license" href="{CC_BY}">'),
    f"{GAZETTE}/mauer": page("Die Mauer", "de-AT", [f"{COURIER}/wall"]),
    f"{RADIO}/1": page("One", "en", [f"{GAZETTE}/mauer", f"{GAZETTE}/fotos"]),
}
ANSWERS = {
    "authors": [["Ann Lee", "3", "2"], ["Cy", "2", "1"], ["Bo", "1", "1"]],
    "author": [
        ["Ann Lee", f"{COURIER}/fish", "Less fish"],
        ["Ann Lee", f"{COURIER}/wall", "The harbour wall"],
        ["Ann Lee", f"{GAZETTE}/lee", "Gast"],
    ],
    "linked": [[f"{GAZETTE}/mauer", "2"], [f"{COURIER}/wall", "1"], [f"{GAZETTE}/fotos", "1"]],
    "backlinks": [
        [f"{GAZETTE}/mauer", f"{COURIER}/fish", "Less fish"],
        [f"{GAZETTE}/mauer", f"{COURIER}/wall", "The harbour wall"],
        [f"{GAZETTE}/mauer", f"{RADIO}/1", "One"],
    ],
    "sites": [[COURIER, GAZETTE, "2"], [RADIO, GAZETTE, "2"], [GAZETTE, COURIER, "1"]],
    "colleagues": [["Ann Lee", "2", None]],
    "languages": [["en", "5"], ["de", "2"]],
    "hours": [["6", "2"], ["9", "3"], ["17", "1"]],
    "week": [
        [url, None, title]
        for url, title in [
            (f"{COURIER}/feed", "Courier"),
            (f"{COURIER}/fish", "Less fish"),
            (f"{COURIER}/wall", "The harbour wall"),
            (f"{GAZETTE}/feed", "Gazette"),
            (f"{GAZETTE}/mauer", "Die Mauer"),
            (f"{RADIO}/1", "One"),
            (f"{RADIO}/feed", "Radio"),
        ]
    ],
    "licences": [[CC_BY, "2", None]],
    "podcasts": [[f"{RADIO}/feed", "Radio", "2", "700"]],
    "unread": [[f"{GAZETTE}/fotos", "1"]],
}
"""The rows of each answer; None stands for a cell that may be one of several values."""


@pytest.fixture
def world(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot of the recorded world, read just now."""
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(test_store, "NOW", datetime.now(UTC))
    for url, text in WORLD.items():
        body = text.encode()
        document = SourceDocument(url, detect(body).type, body, "text/html; charset=utf-8")
        indexed(transform(document).triples, url)
    Replica().follow()


def rows(slug: str) -> list[list[str]]:
    """The answer's cells, as the command writes them in CSV."""
    out = io.StringIO()
    call_command("ask", slug, format="csv", stdout=out)
    return list(csv.reader(io.StringIO(out.getvalue())))[1:]


def test_every_question_has_an_answer_here() -> None:
    assert len(QUESTIONS) == 12
    assert ANSWERS.keys() == QUESTIONS.keys()


@pytest.mark.parametrize("slug", ANSWERS)
def test_the_answer_is_right(world: None, slug: str) -> None:
    answer = [
        [None if wanted is None else cell for cell, wanted in zip(row, expected, strict=True)]
        for row, expected in zip(rows(slug), ANSWERS[slug], strict=True)
    ]
    if slug == "week":  # read at one moment, so in any order
        answer.sort(key=lambda row: str(row[0]))
    assert answer == ANSWERS[slug]


def test_pages_show_answer_query_and_cost(world: None, client: Client) -> None:
    assert client.get("/graph/questions/").status_code == 302
    client.force_login(make_user())
    overview = client.get("/graph/questions/").content.decode()
    for slug, question in QUESTIONS.items():
        assert f"/graph/questions/{slug}/" in overview
        text = client.get(f"/graph/questions/{slug}/").content.decode()
        assert escape(question.title.partition("…")[0]) in text
        assert "SELECT" in text
        assert " ms in " in text
        assert "Nothing of what was read" not in text
    assert client.get("/graph/questions/nonsense/").status_code == 404


def answered(client: Client, slug: str, **query: str) -> str:
    return flat(client.get(f"/graph/questions/{slug}/", query).content)


def test_which_sites_link_to_a_site_is_answered_by_name_and_address(world: None, client: Client) -> None:
    client.force_login(make_user())
    make_feed(url=f"{GAZETTE}/feed", title="Gazette", site_url=f"{GAZETTE}/")
    for word in ("gazette.example", f"{GAZETTE}/", "www.gazette.example", "Gazette", "gazette"):
        text = answered(client, "backlinks", word=word)
        assert f"2 sites link to {word}, most often courier.example." in text
        assert "The harbour wall</bdi>" in text or "Less fish</bdi>" in text
    text = answered(client, "backlinks", word="gazette.example/fotos")
    assert "1 site links to gazette.example/fotos: radio.example." in text
    assert "Nothing of what was read" in answered(client, "backlinks", word="nobody.example")
    assert "Nothing of what was read" in answered(client, "backlinks", word='") } # \\')
    address = client.get("/graph/", {"q": "which sites link to Gazette?"}).headers["Location"]
    assert address == "/graph/questions/backlinks/?word=Gazette"
    assert "What has ann lee written?" in answered(client, "author", word="ann lee")
    assert "ann lee has written 3 articles." in answered(client, "author", word="ann lee")


def test_answers_are_sentences_with_titles_in_place_of_addresses(world: None, client: Client) -> None:
    client.force_login(make_user())
    assert "Ann Lee writes most: 3 articles." in answered(client, "authors")
    linked = answered(client, "linked")
    assert "2 sites link to “Die Mauer”, more than to anything else." in linked
    assert ">Die Mauer</bdi>" in linked
    assert "Most is published between 09:00 and 10:00" in answered(client, "hours")
    assert "Most is in English: 5 documents." in answered(client, "languages")
    make_feed(url=f"{RADIO}/feed", title="Radio Harbour")
    assert 'href="/feeds/' in answered(client, "colleagues") + answered(client, "week")


def test_answers_are_taken_along(world: None, client: Client) -> None:
    client.force_login(make_user())
    table = client.get("/graph/questions/authors/?as=csv")
    assert table.headers["Content-Disposition"] == 'attachment; filename="authors.csv"'
    assert table.content.decode().splitlines()[1] == "Ann Lee,3,2"
    linked = client.get("/graph/questions/backlinks/?as=jsonld&word=gazette.example").json()
    assert linked["@graph"][0]["site"] == "courier.example"


@pytest.mark.parametrize(
    ("words", "slug", "word"),
    [
        ("Who writes most?", "authors", ""),
        ("which sites  link to a.example", "backlinks", "a.example"),
        ("Which sites link to “A Site”?", "backlinks", "A Site"),
    ],
)
def test_questions_are_recognised(words: str, slug: str, word: str) -> None:
    asked = recognised(words)
    assert asked is not None
    assert (asked[0].slug, asked[1]) == (slug, word)


def test_other_words_are_no_question() -> None:
    assert recognised("harbour") is None
    assert recognised("which sites link to") is None


def test_pages_say_when_nothing_can_be_asked_or_answers(
    client: Client, settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    client.force_login(make_user())
    assert "nothing to ask yet" in client.get("/graph/questions/authors/").content.decode()
    Replica().follow()
    assert "Nothing of what was read" in client.get("/graph/questions/authors/").content.decode()


def test_the_api_lists_questions_with_their_sparql(client: Client) -> None:
    client.force_login(make_user())
    listed = client.get("/api/graph/questions/").json()
    assert [row["slug"] for row in listed] == list(QUESTIONS)
    assert listed[0]["query"].startswith("PREFIX dct:")


def test_the_command_lists_questions_takes_queries_and_says_what_is_wrong(
    world: None, tmp_path: Path
) -> None:
    out = io.StringIO()
    call_command("ask", stdout=out)
    assert out.getvalue().count("\n") == 12
    file = tmp_path / "q.rq"
    file.write_text("SELECT ?t { ?page dct:title ?t FILTER(?t = 'One'@en) } LIMIT 1")
    out = io.StringIO()
    call_command("ask", file=file, stdout=out)
    assert out.getvalue() == '?t\n"One"@en\n'
    for options in ({"query": "SELECT"}, {"file": tmp_path / "none.rq"}, {"query": "INSERT DATA {}"}):
        with pytest.raises(CommandError):
            call_command("ask", **options)
    Document.objects.all().delete()
