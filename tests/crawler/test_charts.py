"""Charts made on the server: well-formed, within their frame, safe with any name."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from crawler.web.charts import Axis, Bar, Line, bar_plot, line_plot, short, standalone

EVIL = '"><script>alert(1)</script>'


def drawn(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def test_points_lie_where_their_values_say() -> None:
    line = Line("a", [(0, 0), (12, 5), (24, 10)])
    svg = drawn(line_plot([line], Axis("h", marks=range(0, 25, 6)), Axis("y"), "label"))
    points = [tuple(map(float, p.split(","))) for p in svg.findall("polyline")[0].attrib["points"].split()]
    (x0, y0), (x1, y1), (x2, y2) = points
    assert x0 < x1 < x2
    assert x1 == pytest.approx((x0 + x2) / 2, abs=0.1)
    assert y1 == pytest.approx((y0 + y2) / 2, abs=0.1)
    assert y2 < y0, "more is higher"


def test_a_logarithmic_axis_leaves_out_what_it_cannot_show() -> None:
    svg = drawn(line_plot([Line("a", [(0, 1), (1, 1), (10, 2)])], Axis("x", log=True), Axis("y"), "l"))
    assert len(svg.findall("polyline")[0].attrib["points"].split()) == 2


@pytest.mark.parametrize("points", [[], [(1.0, 0.0)], [(3.0, 7.0), (3.0, 7.0)], [(0.0, 1e-9), (1.0, 1e9)]])
def test_few_or_odd_points_still_make_a_picture(points: list[tuple[float, float]]) -> None:
    for log in (False, True):
        text = line_plot([Line("a", points)], Axis("x", log=log), Axis("y", log=log), "l")
        assert "nan" not in text
        assert "inf" not in text
        drawn(text)


def test_names_are_text_and_nothing_else() -> None:
    for svg in (
        line_plot([Line(EVIL, [(1, 1), (2, 2)])], Axis(EVIL), Axis(EVIL), EVIL),
        bar_plot([Bar(EVIL, 1.0)], EVIL, EVIL),
    ):
        assert "<script" not in svg
        drawn(svg)


def test_bars_are_as_long_as_their_values() -> None:
    svg = drawn(bar_plot([Bar("a", 4.0), Bar("b", 1.0), Bar("c", 0.0)], "t", "l"))
    assert [float(bar.attrib["width"]) for bar in svg.findall("rect")] == pytest.approx([452, 113, 0])


def test_a_file_of_its_own_has_its_colours_with_it() -> None:
    text = standalone(bar_plot([Bar("a", 4.0)], "t", "l"))
    assert drawn(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert re.search(r"\.ink-1\{stroke:#", text)
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.15, "0.15"), (1234.5, "1234"), (19.96, "20"), (0.0123456, "0.0123"), (10, "10")],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert short(value) == text
