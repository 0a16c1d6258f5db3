"""The parts of a page that people watch, and the selectors that name them."""

from __future__ import annotations

from lxml import html

from recrawl.pages.part_candidates import page_parts, speaking_selector

LAMP = """<html><head><title>Bergen
desk lamp</title></head><body><header class=head>Lamp shop 9 €</header><main><h1>Bergen desk lamp</h1>
<div class="offer x1"><b class="price">239 €</b><s>249 €</s> <span class=price-old>249 €</span></div>
<p id=stock>In stock, delivered in 3 days</p>
<p>The lamp stands 46 cm high. Its arm turns all the way round, and its bulb can be replaced.</p>
<ul><li>Bulb</li><li>Cord</li><li>Shade</li></ul></main></body></html>"""


def test_a_product_has_a_price_a_stock_a_text_and_a_list() -> None:
    found = page_parts(html.fromstring(LAMP))
    assert found.title == "Bergen desk lamp"
    parts = {part.kind: (part.selector, part.text) for part in found.parts}
    assert parts["price"] == (".price", "239 €")
    assert parts["stock"] == ("#stock", "In stock, delivered in 3 days")
    assert parts["name"] == ("h1", "Bergen desk lamp")
    assert parts["description"][1].startswith("The lamp stands")
    assert parts["list"] == ("main ul", "Bulb, Cord, Shade")
    assert found.parts[0].kind == "price"
    assert found.parts[-1].kind == "all" and found.parts[-1].words > 20


def test_a_page_without_a_product_is_watched_whole() -> None:
    found = page_parts(html.fromstring("<html><body><p>Closed in winter</p></body></html>"))
    assert [part.kind for part in found.parts] == ["all"]


def test_a_stated_price_goes_before_a_named_one_and_a_place_is_the_last_resort() -> None:
    page = html.fromstring(
        "<html><body><p class=price>9 €</p><p><span itemprop=price>12 €</span></p>"
        "<p><b>a</b></p><p><b>b</b></p></body></html>"
    )
    (price,) = [part for part in page_parts(page).parts if part.kind == "price"]
    assert price.selector == "[itemprop=price]"
    assert speaking_selector(page, page.findall(".//b")[1]) == "p:nth-of-type(4) > b"


def test_names_of_machines_do_not_speak() -> None:
    page = html.fromstring(
        "<html><body><div id=css-1x9 class='css-1x9 a9'><i>5 €</i></div><i>6 €</i></body></html>"
    )
    assert speaking_selector(page, page.find(".//div")) == "div"
