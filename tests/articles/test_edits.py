"""Edits of articles: seen in feeds and on pages, stored as a chain of versions, within a budget of looks."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from rest_framework.test import APIClient

from articles.edits import rechecks
from articles.edits.deciding import edit_of, standing
from articles.edits.differences import applied, difference
from articles.edits.history import proves, versions_of
from articles.edits.models import ArticleVersion, HostEdits, PageRecheck, RecheckHour
from articles.edits.pacing import LADDER, PRIOR, chance, learned
from articles.intake import Arrival, store_arrivals
from articles.models import Article, Page
from crawler.messages import Harvest
from crawler.reading.documents import Entry, PageDocument
from feeds.models import Retrieval
from tests.factories import make_article, make_feed, make_user
from tests.html import flat

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
FERRY = (
    "The ferry line has announced that its two winter boats will be laid up from January.",
    "12 crossings a week are planned, the board said on Monday.",
    "The islands’ council had called for a meeting on Thursday, which will be held all the same.",
)  # fmt: skip


def text(*changed: tuple[str, str]) -> str:
    joined = "\n".join(FERRY)
    for old, new in changed:
        assert old in joined
        joined = joined.replace(old, new)
    return joined


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        (("12 crossings", "21 crossings"), ["number"]),
        (("on Monday", "on Tuesday"), ["name"]),
        (("announced", "denied"), ["words"]),
        ((FERRY[1], ""), ["sentence removed"]),
        ((FERRY[1], f"{FERRY[1]}\nNobody had expected this so soon after the storm."), ["sentence added"]),
        (("islands’", "islands'"), []),
        (("January.", "January. "), []),
        (("Monday.", "Monday.\nUpdated 5 minutes ago"), []),
        (("Monday.", "Monday.\nRead also: what the lamps of the pier cost the town"), []),
        (("Monday.", "Monday.\n128 comments"), []),
        (("Monday.", "Monday. Advertisement"), []),
    ],
)  # fmt: skip
def test_words_are_edits_and_furniture_is_none(change: tuple[str, str], kinds: list[str]) -> None:
    edit = edit_of(standing("Ferry", text()), standing("Ferry", text(change)))
    assert (edit.kinds if edit else []) == kinds


def test_a_wall_a_cut_text_and_another_page_are_no_edits() -> None:
    old = standing("Ferry", text())
    assert edit_of(old, standing("Ferry", FERRY[0])) is None
    assert edit_of(old, standing("Ferry", "Please accept our cookies to go on reading this site.")) is None
    assert edit_of(old, standing("Ferry", "")) is None


def test_lines_of_other_pages_of_the_site_are_furniture() -> None:
    banner = "Our reporters need your support now more than ever before, so please give."
    new = standing("Ferry", f"{text()}\n{banner}")
    assert edit_of(standing("Ferry", text()), new) is not None
    assert edit_of(standing("Ferry", text()), new, [banner]) is None


@pytest.mark.parametrize(
    ("old", "new"), [("", "a"), ("a\nb\nc", "a\nx\nc\nd"), ("a", ""), ("\n\n", "\n"), ("7\n8", "8\n7")]
)
def test_a_difference_makes_the_new_text(old: str, new: str) -> None:
    assert applied(old, difference(old, new)) == new


def arrive(feed: int, title: str, content: str, *, edited: bool) -> None:
    entry = Entry(
        identity="ferry", url="https://coast.example/ferry", title=title, text=content, content=content
    )
    entries = {"entries": ()} if edited else {"entries": (entry,)}
    arrival = Arrival(
        feed, NOW.timestamp(), NOW.timestamp() - 60, "en", edited=(entry,) if edited else (), **entries
    )
    store_arrivals([arrival])


@pytest.mark.django_db
def test_the_edits_of_a_feed_are_versions_that_prove_themselves() -> None:
    feed = make_feed()
    arrive(feed.pk, "Ferry drops boats", text(), edited=False)
    arrive(feed.pk, "Ferry keeps boats", text(("announced", "denied")), edited=True)
    arrive(feed.pk, "Ferry keeps boats", text(("announced", "denied"), ("12", "21")), edited=True)
    arrive(feed.pk, "Ferry keeps boats", text(("announced", "denied"), ("12", "21")), edited=True)
    article = Article.objects.get()
    versions = versions_of(article.pk)
    assert [version.row.number for version in versions] == [1, 2, 3]
    assert [version.row.is_whole for version in versions] == [True, False, True]
    assert [version.text for version in versions] == [
        text(), text(("announced", "denied")), text(("announced", "denied"), ("12", "21")),
    ]  # fmt: skip
    assert versions[1].row.kinds == ["headline", "words"]
    assert (versions[2].row.kinds, versions[2].row.change) == (["number"], ["12", "21"])
    assert proves(versions)
    ArticleVersion.objects.filter(number=1).update(title="Another")
    assert not proves(versions_of(article.pk))


def with_page(**fields: Any) -> tuple[Article, Page]:
    article = make_article(title="Ferry", text=text(), published=NOW, url="https://coast.example/ferry")
    page = Page.objects.create(
        url=article.url, url_key=uuid4(), host=article.feed.host, status="stored", fetched=NOW, title="Ferry",
        text=text(), **fields,
    )  # fmt: skip
    Article.objects.filter(pk=article.pk).update(page=page)
    return article, page


def looked_at(
    page: Page, content: str = "", *, title: str = "Ferry", at: datetime = NOW, **fields: Any
) -> list[int]:
    lease = uuid4()
    PageRecheck.objects.filter(page=page).update(lease=lease)
    document = None if fields else PageDocument(title=title, text=content, content=f"<p>{content}</p>")
    harvest = Harvest("recheck", page.pk, at.timestamp(), page.url, payload=document, **fields)
    return rechecks.settle([harvest], [lease], at)


def recheck(page: Page) -> PageRecheck:
    return PageRecheck.objects.create(
        page=page, host_id=page.host_id, since=NOW, due=NOW, not_before=NOW, is_chosen=True
    )


@pytest.mark.django_db
def test_a_look_that_finds_an_edit_keeps_both_texts() -> None:
    article, page = with_page()
    recheck(page)
    assert looked_at(page, text(("12", "21"))) == [page.pk]
    article.refresh_from_db()
    assert "21 crossings" in article.text
    assert [version.text for version in versions_of(article.pk)] == [text(), text(("12", "21"))]
    row = PageRecheck.objects.get()
    assert (row.rung, row.due, row.is_chosen) == (1, NOW + timedelta(seconds=LADDER[1]), False)
    assert HostEdits.objects.get().edits[0] == 1.0
    assert looked_at(page, text(("12", "21"))) == []
    assert ArticleVersion.objects.count() == 2


@pytest.mark.django_db
def test_a_result_that_comes_twice_or_late_changes_nothing() -> None:
    _article, page = with_page()
    recheck(page)
    looked_at(page, text(("12", "21")))
    late = Harvest("recheck", page.pk, NOW.timestamp(), page.url, payload=PageDocument(title="X", text="Y"))
    assert rechecks.settle([late], [uuid4(), UUID(int=0)], NOW) == []
    assert ArticleVersion.objects.count() == 2


@pytest.mark.django_db
def test_an_article_that_is_gone_twice_is_taken_back_and_its_text_stays(client: Client) -> None:
    article, page = with_page()
    recheck(page)
    assert looked_at(page, failure="http-404", status=404) == []
    assert looked_at(page, failure="http-404", status=404) == [page.pk]
    assert not PageRecheck.objects.exists()
    article.refresh_from_db()
    assert article.text == text()
    client.force_login(make_user())
    assert "no longer on the web; kept here" in flat(client.get(f"/read/{article.pk}/").content)
    assert "taken back by its publisher" in flat(client.get("/edits/?all=1&kind=gone").content)


@pytest.mark.django_db
def test_failures_and_unchanged_pages_are_no_edits() -> None:
    _article, page = with_page()
    recheck(page)
    assert looked_at(page, unchanged=True, status=304) == []
    assert looked_at(page, failure="timeout") == []
    assert PageRecheck.objects.get().rung == 2
    assert not ArticleVersion.objects.exists()


@pytest.mark.django_db
def test_looks_are_planned_for_new_articles_and_cost_an_eighth() -> None:
    article, page = with_page()
    old = make_article(published=NOW - timedelta(days=9))
    other = Page.objects.create(url=old.url, url_key=uuid4(), host=old.feed.host, status="stored", text="T")
    Article.objects.filter(pk=old.pk).update(page=other)
    harvests = [Harvest("page", each.pk, NOW.timestamp(), each.url, etag='"e"') for each in (page, other)]
    rechecks.watch(harvests, [page.pk, other.pk], NOW)
    row = PageRecheck.objects.get()
    assert (row.page_id, row.etag) == (page.pk, '"e"')
    due = NOW + timedelta(hours=1)
    assert rechecks.plan(due) == 0  # nothing else was asked for: there is nothing to spend
    Retrieval.objects.bulk_create(
        Retrieval(feed=article.feed, at=due - timedelta(hours=1), outcome="not-modified") for _ in range(20)
    )
    assert rechecks.plan(due) == 1
    RecheckHour.objects.create(hour=due, looks=9)
    PageRecheck.objects.update(is_chosen=False)
    assert rechecks.plan(due) == 0
    assert rechecks.plan(NOW + timedelta(hours=2)) == 0
    assert PageRecheck.objects.get().rung == 1  # too late for the first hour: the next look will see it


def test_a_site_that_edits_is_looked_at_sooner() -> None:
    looks: list[float] = []
    edits: list[float] = []
    for _ in range(20):
        looks, edits = learned(looks, edits, 0, has_edit=True)
    assert chance(0, looks, edits) > 0.7
    assert chance(1, looks, edits) == PRIOR[1]
    for _ in range(400):
        looks, edits = learned(looks, edits, 0, has_edit=False)
    assert chance(0, looks, edits) < PRIOR[0] * 2


@pytest.mark.django_db
def test_versions_are_shown_word_by_word_and_given_to_programs(client: Client) -> None:
    article, page = with_page()
    recheck(page)
    looked_at(page, text(("12", "21"), ("announced", "denied")))
    user = make_user()
    client.force_login(user)
    html = re.sub(r"\s+>", ">", client.get(f"/read/{article.pk}/versions/").content.decode())
    assert "<del>12</del>" in html
    assert "<ins>21</ins>" in html
    assert "changed once since it was published" in flat(client.get(f"/read/{article.pk}/").content)
    assert "a number: 12 became 21" in flat(client.get("/edits/?all=1").content)
    assert client.get("/edits/?sources=1&all=1").status_code == 200
    assert client.get("/edited/")["Location"] == "/edits/"
    api = APIClient()
    api.force_login(user)
    answer = api.get(f"/api/articles/{article.pk}/versions/").json()
    assert (answer["edited"], answer["proves"], len(answer["versions"])) == (1, True, 2)
    assert answer["versions"][1]["previous_sha256"] == answer["versions"][0]["sha256"]
    (edit,) = api.get("/api/edits/?kind=number").json()["results"]
    assert (edit["article"], edit["change"]) == (article.pk, ["12", "21"])
    assert api.get(f"/api/articles/{article.pk}/edits/").json()[0]["number"] == 2
    assert api.get("/api/edits/sources/").json()[0]["edited"] == 1
    assert api.get("/api/articles/?q=is:edited").json()["results"][0]["id"] == article.pk
    assert api.get("/api/articles/?q=-is:edited").json()["results"] == []
    assert api.get("/api/edits/?kind=nonsense").status_code == 400


@pytest.mark.django_db
def test_nobody_sees_the_versions_of_anothers_page() -> None:
    article, page = with_page()
    recheck(page)
    looked_at(page, text(("12", "21")))
    Article.objects.filter(pk=article.pk).update(owner=make_user())
    api = APIClient()
    api.force_login(make_user())
    assert api.get(f"/api/articles/{article.pk}/versions/").status_code == 404
    assert api.get("/api/edits/").json()["results"] == []
