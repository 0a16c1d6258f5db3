"""The page "is it me?": one sentence for everybody, facts for who is signed in, an answer whatever fails."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from articles.personal.following import subscriber_of
from crawler.engine.models import Pulse
from crawler.notices.models import Target
from crawler.operation.site import status, status_views
from crawler.operation.site.health import Health
from feeds.models import Feed, Retrieval, Tick
from tests.factories import make_feed, make_user
from tests.html import flat

pytestmark = pytest.mark.django_db

MAX_QUERIES_OF_STRANGERS = 10
MAX_QUERIES_OF_PEOPLE = 34
"""With the page's frame: its session, the sidebar and the limits of time."""


@pytest.fixture(autouse=True)
def asked_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "_last", [])


@pytest.fixture
def reader(client: Client) -> Client:
    client.force_login(make_user("ada"))
    return client


def ask_anew() -> None:
    status._last.clear()


def works(ago: timedelta = timedelta()) -> None:
    """Let the last round have ended, and workers have answered, so long ago."""
    at = datetime.now(UTC) - ago
    Tick.objects.create(started=at, finished=at, policy="freshness")
    for queue in ("fetch", "store"):
        Pulse.objects.update_or_create(queue=queue, defaults={"answered": at})


def follow(client: Client, feed: Feed) -> None:
    person = client.get("/status/").context["user"]
    subscriber_of(person).subscriptions.create(feed=feed)
    ask_anew()


def no_network(hosts: int = 5) -> datetime:
    """Let all sites be silent that answered an hour ago. Returns when they did."""
    now = datetime.now(UTC)
    for number in range(hosts):
        feed = make_feed(f"https://silent{number}.example/rss")
        Retrieval.objects.create(feed=feed, at=now - timedelta(hours=1), outcome="not-modified")
        Retrieval.objects.create(feed=feed, at=now, outcome="failed", failure="dns")
    return now - timedelta(hours=1)


def raises(*_: Any, **__: Any) -> Any:
    raise OperationalError("server closed the connection unexpectedly")


def test_strangers_read_one_sentence_and_learn_nothing(client: Client) -> None:
    works()
    make_feed("https://secret.example/feed.xml", title="Secret feed", failure="dns", failure_streak=3)
    make_user("ada")
    answer = client.get("/status/")
    main = flat(answer.content).partition("<main")[2]
    assert answer.status_code == 200
    assert "Freshet works." in main
    for word in ("secret", "Secret", "ada", "0.1.0", "round", "article", "dns"):
        assert word not in main
    assert answer["Cache-Control"] == "public, max-age=10"
    assert {"Cookie", "Accept", "Accept-Language"} <= set(answer["Vary"].split(", "))


def test_strangers_cost_few_queries_and_none_within_ten_seconds(client: Client) -> None:
    works()
    client.get("/status/")
    ask_anew()
    with CaptureQueriesContext(connection) as first:
        client.get("/status/")
    with CaptureQueriesContext(connection) as second:
        client.get("/status/")
    assert (
        len([query for query in first if "statement_timeout" not in query["sql"]]) <= MAX_QUERIES_OF_STRANGERS
    )
    assert len(second) == 0


@pytest.mark.parametrize(
    ("path", "headers"), [("/status/", {"Accept": "application/json"}), ("/api/status/", {})]
)
def test_programs_get_it_as_json(client: Client, path: str, headers: dict[str, str]) -> None:
    works()
    answer = client.get(path, headers=headers)
    assert answer["Cache-Control"] == "public, max-age=10"
    assert answer.json() == {"state": "well", "sentence": "Freshet works.", "since": None}


def test_articles_are_late_when_no_round_ends(reader: Client) -> None:
    works()
    now = datetime.now(UTC)
    follow(reader, make_feed(last_new=now - timedelta(hours=3)))
    Tick.objects.all().delete()
    works(timedelta(hours=2))
    html = flat(reader.get("/status/").content)
    assert "New articles are late: the last came 3 hours ago." in html
    assert "Your articles are complete up to " in html
    assert "Nothing to do: what is published meanwhile comes later." in html
    told = Client().get("/api/status/").json()
    assert (told["state"], told["sentence"]) == ("late", "New articles are late.")
    assert datetime.fromisoformat(told["since"]) == Tick.objects.get().finished


def test_a_worker_that_went_silent_says_up_to_when_nothing_was_missed(client: Client) -> None:
    works()
    silent = datetime.now(UTC) - timedelta(hours=5)
    Pulse.objects.filter(queue="store").update(answered=silent)
    told = client.get("/api/status/").json()
    assert (told["state"], datetime.fromisoformat(told["since"])) == ("late", silent)


def test_an_outage_here_is_nobodys_feed(reader: Client) -> None:
    works()
    last = no_network()
    html = flat(reader.get("/status/").content)
    assert "Freshet cannot reach the web at present; nothing is wrong with your feeds." in html
    told = Client().get("/api/status/").json()
    assert told["sentence"] == "Freshet cannot reach the web at present."
    assert (told["state"], datetime.fromisoformat(told["since"])) == ("offline", last)


def test_a_new_installation_is_starting(client: Client) -> None:
    told = client.get("/api/status/").json()
    assert told["state"] in {"limited", "late"}
    assert told["since"] is None


def test_people_read_facts_with_what_to_do(reader: Client) -> None:
    works()
    now = datetime.now(UTC)
    follow(reader, make_feed(last_new=now - timedelta(minutes=12)))
    follow(reader, make_feed(failure="dns", failure_streak=2, failing_since=now))
    make_feed(failure="dns", failure_streak=2, failing_since=now, title="Of somebody else")
    answer = reader.get("/status/")
    html = flat(answer.content)
    assert "The last article came 12 minutes ago. The next round is in 10 minutes." in html
    assert "One has a problem." in html
    assert 'href="/me/following/"' in html
    assert "Mail and messages" not in html
    assert "no-store" in answer["Cache-Control"]
    assert [fact.shape for fact in answer.context["facts"]] == ["good", "good", "warn"]
    assert all(fact.nothing or fact.deed for fact in answer.context["facts"])


def test_messages_are_told_of_where_they_are_used(reader: Client) -> None:
    works()
    person = reader.get("/status/").context["user"]
    target = Target.objects.create(user=person, kind="webhook", name="Phone", sealed="x")
    assert "They arrive." in reader.get("/status/").content.decode()
    Target.objects.filter(pk=target.pk).update(failing_since=datetime.now(UTC))
    html = reader.get("/status/").content.decode()
    assert "One place does not work." in html
    assert 'href="/settings/notifications/"' in html


def test_the_page_of_a_person_costs_the_same_for_many_feeds(reader: Client) -> None:
    works()
    follow(reader, make_feed())
    reader.get("/status/")
    counts = []
    for more in (0, 8):
        for _ in range(more):
            follow(reader, make_feed(failure="dns", failure_streak=1, failing_since=datetime.now(UTC)))
        ask_anew()
        with CaptureQueriesContext(connection) as queries:
            reader.get("/status/")
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert counts[1] <= MAX_QUERIES_OF_PEOPLE


def test_operators_find_their_page_from_it(client: Client) -> None:
    works()
    client.force_login(make_user(staff=True))
    assert 'href="/tools/health/"' in client.get("/status/").content.decode().partition("<main")[2]


def silent(_now: datetime) -> Health:
    return Health("failing", "does not answer: timeout", "not known", "not known")


BREAKS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "health": lambda patch: patch.setattr(status, "check_health_in_time", silent),
    "a part": lambda patch: patch.setattr(status, "silent_hosts", raises),
    "anything": lambda patch: patch.setattr(status, "check_health_in_time", lambda now: 1 / 0),
    "facts": lambda patch: patch.setattr(status_views, "facts", raises),
    "session": lambda patch: patch.setattr(SessionStore, "load", raises),
    "all": lambda patch: patch.setattr("django.db.backends.utils.CursorWrapper.execute", raises),
}


@pytest.mark.parametrize("broken", BREAKS)
@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_it_answers_with_a_sentence_whatever_the_database_does(
    reader: Client, monkeypatch: pytest.MonkeyPatch, broken: str, accept: str
) -> None:
    works()
    BREAKS[broken](monkeypatch)
    answer = reader.get("/status/", headers={"Accept": accept})
    stranger = Client().get("/api/status/")
    monkeypatch.undo()
    assert (answer.status_code, stranger.status_code) == (200, 200)
    text = answer.content.decode()
    assert "Freshet" in (text.partition("<main")[2] or text)
    assert stranger.json()["state"] in {"well", "limited"}
    if accept == "text/html":
        assert "no-store" in answer["Cache-Control"]
    assert reader.get("/feeds/").status_code == 200  # still signed in


def test_people_find_it_when_something_is_wrong(client: Client) -> None:
    assert 'href="/status/"' in client.get("/accounts/login/").content.decode()
    client.force_login(make_user())
    assert 'href="/status/"' in client.get("/nowhere/").content.decode().partition("<main")[2]
    assert 'href="/status/"' in client.get("/accounts/people/").content.decode().partition("<main")[2]
