"""What the tests of other programs say is read from their sources, and each disagreement has a verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import peers
from benchmarks.peer_sources import arguments, constant, java_tests, statements
from benchmarks.peer_suites import Case, google_robots

CC = """
TEST(Unit, Groups) {
  const absl::string_view rules =  // a comment; with a sign
      "user-agent: FooBot\\n"
      "disallow: /x\\n";
  EXPECT_FALSE(IsUserAgentAllowed(rules, "FooBot", "http://foo.bar/x"));
  EXPECT_TRUE(IsUserAgentAllowed(rules, "FooBot", "http://foo.bar/y"));
  EXPECT_TRUE(IsUserAgentAllowed(unknown, "FooBot", "http://foo.bar/y"));
}
"""
JAVA = """
@ParameterizedTest
@CsvSource({ "False, /a", "True, /b" })
void testRows(boolean isAllowed, String path) { assertEquals(isAllowed, path); }
"""


def test_assertions_of_constants_are_read_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "robots_test.cc").write_text(CC)
    cases = list(google_robots(tmp_path))
    assert [(case.ours, case.theirs) for case in cases] == [(False, False), (True, True)]


def test_a_constant_is_made_of_literals_and_known_names_alone() -> None:
    assert constant('"a" + LF // more\n + "\\u0062"', {"LF": "\n"}) == "a\nb"
    assert constant("`as it\\is`", {}) == "as it\\is"
    assert constant('"a" + other()', {}) is None
    assert constant("name", {"name": None}) is None


def test_signs_within_texts_end_nothing() -> None:
    assert list(statements('a = "x;y"; b')) == ['a = "x;y"', "b"]
    assert arguments('"a,b", f(c, d), e') == ['"a,b"', "f(c, d)", "e"]


def test_a_test_with_rows_is_read_once_for_each() -> None:
    rows = [given for _, _, given in java_tests(JAVA, {})]
    assert rows == [{"isAllowed": "False", "path": "/a"}, {"isAllowed": "True", "path": "/b"}]


def test_a_disagreement_is_ours_unless_the_table_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    cases = [Case("Krugle", True, False), Case("other", True, False), Case("same", 1, 1)]
    figures = peers._told("crawler-commons robots", cases)
    assert dict(figures) == {"taste": 1, "ours": 1, "agreed": 1}
    assert "crawler-commons robots: 3 tried, agreed 1, taste 1, ours 1" in capsys.readouterr().out
