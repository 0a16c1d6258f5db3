"""Text that is not shown is not read, and what most of a page stands in is shown."""

from __future__ import annotations

import pytest

from crawler.reading.feeds.markup import Sanitiser, plain_text
from crawler.reading.pages.tree import whole_tree

SHOWN = "<p>The pier is open again, and the lamps are lit every evening.</p>"


@pytest.mark.parametrize(
    ("markup", "is_read"),
    [
        ('<p style="display:none">secret</p>', False),
        ('<p style="Display : NONE !important">secret</p>', False),
        ('<p style="visibility:hidden">secret</p>', False),
        ('<span style="font-size:0">secret</span>', False),
        ('<span style="font-size:0.9em">secret</span>', True),
        ('<p style="text-indent:-9999px">secret</p>', False),
        ('<p style="text-indent:-1em">secret</p>', True),
        ("<p hidden>secret</p>", False),
        ('<p hidden="until-found">secret</p>', True),
        ('<p style="opacity:0">secret</p>', True),
        ('<p class="hidden">secret</p>', True),
        ("<p>the word hidden is no secret</p>", True),
        ("<p hidden>x&#1;</p>secret&#2;", True),
        ("<ul><li hidden>secret</li><li>shown</li></ul>", False),
    ],
)
def test_hidden_text_is_left_out(markup: str, is_read: bool) -> None:
    text = plain_text(Sanitiser().clean(SHOWN + markup, "https://pier.example/"))
    assert "The pier is open" in text
    assert ("secret" in text) is is_read


def test_what_holds_most_of_the_text_is_shown_by_a_script() -> None:
    whole = f'<div style="visibility:hidden">{SHOWN * 3}</div><p>Menu</p>'
    assert "The pier is open" in Sanitiser().clean(whole, "https://pier.example/")


def test_a_reference_to_nothing_in_a_head_ends_no_reading() -> None:
    assert whole_tree("<head><t&#0;itle>A</title></head>b&#0;<p>c") is not None
