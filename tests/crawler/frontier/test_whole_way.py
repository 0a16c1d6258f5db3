"""Crawls of sites on loopback, the whole way in one process."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from crawler.engine import tasks
from crawler.engine.check_in import check_in
from crawler.engine.leases import hand_out, lease_seconds, sweep
from crawler.engine.models import Host
from crawler.frontier.budgets import MAX_REDIRECTS, max_seconds
from crawler.frontier.crawls import begin, pause
from crawler.frontier.models import Body, Crawl, CrawlUrl
from crawler.frontier.strategies import STRATEGIES
from crawler.inline import work_off
from crawler.messages import Report
from crawler.operation.site.retention import delete_unused_bodies
from crawler.terminals.client import terminal_client
from crawler.terminals.serve import serve_host
from tests.servers import Reply, Request, WebServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("terminal_on_loopback")]


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer() as web:
        yield web


def html(*links: str, title: str = "A page") -> Reply:
    body = "".join(f"<p><a href='{link}'>to {link}</a></p>" for link in links)
    text = f"<!doctype html><html><head><title>{title}</title></head><body>{body}</body></html>"
    return Reply(text.encode(), headers={"Content-Type": "text/html; charset=utf-8"})


def crawl(*arguments: object) -> dict[str, Any]:
    """The command's report."""
    out = StringIO()
    call_command("crawl", *map(str, arguments), "--json", stdout=out)
    told = json.loads(out.getvalue())
    assert isinstance(told, dict)
    return told


def test_every_reachable_page_is_fetched_once(site: WebServer) -> None:
    site.replies |= {
        "/": html("/a", "b?x=1", "/a#part", "mailto:me@example.org", "javascript:void(0)", "http://[broken"),
        "/a": html("/", "/c", "/missing"),
        "/b?x=1": html("/a", "/moved"),
        "/c": html(),
        "/moved": Reply(status=301, headers={"Location": "/c"}),
        "/picture": Reply(b"\x89PNG", headers={"Content-Type": "image/png"}),
    }
    site.replies["/c"] = html("/picture", "/c", title="The <last> one")
    told = crawl(site.origin)
    assert (told["state"], told["crawled"], told["moved"]) == ("done", 4, 1)
    assert told["uncrawled"] == {"404": 1, "unsupported MIME type": 1}
    assert told["queue"] == told["out"] == 0
    assert sorted(site.paths) == ["/", "/a", "/b?x=1", "/c", "/missing", "/moved", "/picture", "/robots.txt"]
    assert told["duplicates"] == 3  # / from a, /a from b, /c by the redirect
    assert told["urls"] == told["crawled"] + told["moved"] + sum(told["uncrawled"].values())
    assert CrawlUrl.objects.get(url__endswith="/c").title == "The <last> one"


def test_a_start_address_that_leads_to_another_host_takes_it_along(site: WebServer) -> None:
    with WebServer(host="127.0.0.2") as new:
        new.replies |= {"/": html("/b", site.origin + "/old", "http://127.0.0.3:1/"), "/b": html()}
        site.replies["/"] = Reply(status=301, headers={"Location": f"{new.origin}/"})
        told = crawl(site.origin)
        assert sorted(new.paths) == ["/", "/b", "/robots.txt"]
        assert Crawl.objects.get().seeds == [f"{site.origin}/", f"{new.origin}/"]
        assert told["refused"] == {"scope": 1}
        crawl(site.origin, "--scope", f"{site.origin}/.*")
        assert sorted(new.paths) == ["/", "/b", "/robots.txt"]


def test_links_are_scored_by_their_page(site: WebServer) -> None:
    others = [f"http://127.9.9.{i}:1/" for i in range(1, 6)]
    site.replies["/"] = html("/one", "/two", *others)
    crawl(site.origin, "--anywhere", "--max-pages", 1, "--strategy", "link-score")
    scores = dict(CrawlUrl.objects.values_list("link", "score"))
    assert {link: round(score, 4) for link, score in scores.items()} == {
        "seed": 1.0, "inter": 0.4714, "intra": 0.2357,
    }  # fmt: skip


def test_robots_are_respected_and_counted(site: WebServer) -> None:
    site.replies |= {
        "/robots.txt": Reply(b"User-agent: *\nDisallow: /private\n"),
        "/": html("/private/a", "/public"),
        "/public": html(),
    }
    told = crawl(site.origin)
    assert (told["crawled"], told["uncrawled"]) == (2, {"robots": 1})
    assert "/private/a" not in site.paths


def test_a_robots_file_that_cannot_be_read_keeps_everything_out_for_now(site: WebServer) -> None:
    site.replies |= {"/robots.txt": Reply(status=503), "/": html()}
    crawl_row = begin(Crawl(seeds=[site.origin]))
    work_off()
    url = crawl_row.urls.get()
    assert (url.state, url.failure) == ("queued", "robots")
    assert url.not_before > datetime.now(UTC)
    assert "/" not in site.paths


@pytest.mark.usefixtures("tried_again_soon")
def test_passing_failures_are_tried_again_and_lasting_ones_are_not(site: WebServer) -> None:
    asked = {"n": 0}

    def sometimes(request: Request) -> Reply:
        asked["n"] += 1
        return Reply(status=500) if asked["n"] < 2 else html()

    site.replies |= {"/": html("/flaky", "/gone", "/forbidden"), "/flaky": sometimes}
    site.replies |= {"/gone": Reply(status=410), "/forbidden": Reply(status=403)}
    told = crawl(site.origin)
    assert told["crawled"] == 2
    assert told["failures"] == {"gone": 1, "http-403": 1}
    assert [site.paths.count(path) for path in ("/flaky", "/gone", "/forbidden")] == [2, 1, 1]


def test_traps_end(site: WebServer) -> None:
    def calendar(request: Request) -> Reply:
        day = int(request.path.rpartition("=")[2])
        return html(f"/calendar?day={day + 1}", f"/calendar?day={day + 2}")

    class Growing(dict[str, Any]):
        """Every path that is not known leads deeper into itself; calendars have no end."""

        def get(self, path: str, default: Any = None) -> Any:
            if path.startswith("/calendar"):
                return calendar
            if path.startswith("/grow"):
                return html(f"{path}/more", f"{path}/again;jsessionid={len(path)}A")
            return super().get(path, default)

    site.replies = Growing(site.replies)
    many = [f"/many/{i:x}" for i in range(100_000)]
    site.replies["/"] = html("/calendar?day=1", "/grow", "/" + "x" * 100_000, *many)
    told = crawl(site.origin, "--max-minutes", 5, "--max-depth", 40, "--no-bodies")
    assert told["state"] == "done"
    assert told["reason"] == "nothing is left to crawl"
    refused = told["refused"]
    assert refused["repeats"] > 0
    assert refused["depth"] > 0
    assert refused["links"] > 90_000
    assert told["urls"] < 10_000


def test_a_sitemap_is_read_where_it_is_wanted(site: WebServer) -> None:
    urls = "".join(f"<url><loc>{site.origin}/from-map{i}</loc></url>" for i in range(3))
    elsewhere = "<url><loc>http://127.0.0.9:1/elsewhere</loc></url>"
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}{elsewhere}</urlset>'
    index = (
        '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"<sitemap><loc>{site.origin}/map.gz</loc></sitemap></sitemapindex>"
    )
    site.replies |= {
        "/robots.txt": Reply(f"Sitemap: {site.origin}/index.xml\nUser-agent: *\nDisallow:\n".encode()),
        "/index.xml": Reply(index.encode(), headers={"Content-Type": "application/xml"}),
        "/map.gz": Reply(gzip.compress(sitemap.encode()), headers={"Content-Type": "application/gzip"}),
        "/": html(),
        **{f"/from-map{i}": html() for i in range(3)},
    }
    assert crawl(site.origin)["crawled"] == 1
    told = crawl(site.origin, "--sitemaps")
    assert (told["crawled"], told["uncrawled"]) == (6, {})


def test_limits(site: WebServer) -> None:
    site.replies["/"] = html(*(f"/{i}" for i in range(30)))
    site.replies |= {f"/{i}": html() for i in range(30)}
    told = crawl(site.origin, "--max-pages", 7)
    assert (told["crawled"], told["reason"]) == (7, "the limit of 7 pages is reached")
    assert len(site.paths) == 8  # with robots.txt
    assert crawl(site.origin, "--max-depth", 0)["crawled"] == 1
    assert crawl(site.origin, "--scope", "/[0-4]?$")["crawled"] == 6


def test_a_stopped_crawl_goes_on_where_it_was(site: WebServer) -> None:
    site.replies |= {"/": html("/a"), "/a": html()}
    crawl_row = begin(Crawl(seeds=[site.origin]))
    pause(Crawl.objects.all())
    told = crawl("--resume", crawl_row.pk)
    assert (told["crawl"], told["crawled"], told["state"]) == (crawl_row.pk, 2, "done")
    for arguments in (
        ["--resume", crawl_row.pk],
        ["--resume", 999],
        [],
        [site.origin, "--resume", crawl_row.pk],
    ):
        with pytest.raises(CommandError):
            crawl(*arguments)


def test_bodies_are_kept_once_by_content(site: WebServer) -> None:
    same = html("/x")
    site.replies |= {"/": html("/a", "/b"), "/a": same, "/b": same, "/x": html()}
    crawl(site.origin)
    assert CrawlUrl.objects.filter(state="crawled").count() == 4
    assert Body.objects.count() == 3
    crawl(site.origin, "--no-bodies")
    assert Body.objects.count() == 3
    first, second = Crawl.objects.order_by("id")
    assert delete_unused_bodies() == 0
    second.delete()
    assert delete_unused_bodies() == 0
    first.delete()
    assert delete_unused_bodies() == 3


def test_a_report_that_comes_twice_or_too_late_changes_nothing(site: WebServer) -> None:
    site.replies |= {"/": html("/a"), "/a": html()}
    row = begin(Crawl(seeds=[site.origin]))
    (batch,) = hand_out(datetime.now(UTC))
    report = serve_host(terminal_client(), batch)
    check_in([report])
    before = list(CrawlUrl.objects.order_by("id").values())
    check_in([report])
    assert list(CrawlUrl.objects.order_by("id").values()) == before
    row.refresh_from_db()
    assert (row.crawled, row.duplicates) == (1, 0)
    (batch,) = hand_out(datetime.now(UTC))
    report = serve_host(terminal_client(), batch)
    sweep(datetime.now(UTC) + timedelta(seconds=lease_seconds() + 1))
    check_in([report])
    assert CrawlUrl.objects.get(url__endswith="/a").state == "queued"


def test_what_a_terminal_gives_back_goes_out_again(site: WebServer) -> None:
    begin(Crawl(seeds=[site.origin]))
    (batch,) = hand_out(datetime.now(UTC))
    check_in([Report(batch.host, batch.lease)])
    assert CrawlUrl.objects.get().state == "queued"
    assert Host.objects.get(name="127.0.0.1").lease is None
    assert len(hand_out(datetime.now(UTC))) == 1


@pytest.mark.parametrize("strategy", list(STRATEGIES))
def test_every_strategy_crawls_everything(site: WebServer, strategy: str) -> None:
    site.replies |= {f"/{i}": html(f"/{2 * i + 1}", f"/{2 * i + 2}") for i in range(15)}
    site.replies |= {f"/{i}": html() for i in range(15, 31)}
    told = crawl(f"{site.origin}/0", "--strategy", strategy)
    assert (told["crawled"], told["strategy"]) == (31, strategy)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ftp://a.example/"], "is not http or https"),
        (["http://a.example/", "--scope", "("], "is no regular expression"),
        (["http://a.example/", "--max-pages", "0"], "--max-pages"),
        (["http://a.example/", "--max-wait", "-1"], "--max-wait"),
        (["http://a.example/", "--workers", "0"], "--workers must be"),
    ],
)
def test_bad_arguments_are_named(arguments: list[str], words: str) -> None:
    with pytest.raises(CommandError, match=words.replace("(", r"\(")):
        call_command("crawl", *arguments)
    assert not Crawl.objects.exists()


def test_the_task_of_every_few_seconds_sends_running_crawls_on(
    site: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[object] = []
    monkeypatch.setattr(tasks.current_app, "send_task", lambda name, args, **_: sent.append(args))
    tasks.tend()
    assert sent == []
    begin(Crawl(seeds=[site.origin]))
    tasks.tend()
    assert len(sent) == 1
    assert Host.objects.get(name="127.0.0.1").lease is not None


def endless_redirects(site: WebServer, path: str) -> None:
    """Let `path` lead to a new address each time, and each of these to another."""

    def lead_on(request: Request) -> Reply:
        target = f"/lost-{len(site.requests)}"
        site.replies[target] = lead_on
        return Reply(status=302, headers={"Location": target})

    site.replies[path] = lead_on


def test_redirects_to_ever_new_addresses_end_after_ten(site: WebServer) -> None:
    endless_redirects(site, "/r")
    site.replies["/"] = html("/r", "/a")
    site.replies["/a"] = html()
    told = crawl(site.origin, "--max-pages", 10)
    assert (told["state"], told["crawled"], told["moved"]) == ("done", 2, MAX_REDIRECTS)
    assert site.paths.count("/r") + sum(path.startswith("/lost-") for path in site.paths) == MAX_REDIRECTS + 1
    last = CrawlUrl.objects.get(hops=MAX_REDIRECTS)
    assert (last.state, last.failure) == ("failed", "redirect")
    assert last.depth == 1


def test_a_seed_may_lead_elsewhere_where_no_link_is_followed(site: WebServer) -> None:
    site.replies |= {"/": Reply(status=301, headers={"Location": "/start"}), "/start": html("/a")}
    told = crawl(site.origin, "--max-depth", 0)
    assert told["crawled"] == 1


def test_a_crawl_ends_when_its_requests_bring_no_pages(
    site: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.frontier.budgets.SPARE_REQUESTS", 10)
    site.replies["/"] = html(*(f"/gone-{number}" for number in range(200)))
    told = crawl(site.origin, "--max-pages", 5)
    assert len(site.paths) <= 1 + 4 * 5 + 10  # robots.txt is not of the crawl
    assert told["state"] == "done"
    assert told["reason"] == "30 requests were made for at most 5 pages"
    assert Crawl.objects.get().requests == 30


def test_every_crawl_has_an_end_in_time() -> None:
    assert max_seconds(None, None) == 90 * 24 * 3600
    assert max_seconds(10, None) == 24 * 3600 + 150
    assert max_seconds(100_000_000, None) == 90 * 24 * 3600
    assert max_seconds(10, 2.5) == 150
