"""Suites of other programs' tests that `benchmarks/peers.py` knows: how each is read, and read by Freshet."""

from __future__ import annotations

import ast
import calendar
import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.peer_sources import (
    arguments,
    assignment,
    constant,
    functions,
    java_tests,
    python_constant,
    python_tests,
    statements,
)  # fmt: skip
from crawler.fetching.http.client import Response
from crawler.fetching.http.robots import allowed, crawl_delay, kept
from crawler.fetching.http.site_lines import Robots
from crawler.fetching.http.urls import BadUrl, canonical_url, join, page_key
from crawler.reading.dates import epoch
from crawler.reading.errors import ReadingError
from recrawl.terminal import listed_pages

JAVA = {"CRLF": "\r\n", "LF": "\n", "CR": "\r"}


class Case(NamedTuple):
    """One assertion: the test's name, what Freshet says and what the test expects."""

    name: str
    ours: object
    theirs: object


def _robots(text: str, agent: str) -> Robots:
    return kept(text.encode("utf-8", "surrogateescape"), agent, "http://site.example", 0.0)


def _may(name: str, text: str | None, agent: str | None, url: str | None, theirs: bool) -> Iterator[Case]:
    """Compare whether an address may be visited. What is no constant or no address of a page is left out."""
    if text is None or agent is None or not url:
        return
    try:
        address = canonical_url(url)
    except BadUrl:
        return
    yield Case(f"{name} {agent} {url}", allowed(_robots(text, agent), address, agent), theirs)


def google_robots(root: Path) -> Iterator[Case]:
    """google/robotstxt, the parser that RFC 9309 comes from."""
    source = (root / "robots_test.cc").read_text()
    for test, body in functions(source, r"TEST\(\w+, (\w+)\) \{"):
        names: dict[str, str | None] = {}
        for statement in statements(body):
            said = re.fullmatch(r"EXPECT_(TRUE|FALSE)\(\s*IsUserAgentAllowed\((.*)\)\)", statement, re.DOTALL)
            if said:
                text, agent, url = (constant(one, names) for one in arguments(said[2]))
                yield from _may(test, text, agent, url, said[1] == "TRUE")
            elif found := assignment(statement):
                names[found[0]] = constant(found[1], names)


def java_robots(root: Path) -> Iterator[Case]:
    """The tests of crawler-commons of its parser of robots.txt."""
    tests = "src/test/java/crawlercommons/robots/SimpleRobotRulesParserTest.java"
    source = (root / tests).read_text()
    for test, body, given in java_tests(source, JAVA):
        names: dict[str, str | None] = {**JAVA, **given}
        rules: dict[str, tuple[str | None, str | None]] = {}
        for statement in statements(body):
            yield from _java_assertion(test, statement, names, rules)
            if not (found := assignment(statement)):
                continue
            made = re.fullmatch(r"createRobotRules\((.*)\)", found[1], re.DOTALL)
            if made:
                agent, text, *_ = (_java_text(root, one, names) for one in arguments(made[1]))
                is_one = agent is not None and "," not in agent
                rules[found[0]] = (agent, text) if is_one else (None, None)
            else:
                names[found[0]] = _java_text(root, found[1], names)


def _java_text(root: Path, source: str, names: dict[str, str | None]) -> str | None:
    """Return the text of an expression, also of a file that is read."""
    if file := re.fullmatch(r'readFile\("([^"]+)"\)', source):
        return (
            (root / "src/test/resources" / file[1].lstrip("/"))
            .read_bytes()
            .decode("utf-8", "surrogateescape")
        )
    return constant(re.sub(r"\.getBytes\((?:StandardCharsets\.)?(?:UTF_8|US_ASCII)\)$", "", source), names)


def _java_assertion(
    test: str, statement: str, names: dict[str, str | None], rules: dict[str, tuple[str | None, str | None]]
) -> Iterator[Case]:
    said = re.fullmatch(r"assert(True|False|Equals)\((.*)\)", statement, re.DOTALL)
    if not said:
        return
    *expected, told = arguments(said[2])
    call = re.fullmatch(r"(\w+)\.(isAllowed|getCrawlDelay)\((.*)\)", told, re.DOTALL)
    if call is None or call[1] not in rules or len(expected) != (said[1] == "Equals"):
        return
    agent, text = rules[call[1]]
    if call[2] == "getCrawlDelay":
        wanted = expected[0].rstrip("L")
        if text is not None and agent is not None and (wanted.isdigit() or "UNSET" in wanted):
            seconds = int(wanted) / 1000 if wanted.isdigit() else 0.0
            yield Case(f"{test} {agent} delay", crawl_delay(_robots(text, agent), agent), seconds)
        return
    truth = said[1] if not expected else names.get(expected[0]) or expected[0]
    if truth.lower() in ("true", "false"):
        yield from _may(test, text, agent, constant(call[3], names), truth.lower() == "true")


def protego_robots(root: Path) -> Iterator[Case]:
    """The tests of protego, by which Freshet matches what it keeps of a robots.txt."""
    for file in ("tests/test_protego.py", "tests/test_on_google_spec.py"):
        yield from _python_robots((root / file).read_text(), "can_fetch")


def reppy_robots(root: Path) -> Iterator[Case]:
    """The tests of seomoz/reppy."""
    return _python_robots((root / "tests/test_robots.py").read_text(), "allowed")


def _python_robots(source: str, method: str) -> Iterator[Case]:
    """Read `robot = parse(text)` and assertions of `robot.method(url, agent)`."""
    for test in python_tests(source):
        names: dict[str, str | None] = {}
        texts: dict[str, str | None] = {}
        for node in test.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name, value = node.targets[0].id, node.value
                if isinstance(value, ast.Call) and ast.unparse(value.func).endswith(".parse"):
                    given = value.args[-1] if value.args else value.keywords[0].value
                    texts[name] = python_constant(given, names)
                else:
                    names[name] = python_constant(value, names)
            elif said := _python_truth(node):
                call, truth = said
                asked = call.func
                if isinstance(asked, ast.Attribute) and asked.attr == method and len(call.args) == 2:
                    url, agent = (python_constant(one, names) for one in call.args)
                    url = f"http://site.example{url}" if url and url[0] == "/" else url
                    yield from _may(test.name, texts.get(ast.unparse(asked.value)), agent, url, truth)


def _python_truth(node: ast.stmt) -> tuple[ast.Call, bool] | None:
    """Return the call that a statement asserts to be true or false."""
    tested: ast.expr | None = None
    truth = True
    if isinstance(node, ast.Assert):
        tested = node.test
        if isinstance(tested, ast.UnaryOp) and isinstance(tested.op, ast.Not):
            tested, truth = tested.operand, False
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value.args:
        name = ast.unparse(node.value.func)
        truth = name == "self.assertTrue"
        tested = node.value.args[0] if truth or name == "self.assertFalse" else None
    return (tested, truth) if isinstance(tested, ast.Call) else None


def java_sitemaps(root: Path) -> Iterator[Case]:
    """The tests of crawler-commons of its parser of sitemaps."""
    source = (root / "src/test/java/crawlercommons/sitemaps/SiteMapParserTest.java").read_text()
    for test, body, _ in java_tests(source, {}):
        yield from _JavaSitemaps(root, test).cases(body)


class _JavaSitemaps:
    """The state of one test: its texts, and the last sitemap that was read."""

    def __init__(self, root: Path, test: str) -> None:
        self._root, self._test = root, test
        self._texts: dict[str, str | None] = {}
        self._bodies: dict[str, bytes | None] = {}
        self._read: tuple[dict[str, str], bool] | None = None
        self._known = False
        self._asked = ""

    def cases(self, body: str) -> Iterator[Case]:
        for statement in statements(body):
            appended = re.match(r"(\w+)\s*\.append\(", statement)
            if appended:
                self._append(appended[1], statement)
            elif found := assignment(statement):
                self._assign(*found)
            elif statement.startswith("assert") and self._known:
                yield from self._assertion(statement)
            elif changed := re.match(r"(\w+)\.(?:replace|insert)\(", statement):
                self._texts[changed[1]] = None

    def _append(self, name: str, statement: str) -> None:
        chain = re.sub(r"\s*\)\s*\.append\(\s*", " + ", statement.partition(".append(")[2].rstrip(") \n"))
        told, before = constant(chain, self._texts), self._texts.get(name)
        self._texts[name] = None if told is None or before is None else before + told

    def _assign(self, name: str, value: str) -> None:
        self._bodies.pop(name, None)
        if value.startswith("new StringBuilder"):
            self._texts[name] = ""
        elif file := re.fullmatch(r'getResourceAsBytes\("([^"]+)"\)', value):
            self._bodies[name] = (self._root / file[1]).read_bytes()
        elif text := re.match(r"(\w+)(?:\.toString\(\))?\.getBytes\(", value):
            told = self._texts.get(text[1])
            self._bodies[name] = None if told is None else told.encode()
        elif asked := re.search(r"\.getSitemap\(new URI\((.*)\)\.toURL\(\)\)$", value):
            self._asked = constant(asked[1], self._texts) or ""
        elif re.match(r"parser\.parseSiteMap\(", value):
            self._parse(arguments(value.partition("(")[2].rstrip(")")))
        else:
            inner = re.match(r"new (?:URI|URL)\((.*?)\)(?:\.toURL\(\))?$", value)
            self._texts[name] = constant(inner[1] if inner else value, self._texts)

    def _parse(self, given: list[str]) -> None:
        bodies = [self._bodies[one] for one in given if one in self._bodies]
        url = self._texts.get(given[-1])
        self._known = len(bodies) == 1 and bodies[0] is not None and url is not None
        self._read, self._asked = None, ""
        if self._known:
            try:
                read = listed_pages(Response(200, url or "", {}, bodies[0] or b"", content_type="text/xml"))
                self._read = {page.url: page.stamp for page in read.pages}, read.index
            except ReadingError:
                self._read = {}, False

    def _assertion(self, statement: str) -> Iterator[Case]:
        pages, index = self._read or ({}, False)
        if said := re.fullmatch(r"assertEquals\((true|false), \w+\.isIndex\(\)\)", statement):
            yield Case(f"{self._test} index", index, said[1] == "true")
        elif said := re.fullmatch(
            r"assertEquals\((\d+), \w+\.get(?:Sitemaps|SiteMapUrls)\(\)\.size\(\)\)", statement
        ):
            yield Case(f"{self._test} addresses {list(pages)}", len(pages), int(said[1]))
        elif self._asked and re.match(r"assertNotNull\(\w+[,)]", statement):
            yield Case(f"{self._test} {self._asked}", canonical_url(self._asked) in pages, True)
        elif self._asked and (
            said := re.match(
                r'assertEquals\(SiteMap\.convertToDate\("([^"]+)"\), \w+\.getLastModified', statement
            )
        ):
            stamp = pages.get(canonical_url(self._asked), "")
            yield Case(f"{self._test} time of {self._asked}", epoch(stamp), epoch(said[1]))


def _canonical(url: str) -> str:
    try:
        return canonical_url(url)
    except BadUrl:
        return "refused"


def wpt_urls(root: Path) -> Iterator[Case]:
    """The web platform's tests of addresses of http and https, as crawler-commons has them."""
    for test in json.loads((root / "src/test/resources/url-utils/wpt-urltestdata.json").read_bytes()):
        if isinstance(test, str) or test.get("username") or test.get("password"):
            continue
        base, text = test.get("base"), test["input"]
        if base and not base.startswith(("http:", "https:")):
            continue
        if not base and not re.match(r"https?:", text.strip()):
            continue
        href = test.get("href", "")
        if not test.get("failure") and not href.startswith(("http:", "https:")):
            continue
        try:
            ours = join(base, text) if base else canonical_url(text)
        except BadUrl:
            ours = "refused"
        theirs = "refused" if test.get("failure") else href.partition("#")[0]
        yield Case(f"{text!r} at {base}", ours, theirs)


def java_urls(root: Path) -> Iterator[Case]:
    """The table of crawler-commons of addresses and their normal forms."""
    file = root / "src/test/resources/normalizer/weirdToNormalizedUrls.csv"
    for row in csv.reader(file.read_text().splitlines(), skipinitialspace=True):
        if len(row) == 2 and not row[0].startswith("#") and row[0].startswith("http"):
            yield Case(row[0], _canonical(row[0]), row[1].strip())


def w3lib_urls(root: Path) -> Iterator[Case]:
    """The tests of w3lib of `canonicalize_url` with no options."""
    for test in python_tests((root / "tests/test_url.py").read_text()):
        for node in ast.walk(test):
            if not isinstance(node, ast.Compare) or not isinstance(node.left, ast.Call):
                continue
            call = node.left
            if ast.unparse(call.func) != "canonicalize_url" or len(call.args) + len(call.keywords) != 1:
                continue
            url, theirs = python_constant(call.args[0], {}), python_constant(node.comparators[0], {})
            if url is not None and theirs is not None:
                yield Case(f"{test.name} {url}", _canonical(url), theirs)


def go_url_cleaner(root: Path) -> Iterator[Case]:
    """The tests of miniflux of what it takes off addresses."""
    source = (root / "internal/reader/urlcleaner/urlcleaner_test.go").read_text()
    for row in re.findall(r"\{\s*(name:.*?)\n\t\t\}", source, re.DOTALL):
        fields = dict(re.findall(r'(\w+):\s+"([^"]*)"', row))
        if "feedURL" not in fields and "input" in fields and "expected" in fields:
            try:
                ours = page_key(fields["input"])
            except BadUrl:
                ours = "refused"
            yield Case(fields["input"], ours, fields["expected"].partition("#")[0])


def go_dates(root: Path) -> Iterator[Case]:
    """The tests of miniflux of dates: moments, and dates that must be read at all."""
    source = (root / "internal/reader/date/parser_test.go").read_text()
    for test, body in functions(source, r"func (Test\w+)\("):
        asked = ""
        for statement in statements(body, "\n;{}"):
            if said := re.search(r"\bParse\((.*)\)$", statement):
                asked = constant(said[1], {}) or ""
            elif (said := re.fullmatch(r"expectedTS := int64\((\d+)\)", statement)) and asked:
                yield Case(f"{test} {asked}", epoch(asked), float(said[1]))
            elif re.fullmatch(r'".*",', statement):
                date = constant(statement[:-1], {}) or ""
                yield Case(f"{test} {date}", epoch(date) is not None, True)


def swift_dates(root: Path) -> Iterator[Case]:
    """The tests of RSParser, the reader in NetNewsWire, of dates."""
    source = (root / "Tests/RSParserTests/RSDateParserTests.swift").read_text()
    for test, body in functions(source, r"func (test\w+)\("):
        wanted: float | None = None
        asked = ""
        for statement in statements(body, "\n;{}"):
            if made := re.search(r"dateWithValues\(([\d, ]+)\)$", statement):
                parts = [int(part) for part in made[1].split(",")]
                wanted = float(calendar.timegm((*parts[:6], 0, 0, 0)))
            elif said := re.search(r"RSDateWithString\((.*)\)$", statement):
                asked = constant(said[1], {}) or ""
            elif (
                asked and wanted is not None and statement.startswith("XCTAssertEqual(d, expectedDateResult")
            ):
                yield Case(f"{test} {asked}", epoch(asked), wanted)


Suite = Callable[[Path], Iterator[Case]]
_COMMONS = "src/test/java/crawlercommons"
SUITES: dict[str, tuple[str, Suite]] = {
    "crawler-commons robots": (f"{_COMMONS}/robots", java_robots),
    "crawler-commons sitemaps": (f"{_COMMONS}/sitemaps", java_sitemaps),
    "crawler-commons normal forms": (f"{_COMMONS}/filters", java_urls),
    "web-platform-tests addresses": ("src/test/resources/url-utils/wpt-urltestdata.json", wpt_urls),
    "google robots": ("robots_test.cc", google_robots),
    "protego": ("tests/test_protego.py", protego_robots),
    "reppy": ("tests/test_robots.py", reppy_robots),
    "w3lib addresses": ("w3lib/url.py", w3lib_urls),
    "miniflux addresses": ("internal/reader/urlcleaner", go_url_cleaner),
    "RSParser dates": ("Tests/RSParserTests/RSDateParserTests.swift", swift_dates),
    "miniflux dates": ("internal/reader/date", go_dates),
}
