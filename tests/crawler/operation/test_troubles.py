"""What does not work: in groups by who must act and by cause, each with a deed for all of it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from crawler.notices.models import Target
from crawler.operation.site.health import Health
from crawler.operation.site.own_troubles import own_groups
from crawler.operation.site.troubles import Group, feed_groups, verdict
from feeds.mail.models import Mailbox
from feeds.models import Feed, Retrieval
from tests.factories import make_feed, make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
WELL = Health("ok", "ok", "ok", "ok")
DAY = timedelta(days=1)


def failing(failure: str, since: timedelta = 2 * DAY, **fields: Any) -> Feed:
    return make_feed(failure=failure, failure_streak=3, failing_since=NOW - since, **fields)


def groups(*, may_edit: bool = True) -> dict[str, Group]:
    return {group.key: group for group in feed_groups(NOW, UTC, may_edit=may_edit)}


@pytest.fixture
def keeper(client: Client) -> Client:
    client.force_login(make_user("keeper", staff=True))
    return client


@pytest.mark.parametrize(
    ("failure", "days", "key", "who"),
    [
        ("http-401", 0, "http-401", "you"),
        ("http-401", 9, "http-401", "you"),
        ("not-a-feed", 0, "not-a-feed", "you"),
        ("proxy", 0, "proxy", "you"),
        ("http-404", 0, "http-404", "waits"),
        ("http-404", 2, "lost-http-404", "you"),
        ("dns", 0, "dns", "waits"),
        ("dns", 2, "lost-dns", "you"),
        ("timeout", 9, "timeout", "waits"),
        ("refused", 9, "timeout", "waits"),
        ("http-502", 9, "http-5xx", "waits"),
        ("http-503", 9, "http-5xx", "waits"),
        ("http-403", 9, "http-403", "waits"),
        ("throttled", 9, "throttled", "waits"),
        ("tls", 9, "tls", "waits"),
        ("from a later release", 9, "from a later release", "waits"),
    ],
)
def test_who_must_act(failure: str, days: int, key: str, who: str) -> None:
    failing(failure, timedelta(days=days))
    ((found, group),) = groups().items()
    assert (found, group.who) == (key, who)


def test_one_cause_is_one_group_with_one_deed_and_its_feeds() -> None:
    feeds = [
        failing("tls", days * DAY, url=f"https://boats.example/{days}", not_before=NOW + timedelta(hours=2))
        for days in (1, 2, 3)
    ]
    (group,) = groups().values()
    assert (group.cause, group.about) == ("Its certificate is not valid", "3 feeds of boats.example")
    assert group.text == (
        "Since Friday. Only its publisher can mend it. Freshet goes on trying."
        " Freshet tries again at about 14:00."
    )
    assert [deed.words for deed in group.deeds] == ["Try again now"]
    assert sorted(group.feeds) == sorted(feed.pk for feed in feeds)
    assert len(group.members) == 3


def test_who_asks_for_a_break_is_left_alone_and_who_may_not_edit_has_no_deeds() -> None:
    failing("throttled")
    failing("tls")
    assert groups()["throttled"].deeds == ()
    assert all(not group.deeds for group in groups(may_edit=False).values())


def test_feeds_that_need_each_their_own_deed_have_it_in_the_list() -> None:
    for number in range(3):
        failing("not-a-feed", url=f"https://page{number}.example/")
    group = groups()["not-a-feed"]
    assert group.is_each_on_its_own
    assert [member.deed.words for member in group.members if member.deed] == ["Find its feeds"] * 3


def test_those_for_a_person_come_first_and_what_can_be_done_at_once_before_them() -> None:
    failing("tls")
    make_feed(status="gone")
    failing("http-401")
    failing("http-404", proposed={"url": "https://new.example/feed"}, title="Boost News")
    assert [group.key for group in feed_groups(NOW, UTC, may_edit=True)] == [
        "moved", "http-401", "tls", "gone",
    ]  # fmt: skip
    moved = groups()["moved"]
    assert (moved.cause, moved.about, moved.named) == ("Moved", "Boost News", "https://new.example/feed")
    assert moved.text == "Not found since Saturday. Its site names a new address."
    assert [deed.words for deed in moved.deeds] == ["Use the new address", "Remove it"]


def test_the_verdict() -> None:
    assert verdict([], NOW) == ("good", "Nothing fails.", "")
    make_feed(last_success=NOW)
    make_feed(last_success=NOW)
    assert verdict([], NOW)[1:] == ("Nothing fails.", "All 2 feeds were read at their last visit.")
    failing("tls")
    assert verdict(list(groups().values()), NOW) == (
        "good", "Nothing waits for you.", "One feed mends itself, or its publisher must.",
    )  # fmt: skip
    failing("http-401")
    assert verdict(list(groups().values()), NOW) == (
        "warn", "One thing waits for you.", "One other mends itself, or its publisher must.",
    )  # fmt: skip


def test_when_nearly_all_hosts_are_silent_it_is_one_group() -> None:
    feeds = [failing("timeout", timedelta(minutes=9)) for _ in range(4)]
    assert "outage" not in groups()
    for feed in feeds:
        Retrieval.objects.create(
            feed=feed, at=NOW - timedelta(minutes=1), outcome="failed", failure="timeout"
        )
    assert list(groups()) == ["outage"]
    group = groups()["outage"]
    assert (group.who, group.about, len(group.feeds)) == ("you", "4 sites", 4)
    for number in range(4):
        Retrieval.objects.create(
            feed=make_feed(f"https://well{number}.example/"), at=NOW - timedelta(minutes=1), outcome="new"
        )
    assert list(groups()) == ["timeout"]


def test_the_number_of_queries_does_not_grow_with_the_feeds(keeper: Client) -> None:
    def queries(address: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            keeper.get(address)
        return len(captured)

    kinds = ("tls", "http-401", "not-a-feed", "http-404", "throttled")
    for address in ("/tools/health/", "/overview/tiles/"):
        for failure in kinds:
            failing(failure)
        keeper.get(address)
        few = queries(address)
        for failure in kinds * 5:
            failing(failure)
        assert queries(address) <= few + 2  # settings are read anew now and then


def test_a_page_with_hundreds_of_failures_stays_small(keeper: Client) -> None:
    for number in range(300):
        failing(("tls", "http-401", "not-a-feed", "http-404", "timeout", "dns")[number % 6])
    for _ in range(30):
        make_feed(status="gone")
    for address in ("/tools/health/", "/tools/"):
        assert len(keeper.get(address).content) < 60_000


def test_one_deed_mends_all_of_a_group(keeper: Client) -> None:
    for number in range(2):
        failing("http-404", proposed={"url": f"https://new{number}.example/feed"})
    html = keeper.get("/tools/health/").content.decode()
    (address,) = set(re.findall(r'action="(/tools/health/moved/address/)"', html))
    answer = keeper.post(address, {"next": "/tools/"})
    assert answer["Location"] == "/tools/"
    assert {feed.url for feed in Feed.objects.all()} == {
        "https://new0.example/feed", "https://new1.example/feed",
    }  # fmt: skip
    assert "2 feeds are read from where they are now." in keeper.get("/tools/").content.decode()


def test_feeds_that_have_ended_are_removed_together_and_that_is_undone(keeper: Client) -> None:
    for _ in range(3):
        make_feed(status="gone")
    assert "Remove all 3" in keeper.get("/tools/health/").content.decode()
    keeper.post("/tools/health/gone/remove/")
    assert not Feed.objects.exists()
    keeper.post("/undo/", {"token": keeper.session["undo"]["token"]})
    assert Feed.objects.count() == 3


def test_a_deed_that_was_not_offered_is_not_done(keeper: Client, client: Client) -> None:
    feed = failing("throttled")
    for address in ("/tools/health/throttled/remove/", "/tools/health/none/retrieve/"):
        assert keeper.post(address)["Location"] == "/tools/health/"
    feed.refresh_from_db()
    assert feed.selected_at is None
    client.force_login(make_user("reader"))
    assert client.post("/tools/health/gone/remove/").status_code == 403


def test_what_was_found_for_two_feeds_with_one_address_is_said(keeper: Client) -> None:
    kept = make_feed("https://here.example/feed", last_success=NOW)
    failing("http-404", proposed={"url": kept.url}, last_success=NOW)
    keeper.post("/tools/health/moved/address/")
    assert "1 feed stays as it was" in keeper.get("/tools/health/").content.decode()


def test_the_former_address_leads_there(keeper: Client) -> None:
    assert keeper.get("/health/?x=1")["Location"] == "/tools/health/?x=1"


def test_mail_mailboxes_and_the_disk_wait_for_whom_they_are_about() -> None:
    ann, bob = make_user("ann"), make_user("bob", staff=True)
    since = NOW - timedelta(hours=3)
    Target.objects.create(
        user=ann, kind="mail", name="ann@example.org", failing_since=since, failure="550 no"
    )
    Target.objects.create(user=ann, kind="webhook", name="My hook", failing_since=since, failure="gone")
    Mailbox.objects.create(
        user=ann, host="mail.example", login="ann", failing_since=since, last_look=NOW,
        next_look=NOW + timedelta(hours=1), failure="the mail server does not accept this name and password",
    )  # fmt: skip
    Mailbox.objects.create(
        user=ann, host="slow.example", login="ann", failing_since=since, last_look=NOW,
        next_look=NOW + timedelta(minutes=10), failure="it did not answer in time",
    )  # fmt: skip
    hers = own_groups(ann, WELL, (1e9, 3), NOW, UTC, operates=False)
    assert [(group.who, group.cause) for group in hers] == [
        ("you", "Notifications do not arrive"), ("you", "Notifications do not arrive"),
        ("you", "A mailbox refuses its password"), ("waits", "A mailbox cannot be read"),
    ]  # fmt: skip
    assert hers[0].text == "For 3 hours. 550 no."
    his = own_groups(bob, WELL, (1e9, 3), NOW, UTC, operates=True)
    assert [group.cause for group in his] == ["The disk is nearly full", "The mail server refuses messages"]
    assert his[0].text.endswith("At this pace it is full in 3 days.")
    assert (his[1].about, his[1].deeds[0].address) == ("ann@example.org", "/settings/mail/")
    assert own_groups(bob, WELL, (1e12, None), NOW, UTC, operates=False) == []


def test_a_part_that_does_not_work_waits_for_everybody() -> None:
    broken = Health("failing", "ok", "no tick has finished yet", "ok")
    (group,) = own_groups(make_user(), broken, (1e12, None), NOW, UTC, operates=False)
    assert group.cause == "Planning"
    assert "no tick has finished yet" in group.text
