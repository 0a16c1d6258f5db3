"""WebSub against a hub on loopback: subscribe, confirm, push, renew, lapse; and who is not believed."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.test import Client

from articles.models import Article
from crawler import environment
from crawler.engine.leased import MAX_LOSSES
from crawler.engine.leases import hand_out, sweep
from crawler.inline import work_off
from feeds.models import Feed, Retrieval
from feeds.visiting.explain import next_visits
from feeds.visiting.ticks import tick
from feeds.websub.models import MAX_WAITING_PUSHES, HubSubscription, Push
from feeds.websub.protocol import lease_seconds, renew_after, retry_after, signed
from feeds.websub.subscriptions import lapse
from tests.factories import make_feed, make_token, make_user
from tests.feeds.websub.hub import Hub
from tests.harvests import report
from tests.servers import Reply, WebServer, rss

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("terminal_on_loopback")]


@pytest.fixture(autouse=True)
def _reachable(settings: Any, live_server: Any) -> None:
    """For the hub; pages are left alone."""
    settings.PUBLIC_URL = live_server.url
    settings.FEED_ARTICLE_PAGES = False


@pytest.fixture
def hub() -> Iterator[Hub]:
    with WebServer() as web:
        yield Hub(web)


def visit(hub: Hub) -> Feed:
    """Add the hub's feed, if it is not there, and visit it now; then whatever follows from it."""
    feed = Feed.objects.filter(url=hub.topic).first() or make_feed(hub.topic)
    Feed.objects.filter(pk=feed.pk).update(selected_at=datetime.now(UTC), not_before=datetime.now(UTC))
    work_off()
    feed.refresh_from_db()
    return feed


def subscribed(hub: Hub, entries: int = 1) -> HubSubscription:
    """A subscription that the hub has confirmed."""
    hub.publish(entries)
    visit(hub)
    one = HubSubscription.objects.get()
    assert one.state == "active"
    return one


def test_a_feed_that_names_a_hub_is_subscribed_and_confirmed(hub: Hub) -> None:
    one = subscribed(hub)
    (form,) = hub.forms
    assert hub.confirmed == [True]
    assert form["hub.mode"] == "subscribe"
    assert form["hub.topic"] == hub.topic
    assert form["hub.callback"].endswith(f"/websub/{one.token}/")
    assert form["hub.secret"] == one.secret
    assert one.expires is not None
    assert one.expires - datetime.now(UTC) > timedelta(days=9.9)
    assert one.lease is None


def test_a_push_becomes_articles_without_a_request_to_the_publisher(hub: Hub) -> None:
    one = subscribed(hub)
    asked = hub.web.paths.count("/feed")
    assert hub.push(hub.publish(3)) == 202
    work_off()
    assert Article.objects.count() == 3
    assert hub.web.paths.count("/feed") == asked
    assert not Push.objects.exists()
    log = Retrieval.objects.get(pushed=True)
    assert (log.new, log.because, log.outcome, log.status) == (2, "pushed by its hub", "new", 0)
    one.refresh_from_db()
    assert (one.pushes, one.rejected) == (1, 0)
    feed = Feed.objects.get()
    assert feed.lease is None
    assert feed.etag == '"1"', "the validators are those of the last visit"


def test_a_push_of_the_new_entry_alone_forgets_no_known_one(hub: Hub) -> None:
    subscribed(hub, entries=3)
    only_new = rss(hub.web.origin, range(3, 4))
    hub.push(only_new)
    work_off()
    assert Article.objects.count() == 4
    hub.publish(4)
    visit(hub)
    assert Article.objects.count() == 4
    assert Retrieval.objects.latest("id").new == 0


def test_pushes_are_learned_from_once(hub: Hub) -> None:
    subscribed(hub)
    visit(hub)
    hub.push(hub.publish(5))
    work_off()
    log = Retrieval.objects.get(pushed=True)
    assert log.expected is not None
    visit(hub)
    feed = Feed.objects.get()
    assert Retrieval.objects.latest("id").new == 0
    assert feed.history.updated >= log.at


def test_a_subscribed_feed_is_visited_once_a_day(hub: Hub) -> None:
    subscribed(hub)
    feed = visit(hub)
    assert feed.floor == "websub"
    assert feed.not_before - feed.last_attempt == timedelta(days=1)
    reason = next_visits([feed], datetime.now(UTC))[feed.id].reason
    assert "Its hub pushes what is new (WebSub)" in reason


def test_a_push_leaves_the_next_visit_where_it_was(hub: Hub) -> None:
    subscribed(hub)
    before = visit(hub)
    hub.push(hub.publish(2))
    work_off()
    after = Feed.objects.get()
    assert (after.not_before, after.last_success) == (before.not_before, before.last_success)


@pytest.mark.parametrize("method", ["sha1", "sha256", "sha384", "sha512"])
def test_every_method_of_signing_is_understood(hub: Hub, method: str) -> None:
    subscribed(hub)
    hub.push(hub.publish(2), method=method)
    assert Push.objects.count() == 1


def test_what_is_not_signed_with_our_secret_is_dropped_and_not_told_so(hub: Hub) -> None:
    one = subscribed(hub)
    assert hub.push(hub.publish(9), secret="guessed") == 202
    client = Client()
    for header in (
        {},
        {"X-Hub-Signature": "sha256"},
        {"X-Hub-Signature": "md5=00"},
        {"X-Hub-Signature": "ü"},
    ):
        answer = client.post(f"/websub/{one.token}/", b"<rss/>", "application/rss+xml", headers=header)
        assert answer.status_code == 202
    assert not Push.objects.exists()
    one.refresh_from_db()
    assert one.rejected == 5


def test_a_push_that_is_replayed_stores_nothing_twice(hub: Hub) -> None:
    subscribed(hub)
    body = hub.publish(3)
    assert [hub.push(body) for _ in range(3)] == [202] * 3  # before the first is read
    work_off()
    assert hub.push(body) == 202  # and afterwards
    work_off()
    assert Article.objects.count() == 3
    assert sum(Retrieval.objects.filter(pushed=True).values_list("new", flat=True)) == 2
    assert not Push.objects.exists()


def test_a_push_signed_for_another_feed_or_changed_on_its_way_is_dropped(hub: Hub) -> None:
    one = subscribed(hub)
    body = hub.publish(3)
    signature = hmac.new(one.secret.encode(), body, hashlib.sha256).hexdigest()
    for changed, header in ((body + b" ", f"sha256={signature}"), (body, f"sha512={signature}")):
        headers = {"X-Hub-Signature": header}
        Client().post(f"/websub/{one.token}/", changed, "application/rss+xml", headers=headers)
    assert not Push.objects.exists()
    one.refresh_from_db()
    assert one.rejected == 2


def test_a_signed_push_that_is_no_feed_harms_nothing(hub: Hub) -> None:
    subscribed(hub)
    hub.push(b"<html><body>maintenance</body></html>")
    work_off()
    feed = Feed.objects.get()
    assert (feed.failure, feed.failure_streak, feed.lease) == ("", 0, None)
    log = Retrieval.objects.get(pushed=True)
    assert (log.outcome, log.failure) == ("failed", "not-a-feed")


def test_more_than_is_read_is_not_kept(hub: Hub, settings: Any) -> None:
    settings.FETCH_MAX_BYTES = 5000
    subscribed(hub)
    assert hub.push(b" " * 5001) == 413
    for _ in range(MAX_WAITING_PUSHES + 3):
        assert hub.push(b"<rss version='2.0'><channel/></rss>") == 202
    assert Push.objects.count() == MAX_WAITING_PUSHES
    feed = Feed.objects.get()
    assert feed.selected_because in {"", "its hub pushes faster than pushes are read"}


@pytest.mark.parametrize(
    "change",
    [
        {"topic": "http://other.example/feed"},
        {"mode": "unsubscribe"},
        {"challenge": ""},
        {"challenge": "x" * 5000},
    ],
)
def test_what_was_not_asked_for_is_not_confirmed(hub: Hub, change: dict[str, str]) -> None:
    one = subscribed(hub)
    status, body = hub.verify(hub.forms[0], **change)
    assert (status, body) == (404, b"this was not asked for")
    one.refresh_from_db()
    assert one.state == "active"


def test_a_subscription_that_was_never_asked_for_is_not_confirmed(hub: Hub, settings: Any) -> None:
    hub.confirms = False
    visit(hub)
    one = HubSubscription.objects.get()
    assert one.state == "asked"
    HubSubscription.objects.update(asked=None, state="wanted")
    assert hub.verify(hub.forms[0])[0] == 404


def test_an_unknown_callback_is_gone() -> None:
    client = Client()
    assert client.get("/websub/guessed/?hub.mode=subscribe&hub.challenge=1").status_code == 410
    assert client.post("/websub/guessed/", b"x", "text/xml").status_code == 410


def test_a_paused_feed_takes_no_pushes(hub: Hub) -> None:
    subscribed(hub)
    Feed.objects.update(status="paused")
    assert hub.push(hub.publish(2)) == 410


def test_it_is_renewed_before_it_ends(hub: Hub) -> None:
    one = subscribed(hub)
    assert one.not_before - datetime.now(UTC) == pytest.approx(timedelta(days=7.5), abs=timedelta(minutes=1))
    soon = datetime.now(UTC) + timedelta(days=2)
    HubSubscription.objects.update(not_before=datetime.now(UTC), expires=soon)
    work_off()
    one.refresh_from_db()
    assert len(hub.forms) == 2
    assert one.state == "active"
    assert one.expires is not None
    assert one.expires > soon
    assert hub.forms[0]["hub.callback"] == hub.forms[1]["hub.callback"]


def test_one_that_ends_unrenewed_is_visited_as_others_are(hub: Hub) -> None:
    subscribed(hub)
    visit(hub)
    HubSubscription.objects.update(expires=datetime.now(UTC) - timedelta(seconds=1))
    assert lapse(datetime.now(UTC)) == 1
    feed = Feed.objects.get()
    assert feed.not_before <= datetime.now(UTC)
    assert (feed.floor, HubSubscription.objects.get().state) == ("", "wanted")


def test_a_denied_one_is_visited_as_others_are_and_asked_for_in_a_week(hub: Hub) -> None:
    one = subscribed(hub)
    visit(hub)
    status, _ = hub.verify(hub.forms[0], mode="denied", reason="too many")
    one.refresh_from_db()
    assert (status, one.state, one.detail) == (200, "denied", "denied: too many")
    assert Feed.objects.get().not_before <= datetime.now(UTC)
    assert one.not_before - datetime.now(UTC) > timedelta(days=6.9)


@pytest.mark.parametrize(("status", "words"), [(500, "http-500"), (404, "http-404"), (301, "http-301")])
def test_a_hub_that_refuses_is_asked_again_ever_more_slowly(hub: Hub, status: int, words: str) -> None:
    hub.web.replies["/hub"] = Reply(status=status, headers={"Location": "/elsewhere"})
    visit(hub)
    one = HubSubscription.objects.get()
    assert one.detail.startswith(words)
    waits = []
    for _ in range(3):
        waits.append((one.not_before - datetime.now(UTC)).total_seconds() / 3600)
        HubSubscription.objects.update(not_before=datetime.now(UTC))
        work_off()
        one.refresh_from_db()
    assert waits == pytest.approx([1, 2, 4], rel=0.01)
    assert Feed.objects.get().floor != "websub", "a feed without a living subscription is visited as ever"


def test_a_redirect_that_keeps_the_method_is_followed(hub: Hub) -> None:
    hub.web.replies["/moved"] = hub.web.replies["/hub"]
    hub.web.replies["/hub"] = Reply(status=307, headers={"Location": "/moved"})
    visit(hub)
    assert HubSubscription.objects.get().state == "active"


def test_another_hub_means_another_callback_and_none_means_none(hub: Hub) -> None:
    one = subscribed(hub)
    other = hub.publish(2).replace(b"/hub'", b"/other'")
    hub.web.replies["/feed"] = Reply(other)
    visit(hub)
    changed = HubSubscription.objects.get()
    assert changed.hub.endswith("/other")
    assert changed.token != one.token
    hub.web.replies["/feed"] = Reply(rss(hub.web.origin, range(3)))
    visit(hub)
    assert not HubSubscription.objects.exists()


def test_the_link_header_names_the_hub_too(hub: Hub) -> None:
    links = f'</hub>; rel="hub", <{hub.topic}>; rel="self"'
    hub.web.replies["/feed"] = Reply(rss(hub.web.origin, range(1)), headers={"Link": links})
    visit(hub)
    assert HubSubscription.objects.get().state == "active"


def test_nothing_is_asked_where_no_hub_could_reach_us(hub: Hub, settings: Any, client: Client) -> None:
    settings.PUBLIC_URL = ""
    feed = visit(hub)
    assert not HubSubscription.objects.exists()
    client.force_login(make_user())
    assert "by its PUBLIC_URL" in client.get(feed.get_absolute_url()).content.decode()


def test_a_hub_at_a_private_address_is_not_asked(hub: Hub, settings: Any) -> None:
    private = hub.publish(1).replace(f"{hub.web.origin}/hub".encode(), b"http://10.0.0.1/hub")
    hub.web.replies["/feed"] = Reply(private)
    visit(hub)
    assert HubSubscription.objects.get().detail.startswith("blocked-address")


def test_a_push_that_a_terminal_took_with_it_comes_back_and_is_dropped_in_the_end(hub: Hub) -> None:
    subscribed(hub)
    hub.push(hub.publish(2))
    for _ in range(MAX_LOSSES):
        assert [batch.host for batch in hand_out(datetime.now(UTC))] == [""]
        assert hand_out(datetime.now(UTC)) == []
        assert sweep(datetime.now(UTC) + timedelta(hours=1)) == 1
        assert Feed.objects.get().lease is None
    assert not Push.objects.exists()
    assert Retrieval.objects.filter(pushed=True).latest("id").failure == "lost"


def test_a_push_that_was_given_back_unread_waits(hub: Hub) -> None:
    from crawler.engine.check_in import check_in  # noqa: PLC0415

    subscribed(hub)
    hub.push(hub.publish(2))
    (batch,) = hand_out(datetime.now(UTC))
    check_in([report(batch)])
    assert Push.objects.filter(lease=None).count() == 1
    work_off()
    assert Article.objects.count() == 2


def test_a_request_that_was_not_made_is_due_again_and_no_attempt(hub: Hub) -> None:
    from crawler.engine.check_in import check_in  # noqa: PLC0415

    one = subscribed(hub)
    HubSubscription.objects.update(not_before=datetime.now(UTC))
    for _ in range(3):
        (batch,) = hand_out(datetime.now(UTC))
        assert batch.assignments[0].kind == "hub"
        check_in([report(batch)])
    one.refresh_from_db()
    assert (one.attempts, one.lease) == (0, None)
    assert one.not_before <= datetime.now(UTC)


def test_a_feed_that_is_out_is_not_handed_out_twice(hub: Hub) -> None:
    subscribed(hub)
    hub.push(hub.publish(2))
    Feed.objects.update(selected_at=datetime.now(UTC), not_before=datetime.now(UTC))
    first = hand_out(datetime.now(UTC))
    assert [batch.host for batch in first] == [""]
    assert Feed.objects.get().selected_at is not None


def test_the_tick_asks_and_lapses(hub: Hub) -> None:
    subscribed(hub)
    HubSubscription.objects.update(
        expires=datetime.now(UTC) - timedelta(days=1), not_before=datetime.now(UTC)
    )
    tick(datetime.now(UTC))
    work_off()
    assert HubSubscription.objects.get().state == "active"


def test_page_api_admin_and_command_tell_of_it(hub: Hub, client: Client) -> None:
    one = subscribed(hub)
    client.force_login(make_user(staff=True, is_superuser=True))
    text = client.get(one.feed.get_absolute_url()).content.decode()
    assert "subscription active" in text
    assert one.secret not in text
    headers = {"Authorization": make_token(make_user(staff=True))}
    told = client.get(f"/api/feeds/{one.feed_id}/", headers=headers).json()["websub"]
    assert (told["state"], told["pushes"]) == ("active", 0)
    assert "secret" not in told
    page = client.get(f"/admin/websub/hubsubscription/{one.feed_id}/change/").content.decode()
    assert one.secret not in page
    client.post(
        "/admin/websub/hubsubscription/",
        {"action": "ask_hubs_again", "_selected_action": [one.feed_id]},
    )
    one.refresh_from_db()
    assert one.not_before <= datetime.now(UTC)
    out = StringIO()
    call_command("hubs", stdout=out)
    assert "active" in out.getvalue()
    assert one.hub in out.getvalue()
    HubSubscription.objects.update(state="denied", not_before=datetime.now(UTC) + timedelta(days=1))
    call_command("hubs", "--ask-again", stdout=out)
    assert "1 will be asked for" in out.getvalue()


def test_the_signature_is_the_bodys() -> None:
    digest = hmac.new(b"key", b"body", hashlib.sha256).hexdigest()
    assert signed(f"sha256={digest}", "key", b"body")
    assert signed(f" SHA256={digest.upper()} ", "key", b"body")
    assert not signed(f"sha256={digest}", "key", b"other")
    assert not signed(f"sha1={digest}", "key", b"body")
    assert not signed("", "key", b"body")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60", 60), ("", 864_000), ("-5", 864_000), ("9" * 30, 864_000), ("99999999999", 31_536_000)],
)
def test_leases_are_believed_within_reason(text: str, seconds: float) -> None:
    assert lease_seconds(text) == seconds


def test_waits() -> None:
    assert [retry_after(n) / 3600 for n in (0, 1, 2, 5, 6, 99)] == [1, 1, 2, 16, 24, 24]
    assert (renew_after(864_000), renew_after(60)) == (648_000, 600)


@pytest.mark.parametrize(
    "value", ["example.org", "ftp://example.org", "https://example.org/path", "https://u@h"]
)
def test_a_public_address_that_is_none_is_named(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBLIC_URL", value)
    with pytest.raises(ImproperlyConfigured, match=r"PUBLIC_URL must be an address such as"):
        environment.web_address("PUBLIC_URL")
