"""Sources that are no feeds, followed as feeds are: lists in pages, sitemaps and lists in JSON."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.sax.saxutils import escape

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from articles.models import Article
from crawler.fetching.browser.look import BrowserLook, LookJob
from crawler.fetching.sandboxed import client as confined
from crawler.inline import work_off
from crawler.reading.documents import SourceRules
from feeds.adding.add import WantedFeed, add_feed, add_feeds
from feeds.adding.opml import Outline, export_opml, import_opml, read_opml, write_opml
from feeds.models import Feed
from feeds.rules import rules_in
from tests.factories import make_token, make_user
from tests.servers import Reply, WebServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("terminal_on_loopback")]

HTML = {"Content-Type": "text/html; charset=utf-8"}
TITLES = ("The harbour gets its light back", "Nineteen lamps and a list", "Minutes of the board, October",
          "Where the customs house stood", "Ferry posters, 1950 to 1971")  # fmt: skip
RULES = {"entry": "ul.news > li"}


def address(title: str) -> str:
    return "/news/" + title.lower().replace(" ", "-").replace(",", "")


def council(*titles: str, before: str = "", kind: str = "ul") -> Reply:
    """A council's page: a menu, and a list of news with dates."""
    if kind == "ul":
        rows = "".join(
            f'<li><span class="date">2026-11-{20 - n:02}</span> <a href="{address(title)}">{title}</a></li>'
            for n, title in enumerate(titles)
        )
        news = f'<ul class="news">{rows}</ul>'
    else:
        news = "".join(
            f'<article class="teaser"><h3><a href="{before}{address(title)}">{title}</a></h3>'
            f'<time datetime="2026-11-{20 - n:02}"></time>'
            "<p>What the council says of it, at some length.</p></article>"
            for n, title in enumerate(titles)
        )
    menu = "".join(f'<li><a href="/{word}">{word}</a></li>' for word in ("home", "town", "office", "contact"))
    return Reply(
        f"<html><head><title>Council</title></head><body><nav><ul>{menu}</ul></nav>"
        f"<main><h1>News</h1>{news}</main><footer><a href='/imprint'>Imprint</a></footer></html>".encode(),
        headers=HTML,
    )


def sitemap(*urls: str, news: bool = False, stamp: str = "2026-11-20") -> bytes:
    rows = "".join(
        f"<url><loc>{escape(url)}</loc>"
        + (
            "<news:news><news:publication><news:name>The Council</news:name><news:language>en</news:language>"
            f"</news:publication><news:publication_date>{stamp}T10:00:00Z</news:publication_date>"
            f"<news:title>About {escape(url.rpartition('/')[2])}</news:title></news:news>"
            if news
            else f"<lastmod>{stamp}</lastmod>"
        )
        + "</url>"
        for url in urls
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
        f'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">{rows}</urlset>'
    ).encode()


def xml(body: bytes) -> Reply:
    return Reply(body, headers={"Content-Type": "application/xml"})


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[WebServer]:
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)
    monkeypatch.setattr("crawler.engine.models.Deployment.networks", lambda: ("127.0.0.0/8",))
    with WebServer({"/": council(*TITLES)}) as server:
        yield server
    confined.programs.close()


@pytest.fixture
def editor(client: Client) -> Client:
    client.force_login(make_user("editor", staff=True))
    return client


def visit(feed: Feed) -> Feed:
    """Visit a feed, and only it."""
    Feed.objects.filter(pk=feed.pk).update(selected_at=datetime.now(UTC), not_before=datetime.now(UTC))
    work_off()
    feed.refresh_from_db()
    return feed


def titles(feed: Feed) -> list[str]:
    return list(
        Article.objects.filter(feed=feed).order_by("-published", "-id").values_list("title", flat=True)
    )


def followed(site: WebServer, rules: dict[str, str] | None = None) -> Feed:
    added = add_feed(f"{site.origin}/", kind="page", rules=rules or RULES)
    assert added.feed is not None, added.message
    return visit(added.feed)


def test_a_list_of_a_page_gives_articles_and_later_only_what_is_new(site: WebServer) -> None:
    feed = followed(site)
    assert (feed.failure, feed.format, feed.title) == ("", "page", "Council")
    assert titles(feed) == list(TITLES)
    first = Article.objects.get(title=TITLES[0])
    assert (first.url, first.published.date().isoformat()) == (
        f"{site.origin}{address(TITLES[0])}",
        "2026-11-20",
    )
    site.replies["/"] = council("A ramp for the pier", *TITLES)
    visit(feed)
    assert sorted(titles(feed)) == sorted([*TITLES, "A ramp for the pier"])
    site.replies["/"] = council(*TITLES[2:])
    visit(feed)
    site.replies["/"] = council(*TITLES)  # what has left and comes back is not new
    visit(feed)
    assert len(titles(feed)) == 6


def test_numbers_that_change_beside_a_title_are_no_edits(site: WebServer) -> None:
    rules = {"entry": "article"}
    site.replies["/"] = council(*TITLES, kind="article")
    feed = followed(site, rules)
    body = site.replies["/"].body.replace(
        b"What the council says of it", b"37 comments, 2 hours ago, and so on"
    )
    site.replies["/"] = Reply(body, headers=HTML)
    visit(feed)
    retrieval = feed.retrievals.order_by("-at").first()
    assert retrieval is not None and (retrieval.new, retrieval.edited) == (0, 0)


def test_a_list_that_has_moved_is_a_named_failure_and_is_proposed_again(site: WebServer) -> None:
    feed = followed(site)
    site.replies["/"] = council("One that is new", *TITLES[:4], kind="article")
    visit(feed)
    assert feed.failure == "list-missing" and feed.proposed["entry"].endswith("article.teaser")
    assert len(titles(feed)) == 5
    client = Client()
    client.force_login(make_user("mender", staff=True))
    page = client.get(f"/feeds/{feed.pk}/").content.decode()
    assert (
        "the list of articles is not on the page any more" in page.lower() or "no longer has the list" in page
    )
    assert f"kind=page&amp;feed={feed.pk}" in page
    offered = client.get("/add/", {"url": feed.url, "kind": "page", "feed": feed.pk}).content.decode()
    assert f'value="{feed.pk}"' in offered
    line = 'page:{"entry":"article"} ' + feed.url
    client.post("/add/", {"list1": line, "in_place_of": feed.pk, "follow": "on"})
    assert Feed.objects.get().rules == {"entry": "article"}
    Feed.objects.update(rules=RULES, proposed={"entry": "article.teaser"}, canonical_url="x")
    client.post(f"/feeds/{feed.pk}/rules/")
    work_off()
    feed.refresh_from_db()
    assert (feed.failure, feed.proposed, feed.rules["entry"]) == ("", {}, "article.teaser")
    assert sorted(titles(feed)) == sorted([*TITLES, "One that is new"])


def test_a_rule_that_now_chooses_the_menu_is_noticed(site: WebServer) -> None:
    feed = followed(site, {"entry": "main ul > li, nav .x"})
    menu = "".join(f'<li><a href="/m/{n}">Menu entry number {n}</a></li>' for n in range(6))
    body = council(*TITLES, kind="article").body.replace(b"<h1>", f"<ul>{menu}</ul><h1>".encode())
    site.replies["/"] = Reply(body, headers=HTML)
    visit(feed)
    assert feed.failure == "list-missing" and feed.proposed
    assert not Article.objects.filter(title__startswith="Menu").exists()


def test_articles_that_got_new_addresses_do_not_come_again(site: WebServer) -> None:
    site.replies["/"] = council(*TITLES, kind="article")
    feed = followed(site, {"entry": "article"})
    site.replies["/"] = council("And one more of today", *TITLES[:4], kind="article", before="/en")
    visit(feed)
    assert sorted(titles(feed)) == sorted([*TITLES, "And one more of today"])


def test_a_list_goes_on_over_pages(site: WebServer) -> None:
    for number in range(1, 6):
        following = f'<a class="next" href="/p{number + 1}">older</a>'.encode()
        page = council(*(f"Article {number}-{n} of the council" for n in range(3)))
        site.replies["/" if number == 1 else f"/p{number}"] = Reply(
            page.body.replace(b"</main>", following + b"</main>"), headers=HTML
        )
    feed = followed(site, RULES | {"next": "a.next"})
    assert len(titles(feed)) == 12  # the page and three more
    site.requests.clear()
    visit(feed)
    assert [request.path for request in site.requests if not request.path.startswith("/news")] == ["/"]


def test_a_sitemap_alone_is_enough(site: WebServer) -> None:
    site.replies["/news.xml"] = xml(sitemap(*(f"{site.origin}/a{n}" for n in range(3)), news=True))
    added = add_feed(f"{site.origin}/news.xml")
    assert added.feed is not None
    feed = visit(added.feed)
    assert (feed.kind, feed.format, feed.title) == ("sitemap", "news sitemap", "The Council")
    assert sorted(titles(feed)) == ["About a0", "About a1", "About a2"]
    site.replies["/news.xml"] = xml(sitemap(*(f"{site.origin}/a{n}" for n in range(1, 5)), news=True))
    visit(feed)
    assert sorted(titles(feed)) == [f"About a{n}" for n in range(5)]


def test_of_a_plain_sitemap_only_new_pages_are_articles_titled_by_themselves(site: WebServer) -> None:
    old = [f"{site.origin}/old{n}" for n in range(200)]
    site.replies["/sitemap.xml"] = xml(sitemap(*old, stamp="2025-01-01"))
    added = add_feed(f"{site.origin}/sitemap.xml")
    assert added.feed is not None
    feed = visit(added.feed)
    assert len(titles(feed)) == 20  # the newest; the rest was there before
    article = "<html><head><title>The new page</title></head><body><article><h1>The new page</h1>"
    text = "<p>The council has decided on the bridge after a long evening with many words.</p>" * 8
    site.replies["/fresh"] = Reply(f"{article}{text}</article></body></html>".encode(), headers=HTML)
    site.replies["/sitemap.xml"] = xml(sitemap(*old, f"{site.origin}/fresh"))
    visit(feed)
    assert len(titles(feed)) == 21
    work_off()
    assert Article.objects.get(url=f"{site.origin}/fresh").title == "The new page"


def test_an_index_is_followed_by_what_is_newest_and_a_broken_part_harms_no_other(site: WebServer) -> None:
    def index() -> bytes:
        rows = "".join(
            f"<sitemap><loc>{site.origin}/{name}</loc><lastmod>{stamp}</lastmod></sitemap>"
            for name, stamp in (
                ("old.xml", "2020-01-01"),
                ("news.xml.gz", "2026-11-20"),
                ("broken.xml", "2026-11-21"),
            )
        )
        return (
            '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">' + rows + "</sitemapindex>"
        ).encode()

    site.replies["/index.xml"] = xml(index())
    site.replies["/news.xml.gz"] = xml(gzip.compress(sitemap(f"{site.origin}/n1", news=True)))
    site.replies["/broken.xml"] = xml(b"<urlset><url><loc>http")
    added = add_feed(f"{site.origin}/index.xml")
    assert added.feed is not None
    feed = visit(added.feed)
    assert feed.failure == "" and titles(feed) == ["About n1"]
    site.replies["/news.xml.gz"] = xml(
        gzip.compress(sitemap(f"{site.origin}/n1", f"{site.origin}/n2", news=True))
    )  # while the index stays as it is
    visit(feed)
    assert sorted(titles(feed)) == ["About n1", "About n2"]


def test_each_of_fifty_thousand_addresses_comes_once(site: WebServer) -> None:
    urls = [f"{site.origin}/page/{n}" for n in range(50_000)]
    site.replies["/big.xml"] = xml(sitemap(*urls, stamp="2026-01-01"))
    added = add_feed(f"{site.origin}/big.xml")
    assert added.feed is not None
    feed = visit(added.feed)
    before = Article.objects.filter(feed=feed).count()
    site.replies["/big.xml"] = xml(sitemap(*urls[1:], f"{site.origin}/one-more", stamp="2026-01-01"))
    visit(feed)
    assert feed.failure == "" and Article.objects.filter(feed=feed).count() == before + 1
    assert Article.objects.filter(url=f"{site.origin}/one-more").count() == 1


def test_a_list_in_json_by_jq_and_by_its_shape(site: WebServer) -> None:
    items = [{"id": n, "head": {"text": title}, "href": address(title)} for n, title in enumerate(TITLES)]
    body = json.dumps({"data": {"list": items}}).encode()
    site.replies["/api"] = Reply(body, headers={"Content-Type": "application/json"})
    rules = {"entry": ".data.list[]", "title": ".head.text", "link": "jsonpath:$.href"}
    added = add_feed(f"{site.origin}/api", kind="json", rules=rules)
    assert added.feed is not None
    feed = visit(added.feed)
    assert (feed.failure, feed.format) == ("", "json") and sorted(titles(feed)) == sorted(TITLES)
    body = json.dumps([{"title": title, "url": address(title)} for title in TITLES]).encode()
    site.replies["/plain"] = Reply(body, headers={"Content-Type": "application/json"})
    added = add_feed(f"{site.origin}/plain", kind="json")
    assert added.feed is not None and sorted(titles(visit(added.feed))) == sorted(TITLES)


def test_rules_that_take_for_ever_end_as_a_named_failure(site: WebServer) -> None:
    body = json.dumps([{"title": "x", "url": "/x"}] * 5).encode()
    site.replies["/api"] = Reply(body, headers={"Content-Type": "application/json"})
    added = add_feed(f"{site.origin}/api", kind="json", rules={"entry": "[limit(1e12; repeat(1))] | .[]"})
    assert added.feed is not None
    feed = visit(added.feed)
    assert feed.failure in {"too-costly", "malformed"}


def test_two_lists_of_a_page_are_two_sources_and_one_list_is_one(site: WebServer) -> None:
    url = f"{site.origin}/"
    outcomes = add_feeds([
        WantedFeed(url, kind="page", rules=RULES), WantedFeed(url, kind="page", rules={"entry": "ol > li"}),
        WantedFeed(url, kind="page", rules=RULES), WantedFeed(url),
    ])  # fmt: skip
    assert [outcome.outcome for outcome in outcomes] == ["added", "added", "duplicate", "added"]
    assert Feed.objects.count() == 3


def test_the_api_finds_lists_and_adds_them(site: WebServer, client: Client) -> None:
    head = {"HTTP_AUTHORIZATION": make_token(make_user("maker", staff=True))}
    look = client.get("/api/feeds/find/", {"url": f"{site.origin}/"}, **head).json()
    found = look["feeds"][0]
    assert (found["kind"], found["rules"], len(found["entries"])) == ("page", {"entry": "ul.news > li"}, 5)
    assert found["entries"][0] == {
        "title": TITLES[0], "url": f"{site.origin}{address(TITLES[0])}", "published": "2026-11-20T00:00:00Z",
    }  # fmt: skip
    answer = client.post(
        "/api/feeds/",
        {"url": found["url"], "kind": found["kind"], "rules": found["rules"]},
        content_type="application/json",
        **head,
    )
    assert (answer.status_code, answer.json()["kind"], answer.json()["rules"]) == (201, "page", RULES)
    wrong = client.post(
        "/api/feeds/",
        {"url": found["url"], "kind": "page", "rules": {"entry": "li["}},
        "application/json",
        **head,
    )
    assert wrong.status_code == 400 and "entry" in wrong.json()["rules"][0]
    site.replies["/many"] = council(*(f"Article number {n} of the council" for n in range(9)))
    look = client.get(
        "/api/feeds/find/", {"url": f"{site.origin}/many", "kind": "page", "all": "1"}, **head
    ).json()
    assert len(look["feeds"][0]["entries"]) == look["feeds"][0]["size"] == 9
    none = client.get("/api/feeds/find/", {"url": f"{site.origin}/", "entry": "table tr"}, **head).json()
    assert none["feeds"] == [] and none["problem"] == "Nothing on the page is chosen by this rule."


def test_a_page_with_a_feed_shows_its_lists_when_asked(site: WebServer, client: Client) -> None:
    head = {"HTTP_AUTHORIZATION": make_token(make_user("maker", staff=True))}
    link = b'<link rel="alternate" type="application/rss+xml" href="/f"></head>'
    body = council(*TITLES).body.replace(b"</head>", link)
    site.replies["/"] = Reply(body, headers=HTML)
    item = f"<item><title>x</title><link>{site.origin}/x</link></item>"
    site.replies["/f"] = xml(f"<rss version='2.0'><channel><title>F</title>{item}</channel></rss>".encode())
    feeds = client.get("/api/feeds/find/", {"url": site.origin}, **head).json()["feeds"]
    assert [feed["kind"] for feed in feeds] == ["feed"]
    lists = client.get("/api/feeds/find/", {"url": site.origin, "kind": "page"}, **head).json()["feeds"]
    assert [feed["kind"] for feed in lists] == ["page"]


def test_the_page_for_adding_offers_lists_and_the_sitemap(site: WebServer, editor: Client) -> None:
    site.replies["/robots.txt"] = Reply(f"Sitemap: {site.origin}/news-map.xml".encode())
    site.replies["/news-map.xml"] = xml(sitemap(f"{site.origin}/n1", news=True))
    html = editor.get("/add/", {"url": f"{site.origin}/"}).content.decode()
    assert "This page has no feed." in html and TITLES[0] in html and "Follow this list" in html
    assert "made for search engines" in html and "Other ways to follow it" in html
    line = 'page:{"entry":"ul.news > li"} ' + f"{site.origin}/"
    answer = editor.post("/add/", {"list1": line, "follow": "on"}, follow=True)
    assert answer.status_code == 200
    feed = Feed.objects.get()
    assert (feed.kind, feed.rules) == ("page", RULES)
    work_off()
    assert sorted(titles(feed)) == sorted(TITLES)
    assert "known already" in editor.get("/add/", {"url": f"{site.origin}/"}).content.decode()
    broken = editor.post("/add/", {"feed": 'page:{"entry":"li["} http://a.example/', "follow": "on"})
    assert broken.status_code == 422 and Feed.objects.count() == 1


def test_rules_are_tried_before_they_are_followed(site: WebServer, editor: Client) -> None:
    url = f"{site.origin}/"
    html = editor.get("/add/rules/", {"url": url, "entry": "ul.news li"}).content.decode()
    assert TITLES[4] in html and "Follow this list" in html
    assert "is no CSS selector" in editor.get("/add/rules/", {"url": url, "entry": "li["}).content.decode()
    assert "Nothing on the page" in editor.get("/add/rules/", {"url": url, "entry": "table"}).content.decode()


def test_the_commands_show_and_add_lists(site: WebServer) -> None:
    out = io.StringIO()
    call_command("find_feeds", f"{site.origin}/", stdout=out)
    assert "--kind page --rule 'entry=ul.news > li'" in out.getvalue() and TITLES[0] in out.getvalue()
    rules = ["--rule", "entry=ul.news > li", "--rule", "date=.date"]
    call_command("add_feeds", f"{site.origin}/", "--kind", "page", *rules, "--wait", "0")
    assert Feed.objects.get().rules == RULES | {"date": ".date"}
    with pytest.raises(CommandError, match="entry"):
        call_command("add_feeds", f"{site.origin}/", "--kind", "page", "--rule", "title=a")


def test_lists_go_out_and_come_in_by_opml(site: WebServer) -> None:
    add_feed(f"{site.origin}/", kind="page", rules=RULES | {"date": "xpath:./span"})
    add_feed(f"{site.origin}/api", kind="json", rules={"entry": ".data.items[]", "title": ".meta.title"})
    written = export_opml()
    assert b'type="HTML+XPath"' in written and b'type="JSON+DotNotation"' in written
    assert {(outline.kind, tuple(sorted(outline.rules.items()))) for outline in read_opml(written)} == {
        ("page", (("date", "xpath:./span"), ("entry", "ul.news > li"))),
        ("json", (("entry", ".data.items[]"), ("title", ".meta.title"))),
    }
    Feed.objects.all().delete()
    assert import_opml(written).added == 2


def test_rules_of_freshrss_come_in() -> None:
    text = """<opml version="2.0" xmlns:frss="https://freshrss.org/opml"><body>
    <outline text="A" type="HTML+XPath" xmlUrl="https://a.example/" frss:xPathItem="//div[@class='n']"
      frss:xPathItemTitle="descendant::h2" frss:xPathItemUri="descendant::h2/a/@href"
      frss:xPathItemTimestamp="./time"/>
    <outline text="B" type="JSON+DotNotation" xmlUrl="https://b.example/" frss:jsonItem="data.items"
      frss:jsonItemTitle="meta.title" frss:jsonItemUri="links[0]"/>
    <outline text="C" type="HTML+XPath" xmlUrl="https://c.example/" frss:xPathItem="//div["/></body></opml>"""
    page, data, broken = read_opml(text.encode())
    assert (page.kind, page.rules) == (
        "page",
        {
            "entry": "xpath://div[@class='n']",
            "title": "xpath:descendant::h2",
            "link": "xpath:descendant::h2/a/@href",
            "date": "xpath:./time",
        },
    )
    assert data.kind == "json"
    assert data.rules == {"entry": ".data.items[]", "title": ".meta.title", "link": ".links[0]"}
    assert (broken.kind, broken.rules) == ("feed", {})
    written = write_opml(
        [Outline("https://a.example/", "A", kind="page", rules=page.rules)], "t", datetime.now(UTC)
    )
    assert b"frss:xPathItem=\"//div[@class='n']\"" in written


def test_rules_are_kept_without_empty_ones() -> None:
    assert rules_in({"entry": "li", "title": ""}) == SourceRules(entry="li")


def test_a_page_that_answers_with_nothing_is_retried_and_later_goes_on(site: WebServer) -> None:
    feed = followed(site)
    site.replies["/"] = Reply(b"<html><body><p>Down for work.</p></body></html>", headers=HTML)
    visit(feed)
    assert (feed.failure, feed.proposed) == ("list-missing", {})
    assert feed.not_before > datetime.now(UTC) + timedelta(minutes=1)
    site.replies["/"] = council("After the work", *TITLES)
    visit(feed)
    assert feed.failure == "" and len(titles(feed)) == 6


def lost(site: WebServer, *, days: int = 8, status: int = 404) -> Feed:
    """A feed that was read, then fails for so many days, and is visited."""
    item = "<item><guid>g1</guid><title>One</title><link>https://a.example/1</link></item>"
    body = (
        f"<rss version='2.0'><channel><title>F</title><link>{site.origin}/home</link>{item}</channel></rss>"
    )
    site.replies["/old.xml"] = xml(body.encode())
    added = add_feed(f"{site.origin}/old.xml")
    assert added.feed is not None
    feed = visit(added.feed)
    assert feed.failure == ""
    site.replies["/old.xml"] = Reply(b"", status=status)
    site.replies["/new.xml"] = xml(body.encode())
    site.replies["/other.xml"] = xml(body.replace("g1", "other").encode())
    links = "".join(
        f'<link rel="alternate" type="application/rss+xml" href="/{name}.xml">'
        for name in ("old", "other", "new")
    )
    site.replies["/home"] = Reply(f"<html><head>{links}</head><body>x".encode(), headers=HTML)
    since = datetime.now(UTC) - timedelta(days=days)
    Feed.objects.filter(pk=feed.pk).update(failing_since=since if days else None, failure_streak=3)
    return visit(feed)


def test_a_feed_that_is_lost_for_a_week_is_found_anew_on_its_site(site: WebServer, editor: Client) -> None:
    feed = lost(site)
    assert feed.failure == "http-404" and feed.proposed == {"url": f"{site.origin}/new.xml"}
    page = editor.get(f"/feeds/{feed.pk}/").content.decode()
    assert "It has a new address" in " ".join(page.split()) and "/new.xml" in page
    editor.post(f"/feeds/{feed.pk}/address/")
    work_off()
    feed.refresh_from_db()
    assert (feed.failure, feed.url, feed.proposed) == ("", f"{site.origin}/new.xml", {})
    assert titles(feed) == ["One"]


def test_one_that_is_gone_is_looked_for_at_once_and_one_that_just_fails_is_not(site: WebServer) -> None:
    assert lost(site, days=2).proposed == {}
    assert [request.path for request in site.requests].count("/home") == 0
    Feed.objects.all().delete()
    feed = lost(site, days=0, status=410)
    assert feed.status == Feed.Status.GONE and feed.proposed == {"url": f"{site.origin}/new.xml"}


def test_a_login_is_for_the_feed_of_who_gave_it(site: WebServer, client: Client) -> None:
    def guarded(request: Any) -> Reply:
        if request.headers.get("authorization") != "Bearer t0p-s3cret":
            return Reply(b"no", status=401)
        return xml(b"<rss version='2.0'><channel><title>Members</title><item><title>Secret one</title>"
                   b"<guid>1</guid></item></channel></rss>")  # fmt: skip

    site.replies["/members.xml"] = guarded
    giver, other = make_user("giver", staff=True), make_user("other", staff=True)
    wanted = {"url": f"{site.origin}/members.xml", "login": {"kind": "bearer", "secret": "t0p-s3cret"}}
    answer = client.post("/api/feeds/", wanted, "application/json", HTTP_AUTHORIZATION=make_token(giver))
    assert answer.status_code == 201 and "s3cret" not in answer.content.decode()
    own = Feed.objects.get()
    visit(own)
    assert (own.owner, own.failure, titles(own)) == (giver, "", ["Secret one"])
    # Another person who adds the address has another feed, which is not let in.
    answer = client.post(
        "/api/feeds/", {"url": wanted["url"]}, "application/json", HTTP_AUTHORIZATION=make_token(other)
    )
    assert answer.status_code == 201
    theirs = visit(Feed.objects.exclude(pk=own.pk).get())
    assert (theirs.owner, theirs.failure) == (None, "http-401")
    listed = client.get("/api/feeds/", HTTP_AUTHORIZATION=make_token(other)).json()["results"]
    assert [feed["id"] for feed in listed] == [theirs.pk]
    assert "t0p-s3cret" not in export_opml().decode()


def test_a_shared_login_is_for_everybody(site: WebServer, client: Client) -> None:
    wanted = {
        "url": f"{site.origin}/x.xml", "shared": True, "login": {"kind": "cookie", "secret": "sid=1"},
    }  # fmt: skip
    answer = client.post(
        "/api/feeds/", wanted, "application/json", HTTP_AUTHORIZATION=make_token(make_user("s", staff=True))
    )
    assert answer.status_code == 201 and Feed.objects.get().owner is None


def test_the_page_takes_a_login_with_an_address(site: WebServer, editor: Client) -> None:
    given = {"addresses": f"{site.origin}/x.xml", "follow": "on", "login_kind": "basic", "login_name": "me"}
    assert editor.post("/add/", given | {"login_secret": "w0rd-of-mine"}).status_code == 302
    feed = Feed.objects.get()
    assert feed.owner is not None and feed.owner.username == "editor"
    assert "w0rd-of-mine" not in editor.get("/logins/").content.decode()
    refused = editor.post("/add/", given | {"login_name": "a:b", "login_secret": "w0rd-of-mine"})
    assert refused.status_code == 422 and "w0rd-of-mine" not in refused.content.decode()


def test_a_page_alone_is_enough_its_best_list_is_taken(site: WebServer) -> None:
    call_command("add_feeds", f"{site.origin}/", "--kind", "page", "--wait", "0")
    feed = visit(Feed.objects.get())
    assert (feed.failure, feed.rules, sorted(titles(feed))) == ("", RULES, sorted(TITLES))
    site.replies["/none"] = Reply(b"<html><body><p>Only words.</p></body></html>", headers=HTML)
    added = add_feed(f"{site.origin}/none", kind="page")
    assert added.feed is not None and visit(added.feed).failure == "list-missing"


def test_a_page_that_is_empty_without_javascript_is_opened_in_a_browser(
    site: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def look(job: LookJob) -> BrowserLook:
        seen.append(job.url)
        return BrowserLook(url=job.url, status=200, html=council(*TITLES).body.decode())

    monkeypatch.setattr("crawler.terminals.browsing.look", look)
    site.replies["/"] = Reply(b"<html><body><div id=app></div></body></html>", headers=HTML)
    added = add_feed(f"{site.origin}/", kind="page", rules={"browser": "yes"})
    assert added.feed is not None
    feed = visit(added.feed)
    assert feed.rules == RULES | {"browser": "yes"} and len(titles(feed)) == 5
    visit(feed)
    assert seen == [f"{site.origin}/"] * 2 and len(titles(feed)) == 5


def test_a_list_is_chosen_by_pointing_at_one_of_its_articles(site: WebServer, editor: Client) -> None:
    menu = (
        b"<ul class='dates'>"
        + b"".join(b"<li><a href='/d%d'>%d</a></li>" % (n, n) for n in range(4))
        + b"</ul>"
    )
    body = council(*TITLES).body.replace(b"</main>", menu + b"</main>")
    site.replies["/"] = Reply(body, headers=HTML)
    url = f"{site.origin}/"
    copy = editor.get("/sites/pick/", {"url": url, "for": "list"}).content.decode()
    assert 'name="near"' in copy and "Show its list" in copy
    html = editor.get("/add/rules/", {"url": url, "near": "css:.news li:nth-child(3) a"}).content.decode()
    assert TITLES[0] in html and "ul.news &gt; li" in html and "Follow this list" in html
    html = editor.get("/add/rules/", {"url": url, "near": "css:.dates li:nth-child(2)"}).content.decode()
    assert "ul.dates &gt; li" in html and TITLES[0] not in html
