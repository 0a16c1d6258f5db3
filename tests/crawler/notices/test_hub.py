"""The hub of personal feeds: subscription, confirmation, signed pushes, leases, and bad clients."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.test import Client, RequestFactory

from articles.models import Article, PersonalFeed
from articles.personal.selection import addresses, create_personal_feed, revoke_address
from articles.personal.versions import touch
from crawler.fetching.sandboxed import client as confined
from crawler.notices import hub
from crawler.notices.hub import notice_changes, push_for, request_change
from crawler.notices.models import HubClient
from tests.factories import make_article, make_feed, make_subscriber
from tests.servers import Reply, Request, WebServer

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC)
HUB = "/websub/hub/"


class Subscriber(WebServer):
    """A program that subscribes: it confirms what it is asked and keeps what it is sent."""

    confirms = True
    status = 204

    def reply_to(self, request: Request) -> Reply:
        self.requests.append(request)
        fields = dict(parse_qsl(urlsplit(request.path).query))
        if "hub.challenge" in fields:
            return Reply(fields["hub.challenge"].encode()) if self.confirms else Reply(status=404)
        return Reply(status=self.status)

    @property
    def pushes(self) -> list[Request]:
        return [request for request in self.requests if request.body]


@pytest.fixture(scope="module", autouse=True)
def _programs_end() -> Iterator[None]:
    """End the sandboxed processes with the file: a start of theirs takes a second."""
    yield
    confined.programs.close()


@pytest.fixture
def program(settings: Any) -> Iterator[Subscriber]:
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)
    with Subscriber() as server:
        yield server


@pytest.fixture
def feed() -> Any:
    return make_feed(title="Courier")


@pytest.fixture
def own(feed: Any) -> PersonalFeed:
    subscriber = make_subscriber("mara", feed)
    return create_personal_feed(subscriber, name="Mornings")


@pytest.fixture
def topic(own: PersonalFeed, rf: Any) -> str:
    return str(addresses(own, rf.get("/"))["rss"])


def subscribe(topic: str, program: WebServer, /, expected: int = 202, **fields: str) -> None:
    form = {"hub.mode": "subscribe", "hub.topic": topic, "hub.callback": f"{program.origin}/hook?x=1"}
    form |= {f"hub.{name}": value for name, value in fields.items()}
    answer = Client(enforce_csrf_checks=True).post(HUB, form)
    assert answer.status_code == expected, answer.content


def news(feed: Any, title: str) -> Article:
    article = make_article(feed, title=title, published=NOW, fetched=NOW)
    touch([feed.pk])
    return article


def run(at: datetime = NOW) -> int:
    """Look for changes and send what is due."""
    count = notice_changes(at)
    push_for(20)
    return count


def client_row() -> HubClient:
    return HubClient.objects.get()


@pytest.mark.parametrize("kind", ["rss", "atom", "json"])
def test_feeds_announce_the_hub(own: PersonalFeed, rf: Any, kind: str) -> None:
    answer = Client().get(urlsplit(addresses(own, rf.get("/"))[kind]).path)
    assert b"/websub/hub/" in answer.content
    assert '/websub/hub/>; rel="hub"' in answer.headers["Link"]


def test_a_program_subscribes_and_is_sent_what_changes(program: Subscriber, feed: Any, topic: str) -> None:
    subscribe(topic, program, secret="tide", lease_seconds="7200")
    run()
    asked = dict(parse_qsl(urlsplit(program.requests[0].path).query))
    assert asked["hub.mode"] == "subscribe"
    assert asked["hub.topic"] == topic
    assert asked["hub.lease_seconds"] == "7200"
    assert asked["x"] == "1"
    assert timedelta(hours=1.9) < client_row().until - datetime.now(UTC) < timedelta(hours=2.1)
    run()
    assert not program.pushes  # nothing has changed
    news(feed, "New bridge")
    run()
    run()
    (push,) = program.pushes
    assert b"New bridge" in push.body
    assert push.body == Client().get(urlsplit(topic).path).content
    assert push.headers["content-type"] == "application/rss+xml; charset=utf-8"
    assert f'<{topic}>; rel="self"' in push.headers["link"]
    expected = hmac.new(b"tide", push.body, hashlib.sha256).hexdigest()
    assert push.headers["x-hub-signature"] == f"sha256={expected}"
    news(feed, "Old bridge")
    run()
    assert len(program.pushes) == 2


def test_reading_alone_pushes_nothing(program: Subscriber, feed: Any, topic: str, own: PersonalFeed) -> None:
    subscribe(topic, program)
    run()
    touch([feed.pk])
    assert run() == 0
    assert not program.pushes


def test_what_is_not_confirmed_ends(program: Subscriber, feed: Any, topic: str) -> None:
    program.confirms = False
    subscribe(topic, program)
    run()
    assert not HubClient.objects.exists()


def test_a_forged_unsubscription_changes_nothing(program: Subscriber, feed: Any, topic: str) -> None:
    subscribe(topic, program)
    run()
    program.confirms = False
    subscribe(topic, program, mode="unsubscribe")
    run()
    news(feed, "New bridge")
    run()
    assert len(program.pushes) == 1


def test_unsubscribing(program: Subscriber, feed: Any, topic: str) -> None:
    subscribe(topic, program)
    run()
    subscribe(topic, program, mode="unsubscribe")
    run()
    assert not HubClient.objects.exists()
    subscribe(topic, program, mode="unsubscribe")
    assert not HubClient.objects.exists()


def test_renewing_keeps_the_old_secret_until_it_is_confirmed(
    program: Subscriber, feed: Any, topic: str
) -> None:
    subscribe(topic, program, secret="tide")
    run()
    before = client_row().sealed_secret
    program.confirms = False
    subscribe(topic, program, secret="forged")
    run()
    assert client_row().sealed_secret == before
    program.confirms = True
    subscribe(topic, program, secret="ebb")
    run()
    assert client_row().sealed_secret != before


def test_leases_end(program: Subscriber, feed: Any, topic: str) -> None:
    subscribe(topic, program)
    run()
    news(feed, "New bridge")
    run(NOW + timedelta(days=11))
    assert not HubClient.objects.exists()
    assert not program.pushes


def test_a_program_that_fails_is_tried_five_times(
    program: Subscriber, feed: Any, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    subscribe(topic, program)
    run()
    program.status = 500
    news(feed, "New bridge")
    for _ in range(8):
        run()
        HubClient.objects.filter(due__isnull=False).update(due=NOW)
    assert len(program.pushes) == 5
    assert "500" in client_row().failure
    program.status = 204
    news(feed, "Old bridge")
    run()
    assert len(program.pushes) == 6
    assert b"New bridge" in program.pushes[-1].body
    assert client_row().failure == ""


def test_a_program_that_is_gone_is_forgotten(program: Subscriber, feed: Any, topic: str) -> None:
    subscribe(topic, program)
    run()
    program.status = 410
    news(feed, "New bridge")
    run()
    assert not HubClient.objects.exists()


def test_a_revoked_address_pushes_no_more(
    program: Subscriber, feed: Any, topic: str, own: PersonalFeed
) -> None:
    subscribe(topic, program)
    run()
    revoke_address(own)
    news(feed, "New bridge")
    run()
    assert not program.pushes
    assert not HubClient.objects.exists()
    subscribe(topic, program, expected=404)


def test_an_address_revoked_before_the_push_is_not_pushed(
    program: Subscriber, feed: Any, topic: str, own: PersonalFeed
) -> None:
    subscribe(topic, program)
    run()
    news(feed, "New bridge")
    assert notice_changes(NOW) == 1
    revoke_address(own)
    push_for(20)
    assert not program.pushes
    assert not HubClient.objects.exists()


def test_private_callbacks_are_refused(settings: Any, feed: Any, topic: str) -> None:
    with Subscriber() as program:
        settings.FETCH_ALLOWED_NETWORKS = ()
        subscribe(topic, program)
        run()
        assert not program.requests
    assert "private network" in client_row().failure
    confined.programs.close()


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"mode": "watch"}, 400),
        ({"callback": "javascript:alert(1)"}, 400),
        ({"callback": "http://[::1"}, 400),
        ({"callback": "http://u:p@127.0.0.1/"}, 400),
        ({"callback": "http://127.0.0.1/" + "x" * 3000}, 400),
        ({"callback": "http://127.0.0.1/a\nb"}, 400),
        ({"secret": "x" * 200}, 400),
        ({"topic": "http://testserver/personal/" + "x" * 30 + ".rss"}, 404),
        ({"topic": "https://elsewhere.example/feed"}, 404),
        ({"topic": ""}, 404),
        ({"lease_seconds": "-1"}, 202),
        ({"lease_seconds": "9" * 400}, 202),
    ],
)
def test_odd_requests(
    program: Subscriber, feed: Any, topic: str, fields: dict[str, str], status: int
) -> None:
    subscribe(topic, program, expected=status, **fields)


def test_guessing_feeds_is_slowed_down(program: Subscriber, topic: str) -> None:
    wrong = [f"http://testserver/personal/{number:030}.rss" for number in range(32)]
    form = {"hub.mode": "subscribe", "hub.callback": program.origin}
    statuses = [Client().post(HUB, form | {"hub.topic": address}).status_code for address in wrong]
    assert statuses[0] == 404
    assert statuses[-1] == 429
    subscribe(topic, program)


def test_a_feed_has_so_many_programs_at_most(
    program: Subscriber, feed: Any, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "MAX_CLIENTS", 2)
    for number in range(2):
        subscribe(topic, program, callback=f"{program.origin}/{number}")
    subscribe(topic, program, 400, callback=f"{program.origin}/2")
    subscribe(topic, program, callback=f"{program.origin}/1")


def test_a_request_in_the_middle_of_another_one_wins(program: Subscriber, feed: Any, topic: str) -> None:
    subscribe(topic, program)
    (claimed,) = hub._claim(datetime.now(UTC))
    state, _kind = hub.read_topic(topic)
    fields = {"hub.mode": "unsubscribe", "hub.topic": topic, "hub.callback": f"{program.origin}/hook?x=1"}
    request_change(state, fields, NOW)
    hub._settle(claimed, hub.SendOutcome("sent"), "", NOW)
    assert client_row().wanted == "unsubscribe"


@pytest.mark.parametrize("inside", ["\x01", "a/personal/b", "%00", "ü", " "])
def test_a_crafted_address_is_no_feed(program: Subscriber, topic: str, inside: str) -> None:
    token = topic.rpartition("/")[2]
    for crafted in (f"http://testserver/personal/{inside}/personal/{token}", f"{topic}{inside}"):
        subscribe(crafted, program, expected=404)
    assert not HubClient.objects.exists()


def test_a_feed_that_cannot_be_written_harms_only_itself(
    program: Subscriber, feed: Any, topic: str, own: PersonalFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = create_personal_feed(own.subscriber, name="Evenings")
    other_topic = str(addresses(other, RequestFactory().get("/"))["rss"])
    subscribe(topic, program)
    subscribe(other_topic, program)
    run()
    document = hub._document

    def broken(address: str) -> tuple[bytes, str]:
        if address == topic:
            raise ValueError("a page that cannot be built")
        return document(address)

    monkeypatch.setattr(hub, "_document", broken)
    news(feed, "New bridge")
    run()
    assert [other_topic in push.headers["link"] for push in program.pushes] == [True]
    HubClient.objects.filter(topic=topic).update(due=NOW, wanted="", pushed="x")
    run()
    assert "ValueError" in HubClient.objects.get(topic=topic).failure


def test_feeds_that_wait_longest_are_looked_at_first(
    program: Subscriber, feed: Any, own: PersonalFeed, rf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        one = create_personal_feed(own.subscriber, name=f"Feed {number}")
        subscribe(str(addresses(one, rf.get("/"))["rss"]), program)
    run()
    monkeypatch.setattr(hub, "MAX_TOPICS", 1)
    news(feed, "New bridge")
    for minute in range(3):
        run(NOW - timedelta(minutes=3 - minute))
    assert len(program.pushes) == 3


def test_a_push_that_waits_is_sent_after_a_renewal(program: Subscriber, feed: Any, topic: str) -> None:
    subscribe(topic, program)
    run()
    program.status = 500
    news(feed, "New bridge")
    run()
    program.status = 204
    subscribe(topic, program)
    run()
    run()
    assert len(program.pushes) == 2
    assert client_row().failure == ""


def test_an_older_outcome_does_not_settle_a_newer_request(program: Subscriber, feed: Any, topic: str) -> None:
    subscribe(topic, program)
    run()
    subscribe(topic, program, mode="unsubscribe")
    (claimed,) = hub._claim(datetime.now(UTC))
    subscribe(topic, program)
    assert not hub._claim(datetime.now(UTC))  # one request to a program at a time
    hub._settle(claimed, hub.SendOutcome("sent"), "", NOW)
    run()
    assert client_row().until > NOW
    assert client_row().wanted == ""
