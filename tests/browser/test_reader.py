"""The reader by keyboard, by touch, and without scripts."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Browser, Page, expect

from articles.models import Article, Mark, Subscriber
from articles.reader.counts import unread_counts
from tests.browser.conftest import Visitor, signed_in


@pytest.fixture
def unread(transactional_db: None) -> int:
    """Make everything unread, and return the number of unread articles."""
    Mark.objects.all().delete()
    return unread_counts(Subscriber.objects.get(user__username="keeper")).total


def total_of(page: Page) -> int:
    return int(page.locator("#count-all").get_attribute("data-total") or 0)


def test_articles_are_read_with_one_key(keeper: Visitor, unread: int) -> None:
    page = keeper.goto("/read/")
    first = page.locator(".item .t bdi").first.inner_text()
    page.keyboard.press("j")
    expect(page.locator(".art h1")).to_have_text(first)
    expect(page.locator("#count-all")).to_have_attribute("data-total", str(unread - 1))
    for number in range(2, 7):
        title = page.locator(".item .t bdi").nth(number - 1).inner_text()
        page.keyboard.press("j")
        expect(page.locator(".art h1")).to_have_text(title)
        expect(page.locator("#count-all")).to_have_attribute("data-total", str(unread - number))
    assert page.locator(".item[aria-current]").count() == 1
    page.keyboard.press("k")
    expect(page.locator(".art h1")).to_have_text(page.locator(".item .t bdi").nth(4).inner_text())
    page.go_back()
    assert "/read/" in page.url
    assert keeper.complaints == []


def test_marks_by_key_change_the_row_the_article_and_the_counts(keeper: Visitor, unread: int) -> None:
    page = keeper.goto("/read/")
    page.keyboard.press("j")
    expect(page.locator("#count-all")).to_have_attribute("data-total", str(unread - 1))
    page.keyboard.press("s")
    expect(page.locator(".item[aria-current] .acts .star")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".reader .bar .star")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("m")
    expect(page.locator("#count-all")).to_have_attribute("data-total", str(unread))
    assert Mark.objects.filter(starred__isnull=False, read__isnull=True).count() == 1
    assert keeper.complaints == []


def test_all_are_marked_as_read_and_undone(keeper: Visitor, unread: int) -> None:
    page = keeper.goto("/read/")
    page.keyboard.press("Shift+A")
    expect(page.locator("#toast")).to_contain_text("marked as read.")
    expect(page.locator(".list .empty")).to_contain_text("All read.")
    page.locator("#toast button").click()
    expect(page.locator("#toast")).to_contain_text("unread again.")
    expect(page.locator("#count-all")).to_have_attribute("data-total", str(unread))
    assert keeper.complaints == []


def test_fourteen_headlines_stand_on_a_screen(keeper: Visitor, unread: int) -> None:
    page = keeper.goto("/read/")
    bottoms = page.locator(".item").evaluate_all(
        "rows => rows.map(row => row.getBoundingClientRect().bottom)"
    )
    assert sum(bottom <= 900 for bottom in bottoms) >= 14


def test_looks_are_remembered_by_the_server(keeper: Visitor, unread: int) -> None:
    page = keeper.goto("/read/")
    page.locator(".foot .menu summary").click()
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    assert 'data-theme="light"' in page.request.get(page.url).text()
    page.locator(".tree details summary").first.click()
    page.wait_for_function("document.cookie.includes('freshet-folded')")
    page.reload()
    expect(page.locator(".tree details").first).not_to_have_attribute("open", "")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()


def test_nothing_moves_when_an_article_opens(keeper: Visitor, unread: int) -> None:
    page = keeper.goto("/read/")
    page.evaluate(
        "window.shift = 0; new PerformanceObserver(list => { for (const entry of list.getEntries()) "
        "if (!entry.hadRecentInput) window.shift += entry.value; })"
        ".observe({type: 'layout-shift', buffered: true})"
    )
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.shift") == 0


def test_a_phone_shows_one_pane_at_a_time(keeper: Visitor, unread: int) -> None:
    page = keeper.page
    page.set_viewport_size({"width": 390, "height": 844})
    keeper.goto("/read/")
    expect(page.locator(".reader")).to_be_hidden()
    page.locator('[data-do="drawer"]').click()
    expect(page.locator("#drawer")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator(".item .t").first.click()
    expect(page.locator(".art h1")).to_be_visible()
    expect(page.locator(".list")).to_be_hidden()
    expect(page.locator(".thumbbar")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.go_back()
    expect(page.locator(".list")).to_be_visible()


def test_it_reads_and_marks_without_scripts(demo: str, browser: Browser, unread: int) -> None:
    with signed_in(demo, browser) as context:
        state = context.storage_state()
    context = browser.new_context(
        java_script_enabled=False, storage_state=state, viewport={"width": 1280, "height": 900}
    )
    page = context.new_page()
    page.goto(f"{demo}/read/")
    title = page.locator(".item .t bdi").first.inner_text()
    page.locator(".item .t").first.click()
    assert page.locator(".art h1").inner_text() == title
    assert total_of(page) == unread - 1
    page.locator(".reader .bar .star").click()
    assert Mark.objects.filter(starred__isnull=False).count() == 1
    page.locator("#mark-all").click()
    assert "marked as read" in page.locator("#toast").inner_text()
    page.locator("#toast button").click()
    assert "unread again" in page.locator("#toast").inner_text()
    context.close()


def test_a_story_opens_below_its_row_and_closes_again(keeper: Visitor, unread: int) -> None:
    page = keeper.goto("/read/?show=all")
    more = page.locator(".item .also").first
    more.click()
    expect(page.locator(".story-in-place li")).not_to_have_count(0)
    more.click()
    expect(page.locator(".story-in-place")).to_have_count(0)
    assert keeper.complaints == []


def test_all_above_the_chosen_article_are_marked(keeper: Visitor, unread: int) -> None:
    page = keeper.goto("/read/")
    for _ in range(4):
        page.keyboard.press("n")
    page.keyboard.press("Shift+U")
    expect(page.locator("#toast")).to_contain_text("3 articles marked as read")
    page.locator("#toast button").click()
    expect(page.locator("#count-all")).to_have_attribute("data-total", str(unread))


def test_a_film_plays_only_after_a_click(keeper: Visitor, unread: int) -> None:
    asked: list[str] = []
    keeper.page.on("request", lambda request: asked.append(request.url))
    keeper.page.route("https://**", lambda route: route.fulfill(body="film", content_type="text/html"))
    article = Article.objects.exclude(content="").first()
    assert article is not None
    film = '<p><a class="embed" href="https://www.youtube.com/watch?v=abcdefghijk">A film</a></p>'
    Article.objects.filter(pk=article.pk).update(content=film * 2 + article.content)
    page = keeper.goto(f"/read/{article.pk}/?text=feed")
    buttons = page.get_by_role("button", name="Play here (from YouTube)")
    expect(buttons).to_have_count(2)
    assert not [url for url in asked if not url.startswith(keeper.address)]
    buttons.first.click()
    expect(page.locator("iframe.film")).to_have_attribute(
        "src", "https://www.youtube-nocookie.com/embed/abcdefghijk?autoplay=1"
    )
    expect(buttons).to_have_count(1)


def test_the_newest_articles_are_read_without_a_network_and_marked_later(
    keeper: Visitor, unread: int
) -> None:
    page = keeper.goto("/read/")
    kept = "async () => Boolean(navigator.serviceWorker.controller && await caches.match('/read/offline/'))"
    until = time.monotonic() + 20
    while not page.evaluate(kept) and time.monotonic() < until:
        page.wait_for_timeout(100)
    page.context.set_offline(True)
    page.goto(f"{keeper.address}/read/?show=all")
    expect(page.locator("h1")).to_have_text("Without a network")
    row = page.locator(".kept").first
    key = int(row.get_attribute("data-offline") or 0)
    row.locator("summary").click()
    row.get_by_role("button", name="Star").click()
    expect(row.locator(".prose")).to_be_visible()
    assert not Mark.objects.filter(article=key).exists()
    with page.expect_response("**/read/passed/"):
        page.context.set_offline(False)
    expect(page.locator("#toast")).to_contain_text("sent when the network is back")
    mark = Mark.objects.get(article=key)
    assert mark.read
    assert mark.starred
    assert page.evaluate("JSON.parse(localStorage.getItem('freshet.later')).articles") == []
