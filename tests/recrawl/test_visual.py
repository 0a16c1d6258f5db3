"""The looks of pages compared, and steps as people write them."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image, ImageDraw

from recrawl.comparing.visual import grid_of, region, screenshot_of, size_of, visual_difference
from recrawl.importing.browser_steps import lines_of_steps, steps_of_lines


def picture(*boxes: tuple[int, int, int, int], size: tuple[int, int] = (1280, 800)) -> Image.Image:
    """A white picture with black boxes: left, top, right, bottom."""
    image = Image.new("RGB", size, "white")
    for box in boxes:
        ImageDraw.Draw(image).rectangle(box, fill="black")
    return image


def test_the_same_picture_does_not_differ() -> None:
    one = grid_of(picture((0, 0, 99, 99)))
    assert visual_difference(one, one).percent == 0
    assert size_of(one) == (1280, 800)


def test_what_differs_is_measured_and_boxed() -> None:
    gain = visual_difference(grid_of(picture()), grid_of(picture((160, 80, 319, 159), (800, 400, 879, 479))))
    assert gain.boxes == ((160, 80, 160, 80), (800, 400, 80, 80))
    assert gain.percent == pytest.approx(100 * (160 * 80 + 80 * 80) / (1280 * 800), abs=0.01)


def test_ignored_regions_do_not_count() -> None:
    before, after = grid_of(picture()), grid_of(picture((160, 80, 319, 159)))
    assert visual_difference(before, after, [(160, 80, 160, 80)]).percent == 0
    assert visual_difference(before, after, [(0, 0, 9999, 9999)]).percent == 0


def test_a_longer_page_differs_by_its_length() -> None:
    gain = visual_difference(grid_of(picture()), grid_of(picture(size=(1280, 1600))))
    assert gain.percent == 50
    assert gain.boxes == ((0, 800, 1280, 800),)


def test_a_changed_letter_is_seen_and_noise_is_not() -> None:
    before, after, noise = picture(), picture(), picture()
    ImageDraw.Draw(before).text((200, 200), "version 8", fill="black")
    ImageDraw.Draw(after).text((200, 200), "version 1", fill="black")
    noise.putpixel((300, 300), (200, 200, 200))
    assert visual_difference(grid_of(before), grid_of(after)).percent > 0
    assert visual_difference(grid_of(picture()), grid_of(noise)).percent == 0


def test_many_small_differences_are_boxed_within_bounds() -> None:
    dots = [(x, y, x + 7, y + 7) for x in range(0, 1280, 64) for y in range(0, 800, 64)]
    gain = visual_difference(grid_of(picture()), grid_of(picture(*dots)))
    assert len(gain.boxes) == 50


@pytest.mark.parametrize("grid", [b"", b"x", b"\xff\xff\xff\xff" + b"x" * 9, b"\x01\x00\x01\x00"])
def test_damaged_grids_are_refused(grid: bytes) -> None:
    with pytest.raises(ValueError, match="damaged"):
        visual_difference(grid, grid_of(picture()))


def test_a_screenshot_becomes_webp() -> None:
    out = io.BytesIO()
    picture((0, 0, 9, 9), size=(300, 200)).save(out, "PNG")
    webp, grid = screenshot_of(out.getvalue())
    with Image.open(io.BytesIO(webp)) as read:
        assert (read.format, read.size) == ("WEBP", (300, 200))
    assert size_of(grid) == (304, 200)
    with pytest.raises(ValueError, match="no picture"):
        screenshot_of(b"GIF89a")


@pytest.mark.parametrize("text", ["", "1,2,3", "a,b,c,d", "-1,0,1,1", "1,2,3,4,5", "1,2,3,999999"])
def test_regions_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="region"):
        region(text)
    assert region("0, 120,1280,90") == (0, 120, 1280, 90)


STEPS: list[tuple[str, dict[str, Any]]] = [
    ("click #accept", {"do": "click", "at": "#accept"}),
    ("type #q = small boats", {"do": "type", "at": "#q", "text": "small boats"}),
    ("wait 2", {"do": "wait", "seconds": 2.0}),
    ("wait for .results li", {"do": "wait-for", "at": ".results li"}),
    ("scroll", {"do": "scroll"}),
]


def test_steps_are_written_one_to_a_line() -> None:
    lines, steps = [line for line, _ in STEPS], [step for _, step in STEPS]
    assert steps_of_lines(lines) == steps
    assert lines_of_steps(steps) == lines


@pytest.mark.parametrize(
    "line", ["click", "wait long", "wait 900", "dance", "scroll up", "type = x", "click " + "x" * 600]
)
def test_steps_that_make_no_sense_are_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"[Ss]tep 1"):
        steps_of_lines([line])
