"""A browser's view of a page that scripts write, with steps."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crawler.failures import Failure, FetchError
from crawler.fetching.browser import look as looking
from crawler.fetching.browser.look import BrowserLook
from tests.crawler.fetching.browser.conftest import Site

View = Callable[..., BrowserLook | FetchError]

FORM = """<title>Form</title><input id=name><button onclick="
out.textContent = 'Hello, ' + document.getElementById('name').value">Greet</button><p id=out></p>"""


def test_it_shows_the_text_that_a_script_writes(view: View, site: Site) -> None:
    site.pages["/"] = "<title>News</title><p id=p></p><script>p.textContent = 6 * 7 + ' articles'</script>"
    result = view(site.address)
    assert isinstance(result, BrowserLook)
    assert '<p id="p">42 articles</p>' in result.html
    assert (result.url, result.status, result.title) == (f"{site.address}/", 200, "News")
    assert result.is_complete and not result.exceeded and not result.blocked
    assert result.requests >= 1 and result.bytes > 100


def test_it_starts_where_paths_are_long(
    view: View, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("data" * 20)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    site.pages["/"] = "<title>News</title>"
    result = view(site.address)
    assert isinstance(result, BrowserLook) and result.title == "News"
    assert not list(long.iterdir())


def test_the_screenshot_is_a_png_of_the_whole_page_within_bounds(view: View, site: Site) -> None:
    site.pages["/"] = "<body style='margin:0'><div style='height:3000px'>tall</div>"
    site.pages["/long"] = "<body style='margin:0'><div style='height:90000px;width:5000px'>long</div>"
    sizes = []
    for path in ("/", "/long"):
        result = view(site.address + path)
        assert isinstance(result, BrowserLook)
        assert result.screenshot[:8] == b"\x89PNG\r\n\x1a\n"
        sizes.append(struct.unpack(">II", result.screenshot[16:24]))
    assert sizes == [(1280, 3000), (1280, 10_000)]


def test_steps_type_click_wait_and_scroll(view: View, site: Site) -> None:
    site.pages["/"] = FORM
    result = view(
        site.address,
        {"do": "type", "at": "#name", "text": "Ada"},
        {"do": "click", "at": "button"},
        {"do": "wait-for", "at": "#out:not(:empty)"},
        {"do": "wait", "seconds": 0.1},
        {"do": "scroll"},
        seconds=30.0,
    )
    assert isinstance(result, BrowserLook)
    assert "Hello, Ada" in result.html


def test_a_step_that_fails_is_named_with_its_number(view: View, site: Site) -> None:
    site.pages["/"] = FORM
    result = view(site.address, {"do": "scroll"}, {"do": "click", "at": "#none"}, seconds=30.0)
    assert isinstance(result, FetchError)
    assert result.kind is Failure.STEP
    assert result.detail.startswith("step 2 (click)")


def test_a_click_that_leads_on_gives_the_other_page(view: View, site: Site) -> None:
    site.pages["/"] = "<a href=/next>on</a>"
    site.pages["/next"] = "<title>Next</title>"
    result = view(site.address, {"do": "click", "at": "a"}, seconds=30.0)
    assert isinstance(result, BrowserLook)
    assert (result.url, result.status, result.title) == (f"{site.address}/next", 200, "Next")


def test_an_error_without_a_body_is_a_failure_with_its_status(view: View, site: Site) -> None:
    result = view(f"{site.address}/none")
    assert isinstance(result, FetchError)
    assert (result.label, result.status) == ("http-404", 404)


def test_it_says_who_it_is(view: View, site: Site, settings: Any) -> None:
    settings.FETCH_USER_AGENT = "Freshet/test (+https://freshet.test)"
    site.pages["/"] = "<p id=p></p><script>p.textContent = navigator.userAgent</script>"
    result = view(site.address)
    assert isinstance(result, BrowserLook)
    assert "Freshet/test (+https://freshet.test)" in result.html


@pytest.mark.parametrize("address", ["file:///etc/passwd", "chrome://version", "data:text/html,x"])
def test_only_addresses_of_the_web_are_opened(view: View, address: str) -> None:
    result = view(address)
    assert isinstance(result, FetchError)
    assert result.kind in (Failure.BAD_SCHEME, Failure.BAD_URL)


def test_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    assert looking.missing() == ""
    monkeypatch.setenv("CHROMIUM", "/nonexistent/chromium")
    assert "No Chromium was found" in looking.missing()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "Playwright is not installed" in looking.missing()
