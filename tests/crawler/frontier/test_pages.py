"""The pages, the API and the admin of crawls; WARC files; strategies on a crawl's own links."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from warcio.archiveiterator import ArchiveIterator

from crawler.engine.models import Host
from crawler.frontier.crawls import tend
from crawler.frontier.models import Crawl, CrawlHost, CrawlUrl
from crawler.inline import work_off
from tests.factories import make_token, make_user
from tests.html import flat
from tests.servers import Reply, WebServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("terminal_on_loopback")]

LIMITS = {"max_wait": "30", "max_pages": "100"}


@pytest.fixture
def site() -> Iterator[WebServer]:
    page = "<html><title>{}</title><body>{}</body></html>"
    with WebServer() as web:
        for path, links in {"/": "ab", "/a": "bc", "/b": "", "/c": "a"}.items():
            body = page.format(path, "".join(f"<a href='/{link}'>{link}</a>" for link in links))
            web.replies[path] = Reply(body.encode(), headers={"Content-Type": "text/html"})
        yield web


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(make_user(staff=True, is_superuser=True))
    return client


@pytest.fixture
def api(client: Client) -> dict[str, str]:
    return {"Authorization": make_token(make_user(staff=True))}


def run(site: WebServer, client: Client, **fields: Any) -> Crawl:
    """Begin a crawl on the page and work it off."""
    wanted = {
        "seeds": site.origin,
        "strategy": "link-score",
        "max_wait": "30",
        "max_pages": "100",
        "keep_bodies": "on",
    } | fields
    answer = client.post("/crawls/start/", wanted)
    assert answer.status_code == 302, answer.content.decode()
    crawl = Crawl.objects.latest("id")
    work_off()
    tend(datetime.now(UTC))
    crawl.refresh_from_db()
    return crawl


def test_a_crawl_is_begun_on_the_page_and_followed_to_its_end(site: WebServer, staff: Client) -> None:
    site.replies.pop("/c")
    crawl = run(site, staff)
    assert (crawl.state, crawl.crawled) == ("done", 3)
    text = staff.get(f"/crawls/{crawl.pk}/").content.decode()
    for words in (
        "It ended: nothing is left to crawl",
        "404 Not Found",
        "Try again",
        "does not exist: “not found”",
        "Pages crawled",
        "97",
    ):
        assert words in text
    assert text.count('<svg class="plot"') >= 6
    assert 'hx-trigger="every 5s"' not in text
    assert f'href="/crawls/{crawl.pk}/"' in staff.get("/crawls/").content.decode()
    listed = flat(staff.get(f"/crawls/{crawl.pk}/urls/?state=failed&failure=http-404").content)
    assert "1 URL<" in listed


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seeds": ""}, "This field is required."),
        ({"seeds": "ftp://a.example/"}, "is not http or https"),
        ({"scope": "("}, "is no regular expression"),
        ({"max_pages": "0"}, "greater than or equal to 1"),
        ({"max_pages": ""}, "This field is required."),
        ({"far": "everywhere"}, "Select a valid choice."),
        ({"seeds": "\n".join(f"http://a.example/{i}" for i in range(1001))}, "At most 1000 lines."),
    ],
)
def test_bad_wishes_are_answered_in_the_form(staff: Client, change: dict[str, str], words: str) -> None:
    wanted = {
        "seeds": "http://a.example/",
        "strategy": "link-score",
        "max_wait": "30",
        "max_pages": "9",
    } | change
    answer = staff.post("/crawls/start/", wanted)
    assert (answer.status_code, Crawl.objects.count()) == (422, 0)
    assert words in answer.content.decode()


def test_it_is_stopped_resumed_rescoped_requeued_cancelled_and_deleted(staff: Client) -> None:
    staff.post(
        "/crawls/start/",
        LIMITS | {"seeds": "http://a.example/", "strategy": "opic"},
    )
    crawl = Crawl.objects.get()

    def act(**wanted: str) -> str:
        staff.post(f"/crawls/{crawl.pk}/change/", wanted)
        crawl.refresh_from_db()
        return crawl.state

    assert act(action="stop") == "paused"
    assert act(action="stop") == "paused"
    assert act(action="resume") == "running"
    act(action="scope", scope="(")
    assert crawl.scope == [r"^https?://([^/@]+\.)?\[?a\.example\]?(:\d+)?/"]
    act(action="scope", scope=r"\.org/")
    assert crawl.scope == [r"\.org/"]
    assert not crawl.urls.exists()
    assert not crawl.hosts.exists(), "a host that was never crawled takes no room"
    host = Host.objects.get(name="a.example")
    CrawlHost.objects.create(crawl=crawl, host=host, domain="a.example")
    failed = {"state": "failed", "failure": "dns", "queued": crawl.created, "not_before": crawl.created}
    CrawlUrl.objects.create(
        crawl=crawl, host=host, url="http://a.example/x", key="0" * 32, link="seed", score=1, **failed
    )
    act(action="requeue", failure="dns")
    assert crawl.urls.get().state == "queued"
    assert act(action="cancel") == "cancelled"
    staff.post(f"/crawls/{crawl.pk}/change/", {"action": "delete"})
    assert not Crawl.objects.exists()


def test_readers_look_and_do_not_touch(client: Client, site: WebServer) -> None:
    client.force_login(make_user(staff=True))
    crawl = run(site, client)
    client.force_login(make_user())
    for path in ("", f"{crawl.pk}/", f"{crawl.pk}/urls/", f"{crawl.pk}/strategies/"):
        assert client.get(f"/crawls/{path}").status_code == 200
    assert "New crawl" not in client.get("/crawls/").content.decode()
    assert client.post("/crawls/start/", {"seeds": site.origin}).status_code == 403
    assert client.post(f"/crawls/{crawl.pk}/change/", {"action": "delete"}).status_code == 403


def test_strategies_are_compared_on_the_crawls_own_links(site: WebServer, staff: Client) -> None:
    crawl = run(site, staff)
    text = flat(staff.get(f"/crawls/{crawl.pk}/strategies/").content)
    assert "graph of 4 pages" in text
    assert text.count("<tr><th scope=") == 7
    call_command("crawl_strategies", "--crawl", str(crawl.pk))


def test_a_crawl_without_links_says_so(staff: Client) -> None:
    staff.post(
        "/crawls/start/",
        LIMITS | {"seeds": "http://a.example/", "strategy": "opic"},
    )
    pk = Crawl.objects.get().pk
    assert "has recorded no links yet" in staff.get(f"/crawls/{pk}/strategies/").content.decode()
    with pytest.raises(CommandError, match="has recorded no links yet"):
        call_command("crawl_strategies", "--crawl", str(pk))


def test_a_standard_reader_opens_the_warc_file(site: WebServer, staff: Client, tmp_path: Path) -> None:
    crawl = run(site, staff)
    file = tmp_path / "crawl.warc.gz"
    call_command("export_warc", str(crawl.pk), str(file))
    page = b"".join(staff.get(f"/crawls/{crawl.pk}/pages.warc.gz"))  # type: ignore[arg-type]
    for content in (file.read_bytes(), page):
        kinds, found = [], {}
        for record in ArchiveIterator(BytesIO(content)):
            kinds.append(record.rec_type)
            if record.rec_type == "response":
                assert record.http_headers.get_statuscode() == "200"
                found[record.rec_headers.get_header("WARC-Target-URI")] = record.content_stream().read()
        assert kinds == ["warcinfo", *["request", "response"] * 4]
        bodies = {f"{site.origin}{path}": reply for path, reply in site.replies.items()}
        assert found == {url: reply.body for url, reply in bodies.items() if isinstance(reply, Reply)}
    with pytest.raises(CommandError, match="there is no crawl 999"):
        call_command("export_warc", "999", str(file))
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("export_warc", str(crawl.pk), str(tmp_path / "no" / "x"))


def test_the_api(site: WebServer, client: Client, api: dict[str, str]) -> None:
    def post(path: str, **body: Any) -> Any:
        return client.post(f"/api/crawls/{path}", body, "application/json", headers=api)

    assert post("", seeds=["ftp://x"]).status_code == 400
    assert post("", seeds=[site.origin], scope=["("]).status_code == 400
    assert post("", seeds=[]).status_code == 400
    key = post("", seeds=[site.origin], strategy="breadth-first").json()["id"]
    work_off()
    tend(datetime.now(UTC))
    told = client.get(f"/api/crawls/{key}/report/", headers=api).json()
    assert (told["crawled"], told["state"], told["strategy"]) == (4, "done", "breadth-first")
    urls = client.get(f"/api/crawls/{key}/urls/?state=crawled&page_size=2", headers=api).json()
    assert (urls["count"], len(urls["results"])) == (4, 2)
    courses = client.get(f"/api/crawls/{key}/strategies/", headers=api).json()
    assert courses[0]["strategy"] == "link-score"
    assert client.get(f"/api/crawls/{key}/pages.warc.gz/", headers=api).status_code == 200
    assert post(f"{key}/requeue/", host="nobody.example").status_code == 400
    assert post(f"{key}/requeue/").json() == {"requeued": 0}
    other = post("", seeds=["http://a.example/"]).json()["id"]

    def change(**body: Any) -> Any:
        return client.patch(f"/api/crawls/{other}/", body, "application/json", headers=api).json()

    assert change(state="paused")["state"] == "paused"
    assert change(state="running")["state"] == "running"
    assert change(scope=["x"])["scope"] == ["x"]
    assert change(state="cancelled")["state"] == "cancelled"
    assert client.delete(f"/api/crawls/{other}/", headers=api).status_code == 204


def test_the_admin(site: WebServer, staff: Client) -> None:
    crawl = run(site, staff)
    assert staff.get("/admin/frontier/crawl/").status_code == 200
    assert staff.get(f"/admin/frontier/crawl/{crawl.pk}/change/").status_code == 200
    assert staff.get("/admin/frontier/crawlurl/").status_code == 200
    assert staff.get("/admin/frontier/crawl/add/").headers["Location"] == "/crawls/"
    Crawl.objects.update(state="running")
    for action, state in (("stop", "paused"), ("go_on", "running"), ("cancel_for_good", "cancelled")):
        staff.post("/admin/frontier/crawl/", {"action": action, "_selected_action": [crawl.pk]})
        crawl.refresh_from_db()
        assert crawl.state == state
