"""Promises of the pictures made on the server."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from feeds.pages.charts import clock, heat_map, sparkline

SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))


def test_a_sparkline_has_its_highest_value_at_the_top_and_zero_at_the_bottom() -> None:
    points = parsed(sparkline([0, 4, 2], "posts", width=30, height=22)).find(f"{SVG}polyline").get("points")
    heights = [float(point.split(",")[1]) for point in points.split()]
    assert heights == [21, 21, 2, 2, 11.5, 11.5]


@pytest.mark.parametrize("values", [[], [0.0, 0.0]])
def test_a_sparkline_of_nothing_is_still_a_picture(values: list[float]) -> None:
    assert parsed(sparkline(values, "posts")).get("role") == "img"


def test_the_clock_has_a_wedge_for_every_hour_and_names_the_busiest() -> None:
    rates = [0.5] * 24
    rates[17] = 3.5
    drawn = parsed(clock(rates, 6.5))
    wedges = drawn.findall(f"{SVG}path")
    assert len(wedges) == 24
    assert wedges[17].find(f"{SVG}title").text == "17:00 to 18:00 UTC: 3.50 articles an hour"
    assert drawn.get("aria-label").endswith("15 articles a day, most from 17:00 to 18:00")


def test_the_clock_hand_stands_right_of_the_middle_at_six_and_below_it_at_noon() -> None:
    at_six, at_noon = (parsed(clock([1.0] * 24, hour)).find(f"{SVG}line") for hour in (6, 12))
    assert float(at_six.get("x2")) > 200 and float(at_six.get("y2")) == pytest.approx(120)
    assert float(at_noon.get("y2")) > 200 and float(at_noon.get("x2")) == pytest.approx(120)


def test_the_heat_map_counts_articles_by_hour_of_the_week() -> None:
    counts = [[0] * 24 for _ in range(7)]
    counts[0][9], counts[6][3] = 4, 1
    drawn = parsed(heat_map(counts))
    titles = [title.text for title in drawn.iter(f"{SVG}title")]
    assert titles == ["Mon 09:00: 4 articles", "Sun 03:00: 1 article"]
    frames = drawn.find(f"{SVG}path[@class='cell-frame']").get("d")
    assert frames.count("M") == 168
    assert drawn.get("aria-label").endswith("UTC: 5, most on Mon at 09:00")
    assert parsed(heat_map([[0] * 24] * 7)).get("aria-label").endswith("UTC: 0, most on Mon at 00:00")


def test_pictures_carry_no_inline_style_and_escape_their_labels() -> None:
    svg = sparkline([1.0], '"><script>')
    assert "<script>" not in svg
    assert not re.search(r"\sstyle=", svg + clock([1.0] * 24, 0) + heat_map([[1] * 24] * 7))
