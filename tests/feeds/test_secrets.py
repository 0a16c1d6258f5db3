"""A login for a source: sent to its own address alone, and shown, logged and exported nowhere."""

from __future__ import annotations

import gzip
import io
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from crawler.database.backups import write_backup
from crawler.engine.models import SiteLogin
from crawler.inline import work_off
from feeds.adding.opml import export_opml
from feeds.models import Feed
from tests.factories import make_token, make_user
from tests.servers import Reply, Request, WebServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("terminal_on_loopback")]

SECRET = "Kn0ckTw1ceAndWait"
RSS = (
    b"<rss version='2.0'><channel><title>Members</title><item><guid>1</guid><title>One</title></item>"
    b"</channel></rss>"
)


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer() as web:
        yield web


@pytest.fixture
def elsewhere() -> Iterator[WebServer]:
    with WebServer(host="127.0.0.2") as web:
        yield web


def guarded(request: Request) -> Reply:
    if request.headers.get("x-key") != SECRET:
        return Reply(b"no", status=401)
    return Reply(RSS, headers={"Content-Type": "application/rss+xml"})


def added(site: WebServer, client: Client, kind: str = "header") -> Feed:
    wanted = {"url": f"{site.origin}/feed", "login": {"kind": kind, "name": "X-Key", "secret": SECRET}}
    answer = client.post("/api/feeds/", wanted, "application/json")
    assert answer.status_code == 201, answer.content
    return Feed.objects.get()


def test_a_secret_is_in_no_page_answer_log_export_or_backup(
    site: WebServer, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    user = make_user("giver", staff=True, is_superuser=True)
    client.force_login(user)
    site.replies["/feed"] = guarded
    feed = added(site, client)
    work_off()
    feed.refresh_from_db()
    assert (feed.owner, feed.failure) == (user, "")
    for place in (
        f"/feeds/{feed.pk}/", "/feeds/", "/logins/", "/add/", "/feeds/visits/", f"/api/feeds/{feed.pk}/",
        "/api/logins/", "/api/retrievals/", f"/admin/feeds/feed/{feed.pk}/change/", "/feeds/feeds.opml",
    ):  # fmt: skip
        answer = client.get(place)
        assert answer.status_code == 200, place
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[union-attr]
        assert SECRET.encode() not in body, place
    assert SECRET not in export_opml().decode() and SECRET not in caplog.text
    assert SECRET not in SiteLogin.objects.get().sealed
    whole = io.BytesIO()
    connection.ensure_connection()
    write_backup(connection.connection, whole, {}, str)
    kept = gzip.decompress(whole.getvalue())
    assert b"sitelogin" in kept and SECRET.encode() not in kept


def test_a_failing_source_does_not_tell_its_secret(
    site: WebServer, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    client.force_login(make_user("giver", staff=True))
    site.replies["/feed"] = Reply(b"x", status=500)
    feed = added(site, client, "bearer")
    work_off()
    feed.refresh_from_db()
    assert feed.failure == "http-500"
    assert SECRET not in f"{feed.failure_detail}{caplog.text}{client.get(f'/feeds/{feed.pk}/').content!r}"


@pytest.mark.parametrize("status", [301, 302, 307])
def test_a_secret_goes_to_no_other_host(
    site: WebServer, elsewhere: WebServer, client: Client, status: int
) -> None:
    client.force_login(make_user("giver", staff=True))
    site.replies["/feed"] = Reply(status=status, headers={"Location": f"{elsewhere.origin}/feed"})
    elsewhere.replies["/feed"] = Reply(RSS, headers={"Content-Type": "application/rss+xml"})
    added(site, client, "bearer")
    work_off()
    assert any(SECRET in str(request.headers) for request in site.requests)
    assert elsewhere.requests and not any(SECRET in str(request.headers) for request in elsewhere.requests)


def test_what_stands_beside_the_address_gets_no_secret(site: WebServer, client: Client) -> None:
    client.force_login(make_user("giver", staff=True))
    site.replies["/feed"] = guarded
    added(site, client)
    other: dict[str, Any] = {"url": f"{site.origin}/feeder"}
    assert client.post("/api/feeds/", other, "application/json").status_code == 201
    work_off()
    assert [r for r in site.requests if r.path == "/feeder" and SECRET in str(r.headers)] == []


def test_a_person_who_may_not_add_feeds_gives_no_login(site: WebServer, client: Client) -> None:
    wanted = {"url": f"{site.origin}/feed", "login": {"kind": "cookie", "secret": SECRET}}
    token = make_token(make_user("reader"))
    assert (
        client.post("/api/feeds/", wanted, "application/json", headers={"Authorization": token}).status_code
        == 403
    )
    assert not SiteLogin.objects.exists()
