"""From what happens to the message that arrives: rules, limits, digests, and targets that misbehave."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from articles.edits.deciding import Edit
from articles.edits.history import Sighting, Text, record
from articles.enrichment.models import Enrichment, Story
from articles.models import Article
from articles.personal.topics import follow_topic
from articles.saved.highlighting import make_highlight
from articles.saved.models import Highlight
from crawler.accounts.models import Account
from crawler.database import secrets
from crawler.fetching.sandboxed import client as confined
from crawler.notices import sending, watching
from crawler.notices.models import Notice, Notification, Rule, Target
from crawler.notices.posting import SendOutcome
from crawler.notices.sending import claim, delete_old, send_for, settle
from crawler.notices.targets import KINDS
from crawler.notices.targets.save import SaveTarget
from crawler.notices.targets.webhook import signature
from crawler.notices.watching import look
from crawler.notices.writing import stop_token, write
from tests.factories import make_article, make_feed, make_subscriber, make_user
from tests.html import flat
from tests.servers import Reply, WebServer

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[3]
NOW = datetime.now(UTC)
BACKEND = "crawler.accounts.backends.NameOrMailBackend"


def make_target(
    user: Any, kind: str = "mail", address: str = "mara@news.example", name: str = "mail"
) -> Target:
    target = Target(user=user, kind=kind, name=name)
    target.address = address
    target.save()
    return target


def make_rule(user: Any, *targets: Target, **fields: Any) -> Rule:
    made = {"created": NOW - timedelta(hours=1), "looked": NOW - timedelta(hours=1)} | fields
    rule = Rule.objects.create(user=user, **made)
    Rule.objects.filter(pk=rule.pk).update(created=made["created"])
    rule.refresh_from_db()
    rule.targets.set(targets)
    return rule


def news(feed: Any, title: str, **fields: Any) -> Article:
    moment = NOW - timedelta(minutes=5)
    return make_article(feed, title=title, **{"published": moment, "fetched": moment} | fields)


def told(rule: Rule, at: datetime = NOW) -> list[str]:
    look(rule, at)
    write(rule, at)
    rule.refresh_from_db()
    return sorted(rule.messages.values_list("title", flat=True))


def put_in_story(article: Article, story: Story) -> None:
    Enrichment.objects.update_or_create(article=article, defaults={"story": story})


@pytest.fixture
def mara() -> Any:
    return make_subscriber("mara", make_feed(title="Courier"), folder="News").user


@pytest.fixture(scope="module", autouse=True)
def _programs_end() -> Iterator[None]:
    """End the sandboxed processes with the file: a start of theirs takes a second."""
    yield
    confined.programs.close()


@pytest.fixture
def sink(settings: Any) -> Iterator[WebServer]:
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)
    with WebServer({"/hook": Reply(status=204)}) as server:
        yield server


def webhook(server: WebServer, path: str = "/hook") -> str:
    return json.dumps({"url": f"{server.origin}{path}", "secret": "tide"})


def test_an_article_is_told_once_and_old_ones_never(mara: Any) -> None:
    feed = mara.subscriber.subscriptions.get().feed
    rule = make_rule(mara, make_target(mara))
    news(feed, "New bridge")
    news(feed, "From last year", published=NOW - timedelta(days=300))
    news(make_feed(), "Not followed")
    assert told(rule) == ["New bridge"]
    assert told(rule, NOW + timedelta(minutes=1)) == ["New bridge"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"query": "bridge"}, ["New bridge", "Old bridge"]),
        ({"folder": "News"}, ["New bridge", "Old bridge", "Tide table"]),
        ({"folder": "Other"}, []),
        ({"words": "tide, eel"}, ["Tide table"]),
        ({"without_words": "bridge"}, ["Tide table"]),
        ({"title_template": "Read: $title of $source", "words": "tide"}, ["Read: Tide table of Courier"]),
        ({"when": "disk"}, []),
    ],
)
def test_rules_choose(mara: Any, fields: dict[str, Any], expected: list[str]) -> None:
    feed = mara.subscriber.subscriptions.get().feed
    for title in ("New bridge", "Old bridge", "Tide table"):
        news(feed, title, text=title)
    assert told(make_rule(mara, make_target(mara), **fields)) == expected


def test_a_topic_is_told_from_any_feed(mara: Any, client: Client) -> None:
    topic, _new = follow_topic(mara.subscriber, "keyword", "bridge")
    news(make_feed(title="Not followed"), "New bridge", text="A new bridge")
    news(mara.subscriber.subscriptions.get().feed, "Tide table", text="Tides")
    rule = make_rule(mara, make_target(mara), topic=topic)
    assert told(rule) == ["New bridge"]
    client.force_login(mara, backend=BACKEND)
    page = client.get(f"/me/notifications/new/?when=article&topic={topic.pk}").content.decode()
    assert f'<option value="topic:{topic.pk}" selected>bridge' in page
    assert "bridge" in client.get("/settings/notifications/").content.decode()


def test_a_topic_of_somebody_else_cannot_be_chosen(mara: Any, client: Client) -> None:
    topic, _new = follow_topic(make_subscriber("eve"), "keyword", "secret plans")
    client.force_login(mara, backend=BACKEND)
    assert "secret plans" not in client.get(f"/me/notifications/new/?topic={topic.pk}").content.decode()
    made = client.post("/api/notification-rules/", {"when": "article", "topic": topic.pk})
    assert made.status_code == 400
    form = {"when": "article", "about": f"topic:{topic.pk}", "pace": "now"}
    assert client.post("/me/notifications/new/", form).status_code == 422


def test_one_feed_and_only_once_a_story(mara: Any) -> None:
    feed, other = mara.subscriber.subscriptions.get().feed, make_feed(title="Other")
    story = Story.objects.create()
    for number in (1, 2):
        put_in_story(news(feed, f"Flood {number}"), story)
    news(other, "Elsewhere")
    rule = make_rule(mara, make_target(mara), feed=feed)
    assert told(rule) == ["Flood 1"]
    assert rule.notices.get(held="story").title == "Flood 2"


def test_a_story_of_enough_feeds_is_told(mara: Any) -> None:
    story, few = Story.objects.create(), Story.objects.create()
    for number in range(3):
        feed = make_feed(title=f"Paper {number}")
        mara.subscriber.subscriptions.create(feed=feed)
        put_in_story(news(feed, f"Flood as {number} tells it"), story)
        if number < 2:
            put_in_story(news(feed, f"Fair {number}"), few)
    rule = make_rule(mara, make_target(mara), when="story")
    assert len(told(rule)) == 1
    assert "3 feeds tell it" in rule.messages.get().text


def test_an_edit_after_publication_is_told(mara: Any) -> None:
    feed = mara.subscriber.subscriptions.get().feed
    rule = make_rule(mara, make_target(mara), when="edit", folder="News")
    for article in (news(feed, "Ferry"), news(make_feed(), "Not followed")):
        old, new = Text("Ferry", "12 boats run."), Text("Ferry stays", "21 boats run.")
        sighting = Sighting(Edit(kinds=["headline"]), "page", NOW, NOW + timedelta(minutes=2))
        record(article.pk, old, new, sighting)
    assert told(rule, NOW + timedelta(minutes=3)) == ["Ferry stays"]
    assert told(rule, NOW + timedelta(minutes=4)) == ["Ferry stays"]


def test_highlights_are_told_and_gathered_elsewhere(mara: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    article = news(mara.subscriber.subscriptions.get().feed, "Ferry", text="The boats run. Nobody knows why.")
    rule = make_rule(mara, make_target(mara), when="mark")
    Rule.objects.update(created=NOW - timedelta(days=1))
    row = make_highlight(mara.subscriber, article, "Nobody knows why.", note="ask")
    Highlight.objects.update(created=NOW)
    assert told(rule, NOW + timedelta(minutes=1)) == ["Ferry"]
    (message,) = rule.messages.all()
    assert message.text == f"Nobody knows why.\n\nask\n\n{article.url}"
    assert row.pk
    sent: list[Any] = []
    monkeypatch.setattr(
        "crawler.notices.targets.save.post", lambda *given, **more: sent.append((given, more))
    )
    parcel = {"service": "highlights", "token": "secret"}
    SaveTarget().send(
        {"address": json.dumps(parcel), "title": "Ferry", "text": message.text, "url": article.url}
    )
    ((given, more),) = sent
    assert given[0] == "https://readwise.io/api/v2/highlights/"
    assert more["headers"] == {"Authorization": "Token secret"}
    (highlight,) = more["json"]["highlights"]
    assert (highlight["text"], highlight["source_url"]) == ("Nobody knows why.\n\nask", article.url)


def test_a_feed_that_fails_and_comes_back(mara: Any) -> None:
    feed = mara.subscriber.subscriptions.get().feed
    rule = make_rule(mara, make_target(mara), when="feed")
    assert told(rule) == []
    type(feed).objects.filter(pk=feed.pk).update(
        failure="dns", failure_streak=4, failing_since=NOW - timedelta(hours=7)
    )
    assert told(rule) == ["Courier cannot be read"]
    assert told(rule, NOW + timedelta(hours=1)) == ["Courier cannot be read"]
    type(feed).objects.filter(pk=feed.pk).update(
        failure="", failure_streak=0, failing_since=None, last_success=NOW
    )
    assert told(rule, NOW + timedelta(hours=2)) == ["Courier can be read again", "Courier cannot be read"]
    assert len(told(rule, NOW + timedelta(hours=3))) == 2


def test_only_operators_are_told_of_crawls_and_disks(mara: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching.shutil, "disk_usage", lambda _: type("", (), {"free": 1e9}))
    operator = make_user("ole", staff=True)
    assert told(make_rule(mara, make_target(mara), when="disk")) == []
    assert told(make_rule(operator, make_target(operator), when="disk")) == ["The disk is nearly full"]


def test_more_than_the_limit_is_held_back(mara: Any) -> None:
    feed = mara.subscriber.subscriptions.get().feed
    for number in range(5):
        news(feed, f"News {number}")
    rule = make_rule(mara, make_target(mara), most_an_hour=2)
    assert len(told(rule)) == 2
    assert rule.notices.filter(held="limit").count() == 3
    news(feed, "Later", fetched=NOW + timedelta(minutes=90), published=NOW)
    assert "Later" in told(rule, NOW + timedelta(hours=2))


def test_more_than_fit_into_one_look_are_found_by_the_next(
    mara: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MAX_NOTICED", 3)
    for number in range(8):
        news(mara.subscriber.subscriptions.get().feed, f"News {number}")
    rule = make_rule(mara, make_target(mara))
    assert [len(told(rule)) for _ in range(4)] == [3, 6, 8, 8]


def test_quiet_hours_are_those_of_the_persons_zone(mara: Any) -> None:
    Account.objects.create(user=mara, zone="Asia/Tokyo")
    news(mara.subscriber.subscriptions.get().feed, "At night")
    rule = make_rule(mara, make_target(mara), quiet_from=NOW.hour, quiet_until=(NOW.hour + 1) % 24)
    told(rule)
    assert rule.messages.get().due == pytest.approx(NOW, abs=timedelta(seconds=1))
    Rule.objects.filter(pk=rule.pk).update(
        quiet_from=(NOW.hour + 9) % 24, quiet_until=(NOW.hour + 10) % 24, looked=NOW - timedelta(hours=1)
    )
    rule.refresh_from_db()
    news(mara.subscriber.subscriptions.get().feed, "At night again")
    told(rule)
    assert rule.messages.latest("id").due > NOW


def test_a_digest_comes_once_with_stories_first(mara: Any, settings: Any) -> None:
    settings.EMAIL_URL, settings.PUBLIC_URL = "memory://", "https://news.example"
    feed, slot = mara.subscriber.subscriptions.get().feed, NOW - timedelta(minutes=2)
    rule = make_rule(
        mara, make_target(mara), pace="daily", hour=NOW.hour, name="Morning",
        created=NOW - timedelta(days=2), looked=NOW - timedelta(days=1),
    )  # fmt: skip
    put_in_story(news(feed, "In many papers", fetched=slot), Story.objects.create())
    news(feed, "<script>alert(1)</script>", fetched=slot, image="https://courier.example/a.jpg")
    told(rule)
    assert told(rule) == ["Morning: 2 pieces of news"]
    assert not send_for(5)
    (letter,) = mail.outbox
    html = letter.alternatives[0][0]
    assert html.index("In many papers") < html.index("&lt;script&gt;")
    assert "<script>" not in html
    assert 'src="https://news.example/img/thumbnail/' in html
    assert letter.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    address = letter.extra_headers["List-Unsubscribe"].strip("<>").removeprefix("https://news.example")
    assert (
        Client(enforce_csrf_checks=True).post(address, {"List-Unsubscribe": "One-Click"}).status_code == 200
    )
    rule.refresh_from_db()
    assert rule.paused


def test_nobody_stops_the_messages_of_others(mara: Any) -> None:
    rule = make_rule(mara)
    assert Client().get(f"/me/notifications/stop/{stop_token(rule)}/").status_code == 200
    for token in (str(rule.pk), f"{rule.pk}:x", stop_token(rule) + "x", "x" * 9000):
        assert Client().post(f"/me/notifications/stop/{token}/").status_code == 404
    rule.refresh_from_db()
    assert not rule.paused


def test_a_webhook_gets_signed_json(mara: Any, sink: WebServer) -> None:
    news(mara.subscriber.subscriptions.get().feed, "New bridge")
    rule = make_rule(mara, make_target(mara, "webhook", webhook(sink)))
    told(rule)
    assert not send_for(10)
    (request,) = sink.requests
    body = json.loads(request.body)
    assert (body["title"], body["source"], body["when"]) == ("New bridge", "Courier", "article")
    stamp = request.headers["x-freshet-timestamp"]
    assert request.headers["x-freshet-signature"] == signature("tide", stamp, request.body)
    message = rule.messages.get()
    assert (message.state, str(message.uid)) == ("sent", body["id"])


def test_services_of_apprise_are_reached(mara: Any, sink: WebServer) -> None:
    sink.replies["/"] = Reply(status=200)
    address = sink.origin.replace("http://", "json://")
    news(mara.subscriber.subscriptions.get().feed, "New bridge")
    rule = make_rule(mara, make_target(mara, "service", address))
    told(rule)
    assert not send_for(15)
    assert rule.messages.get().state == "sent", rule.messages.get().failure
    assert json.loads(sink.requests[0].body)["title"] == "New bridge"


@pytest.mark.parametrize(
    ("kind", "address", "words"),
    [
        ("webhook", json.dumps({"url": "http://10.0.0.1/"}), "private network"),
        ("webhook", json.dumps({"url": "http://[::ffff:10.0.0.1]/"}), "private network"),
        ("service", "json://10.0.0.1/", ""),
        ("service", "syslog://", "machine itself"),
        ("service", "dbus://", "machine itself"),
        ("service", "nothing://x", "none of a service"),
        (
            "save",
            json.dumps({"service": "linkding", "url": "http://10.0.0.1", "token": "x"}),
            "private network",
        ),
        ("save", json.dumps({"service": "odd"}), "not known"),
        ("webhook", json.dumps({"url": "ftp://x.example/"}), "InvalidSchema"),
        ("webhook", "no JSON", "JSONDecodeError"),
    ],
)
def test_what_must_not_be_reached_is_named(
    mara: Any, settings: Any, kind: str, address: str, words: str
) -> None:
    settings.FETCH_ALLOWED_NETWORKS = ()
    rule = make_rule(mara, target := make_target(mara, kind, address))
    message = Notification.objects.create(
        user=mara, rule=rule, target=target, target_name="x", key="k", title="t", text="x", due=NOW
    )
    send_for(1)
    message.refresh_from_db()
    assert message.state in {"waiting", "failed"}
    assert message.failure
    assert words in message.failure
    confined.programs.close()


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(status=302, headers={"Location": "http://127.0.0.1:1/"}), "leads elsewhere"),
        (Reply(status=500, body=b"a fault"), "it answers 500: a fault"),
        (Reply(status=500, body=b"x" * 50_000_000), "it answers 500"),
    ],
)
def test_targets_that_misbehave_are_named_and_tried_again(
    mara: Any, sink: WebServer, reply: Reply, words: str
) -> None:
    sink.replies["/hook"] = reply
    news(mara.subscriber.subscriptions.get().feed, "New bridge")
    rule = make_rule(mara, target := make_target(mara, "webhook", webhook(sink)))
    told(rule)
    send_for(5)
    message = rule.messages.get()
    assert (message.state, message.attempts) == ("waiting", 1)
    assert words in message.failure
    assert message.due > NOW
    target.refresh_from_db()
    assert target.failing_since


def test_a_target_that_hangs_harms_only_itself(
    mara: Any, sink: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    parcel = sending._parcel
    hung = {"seconds": 3.0}  # only what hangs is cut short: a busy machine may need longer for what does not
    monkeypatch.setattr(
        sending,
        "_parcel",
        lambda message, target, address: (
            parcel(message, target, address) | (hung if target.name == "slow" else {})
        ),
    )
    settled: list[str] = []
    settle = sending.settle

    def noted(message: Notification, *rest: Any) -> None:
        settled.append(message.target_name)
        settle(message, *rest)

    monkeypatch.setattr(sending, "settle", noted)
    sink.replies["/slow"] = Reply(seconds=60)
    feed = mara.subscriber.subscriptions.get().feed
    slow = make_rule(mara, make_target(mara, "webhook", webhook(sink, "/slow"), "slow"))
    quick = make_rule(mara, make_target(mara, "webhook", webhook(sink), "quick"))
    for number in range(4):
        news(feed, f"News {number}")
    told(slow), told(quick)
    send_for(1)
    assert settled == ["quick"] * 4 + ["slow"] * 4, "those that are answered did not wait for the others"
    assert Counter(quick.messages.values_list("state", flat=True)) == {"sent": 4}
    assert set(slow.messages.values_list("failure", flat=True)) == {"it did not answer in time"}


def test_thousands_of_messages_to_a_dead_target_leave_others_their_turn(mara: Any) -> None:
    dead, other = make_target(mara, name="dead"), make_target(mara, name="other")
    Target.objects.filter(pk=dead.pk).update(failing_since=NOW)
    late = NOW - timedelta(hours=1)
    Notification.objects.bulk_create(
        Notification(user=mara, target=target, target_name=target.name, key=str(number), due=due)
        for target, count, due in ((dead, 1000, late), (other, 20, NOW))
        for number in range(count)
    )
    first = Counter(message.target_name for message in claim(NOW))
    assert first == {"dead": sending.MAX_OF_FAILING, "other": sending.MAX_OF_TARGET}
    assert Counter(message.target_name for message in claim(NOW)) == {"dead": 2, "other": 4}


def test_a_message_is_given_up_after_five_attempts_and_when_gone(mara: Any, sink: WebServer) -> None:
    sink.replies["/hook"] = Reply(status=503, headers={"Retry-After": "1"})
    target = make_target(mara, "webhook", webhook(sink))
    message = Notification.objects.create(
        user=mara, target=target, target_name="x", key="k", title="t", text="x", due=NOW
    )
    for _ in range(7):
        Notification.objects.filter(state="waiting").update(due=NOW - timedelta(hours=1))
        send_for(1)
    message.refresh_from_db()
    assert (message.state, message.attempts, len(sink.requests)) == ("failed", 5, 5)
    assert {request.headers["idempotency-key"] for request in sink.requests} == {str(message.uid)}


def test_a_killed_sender_leaves_its_messages_to_others_with_the_same_name(mara: Any) -> None:
    target = make_target(mara)
    message = Notification.objects.create(
        user=mara, target=target, target_name="x", key="k", title="t", text="x", due=NOW
    )
    (first,) = claim(NOW)
    assert claim(NOW) == []
    (second,) = claim(NOW + sending.LEASE)
    settle(first, SendOutcome("failed", "late"), NOW)  # from a process that was thought dead
    message.refresh_from_db()
    assert (message.state, message.attempts, message.failure) == ("sending", 2, "")
    settle(second, SendOutcome("sent"), NOW)
    message.refresh_from_db()
    assert message.state == "sent"


def test_addresses_are_encrypted_and_masked(mara: Any, settings: Any) -> None:
    target = make_target(mara, "service", "tgram://123456:SECRETTOKEN/chat99")
    assert "SECRET" not in target.sealed
    assert "SECRET" not in target.masked
    assert "6:" not in secrets.masked("ntfys://user:password@push.example/topic")
    settings.SECRET_KEY = "another"
    message = Notification.objects.create(
        user=mara, target=target, target_name="x", key="k", title="t", text="x", due=NOW
    )
    send_for(1)
    message.refresh_from_db()
    assert (message.state, "another SECRET_KEY" in message.failure) == ("failed", True)


def test_old_messages_are_deleted(mara: Any) -> None:
    rule = make_rule(mara)
    old = NOW - timedelta(days=90)
    Notice.objects.create(rule=rule, key="a", at=old, title="x", told=old)
    Notification.objects.create(
        user=mara, target_name="x", key="k", title="t", text="x", due=old, state="sent", created=old
    )
    assert delete_old(NOW, 60) == 1
    assert Notice.objects.count() == 0


def test_saved_places_get_the_article(mara: Any, sink: WebServer) -> None:
    sink.replies["/api/bookmarks/"] = Reply(status=201)
    sink.replies["/oauth/v2/token"] = Reply(body=b'{"access_token": "abc"}')
    sink.replies["/api/entries.json"] = Reply()
    sink.replies["/api/v1/bookmarks"] = Reply(status=201)
    article = news(mara.subscriber.subscriptions.get().feed, "New bridge")
    places = [
        {"service": "linkding", "url": sink.origin, "token": "t"},
        {"service": "karakeep", "url": sink.origin, "token": "t"},
        {
            "service": "wallabag",
            "url": sink.origin,
            "token": "t",
            "client": "c",
            "secret": "s",
            "name": "mara",
        },
    ]
    targets = [make_target(mara, "save", json.dumps(place), place["service"]) for place in places]
    rule = make_rule(mara, *targets)
    told(rule)
    send_for(15)
    assert Counter(rule.messages.values_list("state", flat=True)) == {"sent": 3}
    saved = [request for request in sink.requests if "token" not in request.path]
    assert {json.loads(request.body)["url"] for request in saved} == {article.url}


def test_a_rule_asks_where_to_tell(mara: Any, client: Client) -> None:
    """Issue 56: a rule without a place was kept with "you are told of what happens from now on"."""
    client.force_login(mara, backend=BACKEND)
    form = {"when": "article", "pace": "now"}
    refused = client.post("/me/notifications/new/", form)
    assert refused.status_code == 422
    assert "Messages need a place to go to" in refused.content.decode()
    target = make_target(mara)
    assert "Choose where messages go first." in client.post("/me/notifications/new/", form).content.decode()
    assert not Rule.objects.exists()
    assert client.post("/me/notifications/new/", form | {"targets": target.pk}).status_code == 302
    assert list(Rule.objects.get().targets.all()) == [target]


def test_one_s_own_mail_is_offered(mara: Any, client: Client, settings: Any) -> None:
    settings.EMAIL_URL = "smtp://mail.example"
    mara.email = "mara@news.example"
    mara.save()
    client.force_login(mara, backend=BACKEND)
    page = flat(client.get("/me/notifications/new/").content)
    assert 'name="own_mail" value="1" checked> mara@news.example' in page
    form = {"when": "article", "pace": "now"}
    assert client.post("/me/notifications/new/", form).status_code == 422
    assert client.post("/me/notifications/new/", form | {"own_mail": "1"}).status_code == 302
    target = Rule.objects.get().targets.get()
    assert (target.kind, target.address) == ("mail", "mara@news.example")
    assert "own_mail" not in client.get("/me/notifications/new/").content.decode()


def test_the_api_asks_where_to_tell(mara: Any, client: Client) -> None:
    client.force_login(mara, backend=BACKEND)
    for given in ({}, {"targets": []}):
        answer = client.post("/api/notification-rules/", {"when": "article", **given}, "application/json")
        assert answer.status_code == 400
        assert "choose where messages go" in answer.json()["targets"][0]
    target = make_target(mara)
    made = client.post(
        "/api/notification-rules/", {"when": "article", "targets": [target.pk]}, "application/json"
    )
    assert made.status_code == 201
    path = f"/api/notification-rules/{made.json()['id']}/"
    assert client.patch(path, {"targets": []}, "application/json").status_code == 400
    assert client.patch(path, {"paused": True}, "application/json").status_code == 200


def test_a_rule_of_old_without_a_place_says_so(mara: Any, client: Client) -> None:
    client.force_login(mara, backend=BACKEND)
    rule = make_rule(mara, paused=True)
    assert "This notification has no place to go" in client.get(rule.get_absolute_url()).content.decode()
    resumed = client.post(f"/me/notifications/{rule.pk}/resume/", follow=True).content.decode()
    assert "Choose where messages go first." in resumed
    assert Rule.objects.get().paused
    rule.targets.add(make_target(mara))
    assert "no place to go" not in client.get(rule.get_absolute_url()).content.decode()


def test_names_and_subjects_are_one_line(mara: Any) -> None:
    """Issue 56: line breaks in the name of a rule reached the subjects of digests."""
    target = make_target(mara, name="my\nmail")
    rule = make_rule(mara, target, name="News\r\nBcc: eve@news.example\x00", pace="daily")
    assert (rule.name, target.name) == ("News Bcc: eve@news.example", "my mail")
    Rule.objects.filter(pk=rule.pk).update(name="Of\nbefore", created=NOW - timedelta(days=3))
    rule.refresh_from_db()
    rule.notices.create(key="one", at=NOW - timedelta(hours=30), title="Flood\nin town")
    write(rule, NOW)
    assert rule.messages.get().title == "Of before: 1 piece of news"


def test_the_form_asks_for_the_address_of_each_kind_and_the_style_sheet_hides_the_others(
    mara: Any, client: Client
) -> None:
    client.force_login(mara)
    page = client.get("/me/notifications/targets/new/").content.decode()
    styles = (ROOT / "crawler/web/static/freshet/app.css").read_text()
    for key, kind in KINDS.items():
        assert (f'class="for-{key}"' in page) == bool(kind.fields)
        assert all(f'name="{field.name}"' in page for field in kind.fields)
        assert f'[value="{key}"]:checked) > .for-{key}' in styles or not kind.fields


def test_a_target_of_a_kind_that_is_known_no_more_is_shown_and_sends_nothing(
    mara: Any, client: Client
) -> None:
    target = make_target(mara, "pigeon", "pigeon://loft/secret")
    Notification.objects.create(
        user=mara, target=target, target_name="x", key="k", title="t", text="x", due=NOW
    )
    send_for(10)
    assert "KeyError" in Notification.objects.get().failure
    client.force_login(mara)
    assert "secret" not in client.get("/settings/notifications/").content.decode()
