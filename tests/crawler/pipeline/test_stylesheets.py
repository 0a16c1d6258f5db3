"""Stylesheets on their page and in the API: tried, kept, changed, used on what was read already."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import pytest
from django.test import Client

from crawler.fetching.sandboxed import client as sandboxed_client
from crawler.frontier.models import Body
from crawler.pipeline.inline import work_off
from crawler.pipeline.models import Document, Stylesheet
from crawler.text.keys import digest
from tests.crawler.pipeline.test_foreign import HEAD, PAGE, THEIRS, TITLE, URL
from tests.crawler.pipeline.test_store import lines, transformed
from tests.factories import make_user
from tests.html import flat

pytestmark = pytest.mark.django_db
HEADING = "http://x.example/heading"


@pytest.fixture(autouse=True)
def programs() -> Iterator[None]:
    yield
    sandboxed_client.programs.close()


@pytest.fixture
def document() -> Document:
    """A page that has gone through the pipeline."""
    body = Body.objects.create(digest=digest("soup"), content=zlib.compress(PAGE), size=len(PAGE))
    row = transformed("", URL)
    Document.objects.filter(pk=row.pk).update(state="fetched", body=body, lease=None, type="")
    work_off()
    row.refresh_from_db()
    assert row.state == "done"
    return row


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(make_user(staff=True, is_superuser=True))
    return client


def posted(client: Client, path: str, **values: object) -> tuple[int, str]:
    answer = client.post(f"/pipeline/stylesheets/{path}", values, follow=True)
    return answer.status_code, answer.content.decode()


def test_a_trial_shows_what_it_would_say_and_keeps_nothing(staff: Client, document: Document) -> None:
    for address in ("", URL):
        status, page = posted(staff, "try/", name="Headings", content=TITLE, document=address)
        assert (status, "1 statement. Nothing was kept." in page) == (200, True)
        assert HEADING in page
        assert "Soup" in page
    assert not Stylesheet.objects.exists()
    assert not any(HEADING in line for line in lines(URL))


def test_a_kept_one_reads_on_what_was_read_already_when_asked(staff: Client, document: Document) -> None:
    _, page = posted(staff, "keep/", name="Headings", content=TITLE)
    assert "is used for what is read from now on" in page
    sheet = Stylesheet.objects.get()
    assert not any(HEADING in line for line in lines(URL)), "not before it is asked"
    _, page = posted(staff, f"{sheet.pk}/", action="again")
    assert "1 document is read again." in page
    work_off()
    assert any(line.startswith(THEIRS.removesuffix(" .")) for line in lines(URL))
    _, page = posted(staff, "keep/", id=sheet.pk, name="Headings", content=TITLE, pattern="elsewhere")
    assert Stylesheet.objects.get().pattern == "elsewhere"
    _, page = posted(staff, f"{sheet.pk}/", action="again")
    assert "0 documents are read again." in page


def test_a_page_that_has_lost_its_html_keeps_its_graph(staff: Client, document: Document) -> None:
    sheet = Stylesheet.objects.create(name="Headings", content=TITLE)
    before = lines(URL)
    Document.objects.update(body=None, page=7, fetched="2020-01-01T00:00:00Z")
    _, page = posted(staff, f"{sheet.pk}/", action="again")
    assert "0 documents are read again." in page
    Document.objects.update(state="detected")  # whoever sends it again
    work_off()
    document.refresh_from_db()
    assert (document.state, document.failure) == ("dead", "unsupported-type")
    assert lines(URL) == before


def test_it_is_switched_deleted_and_brought_back(staff: Client) -> None:
    sheet = Stylesheet.objects.create(name="<b>x</b>", content=TITLE, types=["html"])
    assert "&lt;b&gt;x&lt;/b&gt;" in staff.get("/pipeline/stylesheets/").content.decode()
    assert TITLE.split()[0] in staff.get(f"/pipeline/stylesheets/?edit={sheet.pk}").content.decode().replace(
        "&lt;", "<"
    )
    posted(staff, f"{sheet.pk}/", action="switch")
    assert not Stylesheet.objects.get().enabled
    _, page = posted(staff, f"{sheet.pk}/", action="delete")
    assert not Stylesheet.objects.exists()
    token = flat(page).split('name="token" value="')[1].split('"')[0]
    staff.post("/undo/", {"token": token})
    assert (Stylesheet.objects.get().types, Stylesheet.objects.get().enabled) == (["html"], False)


@pytest.mark.parametrize("number", ["0", "x", "999999999", "9" * 40, "-1"])
def test_no_stylesheet_has_such_a_number(staff: Client, number: str) -> None:
    assert staff.get(f"/pipeline/stylesheets/?edit={number}").status_code == 404
    assert posted(staff, "try/", id=number, name="x", content=TITLE)[0] == 404


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "required"),
        ("<x/>", "namespace is missing"),
        ("http://www.w3.org/1999/XSL/Transform <", "It does not work on this document"),
        (HEAD, "It does not work on this document"),
        (
            f"{HEAD}<xsl:template match='/'><xsl:copy-of select=\"document('/etc/passwd')\"/></xsl:template>"
            "</xsl:stylesheet>",
            "It does not work on this document",
        ),
        (
            f"{HEAD}<xsl:template match='/'><xsl:call-template name='a'/></xsl:template>"
            "<xsl:template name='a'>"
            "<xsl:call-template name='a'/></xsl:template></xsl:stylesheet>",
            "It does not work on this document",
        ),
        (f"{HEAD}<xsl:template match='/'/></xsl:stylesheet>", "It says nothing of this document."),
    ],
)
def test_a_stylesheet_that_is_none_says_so(
    staff: Client, document: Document, content: str, words: str
) -> None:
    _, page = posted(staff, "try/", name="x", content=content)
    assert words in page
    assert not Stylesheet.objects.exists()


def test_one_without_end_costs_its_limit(staff: Client, document: Document) -> None:
    """Ten loops of a hundred thousand within each other: the processor's limit ends its process."""
    loop = (
        "<xsl:for-each select='(//node()|//@*)'>" * 12 + "<xsl:value-of select='.'/>" + "</xsl:for-each>" * 12
    )
    wide = b"<html><body>" + b"<p>x</p>" * 2_000 + b"</body></html>"
    Body.objects.update(content=zlib.compress(wide), size=len(wide))
    _, page = posted(
        staff,
        "try/",
        name="x",
        content=f"{HEAD}<xsl:template match='/'>{loop}</xsl:template></xsl:stylesheet>",
    )
    assert "It does not work on this document" in page
    assert posted(staff, "try/", name="x", content=TITLE)[0] == 200


def test_a_document_that_is_not_here_cannot_be_tried(staff: Client) -> None:
    status, page = posted(staff, "try/", name="x", content=TITLE, document="http://nowhere.example/")
    assert (status, "No document here fits." in page) == (422, True)


def test_readers_look_and_change_nothing(client: Client) -> None:
    Stylesheet.objects.create(name="one", content=TITLE)
    client.force_login(make_user())
    page = client.get("/pipeline/stylesheets/").content.decode()
    assert "one" in page
    assert "A new stylesheet" not in page
    assert client.post("/pipeline/stylesheets/keep/", {"name": "x", "content": TITLE}).status_code == 403


def test_the_api_tries_and_reads_again(staff: Client, document: Document) -> None:
    answer = staff.post("/api/stylesheets/trial/", {"content": TITLE}, "application/json")
    assert answer.json() == {"document": URL, "statements": [THEIRS]}
    for wrong in ({"content": "x"}, {"content": TITLE, "document": "http://no.example/"}, {"content": HEAD}):
        assert staff.post("/api/stylesheets/trial/", wrong, "application/json").status_code == 400
    made = staff.post("/api/stylesheets/", {"name": "one", "content": TITLE}, "application/json").json()
    assert staff.post(f"/api/stylesheets/{made['id']}/again/").json() == {"sent": 1}
