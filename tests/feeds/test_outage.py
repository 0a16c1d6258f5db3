"""A network that is lost: no feed is held to blame for it, and each is asked again soon."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crawler.inline import work_off
from feeds.models import Feed
from tests.factories import make_feed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("terminal_on_loopback")]


def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def visit_all() -> None:
    now = datetime.now(UTC)
    Feed.objects.update(selected_at=now, not_before=now)
    work_off()


@pytest.mark.parametrize("hosts", [6, 2])
def test_feeds_are_not_blamed_when_all_hosts_refuse_at_once(hosts: int, settings: Any) -> None:
    port = closed_port()
    for number in range(hosts):
        make_feed(f"http://127.0.0.{number + 1}:{port}/feed")
    for _ in range(3):
        visit_all()
    feeds = list(Feed.objects.all())
    assert {feed.failure for feed in feeds} == {"refused"}
    longest = max(feed.not_before - feed.last_attempt for feed in feeds)
    if hosts == 6:
        assert all(feed.failure_streak <= 1 for feed in feeds), "but the first of a tick may be settled alone"
        assert longest <= timedelta(seconds=settings.FEED_MIN_GAP_SECONDS)
        assert {feed.floor for feed in feeds} == {"ours"}
    else:
        assert {feed.failure_streak for feed in feeds} == {3}, "two hosts prove nothing"
        assert longest > timedelta(seconds=settings.FEED_MIN_GAP_SECONDS)
