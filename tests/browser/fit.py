"""Whether pages fit: their width, what sticks out of it, and buttons large enough for a thumb."""

from __future__ import annotations

from playwright.sync_api import Page

THUMB = 44
"""Height in pixels of what a thumb presses on a phone."""
WIDTHS = (320, 390, 820, 1280, 1920)
SIZES = ((390, 844), (1280, 900))
"""Width and height of a phone and of a computer."""


def sticks_out(page: Page) -> list[str]:
    """Return what is cut off or stands beyond the edge of the page, at each of WIDTHS."""
    found = []
    before = page.viewport_size
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        found += [f"{width}: {words}" for words in page.evaluate(_BEYOND)]
    if before is not None:
        page.set_viewport_size(before)
    return found


def too_small_for_thumbs(page: Page, within: str = "main") -> list[str]:
    """Return the buttons, fields and ticks within some elements that are lower than a thumb is wide."""
    found: list[str] = page.evaluate(_SMALL, [within, THUMB])
    return found


_BEYOND = """() => {
  const page = document.documentElement;
  const found = page.scrollWidth > innerWidth ? [`the page is ${page.scrollWidth} wide`] : [];
  for (const each of document.querySelectorAll("main :is(button, a, input, select, label, h1, p, code)")) {
    const box = each.getBoundingClientRect();
    const isHidden = !each.checkVisibility() || box.width <= 1 || each.closest(".vh, .strip, .chips, .pop");
    if (!isHidden && (box.left < -1 || box.right > innerWidth + 1)) found.push(each.outerHTML.slice(0, 120));
    if (!isHidden && each.tagName === "BUTTON" && each.scrollWidth > each.clientWidth + 1)
      found.push(`cut: ${each.outerHTML.slice(0, 120)}`);
  }
  return found;
}"""
_SMALL = """([within, least]) => {
  const found = [];
  const pressed = "button, .btn, select, summary, label.check, label.tick, input:not([type='hidden'])";
  const places = [...document.querySelectorAll(within)];
  for (const each of places.flatMap(place => [...place.querySelectorAll(pressed)])) {
    const box = each.getBoundingClientRect();
    const isInLabel = each.matches("input") && each.closest("label:is(.check, .tick)");
    if (!each.checkVisibility() || each.closest(".vh") || box.width <= 1 || isInLabel) continue;
    if (box.height < least - 0.5) found.push(`${Math.round(box.height)}: ${each.outerHTML.slice(0, 120)}`);
  }
  return found;
}"""
