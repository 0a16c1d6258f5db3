"""The inbox of changes: seen and unseen for each person, words, exports, versions."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from warcio.archiveiterator import ArchiveIterator

from crawler.text.word_differences import word_difference
from recrawl.changes import inbox_views, seen
from recrawl.changes.describing import sentence
from recrawl.comparing.differences import Difference, difference
from recrawl.inline import work_off
from recrawl.models import LIST_DEFAULTS, Change, Site, Version
from recrawl.visiting.mapping import add_pages
from tests.factories import make_user
from tests.html import flat
from tests.recrawl.sites import Paper, visit, watch

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("terminal_on_loopback", "tried_again_soon"),
]


@pytest.fixture
def paper() -> Iterator[Paper]:
    with Paper() as web:
        yield web


@pytest.fixture
def ann() -> User:
    return make_user("ann")


@pytest.fixture
def reader(client: Client, ann: User) -> Client:
    client.force_login(ann)
    return client


@pytest.fixture
def site(paper: Paper, ann: User) -> Site:
    """A site with three changes."""
    site = watch(paper)
    paper.write("/news/a", "Story a", "What a did at last", ["/news/"])
    visit(site)
    paper.write("/news/b", "Story b", "What b did</p><p>More of it", ["/news/"])
    del paper.replies["/news/c"]
    visit(site)
    return site


def unseen(user: User) -> list[int]:
    return list(seen.unseen_changes(seen.marks_of(user)).order_by("id").values_list("id", flat=True))


def test_changes_are_unseen_until_they_are_opened(site: Site, ann: User, reader: Client) -> None:
    first, second, third = unseen(ann)
    page = reader.get("/sites/").content.decode()
    assert page.count('class="item new"') == 3 and "Changes, 3 unseen" in page
    opened = reader.get(f"/sites/changes/{second}/")
    assert opened.status_code == 200 and b'<main id="main" class="read open"' in opened.content
    assert unseen(ann) == [first, third]
    part = reader.get(f"/sites/changes/{first}/", headers={"HX-Request": "true", "HX-Target": "reader"})
    assert b"<html" not in part.content and b'hx-swap-oob="true"' in part.content
    assert unseen(ann) == [third]
    reader.get(f"/sites/changes/{third}/", headers={"Sec-Purpose": "prefetch"})
    assert unseen(ann) == [third]
    reader.post(f"/sites/changes/{first}/unseen/")
    assert unseen(ann) == [first, third]
    assert unseen(make_user("ben")) == []  # for ben, who came after, none is new


def test_pages_that_changed_in_the_same_way_are_one_row(paper: Paper, ann: User, reader: Client) -> None:
    urls = [f"{paper.origin}/shop/{name}" for name in "abcd"]
    for name in "abcd":
        paper.write(f"/shop/{name}", f"Thing {name}", "Old words", [])
    site = add_pages(urls, **LIST_DEFAULTS)
    work_off([site])
    for name in "abc":
        paper.write(f"/shop/{name}", f"Thing {name}", "Closed in August", [])
    paper.write("/shop/d", "Thing d", "Open in August", [])
    visit(site)
    assert len(unseen(ann)) == 4
    page = reader.get("/sites/").content.decode()
    assert page.count('class="item new"') == 2
    assert "2 more pages changed in the same way:" in page
    first = next(key for key in unseen(ann)[::-1] if "Closed" in Change.objects.get(pk=key).summary)
    opened = flat(reader.get(f"/sites/changes/{first}/").content)
    assert "2 more pages changed in the same way</h2>" in opened
    (other,) = unseen(ann)
    assert "Open in August" in Change.objects.get(pk=other).summary
    assert f'href="/sites/changes/{other}/"' in opened
    reader.post(f"/sites/changes/{first}/unseen/")
    assert len(unseen(ann)) == 4
    assert len(json.loads(b"".join(reader.get("/sites/changes.json").streaming_content))) == 4


def test_all_are_marked_and_taken_back(site: Site, ann: User, reader: Client) -> None:
    before = unseen(ann)
    reader.get(f"/sites/changes/{before[1]}/")
    page = reader.post("/sites/seen/", follow=True)
    assert b"2 changes marked as seen." in page.content and unseen(ann) == []
    token = reader.session["undo"]["token"]
    reader.post("/undo/", {"token": token, "next": "/sites/"})
    assert unseen(ann) == [before[0], before[2]]
    reader.post(f"/sites/seen/?site={site.pk + 1}")
    assert len(unseen(ann)) == 2
    reader.post(f"/sites/seen/?site={site.pk}")
    assert unseen(ann) == []


def test_marks_stay_right_however_many_there_are(
    site: Site, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen, "MAX_KEYS", 1)
    first, second, third = unseen(ann)
    seen.mark_seen(ann, [second])
    seen.mark_seen(ann, [third])
    assert unseen(ann) == [first]
    assert seen.marks_of(ann).up_to == third
    seen.mark_seen(ann, [third], seen=False)
    assert unseen(ann) == [first, third]


def test_lists_are_those_of_a_site_and_go_on(
    site: Site, ann: User, reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recrawl.changes.inbox_views.PAGE_SIZE", 2)
    page = reader.get("/sites/?show=all").content.decode()
    assert page.count('class="item') == 2 and "Older changes" in page
    before = unseen(ann)[1]
    rest = reader.get(
        f"/sites/?show=all&before={before}", headers={"HX-Request": "true", "HX-Target": f"rest{before}"}
    ).content.decode()
    assert rest.count('class="item') == 1 and "<html" not in rest
    assert 'class="item' not in reader.get(f"/sites/?site={site.pk + 1}").content.decode()
    for query in ("?site=x&before=-1&show=x", "?before=99999999999999999999"):
        assert reader.get(f"/sites/{query}").status_code == 200


def test_words_say_what_changed(site: Site) -> None:
    words = {
        change.page.path: sentence(change, Difference.unpacked(bytes(change.difference)))
        for change in Change.objects.select_related("page")
    }
    assert words == {
        "/news/a": "“at last” was added.",
        "/news/b": "A line was added: “More of it”.",
        "/news/c": "The page is gone: its server answers that it was not found.",
    }
    gain = difference(["Version 2.8.0 is out"], ["Version 2.8.1 is out"])
    assert sentence(Change(kind="edited"), gain) == "“2.8.0” became “2.8.1”."
    gain = difference(["a", "b", "c c c"], ["a a a", "c c d", "e"])
    assert sentence(Change(kind="edited"), gain) == "3 lines changed."
    gain = difference(["keep", "old"], ["keep"])
    assert sentence(Change(kind="edited"), gain) == "A line was removed: “old”."


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        ("10:00 Opening, in hall 2", "10:00 Opening, in the main hall", [" 2"], ["the main "]),
        ("料金は百円です", "料金は二百円です", [], ["二"]),
        ("one two", "three four", ["one two"], ["three four"]),
        ("x " * 2000, "y " * 2000, ["x " * 2000], ["y " * 2000]),
        ("same", "same", [], []),
        ("", "new", [], ["new"]),
    ],
)
def test_differences_word_by_word(old: str, new: str, before: list[str], after: list[str]) -> None:
    olds, news = word_difference(old, new)
    assert "".join(piece.text for piece in olds) == old
    assert "".join(piece.text for piece in news) == new
    assert [piece.text for piece in olds if piece.differs and piece.text] == before
    assert [piece.text for piece in news if piece.differs and piece.text] == after


def test_changes_are_saved_as_table_and_json(site: Site, paper: Paper, reader: Client) -> None:
    paper.write("/news/a", "=cmd()", "@SUM(A1) to do", ["/news/"])
    visit(site)
    rows = json.loads(b"".join(reader.get("/sites/changes.json")))
    assert [row["kind"] for row in rows] == ["edited", "gone", "edited", "edited"]
    assert rows[-1]["lines_added"] == ["What a did at last"]
    table = b"".join(reader.get(f"/sites/changes.csv?site={site.pk}")).decode()
    cells = list(csv.DictReader(io.StringIO(table)))
    assert len(cells) == 4
    assert cells[0]["title"] == "'=cmd()"
    assert cells[0]["lines_added"].startswith("'=cmd()")
    assert reader.get("/sites/changes.exe").status_code == 404


@pytest.mark.parametrize("text", ["=1+1", " =1+1", "\uff1d1+1", "+1", "-1", "@x", "\tx", "\nx"])
def test_no_exported_cell_is_a_formula(text: str) -> None:
    assert inbox_views._cell(text) == inbox_views._cell([text]) == f"'{text}"
    assert inbox_views._cell(-5) == -5


def test_versions_are_stepped_through_and_saved(paper: Paper, reader: Client) -> None:
    site = add_pages([f"{paper.origin}/about"], budget=1.0, keep_copies=True)
    work_off([site])
    for words in ("Who we were", "Who we will be"):
        paper.write("/about", "About", words, [])
        visit(site)
    page = site.pages.get()
    assert Version.objects.count() == 2
    path = f"/sites/{site.pk}/pages/{page.pk}/versions/"
    last = reader.get(path).content.decode()
    assert "Version 3 of 3" in last and "Who we will be" in last
    middle = reader.get(f"{path}?version=2").content.decode()
    assert "Who we were" in middle and "Version 2 of 3" in middle
    assert reader.get(f"{path}?version=9").status_code == 404
    assert reader.get(f"{path}?version=-1").status_code == 200
    warc = b"".join(reader.get(f"/sites/{site.pk}/pages/{page.pk}/versions.warc.gz"))
    kinds, bodies = [], []
    for record in ArchiveIterator(io.BytesIO(warc)):
        kinds.append(record.rec_type)
        bodies.append(record.content_stream().read())
    assert kinds == ["warcinfo", "response", "response", "response"]
    assert [b"Who we are" in bodies[1], b"Who we were" in bodies[2], b"will be" in bodies[3]] == [True] * 3


def test_versions_without_bytes_are_saved_as_text(site: Site, reader: Client) -> None:
    page = site.pages.get(url__endswith="/news/a")
    warc = b"".join(reader.get(f"/sites/{site.pk}/pages/{page.pk}/versions.warc.gz"))
    texts = [
        record.content_stream().read().decode()
        for record in ArchiveIterator(io.BytesIO(warc))
        if record.rec_type == "conversion"
    ]
    assert ["What a did" in text for text in texts] == [True, True]
    assert "at last" not in texts[0] and "at last" in texts[1]
