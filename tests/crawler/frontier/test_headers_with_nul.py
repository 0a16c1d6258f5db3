"""NUL in what headers say, which jsonb refuses: the pages are stored, each asked for once."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest

from crawler.engine.check_in import check_in
from crawler.engine.leases import hand_out
from crawler.frontier.crawls import begin
from crawler.frontier.models import Crawl
from crawler.messages import Batch, Harvest, Report, decode, encode
from crawler.reading.documents import CrawledPage
from crawler.terminals.client import terminal_client
from crawler.terminals.serve import serve_host
from tests.servers import Reply, WebServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("terminal_on_loopback")]
PAGES = 7


@pytest.mark.parametrize("kind", ["text/html", "text/html; charset=utf-8\0", "text/html\0; charset=utf-8"])
def test_seven_pages_with_nul_in_headers_and_content_type_are_all_stored(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    headers = {"Content-Type": kind, "X-Odd": "a\0b", "ETag": '"\0"'}
    with WebServer() as web, caplog.at_level(logging.WARNING):
        for number in range(PAGES):
            web.replies[f"/{number}"] = Reply(b"<title>A page</title>", headers=headers)
        crawl = begin(Crawl(seeds=[f"{web.origin}/{number}" for number in range(PAGES)]))
        for _ in range(3):
            batches = [decode(Batch, encode(batch)) for batch in hand_out(datetime.now(UTC))]
            reports = [serve_host(terminal_client(), batch) for batch in batches]
            check_in([decode(Report, encode(report)) for report in reports])
        assert len(web.paths) == PAGES + 1, "and robots.txt"
    assert [(row.state, row.failure, row.detail) for row in crawl.urls.all()] == [("crawled", "", "")] * PAGES
    for row in crawl.urls.all():
        said = dict(row.headers)
        assert (said["X-Odd"], row.content_type[:9], row.title) == ("ab", "text/html", "A page")
    assert [one.getMessage() for one in caplog.records if one.name.startswith("crawler")] == []


def test_a_message_of_a_crawled_page_brings_no_nul() -> None:
    odd = "a\0b\ud800"
    page = CrawledPage(title=odd, content_type=odd, headers=((odd, odd),), links=(odd,))
    harvest = Harvest("crawl", 1, 1.0, "http://a.example/", payload=page)
    back = decode(Report, encode(Report("a", "7", (harvest,)))).harvests[0].brought(CrawledPage)
    assert back is not None
    for said in (back.title, back.content_type, *back.headers[0], *back.links):
        assert "\0" not in said
        assert not any(0xD800 <= ord(sign) <= 0xDFFF for sign in said)
