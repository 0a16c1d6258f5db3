"""Saving and looking again over the network: pages of a loopback server, by controller and terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from articles.edits import rechecks
from articles.edits.history import proves, versions_of
from articles.edits.models import ArticleVersion, PageRecheck
from articles.models import Article, Page
from articles.saved.models import SavedPage
from crawler.engine.leases import hand_out
from crawler.inline import work_off
from feeds.adding.add import add_feed
from feeds.models import Feed, Retrieval
from tests.factories import make_user
from tests.servers import Reply, Request, WebServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("terminal_on_loopback")]
LINES = [
    "The ferry line has announced that its two winter boats will be laid up from January.",
    "12 crossings a week are planned, the board said on Monday after a long meeting.",
    "The islands' council had called for a meeting on Thursday, which will be held all the same.",
    "Nobody knows yet what becomes of the mail and of the people who work on the mainland.",
]


@pytest.fixture
def site(settings: Any) -> Iterator[WebServer]:
    settings.FEED_MIN_GAP_SECONDS = 0
    with WebServer() as web:
        yield web


def page(number: int, *, changed: bool = False, minutes: int = 3) -> bytes:
    lines = [f"{line} Case {number}." for line in LINES]
    if changed:
        lines[1] = lines[1].replace("12 crossings", "21 crossings")
    body = "".join(f"<p>{line}</p>" for line in lines)
    return (
        f"<html><head><title>Ferry {number}</title></head><body><nav><a href='/'>Home {minutes}</a></nav>"
        f"<article><h1>Ferry {number}</h1><p>Updated {minutes} minutes ago</p>{body}"
        f"<p>{minutes * 7} comments</p><ul><li><a href='/{minutes}'>What else happened today</a></li></ul>"
        f"</article><aside>Advertisement {minutes}</aside></body></html>"
    ).encode()


def feed(site: WebServer, count: int) -> bytes:
    stamp = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
    items = "".join(
        f"<item><guid>{n}</guid><title>Ferry {n}</title><link>{site.origin}/p/{n}</link>"
        f"<pubDate>{stamp}</pubDate></item>"
        for n in range(count)
    )
    return f"<rss version='2.0'><channel><title>Coast</title>{items}</channel></rss>".encode()


def arrived(site: WebServer, count: int) -> list[Article]:
    html = {"Content-Type": "text/html; charset=utf-8"}
    site.replies["/feed"] = Reply(feed(site, count), headers={"Content-Type": "application/rss+xml"})
    for number in range(count):
        site.replies[f"/p/{number}"] = Reply(page(number), headers=html)
    added = add_feed(f"{site.origin}/feed").feed
    assert added is not None
    Feed.objects.update(selected_at=datetime.now(UTC))
    work_off()
    work_off()
    return sorted(Article.objects.all(), key=lambda article: int(article.identity))


def look_again(hours: float) -> None:
    """Make all looks due, as if hours had gone by, and let them be made."""
    PageRecheck.objects.update(due=datetime.now(UTC) - timedelta(minutes=1))
    one = Feed.objects.first()
    Retrieval.objects.bulk_create(
        Retrieval(feed=one, at=datetime.now(UTC) - timedelta(hours=hours), outcome="not-modified")
        for _ in range(600)
    )
    rechecks.plan(datetime.now(UTC))
    work_off()


def test_edits_are_seen_and_furniture_is_not(site: WebServer) -> None:
    articles = arrived(site, 12)
    assert PageRecheck.objects.count() == 12
    html = {"Content-Type": "text/html; charset=utf-8"}
    for number in range(12):
        site.replies[f"/p/{number}"] = Reply(page(number, changed=number < 3, minutes=44), headers=html)
    before = len(site.requests)
    look_again(1)
    assert len(site.requests) - before == 12
    assert {row.article_id for row in ArticleVersion.objects.filter(number=2)} == {a.pk for a in articles[:3]}
    for article in articles[:3]:
        versions = versions_of(article.pk)
        assert "12 crossings" in versions[0].text
        assert "21 crossings" in versions[1].text
        assert versions[1].row.kinds == ["number"]
        assert proves(versions)
    look_again(1)
    assert ArticleVersion.objects.count() == 6


def test_a_batch_that_is_lost_and_served_again_doubles_nothing(site: WebServer) -> None:
    arrived(site, 2)
    html = {"Content-Type": "text/html; charset=utf-8"}
    site.replies["/p/0"] = Reply(page(0, changed=True), headers=html)
    PageRecheck.objects.update(due=datetime.now(UTC), is_chosen=True)
    assert hand_out(datetime.now(UTC))  # and its terminal is killed
    assert PageRecheck.objects.filter(lease__isnull=False).count() == 2
    PageRecheck.objects.update(lease=None)
    Page.objects.first().host.__class__.objects.update(lease=None, leased_until=None)  # type: ignore[union-attr]
    work_off()
    assert ArticleVersion.objects.count() == 2


def test_validators_spare_the_body(site: WebServer) -> None:
    def tagged(request: Request) -> Reply:
        if request.headers.get("if-none-match") == '"v1"':
            return Reply(b"", status=304)
        return Reply(page(0), headers={"Content-Type": "text/html; charset=utf-8", "ETag": '"v1"'})

    site.replies["/p/0"] = tagged
    site.replies["/feed"] = Reply(feed(site, 1), headers={"Content-Type": "application/rss+xml"})
    assert add_feed(f"{site.origin}/feed").feed
    Feed.objects.update(selected_at=datetime.now(UTC))
    work_off()
    work_off()
    look_again(1)
    assert site.requests[-1].headers.get("if-none-match") == '"v1"'
    assert not ArticleVersion.objects.exists()
    assert PageRecheck.objects.get().rung == 1


def test_a_saved_page_is_fetched_once_whatever_robots_say(site: WebServer, client: Client) -> None:
    site.replies["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /", headers={"Content-Type": "text/plain"})
    site.replies["/kept"] = Reply(page(7), headers={"Content-Type": "text/html; charset=utf-8"})
    site.replies["/gone"] = Reply(b"no", status=404)
    client.force_login(make_user())
    for path in ("/kept", "/kept?utm_source=x", "/gone"):
        client.post("/api/saved/", json.dumps({"url": site.origin + path}), "application/json")
    work_off()
    assert [request.path for request in site.requests].count("/kept") == 1
    rows = {row["url"]: row for row in client.get("/api/saved/").json()["results"]}
    kept, gone = rows[f"{site.origin}/kept"], rows[f"{site.origin}/gone"]
    assert (kept["state"], kept["title"]) == ("stored", "Ferry 7")
    assert (gone["state"], gone["failure"]) == ("failed", "http-404")
    assert "crossings" in client.get(f"/api/articles/{kept['id']}/").json()["text"]
    assert SavedPage.objects.count() == 2
