"""Graphs derived from what was read: people, stories by week, sites' links by week."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from articles.enrichment.models import Enrichment, Story
from articles.things.derived import links, mentions, names, people, save, stories
from articles.things.derived.weeks import CalendarWeek, last_weeks, week_of
from articles.things.tasks import derive as task
from crawler.pipeline.derived import last_derived, save_derived
from crawler.pipeline.models import Document, GraphChange
from crawler.pipeline.sparql.replica import Replica
from crawler.pipeline.store import META, quads
from crawler.pipeline.terms import iri
from tests.articles.things.test_pages import empty_graph, state, write  # noqa: F401 - a fixture
from tests.crawler.pipeline.test_store import indexed
from tests.factories import make_article, make_feed, make_user

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC)
OWN = "urn:freshet:"
LINKS_TO = "http://rdfs.org/sioc/ns#links_to"


def page_with_links(address: str, *targets: str, fetched: datetime = NOW) -> None:
    indexed("\n".join(f"<{address}> <{LINKS_TO}> <{target}> ." for target in targets), address)
    Document.objects.filter(url=address).update(fetched=fetched)


def stored(name: str) -> dict[str, dict[str, set[str]]]:
    """The statements of a graph, by subject and predicate."""
    statements: dict[str, dict[str, set[str]]] = {}
    for quad in quads(context=iri(name), limit=100_000):
        subject = statements.setdefault(quad.subject.value, {})
        subject.setdefault(quad.predicate.value, set()).add(quad.object.value)
    return statements


@pytest.mark.parametrize(
    ("when", "name", "start"),
    [
        (datetime(2026, 11, 27, tzinfo=UTC), "2026-W48", datetime(2026, 11, 23, tzinfo=UTC)),
        (datetime(2027, 1, 3, 23, 59, tzinfo=UTC), "2026-W53", datetime(2026, 12, 28, tzinfo=UTC)),
        (datetime(2027, 1, 4, tzinfo=UTC), "2027-W01", datetime(2027, 1, 4, tzinfo=UTC)),
    ],
)
def test_weeks_begin_on_monday_and_have_the_year_of_their_thursday(
    when: datetime, name: str, start: datetime
) -> None:
    week = week_of(when)
    assert (str(week), week.start, week.end - week.start) == (name, start, timedelta(days=7))


def test_weeks_go_back_over_the_turn_of_a_year() -> None:
    assert last_weeks(datetime(2027, 1, 5, tzinfo=UTC), 3) == [
        CalendarWeek(2026, 52),
        CalendarWeek(2026, 53),
        CalendarWeek(2027, 1),
    ]


def test_links_between_sites_are_counted_by_week() -> None:
    page_with_links("http://a.example/1", "http://b.example/x", "http://b.example/y", "http://a.example/2")
    page_with_links("http://www.a.example/2", "http://b.example/x", "http://c.example/")
    page_with_links("http://a.example/old", "http://b.example/x", fetched=NOW - timedelta(days=30))
    save.derive(NOW)
    week = week_of(NOW)
    graph = stored(links.NAME.format(week=week))
    assert {
        (row[OWN + "from"].pop(), row[OWN + "to"].pop(), row[OWN + "links"].pop(), row[OWN + "pages"].pop())
        for row in graph.values()
    } == {
        ("http://a.example/", "http://b.example/", "3", "2"),
        ("http://a.example/", "http://c.example/", "1", "1"),
    }
    assert all(row[OWN + "week"] == {str(week)} for row in graph.values())


def test_a_week_that_is_over_keeps_its_graph() -> None:
    old = NOW - timedelta(days=30)
    page_with_links("http://a.example/1", "http://b.example/", fetched=old)
    save.derive(old)
    name = links.NAME.format(week=week_of(old))
    before = stored(name)
    page_with_links("http://a.example/1", "http://c.example/")
    save.derive(NOW)
    assert before
    assert stored(name) == before


def test_stories_have_their_articles_feeds_and_topic() -> None:
    story = Story.objects.create()
    for number, category in ((1, "Sport"), (2, "")):
        feed = make_feed(f"http://s{number}.example/feed")
        article = make_article(feed, title=f"Title {number}", url=f"http://s{number}.example/a b")
        Enrichment.objects.filter(article=article).update(story=story, category=category, state="done")
    alone = Story.objects.create()
    Enrichment.objects.filter(article=make_article(make_feed("http://z.example/"))).update(story=alone)
    save.derive(NOW)
    (row,) = stored(stories.NAME.format(week=week_of(NOW))).values()
    assert row["http://schema.org/hasPart"] == {"http://s1.example/a%20b", "http://s2.example/a%20b"}
    assert row[OWN + "feeds"] == {"2"}
    assert row["http://purl.org/dc/terms/title"] == {"Title 1"}
    assert row["http://schema.org/about"] == {"http://cv.iptc.org/newscodes/mediatopic/15000000"}


def test_people_are_one_for_a_reason_that_is_stored() -> None:
    write("news.example", "By Ada Example and Bob Other", "one")
    write("news.example", "ada example", "two")
    write("blog.example", "Ada Example", "three")
    write("elsewhere.example", "Ada Example", "four")
    state("http://news.example/team", "Ada Example", "https://ada.example/me")
    state("http://blog.example/", "Ada Example", "https://ada.example/me")
    save.derive(NOW)
    graph = stored(people.NAME)
    first, second = f"{OWN}person:news.example:ada%20example", f"{OWN}person:blog.example:ada%20example"
    assert graph[first][OWN + "articles"] == {"2"}
    assert graph[first]["http://xmlns.com/foaf/0.1/page"] == {"https://ada.example/me"}
    assert graph[first]["http://www.w3.org/2002/07/owl#sameAs"] == {second}
    assert f"{OWN}person:elsewhere.example:ada%20example" in graph
    (reason,) = [row for row in graph.values() if OWN + "because" in row]
    assert reason[OWN + "because"] == {"https://ada.example/me"}
    assert reason[OWN + "person"] == {first, second}


def test_a_person_who_wrote_nothing_any_more_goes() -> None:
    article = write("news.example", "Ada Example", "one")
    save.derive(NOW)
    assert stored(people.NAME)
    article.delete()
    save.derive(NOW)
    assert not stored(people.NAME)


@pytest.mark.parametrize(
    "byline", ['"><script>', "\\ \" ' <x> {y}", "日本 太郎", "a" * 5000, "٣ ٤", "%41 %zz"]
)
def test_bylines_of_any_kind_give_valid_terms(byline: str, tmp_path: Any) -> None:
    write("news.example", byline, "one")
    save.derive(NOW)
    replica = Replica(tmp_path)
    replica.follow()
    assert byline.startswith("a" * 300) or replica.content(people.NAME)


def test_derived_graphs_are_in_the_replica_and_say_when_they_were_made(tmp_path: Any) -> None:
    page_with_links("http://a.example/1", "http://b.example/")
    save.derive(NOW)
    replica = Replica(tmp_path)
    replica.follow()
    name = links.NAME.format(week=week_of(NOW))
    assert b"LinksOfWeek" in replica.content(name)
    (origin,) = quads(subject=iri(name), context=META)
    assert origin.object.value == NOW.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_the_same_again_changes_nothing_and_is_due_a_day_later() -> None:
    write("news.example", "Ada Example", "one")
    assert save.is_due(NOW)
    while save.derive_next(datetime.now(UTC)):
        assert save.is_due(datetime.now(UTC))
    assert not save.is_due(datetime.now(UTC))
    assert save.is_due(datetime.now(UTC) + timedelta(hours=25))
    count = GraphChange.objects.count()
    task()
    assert GraphChange.objects.count() == count
    save.derive(NOW)
    newest = GraphChange.objects.filter(url=people.NAME).first()
    assert newest is not None
    assert (newest.added, newest.removed) == (0, 0)


def test_only_names_of_our_own_space_are_derived() -> None:
    with pytest.raises(ValueError, match="derived graphs are named"):
        save_derived({"http://a.example/": []}, NOW)
    assert last_derived(f"{OWN}{uuid.uuid4()}") is None


def test_the_command_tells_what_it_made(capsys: pytest.CaptureFixture[str]) -> None:
    write("news.example", "Ada Example", "one")
    call_command("derive", weeks=3, json=True)
    counts = json.loads(capsys.readouterr().out)
    assert len(counts) == 11
    assert counts[people.NAME] == 4
    with pytest.raises(CommandError):
        call_command("derive", weeks=0)


def organisation(url: str, name: str, address: str = "") -> None:
    """Store a document that says that an organisation has a name."""
    lines = [
        "_:o <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Organization> .",
        f"_:o <http://schema.org/name> {json.dumps(name)} .",
    ]
    if address:
        lines.append(f"_:o <http://schema.org/url> <{address}> .")
    indexed("\n".join(lines), url)


def test_articles_mention_the_people_and_organisations_that_the_graph_knows() -> None:
    organisation("http://a.example/1", "Example Society", "http://society.example/")
    organisation("http://b.example/1", "Example Society", "http://society.example/")
    organisation("http://news.example/about", "Daily Example")
    organisation("http://news.example/contact", "Daily Example")
    write("blog.example", "Ada Example", "x")
    write("blog.example", "Ada Example", "y")
    text = "Ada Example of the Example Society told the Daily Example that Bob Other was late."
    first = write("news.example", "Cy Writer", "one", text=text)
    own = write("blog.example", "Ada Example", "own", text="I am Ada Example.")
    save.derive(NOW)
    week = week_of(first.published)
    graph = stored(mentions.NAME.format(week=week))
    assert graph[first.url]["http://schema.org/mentions"] == {
        f"{OWN}name:person:ada%20example", f"{OWN}name:organisation:example%20society",
    }  # fmt: skip
    assert own.url not in graph
    assert stored(names.GRAPH)[f"{OWN}name:organisation:example%20society"][
        "http://xmlns.com/foaf/0.1/page"
    ] == {"http://society.example/"}


def test_an_organisation_has_a_page_with_the_articles_that_name_it(client: Any) -> None:
    organisation("http://a.example/1", "Example Society", "http://society.example/")
    organisation("http://b.example/1", "Example Society", "http://society.example/")
    write("blog.example", "Ada Example", "x")
    write("blog.example", "Ada Example", "y")
    article = write("news.example", "Cy", "one", text="Ada Example and the Example Society met.")
    save.derive(NOW)
    client.force_login(make_user())
    page = client.get("/about/organisation/example society/").content.decode()
    assert "<h1><bdi>Example Society</bdi></h1>" in page
    assert "http://society.example/" in page
    assert "/about/person/Ada%20Example/" in page
    answer = client.get("/api/things/", {"kind": "organisation", "name": "Example Society"}).json()
    assert answer["articles"] == [article.pk]
    assert answer["pages"] == ["http://society.example/"]
    assert answer["named"] == [{"kind": "person", "name": "Ada Example", "articles": 1}]
    site = client.get("/about/site/news.example/").content.decode()
    assert "/about/organisation/Example%20Society/" in site


def test_a_document_cannot_say_whom_an_article_mentions(client: Any) -> None:
    article = write("news.example", "Cy", "one", text="Nobody is named here.")
    node = f"{OWN}name:person:mallory%20example"
    forged = (
        f"<{article.url}> <http://schema.org/mentions> <{node}> .\n"
        f'<{node}> <http://xmlns.com/foaf/0.1/name> "Mallory Example" .'
    )
    indexed(forged, "http://evil.example/")
    client.force_login(make_user())
    answer = client.get("/api/things/", {"kind": "site", "name": "news.example"}).json()
    assert answer["named"] == []


def test_two_graphs_of_one_document_are_one_document() -> None:
    lines = '_:o <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Organization> {g} .\n' \
            '_:o <http://schema.org/name> "Example Society" {g} .'  # fmt: skip
    part = "<http://a.example/1#graph=http://a.example/g>"
    indexed("\n".join([lines.format(g=""), lines.format(g=part)]), "http://a.example/1")
    save.derive(NOW)
    assert not stored(names.GRAPH)


def test_derived_graphs_are_no_evidence_for_themselves() -> None:
    organisation("http://news.example/about", "Daily Example")
    organisation("http://news.example/contact", "Daily Example")
    article = write("news.example", "Cy", "one", text="We at the Daily Example think so.")
    for _ in range(3):
        save.derive(NOW)
    assert stored(names.GRAPH)[f"{OWN}name:organisation:daily%20example"][f"{OWN}documents"] == {"2"}
    assert article.url not in stored(mentions.NAME.format(week=week_of(article.published)))
    Document.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM pipeline_quad WHERE c IN (SELECT id FROM pipeline_term WHERE value LIKE 'http%')"
        )
    save.derive(NOW)
    assert not stored(names.GRAPH)


def test_links_of_pages_that_changed_later_stay_in_their_week() -> None:
    last_week = NOW - timedelta(days=7)
    page_with_links("http://a.example/1", "http://b.example/", "http://b.example/x", fetched=last_week)
    save.derive(last_week)
    page_with_links("http://a.example/1", "http://c.example/")
    page_with_links("http://a.example/2", "http://b.example/", fetched=last_week)
    save.derive(NOW)
    (row,) = stored(links.NAME.format(week=week_of(last_week))).values()
    assert (row[OWN + "to"], row[OWN + "links"]) == ({"http://b.example/"}, {"2"})


def test_a_graph_that_cannot_be_derived_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    def fail(week: CalendarWeek) -> Any:
        raise RuntimeError("made to fail")

    write("news.example", "Ada Example", "one")
    monkeypatch.setattr(stories, "stories_graph", fail)
    while save.derive_next(datetime.now(UTC)):
        pass
    assert stored(people.NAME)
    assert "made to fail" in caplog.text


def test_a_person_whom_only_documents_know_has_a_page(client: Any) -> None:
    for site in ("a", "b"):
        lines = (
            "_:p <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Person> .\n"
            '_:p <http://schema.org/name> "Mara Minister" .'
        )
        indexed(lines, f"http://{site}.example/")
    article = write("news.example", "Cy", "one", text="Mara Minister resigned.")
    save.derive(NOW)
    client.force_login(make_user())
    assert "/about/person/Mara%20Minister/" in client.get("/about/site/news.example/").content.decode()
    assert "<h1><bdi>Mara Minister</bdi></h1>" in client.get("/about/person/Mara Minister/").content.decode()
    answer = client.get("/api/things/", {"kind": "person", "name": "mara minister"}).json()
    assert answer["articles"] == [article.pk]
