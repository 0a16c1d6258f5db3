"""Chosen pages as one list: read, visited, changed, edited; their parts, conditions and prices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from recrawl.inline import work_off
from recrawl.models import Change, Check, Site, StatedOffer, WatchedPage
from recrawl.visiting.mapping import SiteError, add_pages, add_site, map_again, set_pages
from tests.factories import make_user
from tests.recrawl.sites import Paper, changes, visit
from tests.servers import Reply

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("terminal_on_loopback", "tried_again_soon"),
]


@pytest.fixture
def paper() -> Iterator[Paper]:
    with Paper() as web:
        yield web


def watch_list(*urls: str, **options: Any) -> Site:
    """A list, read for the first time."""
    site = add_pages(urls, **{"budget": 1.0, "every": 1.0, **options})
    work_off([site])
    site.refresh_from_db()
    return site


def html(text: str) -> Reply:
    return Reply(f"<html><title>Shop</title><body>{text}</body></html>".encode())


def test_chosen_pages_are_read_once_and_nothing_else(paper: Paper) -> None:
    site = watch_list(f"{paper.origin}/about", f"{paper.origin}/news/a", f"{paper.origin}/about")
    assert (site.state, site.title) == (Site.State.WATCHED, "About")
    assert sorted(path for path in paper.paths if path != "/robots.txt") == ["/about", "/news/a"]
    assert site.pages.live().count() == 2
    assert not Change.objects.exists()
    assert site.next_visit < timezone.now() + timezone.timedelta(days=1, minutes=1)


def test_each_visit_asks_for_all_of_them_and_tells_what_changed(paper: Paper) -> None:
    site = watch_list(f"{paper.origin}/about", f"{paper.origin}/news/a")
    paper.write("/news/a", "Story a", "What a did at last", ["/news/b"])
    done = visit(site)
    assert (done.fetched, done.changed, done.found) == (2, 1, 0)
    assert changes(done) == [("edited", "/news/a")]
    assert not site.pages.filter(url__endswith="/news/b").exists()
    assert visit(site).not_modified == 2


def test_pages_of_several_hosts_stand_in_one_list(paper: Paper) -> None:
    with Paper() as other:
        site = watch_list(f"{paper.origin}/about", f"{other.origin}/about")
        other.write("/about", "About", "Who they are", [])
        done = visit(site)
        assert (done.fetched, done.changed) == (2, 1)
        assert Change.objects.get().page.url == f"{other.origin}/about"


def test_a_list_may_hold_the_top_page_of_a_watched_site_and_be_there_twice(paper: Paper) -> None:
    add_site(f"{paper.origin}/")
    watch_list(f"{paper.origin}/")
    watch_list(f"{paper.origin}/", parts=["css:h1"])
    assert Site.objects.filter(url=f"{paper.origin}/").count() == 3


def test_redirects_are_followed(paper: Paper) -> None:
    paper.replies["/old"] = Reply(status=301, headers={"Location": "/about"})
    site = watch_list(f"{paper.origin}/old")
    paper.write("/about", "About", "Who we were", [])
    assert changes(visit(site)) == [("edited", "/old")]


def test_a_page_that_could_not_be_read_is_asked_for_again(paper: Paper) -> None:
    about = paper.replies.pop("/about")
    site = watch_list(f"{paper.origin}/about", f"{paper.origin}/news/a")
    assert site.state == Site.State.WATCHED
    assert site.pages.get(url__endswith="/about").state == WatchedPage.State.GONE
    paper.replies["/about"] = about
    assert visit(site).found == 1
    assert site.pages.live().count() == 2


def test_a_list_without_a_readable_page_says_so(paper: Paper) -> None:
    site = watch_list(f"{paper.origin}/nowhere")
    assert site.state == Site.State.WATCHED and "404" in site.trouble
    assert site.next_visit is not None
    paper.write("/nowhere", "Now", "Here", [])
    assert map_again(site)
    work_off([site])
    site.refresh_from_db()
    assert (site.state, site.trouble, site.title) == (Site.State.WATCHED, "", "Now")


def test_what_is_waited_for_is_told_when_it_comes(paper: Paper) -> None:
    site = watch_list(f"{paper.origin}/about", parts=["css:#offer"])
    assert "part" in site.trouble and not visit(site).changed
    paper.replies["/about"] = html("<p id=offer>It is here")
    assert changes(visit(site)) == [("new", "/about")]
    site.refresh_from_db()
    assert (site.state, site.trouble) == (Site.State.WATCHED, "")


def test_a_part_that_is_chosen_anew_is_no_news(paper: Paper) -> None:
    site = watch_list(f"{paper.origin}/about", parts=["css:#wrong"])
    Site.objects.update(parts=["css:h1"])
    done = visit(site)
    assert done.found == 1 and changes(done) == []


def test_a_missing_part_is_not_hidden_by_an_answer_that_nothing_changed(paper: Paper) -> None:
    paper.replies["/shop"] = html("<b>12 EUR</b>")
    site = watch_list(f"{paper.origin}/shop", parts=["css:b"])
    missing = html("<p>Sold out")
    missing.headers["ETag"] = '"2"'
    paper.replies["/shop"] = missing
    assert visit(site).failed == 1
    assert site.pages.get().etag == ""


def test_pages_come_and_go(paper: Paper) -> None:
    site = watch_list(f"{paper.origin}/about")
    set_pages(site, [f"{paper.origin}/news/a", f"{paper.origin}/news/b"])
    done = visit(site)
    assert (done.found, done.fetched) == (2, 0)
    assert not Change.objects.exists()
    paper.write("/news/b", "Story b", "What b did then", [])
    assert changes(visit(site)) == [("edited", "/news/b")]


def test_only_the_chosen_part_counts(paper: Paper) -> None:
    paper.replies["/shop"] = html("<p>Tuesday</p><b class='price'>12</b>")
    site = watch_list(f"{paper.origin}/shop", parts=["css:.price"])
    paper.replies["/shop"] = html("<p>Wednesday</p><b class='price'>12</b>")
    assert changes(visit(site)) == []
    paper.replies["/shop"] = html("<p>Wednesday</p><b class='price'>14</b>")
    assert changes(visit(site)) == [("edited", "/shop")]


def test_a_part_that_disappears_is_a_failure_and_the_copy_stays(paper: Paper) -> None:
    paper.replies["/shop"] = html("<b class='price'>12</b>")
    site = watch_list(f"{paper.origin}/shop", parts=["css:.price"])
    paper.replies["/shop"] = html("<p>Closed today</p>")
    done = visit(site)
    assert (done.failed, Check.objects.get(visit=done).failure) == (1, "part-missing")
    paper.replies["/shop"] = html("<b class='price'>13</b>")
    assert changes(visit(site)) == [("edited", "/shop")]


def test_a_change_outside_the_conditions_stays_on_record(paper: Paper) -> None:
    paper.replies["/shop"] = html("<p>Canoe: 300</p>")
    site = watch_list(f"{paper.origin}/shop", number_rule="below", number=250)
    paper.replies["/shop"] = html("<p>Canoe: 280</p>")
    done = visit(site)
    assert (changes(done), done.changed) == ([("unmet", "/shop")], 0)
    assert not Change.objects.counting().exists()
    paper.replies["/shop"] = html("<p>Canoe: 240</p>")
    assert changes(visit(site)) == [("edited", "/shop")]


def test_small_steps_add_up_to_the_percentage(paper: Paper) -> None:
    paper.replies["/shop"] = html("<p>Canoe: 100</p>")
    site = watch_list(f"{paper.origin}/shop", number_rule="percent", number=5)
    for price, expected in ((103, []), (104, []), (106, [("edited", "/shop")]), (107, [])):
        paper.replies["/shop"] = html(f"<p>Canoe: {price}</p>")
        assert changes(visit(site)) == expected, price


def test_prices_are_kept_as_a_series(paper: Paper, client: Client) -> None:
    def offer(price: str, stock: str = "InStock") -> Reply:
        return html(
            '<script type="application/ld+json">{"@type": "Offer", "price": '
            f'"{price}", "priceCurrency": "EUR", "availability": "https://schema.org/{stock}"}}'
            f"</script><p>{price}</p>"
        )

    paper.replies["/shop"] = offer("12.00")
    site = watch_list(f"{paper.origin}/shop")
    for reply in (offer("12.00"), offer("14.50"), offer("14.50", "OutOfStock")):
        paper.replies["/shop"] = reply
        visit(site)
    rows = StatedOffer.objects.order_by("id").values_list("price", "currency", "availability")
    assert list(rows) == [(12.0, "EUR", "instock"), (14.5, "EUR", "instock"), (14.5, "EUR", "outofstock")]
    client.force_login(make_user())
    page = client.get(site.pages.get().get_absolute_url()).content.decode()
    assert 'aria-label="From 12 to 14.5, in 2 steps"' in page and "14.50\u00a0€" in page
    assert "sold out" in page and page.count("in stock") == 2 and "Sold out." in page


@pytest.mark.parametrize(
    ("content_type", "before", "after"),
    [
        ("application/json", b'{"a": 1}', b'{"a": 2}'),
        ("text/csv", b"a,b\n1,2\n", b"a,b\n1,3\n"),
        ("text/plain", b"one", b"two"),
        ("application/rss+xml", b"<rss version='2.0'><channel><title>A</title></channel></rss>",
         b"<rss version='2.0'><channel><title>A</title><item><title>New</title></item></channel></rss>"),
    ],
)  # fmt: skip
def test_documents_of_other_types_are_watched(
    paper: Paper, content_type: str, before: bytes, after: bytes
) -> None:
    def reply(body: bytes) -> Reply:
        return Reply(body, headers={"Content-Type": content_type})

    paper.replies["/data"] = reply(before)
    site = watch_list(f"{paper.origin}/data")
    paper.replies["/data"] = reply(after)
    assert changes(visit(site)) == [("edited", "/data")]


def test_a_query_without_end_harms_only_itself(paper: Paper) -> None:
    paper.replies["/data"] = Reply(b'{"a": 1}', headers={"Content-Type": "application/json"})
    site = watch_list(f"{paper.origin}/data", parts=["jq:def f: f; f"])
    assert site.state == Site.State.WATCHED
    assert "more time or memory than is allowed" in site.trouble


def test_a_likely_list_spends_only_its_share(paper: Paper) -> None:
    for number in range(20):
        paper.write(f"/list/{number}", f"Page {number}", f"Text {number}", [])
    site = watch_list(*(f"{paper.origin}/list/{number}" for number in range(20)), budget=0.25)
    done = visit(site)
    assert 0 < done.fetched <= 5


@pytest.mark.parametrize("urls", [[], ["no address"], ["ftp://a.example/"]])
def test_lists_that_make_no_sense_are_refused(urls: list[str]) -> None:
    with pytest.raises(SiteError):
        add_pages(urls)


def test_a_site_with_parts_reads_them_from_the_first_visit_on(paper: Paper) -> None:
    site = add_site(f"{paper.origin}/", method="breadth-first", budget=1.0, parts=["css:h1"])
    work_off([site])
    visit(site)
    paper.write("/about", "About", "Another text", ["/"])
    assert changes(visit(site)) == []
    paper.write("/about", "About us", "Another text", ["/"])
    assert changes(visit(site)) == [("edited", "/about")]
