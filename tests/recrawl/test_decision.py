"""The update rule of watched pages, one branch each, without a database."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest

from crawler.frontier.budgets import MAX_REDIRECTS
from crawler.messages import Harvest
from crawler.reading.documents import CrawledPage, Offer
from crawler.reading.lines import Rules, packed
from recrawl.comparing.conditions import Conditions
from recrawl.models import Change, Check, WatchedPage
from recrawl.visiting.decision import COLUMNS, Outcome, PageAnswer, PageDecision, PageRow, PageRules, decide

AT = datetime(2026, 1, 5, 10, 20, tzinfo=UTC)
EARLIER = AT - timedelta(days=7)
SELECTORS, OTHER_SELECTORS = uuid.UUID(int=1), uuid.UUID(int=2)
RULES = PageRules(Rules(), Conditions(), SELECTORS)
OLD_LINES = packed([" first line", " second line"])
LIVE = PageRow(
    "live", "Old", EARLIER, etag='"1"', checks=4, changes=2, lines=OLD_LINES, selectors=SELECTORS, price=9.0
)
NEW = PageRow()


def page(*lines: str, **fields: Any) -> CrawledPage:
    """A page with these lines."""
    body = {"digest": "0" * 32, "lines": packed([f" {line}" for line in lines]), "offer": Offer(8.0)}
    return CrawledPage(**(body | fields))


def decided(
    row: PageRow,
    crawled: CrawledPage | None = None,
    rules: PageRules = RULES,
    *,
    hops: int = 0,
    links: dict[str, int] | None = None,
    **said: Any,
) -> PageDecision:
    """The decision about an answer at AT in visit 7."""
    values = {"status": 200, "payload": crawled, **said}
    harvest = Harvest("watch", 1, AT.timestamp(), "https://site.example/", **values)
    return decide(row, PageAnswer(harvest, 7, links or {}, hops), rules)


def kind_of(decision: PageDecision) -> str:
    return decision.note.kind if decision.note else ""


def test_its_words_are_those_of_the_database() -> None:
    assert set(get_args(Outcome)) == set(Check.Outcome.values)
    assert set(COLUMNS) <= {field.name for field in WatchedPage._meta.get_fields()}
    assert {"gone", "moved", "new", "back", "edited", "unmet", "template"} == set(Change.Kind.values)


@pytest.mark.parametrize(
    ("row", "status", "outcome", "state", "kind"),
    [
        (LIVE, 404, "gone", "gone", "gone"),
        (LIVE, 410, "gone", "gone", "gone"),
        (LIVE, 500, "failed", None, ""),
        (NEW, 404, "gone", "gone", ""),
        (NEW, 500, "failed", "failed", ""),
    ],
)
def test_a_failure_keeps_the_copy_unless_the_page_is_gone(
    row: PageRow, status: int, outcome: str, state: str | None, kind: str
) -> None:
    decision = decided(row, status=status, failure=f"http-{status}")
    changes = decision.changes
    assert (decision.outcome, changes.get("state"), kind_of(decision)) == (outcome, state, kind)
    assert changes.get("selectors") == (None if row.fetched else SELECTORS)
    assert (changes["status"], changes["failure"]) == (status, f"http-{status}")
    assert not {"etag", "fetched", "checks", "lines"} & set(changes)


def test_an_unchanged_page_was_checked() -> None:
    decision = decided(LIVE, status=304, unchanged=True)
    assert (decision.outcome, decision.note) == ("same", None)
    assert decision.changes == {
        "status": 304, "failure": "", "fetched": AT, "fetched_in": 7, "checks": 5, "etag": '"1"',
        "last_modified": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "hops", "follows", "kind"),
    [(LIVE, 0, "/b", "moved"), (NEW, 0, "/b", ""), (LIVE, MAX_REDIRECTS, "", "moved")],
)
def test_a_redirect_is_followed_unless_too_many_led_here(
    row: PageRow, hops: int, follows: str, kind: str
) -> None:
    decision = decided(row, CrawledPage(links=("/b",)), hops=hops, status=301)
    assert (decision.outcome, decision.follows, kind_of(decision)) == ("moved", follows, kind)
    assert (decision.changes["state"], decision.changes["leads_to"]) == ("moved", "/b")
    assert "fetched" not in decision.changes


@pytest.mark.parametrize(
    ("row", "is_list", "kind"),
    [
        (NEW, False, "new"),
        (NEW, True, ""),
        (replace(NEW, state="failed", selectors=SELECTORS), True, "new"),
        (replace(NEW, state="failed", selectors=OTHER_SELECTORS), True, ""),
        (replace(LIVE, state="gone"), True, "back"),
    ],
)
def test_a_page_that_comes_is_news_unless_a_person_chose_it(row: PageRow, is_list: bool, kind: str) -> None:
    decision = decided(row, page("first line", title="New"), replace(RULES, is_list=is_list))
    assert (decision.outcome, kind_of(decision)) == ("new", kind)
    assert (decision.changes["state"], decision.changes["title"]) == ("live", "New")
    assert decision.changes["fetched_in"] == 7
    assert "checks" not in decision.changes
    if decision.note:
        assert (decision.note.words, decision.note.keeps_former) == ("New", True)


@pytest.mark.parametrize(
    ("lines", "rules", "outcome", "kind", "is_replaced"),
    [
        (("first line", "another line"), RULES, "changed", "edited", True),
        (("first line", "second line"), RULES, "minor", "", True),
        (("first line", "another line"), replace(RULES, selectors=OTHER_SELECTORS), "minor", "", True),
        (("another line",), replace(RULES, conditions=Conditions(("sale",))), "minor", "unmet", True),
        (
            ("first line", "second line!"),
            replace(RULES, conditions=Conditions(minimum_percent=90)),
            "minor",
            "",
            False,
        ),
        (("first line", "second line!"), replace(RULES, lines=Rules(least=500)), "minor", "template", False),
    ],
)
def test_a_difference_counts_by_the_rules(
    lines: tuple[str, ...], rules: PageRules, outcome: str, kind: str, is_replaced: bool
) -> None:
    decision = decided(LIVE, page(*lines), rules)
    changes = decision.changes
    assert (decision.outcome, kind_of(decision)) == (outcome, kind)
    assert ("lines" in changes, changes["price"]) == (is_replaced, 8.0 if is_replaced else 9.0)
    assert (changes.get("changes"), changes.get("changed")) == ((3, AT) if kind == "edited" else (None, None))
    assert (changes["checks"], changes["fetched"]) == (5, AT)


def test_damaged_looks_are_no_difference() -> None:
    row = replace(LIVE, look=b"damaged")
    same = page("first line", "second line", look=b"damaged, too")
    assert decided(row, same, replace(RULES, visual_percent=1.0)).outcome == "minor"


def test_only_links_that_the_page_did_not_have_are_new() -> None:
    links = {"/a": 1, "/b": 2}
    decision = decided(replace(LIVE, links=[1]), page("first line"), links=links)
    assert (list(decision.new_links), decision.changes["links"]) == (["/b"], [1, 2])


@pytest.mark.parametrize("keep", [True, False])
def test_bytes_are_named_only_where_they_are_kept(keep: bool) -> None:
    crawled = page("first line", body=b"1", headers=(("a", "b"),))
    changes = decided(NEW, crawled, replace(RULES, keep_copies=keep)).changes
    assert (changes["body_id"], changes["headers"]) == (
        (uuid.UUID(int=0), [["a", "b"]]) if keep else (None, [])
    )
