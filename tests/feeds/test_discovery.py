"""Search for the feeds behind addresses: in the page, the command, the API, and at first visits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from crawler.fetching.sandboxed import client as confined
from feeds.adding import discovery
from feeds.adding.discovery import look_at
from tests.factories import make_feed, make_token, make_user
from tests.servers import Reply, WebServer

pytestmark = pytest.mark.django_db

HTML = {"Content-Type": "text/html; charset=utf-8"}
LONG = "A sentence of an article. " * 80


def rss(title: str, items: int = 3, text: str = "Short.") -> Reply:
    entries = "".join(
        f"<item><title>{title} {number}</title><link>https://site.example/{title}/{number}</link>"
        f"<description>{text}</description></item>"
        for number in range(items)
    )
    body = (
        f'<rss version="2.0"><channel><title>{title}</title><language>fr</language>{entries}</channel></rss>'
    )
    return Reply(body.encode(), headers={"Content-Type": "application/rss+xml"})


def page(*links: str) -> Reply:
    head = "".join(f'<link rel="alternate" type="application/rss+xml" href="{link}">' for link in links)
    return Reply(f"<html><head><title>The site</title>{head}</head><p>Hello".encode(), headers=HTML)


@pytest.fixture
def site(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    settings.DATA_DIR = tmp_path
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)
    monkeypatch.setattr("crawler.engine.models.Deployment.networks", lambda: ("127.0.0.0/8",))
    with WebServer({"/": page("/main.xml", "/main.atom", "/other.xml", "/comments.xml")}) as server:
        for name in ("main", "other"):
            server.replies[f"/{name}.xml"] = rss(name, text=LONG)
        server.replies["/main.atom"] = rss("main")
        server.replies["/comments.xml"] = rss("Comments on it")
        yield server
    confined.programs.close()


@pytest.fixture
def keeper(client: Client) -> Client:
    client.force_login(make_user("keeper", staff=True))
    return client


def test_a_site_s_feeds_are_shown_and_the_best_are_chosen(site: WebServer) -> None:
    (look,) = look_at([site.origin])
    assert (look.page, look.problem) == ("The site", "")
    assert [feed.title for feed in look.feeds] == ["main", "main", "other", "Comments on it"]
    assert [feed.is_chosen for feed in look.feeds] == [True, False, True, False]
    assert look.feeds[1].same_as == "main"
    first = look.feeds[0]
    assert first.read.is_whole and first.read.language == "fr"
    assert [title for title, _, _ in first.newest] == ["main 0", "main 1", "main 2"]


def test_a_feed_s_own_address_shows_that_feed(site: WebServer) -> None:
    (look,) = look_at([f"{site.origin}/other.xml"])
    assert [feed.title for feed in look.feeds] == ["other"] and not look.is_page


@pytest.mark.parametrize("path", ["/feed", "/rss.xml", "/atom.xml", "/index.xml", "/feed.xml"])
def test_a_page_without_a_link_is_searched(site: WebServer, path: str) -> None:
    site.replies = {"/": page(), path: rss("hidden")}
    (look,) = look_at([site.origin])
    assert [feed.url for feed in look.feeds] == [f"{site.origin}{path}"]


def test_links_that_look_like_feeds_are_tried(site: WebServer) -> None:
    site.replies = {
        "/": Reply(b'<html><a href="/news/rss.xml">RSS</a>', headers=HTML),
        "/news/rss.xml": rss("n"),
    }
    (look,) = look_at([site.origin])
    assert [feed.title for feed in look.feeds] == ["n"]
    assert site.paths == ["/", "/news/rss.xml"]


@pytest.mark.parametrize(
    ("path", "feed"),
    [
        ("/@some", "/@some.rss"),
        ("/a/some/videos", "/feeds/videos.xml?accountName=some"),
        ("/c/films", "/feeds/videos.xml?videoChannelName=films"),
    ],
)
def test_accounts_of_mastodon_and_peertube_are_understood(site: WebServer, path: str, feed: str) -> None:
    site.replies = {path: page(), feed: rss("account"), feed.partition("?")[0]: rss("account")}
    (look,) = look_at([f"{site.origin}{path}"])
    assert [found.url for found in look.feeds] == [f"{site.origin}{feed}"]


def test_the_program_that_made_a_page_tells_where_its_feed_is(site: WebServer) -> None:
    """SPIP's themes name no feed, and none of the usual addresses is its own (FreshRSS 8836)."""
    generator = b'<html><head><meta name="generator" content="SPIP 4.2.16"></head><body>News</body></html>'
    site.replies = {"/": Reply(generator, headers=HTML), "/spip.php?page=backend": rss("spip")}
    (look,) = look_at([site.origin])
    assert [found.url for found in look.feeds] == [f"{site.origin}/spip.php?page=backend"]


def test_feeds_that_a_page_names_and_that_are_gone_hide_none(site: WebServer) -> None:
    """Themes name feeds that were switched off, while one stands at a usual address."""
    named = b'<html><head><link rel="alternate" type="application/rss+xml" href="/old.rss"></head></html>'
    site.replies = {"/": Reply(named, headers=HTML), "/feed.xml": rss("moved")}
    (look,) = look_at([site.origin])
    assert [found.url for found in look.feeds] == [f"{site.origin}/feed.xml"]


def test_a_page_without_feeds_may_be_watched(site: WebServer, keeper: Client) -> None:
    site.replies = {"/": page()}
    html = keeper.get(f"/add/?url={site.origin}").content.decode()
    assert "no feed of it was found" in html and "Watch the page" in html
    assert len(site.requests) <= 13  # the page, ten guesses, robots.txt, a sitemap


def test_what_cannot_be_had_is_said_in_a_sentence(site: WebServer) -> None:
    site.replies["/broken.xml"] = Reply(b"<rss><channel>", headers={"Content-Type": "application/rss+xml"})
    site.replies["/loop"] = Reply(status=302, headers={"Location": "/loop"})
    site.replies["/inside"] = Reply(status=302, headers={"Location": "http://10.0.0.1/"})
    looks = look_at([f"{site.origin}{path}" for path in ("/none", "/broken.xml", "/loop", "/inside")])
    assert [look.feeds for look in looks] == [[], [], [], []]
    assert looks[0].problem == "Not found."
    assert all(look.problem.endswith(".") and look.problem[0].isupper() for look in looks)
    assert "private network" in looks[3].problem


@pytest.mark.parametrize(
    "text",
    [
        "http://10.0.0.1/",
        "http://[::1]/",
        "ftp://a.example/",
        "http://169.254.169.254/",
        "file:///etc/passwd",
    ],
)
def test_private_and_other_addresses_are_not_asked(site: WebServer, settings: Any, text: str) -> None:
    (look,) = look_at([text])
    assert look.problem and not look.feeds and not site.requests


def test_a_slow_site_ends_the_look_in_time_and_not_its_neighbours(
    site: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(request: Any) -> Reply:
        site.stopping.wait(10)
        return Reply(b"")

    monkeypatch.setattr(discovery, "LOOK_SECONDS", 5.0)
    monkeypatch.setattr(discovery, "FETCH_SECONDS", 3.0)
    site.replies["/slow"] = slow
    slow_look, look = look_at([f"{site.origin}/slow", f"{site.origin}/other.xml"])
    assert slow_look.problem in {"Its server is too slow.", "No answer."}
    assert [feed.title for feed in look.feeds] == ["other"]


def test_too_many_looks_at_once_are_asked_to_wait(keeper: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "_looks", discovery.threading.BoundedSemaphore(1))
    discovery._looks.acquire()
    assert "Try once more" in keeper.get("/add/?url=a.example").content.decode()
    answer = keeper.get("/api/feeds/find/?url=a.example")
    assert answer.status_code == 429


def test_the_page_shows_what_was_found_and_adds_what_is_chosen(site: WebServer, keeper: Client) -> None:
    known = make_feed(f"{site.origin}/other.xml", title="Known one")
    answer = keeper.get(f"/add/?url={site.origin}", headers={"HX-Request": "true"})
    html = answer.content.decode()
    assert "<html" not in html and "4 feeds found on 127.0.0.1" in html
    assert "known already" in html and known.get_absolute_url() in html
    assert "in another format. You need only one of them." in html
    assert "whole articles" in html and "in French" in html
    assert html.count("\nchecked") == 1 and "Follow <span data-number>1</span>" in html
    assert keeper.post("/add/", {"feed": f"{site.origin}/main.xml", "follow": "on"}).status_code == 302
    assert {feed.url for feed in known.__class__.objects.all()} == {known.url, f"{site.origin}/main.xml"}


def test_markup_in_a_feed_stays_text(site: WebServer, keeper: Client) -> None:
    evil = '<script>alert(1)</script><img src=x onerror="a">'
    site.replies["/"] = rss(evil.replace("<", "&lt;").replace('"', "&quot;"))
    html = keeper.get(f"/add/?url={site.origin}", headers={"HX-Request": "true"}).content.decode()
    assert "<script" not in html and "<img" not in html


def test_the_api_and_the_command_find_the_same(
    site: WebServer, keeper: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = keeper.get("/api/feeds/find/", {"url": site.origin}).json()
    assert [feed["title"] for feed in answer["feeds"]] == ["main", "main", "other", "Comments on it"]
    assert answer["feeds"][0]["newest"][0]["title"] == "main 0"
    assert keeper.get("/api/feeds/find/").status_code == 400
    call_command("find_feeds", site.origin)
    assert f"{site.origin}/main.xml: main" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        call_command("find_feeds", f"{site.origin}/none")


def test_only_staff_may_look(site: WebServer) -> None:
    token = {"Authorization": make_token(make_user())}
    assert Client().get("/api/feeds/find/?url=a.example", headers=token).status_code == 403
    assert not site.requests


@pytest.mark.django_db(transaction=True)
def test_looks_at_private_addresses_take_no_connection_for_good() -> None:
    """Issue 56: each kept one for good, so that the web server answered nothing after sixteen."""
    look_at(["http://192.168.1.20:1200/"])
    lent = lent_connections()
    for _ in range(20):
        (look,) = look_at(["http://192.168.1.20:1200/"])
        assert "private" in look.problem
    assert lent_connections() == lent


def lent_connections() -> int:
    """Return how many connections of the process's pool are in use."""
    figures = connection.pool.get_stats()
    return int(figures["pool_size"]) - int(figures["pool_available"])
