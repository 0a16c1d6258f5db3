"""Elements closed in their own tag, where a value holds what looks like a tag's end."""

from __future__ import annotations

import pytest

from crawler.reading.feeds.markup import Sanitiser


@pytest.mark.parametrize("name", ["iframe", "script", "style"])
@pytest.mark.parametrize("end", [' title="a > b"/>', " src='/?a>b' />", "\n/>"])
def test_elements_closed_in_their_own_tag_swallow_nothing(name: str, end: str) -> None:
    assert (
        Sanitiser().clean(f"<p>a</p><{name}{end}<p>rest</p>", "https://e.example/") == "<p>a</p><p>rest</p>"
    )
