"""A folder of cases in the form of files `feeds`, `watching` and `crawling`: each is right here.

Made for what somebody else rebuilt: CASES=FOLDER make test TESTS=tests/reports/test_cases.py
A line of watching.jsonl is {"case", "settings", "versions", "right", "right_in_words"}, one of crawling.jsonl
{"case", "hosts", "seeds", "sitemaps", "wanted", "unwanted"}, one of feeds.jsonl {"case", "source", "answers",
"right"}, whose words are held against the lines of this folder that name the same source, or against FEEDS.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from contextlib import ExitStack
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from crawler.reading.lines import SelectorFault
from crawler.reading.parts import check_part
from tests.reports.runners import RUNNERS, WHOLE_WAY, body_of
from tests.reports.test_reports import CASES, differences
from tests.servers import Reply, WebServer

FOLDER = os.environ.get("CASES", "")
pytestmark = [
    pytest.mark.skipif(not FOLDER, reason="CASES names no folder of cases"),
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("terminal_on_loopback", "tried_again_soon", "open_networks"),
]
ARTICLE = [
    "The harbour of the town was closed", "Fishermen said that", "The mayor asked everybody",
    "Engineers will look at the wall", "A school near the beach", "By evening the wind had turned",
]  # fmt: skip
OURS = {"h3": ["basic-in-address", "basic-in-form"], "userinfo": ["watched-page"]}
"""Lines of this folder by the name of a case that describes a server in words."""
READ = {"failure": "", "articles": [{"title": "Item 1"}]}
FEEDS: dict[str, tuple[str, Any]] = {
    "p9": ("feed", {"title": "@ann.bsky.social - Ann"}),
    "f2": (
        "followed",
        {"articles": [{"text": {"contains": ARTICLE, "lacks": ["Read also", "newsletter", "dvertis"]}}]},
    ),
    "d4": ("found", {"feeds": ["HOST/rssfeed.php"]}),
    "d5": ("found", {"feeds": ["HOST/odd/words"]}),
    "p3": ("followed", {"articles": [{"title": "Item 1"}, {"title": "Item 2"}]}),
    "p12": ("followed", {"articles": [{"title": "中文标题测试"}]}),
    "p11": ("followed", {"failure": ""}),
    "p6": ("followed", READ),
    "h7": ("followed", READ),
    "p5": ("followed", READ),
    "f1": ("followed", READ),
    "f3": ("followed", {"articles": [{"text": {"contains": ["A short excerpt", *ARTICLE]}}]}),
}


def lines(name: str) -> list[Any]:
    file = Path(FOLDER or ".") / name
    if not FOLDER or not file.exists():
        return []
    return [pytest.param(case, id=case["case"]) for case in map(json.loads, file.read_text().splitlines())]


@pytest.fixture
def open_networks(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.FEED_MIN_GAP_SECONDS = 0
    monkeypatch.setattr("crawler.engine.models.Deployment.networks", lambda: ("127.0.0.0/8",))


def lines_like(case: dict[str, Any]) -> list[Any]:
    """The lines of this folder that name the same source, or the case's name in OURS."""
    rows = [row for param in CASES for row in param.values]
    same = [row for row in rows if row["source"] == case["source"]]
    return same or [row for row in rows if row["case"] in OURS.get(case["case"], ())]


def outcome(run: str, given: dict[str, Any]) -> Any:
    return (RUNNERS | WHOLE_WAY)[run](given)


@pytest.mark.parametrize("case", lines("feeds.jsonl"))
def test_a_feed(case: dict[str, Any]) -> None:
    same = lines_like(case)
    for row in same:
        call_command("flush", interactive=False, verbosity=0)
        assert differences(row["right"], outcome(row["run"], row["input"])) == []
    if not same:
        assert case["case"] in FEEDS, f"no line of this folder says what is right here: {case['right']}"
        run, right = FEEDS[case["case"]]
        path, answer = next(iter(case["answers"].items()))
        given = answer if run == "feed" else {"path": path, "answers": case["answers"]}
        assert differences(right, outcome(run, given)) == []


@pytest.mark.parametrize("case", lines("watching.jsonl"))
def test_a_page(case: dict[str, Any]) -> None:
    """Where `right` says nothing of a look, the words name a price, or that the page is refused when set."""
    same = lines_like(case)
    if any("behaviour" in version for version in case["versions"]):
        assert same, f"no line of this folder has this behaviour: {case['versions']}"
        for row in same:
            assert differences(row["right"], outcome(row["run"], row["input"])) == []
        return
    if "refused when set" in case["right_in_words"]:
        for part in case["settings"]["parts"]:
            with pytest.raises(SelectorFault):
                check_part(part)
        return
    told = outcome("watched", case)
    pairs = zip(case["right"], told["told"], strict=True)
    assert [(right, one) for right, one in pairs if right not in (None, one)] == []
    price = re.search(r"price (\d+(?:\.\d+)?)", case["right_in_words"])
    if price and None in case["right"]:
        assert told["price"] == float(price[1])


@pytest.mark.parametrize("case", lines("crawling.jsonl"))
def test_a_crawl(case: dict[str, Any]) -> None:
    """A crawl asks for each wanted path, for none that is unwanted, and ends."""
    with ExitStack() as stack:
        servers = {host: stack.enter_context(WebServer(host=host)) for host in case["hosts"]}
        origins = {host: server.origin for host, server in servers.items()}
        for host, answers in case["hosts"].items():
            for path, answer in answers.items():
                servers[host].replies[path] = _reply(answer, origins)
        first = origins[next(iter(case["hosts"]))]
        out = StringIO()
        also = ["--sitemaps"] if case["sitemaps"] else []
        call_command("crawl", *(first + path for path in case["seeds"]), *also, "--json", stdout=out)
        assert json.loads(out.getvalue())["state"] == "done"
        asked = {path for server in servers.values() for path in server.paths}
    assert [path for path in case["wanted"] if path not in asked] == []
    assert [path for path in case["unwanted"] if path in asked] == []


def _reply(answer: dict[str, Any], origins: dict[str, str]) -> Reply:
    """An answer in which the hosts' fixed ports are those of the servers here."""

    def here(text: str) -> str:
        for host, origin in origins.items():
            text = re.sub(rf"{re.escape(host)}:\d+", origin.removeprefix("http://"), text)
        return text

    headers = {name: here(value) for name, value in answer.get("headers", {}).items()}
    body = body_of(answer)
    is_packed = body.startswith(b"\x1f\x8b")
    body = here((gzip.decompress(body) if is_packed else body).decode("latin-1")).encode("latin-1")
    return Reply(gzip.compress(body) if is_packed else body, answer.get("status", 200), headers)
