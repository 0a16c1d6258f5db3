"""Saved pages, highlights and versions in a browser: by mouse, by touch, by keyboard, without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, Page, expect

from articles.edits.history import Sighting, Text, edit_between, record
from articles.edits.models import ArticleVersion
from articles.models import Article, Subscriber
from articles.models import Page as StoredPage
from articles.saved.highlighting import make_highlight
from articles.saved.models import Highlight, SavedImport, SavedPage
from articles.saved.saving import PageToSave, remove_saved, save_page
from feeds.models import Feed
from tests.browser.conftest import Visitor, signed_in
from tests.browser.test_pages import COLOURS, barriers

SCROLL_WIDTH = "document.documentElement.scrollWidth"
FOUND = "A pupil looking for a bicycle found nineteen lamps under a sail."
LIT = "Today the lamps burn again, on Tuesdays, and are lit by hand."
SPRING = "Whether the lamps stay is to be decided in spring."
PARAGRAPHS = (
    "For eleven winters the east pier was dark. The old lamps had been taken down when the boats moved out.",
    f"They came back by accident. {FOUND} The list that belongs to the numbers had been in the archive.",
    f"{LIT} It takes two people forty minutes, because somebody walks the whole pier and looks at it.",
    "Three broken bollards were reported that way in the first month, and one seal.",
    f"{SPRING} The electricity they save is small; the repairs they cost are smaller.",
)
URL = "https://harbour-archive.example/lamps"
SIZES = ((1280, 900), (390, 844))
WIDTHS = (390, 820, 1280, 1920)


@dataclass
class Kept:
    """A saved page with two highlights, each with a note, and an article with three versions."""

    subscriber: Subscriber
    article: Article
    edited: Article
    import_: SavedImport

    def path(self, name: str) -> str:
        """The path of a page that is named by what it shows."""
        return {
            "a saved page": f"/read/{self.article.pk}/?show=saved",
            "by sentence": f"/read/{self.article.pk}/?mark=1",
            "versions": f"/read/{self.edited.pk}/versions/",
            "an import": f"/saved/imports/{self.import_.pk}/",
        }.get(name, name)


@pytest.fixture
def kept(transactional_db: None) -> Iterator[Kept]:
    """Rows for these tests, and none of them afterwards."""
    subscriber, now = Subscriber.objects.get(user__username="keeper"), datetime.now(UTC)
    article = saved(subscriber, URL, "The harbour gets its light back", PARAGRAPHS)
    saved(subscriber, "https://coastpilot.example/tides", "What a tide table leaves out", PARAGRAPHS[:1])
    make_highlight(subscriber, article, FOUND, note="Ask the archive for the list.", tags=["lamps"])
    make_highlight(subscriber, article, LIT, color="g", note="Good sentence for the newsletter.")
    followed = Article.objects.filter(feed__subscriptions__subscriber=subscriber)
    edited = followed.exclude(text="").earliest("pk")
    versions = [
        Text("Ferry line drops its winter boats", f"The line laid up 12 boats.\n{PARAGRAPHS[3]}"),
        Text("Ferry line drops its winter boats", f"The line laid up 21 boats.\n{PARAGRAPHS[3]}"),
        Text("Ferry line keeps its winter boats", f"The line laid up 21 boats.\n{PARAGRAPHS[3]}\n{SPRING}"),
    ]
    for hours, (old, new) in zip((4, 1), pairwise(versions), strict=True):
        edit = edit_between(old, new)
        assert edit is not None
        seen = Sighting(edit, "feed", now - timedelta(hours=6), now - timedelta(hours=hours))
        record(edited.pk, old, new, seen)
    import_ = SavedImport.objects.create(
        subscriber=subscriber, name="pocket.csv", program="Pocket", total=3, position=3, known=1,
        problems=[{"line": 4, "text": "mailto:x", "why": "This is no address of a page."}], problem_count=1,
    )  # fmt: skip
    failed = save_page(subscriber, PageToSave("https://gone.example/", title="A lamp that is gone"), now).page
    SavedPage.objects.filter(pk=failed.pk).update(source=import_)
    StoredPage.objects.filter(pk=failed.article.page_id).update(status="failed", failure="gone")
    yield Kept(subscriber, article, edited, import_)
    Highlight.objects.all().delete()
    ArticleVersion.objects.all().delete()
    SavedImport.objects.all().delete()
    remove_saved(subscriber, list(SavedPage.objects.values_list("article_id", flat=True)))
    Feed.with_removed.filter(kind="saved").delete()


def saved(subscriber: Subscriber, url: str, title: str, paragraphs: tuple[str, ...]) -> Article:
    """A saved page whose text has come."""
    now = datetime.now(UTC)
    article = save_page(subscriber, PageToSave(url, title=title), now).page.article
    text, content = "\n".join(paragraphs), "\n".join(f"<p>{words}</p>" for words in paragraphs)
    StoredPage.objects.filter(pk=article.page_id).update(
        status="stored", text=text, content=content, fetched=now
    )
    Article.objects.filter(pk=article.pk).update(text=text, text_length=len(text), language="en")
    return Article.objects.select_related("page").get(pk=article.pk)


def select(page: Page, words: str) -> None:
    """Choose words of the article by script, as a finger that holds and drags does."""
    page.evaluate(
        """words => {
          const walker = document.createTreeWalker(document.querySelector("#prose"), NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const at = walker.currentNode.data.indexOf(words);
            if (at < 0) continue;
            walker.currentNode.parentElement.scrollIntoView({ block: "center" });
            getSelection().setBaseAndExtent(walker.currentNode, at, walker.currentNode, at + words.length);
            return;
          }
        }""",
        words,
    )


def drag(page: Page, words: str) -> None:
    """Choose words of the article by mouse."""
    start, end = page.evaluate(
        """words => {
          const walker = document.createTreeWalker(document.querySelector("#prose"), NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const at = walker.currentNode.data.indexOf(words);
            if (at < 0) continue;
            const range = document.createRange();
            walker.currentNode.parentElement.scrollIntoView({ block: "center" });
            range.setStart(walker.currentNode, at);
            range.setEnd(walker.currentNode, at + words.length);
            const boxes = [...range.getClientRects()], first = boxes[0], last = boxes.at(-1);
            return [[first.left, first.top + first.height / 2], [last.right, last.top + last.height / 2]];
          }
        }""",
        words,
    )
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=8)
    page.mouse.up()


def stands_near_the_words(page: Page) -> bool:
    """Whether the toolbar is on the screen, beside the chosen words and not on them."""
    return bool(
        page.evaluate(
            """() => {
              const bar = document.querySelector("#hlbar").getBoundingClientRect();
              const words = getSelection().getRangeAt(0).getBoundingClientRect();
              const gap = Math.max(words.top - bar.bottom, bar.top - words.bottom);
              const inside = bar.left >= 0 && bar.top >= 0 && bar.right <= innerWidth
                && bar.bottom <= innerHeight;
              return inside && gap >= 0 && gap < 60;
            }"""
        )
    )


@pytest.mark.parametrize(
    "name",
    [
        "/read/?show=saved", "/read/?show=saved&only=notes", "/read/?show=saved&url=https://new.example/",
        "a saved page", "by sentence", "/highlights/", "/highlights/?q=nothing", "versions", "/edits/",
        "/edits/?kind=headline", "/edits/?kind=gone&all=1", "/edits/?sources=1", "an import",
        "/settings/data/",
    ],
)  # fmt: skip
def test_each_page_is_accessible_quiet_and_fits(keeper: Visitor, kept: Kept, name: str) -> None:
    page = keeper.goto(kept.path(name))
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="light")
        page.reload()
        assert barriers(page) == []
        page.emulate_media(color_scheme="dark")
        assert barriers(page, *COLOURS) == []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(SCROLL_WIDTH) <= width
    assert keeper.complaints == []


@pytest.mark.parametrize("size", SIZES)
def test_a_page_is_saved_by_the_field(keeper: Visitor, kept: Kept, size: tuple[int, int]) -> None:
    page = keeper.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    keeper.goto("/read/?show=saved")
    page.get_by_label("Address of any page").fill("board-minutes.example/october")
    page.keyboard.press("Enter")
    expect(page.locator("#toast")).to_contain_text("Saved.")
    expect(page.locator(".list .item").first).to_contain_text("board-minutes.example")
    expect(page.locator(".list .item").first).to_contain_text("its text is on the way")
    page.get_by_label("Address of any page").fill("no address")
    page.keyboard.press("Enter")
    expect(page.locator("#toast")).to_contain_text("This is no address of a page.")
    expect(page.get_by_label("Address of any page")).to_have_value("no address")
    assert keeper.complaints == []


def test_a_given_address_is_saved_with_enter(keeper: Visitor, kept: Kept) -> None:
    page = keeper.goto("/saved/?url=https://board-minutes.example/may")
    assert not SavedPage.objects.filter(article__url__contains="may").exists()
    expect(page.get_by_label("Address of any page")).to_have_value("https://board-minutes.example/may")
    page.keyboard.press("Enter")
    expect(page.locator("#toast")).to_contain_text("Saved.")
    assert SavedPage.objects.filter(article__url__contains="may").exists()


def test_chips_choose_of_the_saved_pages(keeper: Visitor, kept: Kept) -> None:
    page = keeper.goto("/read/?show=saved")
    chips = page.locator(".savechips")
    expect(page.locator(".list .item")).to_have_count(3)
    for name, count in (("With notes", 1), ("Important", 1), ("To cite", 1), ("Unread", 3), ("All", 3)):
        chips.get_by_role("link", name=re.compile(name)).click()
        expect(chips.locator("[aria-current]")).to_contain_text(name)
        expect(page.locator(".list .item")).to_have_count(count)
    lamps = page.locator(".list .item", has_text="The harbour gets its light back")
    expect(lamps).to_contain_text("2 highlights, 2 notes")
    lamps.locator(".t").click()
    expect(page.locator(".reader mark")).to_have_count(2)
    expect(lamps).to_contain_text("2 highlights, 2 notes")
    assert keeper.complaints == []


def test_notes_stand_in_the_margin_where_there_is_room(keeper: Visitor, kept: Kept) -> None:
    page = keeper.page
    boxes = "query => document.querySelector(query).getBoundingClientRect().toJSON()"
    for width, beside in ((1920, True), (390, False)):
        page.set_viewport_size({"width": width, "height": 900})
        keeper.goto(kept.path("a saved page"))
        expect(page.locator(".margin")).to_have_count(2)
        mark, note = page.evaluate(boxes, "mark.y"), page.evaluate(boxes, ".margin.y")
        assert (note["left"] > mark["right"]) is beside
        assert (note["top"] >= mark["bottom"]) is not beside
    assert keeper.complaints == []


def test_words_are_highlighted_by_mouse(keeper: Visitor, kept: Kept) -> None:
    page = keeper.goto("/read/?show=saved")
    page.locator(".list .item .t", has_text="harbour gets its light").click()
    expect(page.locator(".reader mark")).to_have_count(2)
    expect(page.locator("#hlbar")).to_be_hidden()
    for color, words in (("To cite (2)", "Three broken bollards"), ("Question (3)", SPRING)):
        drag(page, words)
        expect(page.locator("#hlbar")).to_be_visible()
        assert stands_near_the_words(page)
        assert barriers(page) == []
        before = page.locator("#reader").evaluate("reader => reader.scrollTop")
        page.get_by_role("button", name=color).click()
        expect(page.locator("mark", has_text=words)).to_be_visible()
        expect(page.locator("#hlbar")).to_be_hidden()
        assert abs(page.locator("#reader").evaluate("reader => reader.scrollTop") - before) < 30
    expect(page.locator(".endnote .lines details")).to_have_count(4)
    assert set(Highlight.objects.values_list("color", flat=True)) == {"y", "g", "b"}
    assert keeper.complaints == []


def test_words_beside_a_note_and_a_mark_are_highlighted(keeper: Visitor, kept: Kept) -> None:
    page = keeper.goto(kept.path("a saved page"))
    drag(page, "They came back by accident.")
    expect(page.locator("#hlbar")).to_be_visible()
    page.evaluate(
        """() => {
          const [, from, to] = document.querySelectorAll("#prose > p");
          getSelection().setBaseAndExtent(from, 0, to, to.childNodes.length);
        }"""
    )
    expect(page.locator("#hlbar")).to_be_visible()
    page.keyboard.press("4")
    expect(page.locator("mark.r").first).to_be_visible()
    quote = Highlight.objects.get(color="r").quote
    assert quote.startswith("They came back")
    assert "Ask the archive for the list." not in quote
    assert keeper.complaints == []


def test_words_are_highlighted_by_touch(demo: str, browser: Browser, kept: Kept) -> None:
    with signed_in(demo, browser) as context:
        state = context.storage_state()
    context = browser.new_context(
        has_touch=True, is_mobile=True, storage_state=state, viewport={"width": 390, "height": 844},
        reduced_motion="reduce", color_scheme="dark",
    )  # fmt: skip
    visitor = Visitor(context.new_page(), demo)
    visitor.listen()
    page = visitor.goto(kept.path("a saved page"))
    select(page, "Three broken bollards")
    expect(page.locator("#hlbar")).to_be_visible()
    assert stands_near_the_words(page)
    page.get_by_role("button", name="Doubt (4)").tap()
    expect(page.locator("mark.r", has_text="Three broken bollards")).to_be_visible()
    expect(page.locator("#hlbar")).to_be_hidden()
    select(page, SPRING)
    page.get_by_role("button", name="Highlight with a note (n)").tap()
    page.locator("#hlnote textarea").fill("When?")
    assert barriers(page) == []
    page.locator("#hlnote").get_by_role("button", name="Save").tap()
    expect(page.locator(".margin", has_text="When?")).to_be_visible()
    assert page.evaluate(SCROLL_WIDTH) <= 390
    assert visitor.complaints == []
    context.close()


def test_sentences_are_highlighted_by_keyboard(keeper: Visitor, kept: Kept) -> None:
    page = keeper.goto(kept.path("a saved page"))
    chosen = "getSelection().toString()"
    page.keyboard.press("h")
    assert page.evaluate(chosen) == "For eleven winters the east pier was dark."
    page.keyboard.press("h")
    assert page.evaluate(chosen) == "The old lamps had been taken down when the boats moved out."
    expect(page.locator("#hlbar")).to_be_visible()
    page.keyboard.press("Shift+ArrowDown")
    assert page.evaluate(chosen).split() == [*PARAGRAPHS[0].split()[8:], *PARAGRAPHS[1].split()[:5]]
    page.keyboard.press("Escape")
    expect(page.locator("#hlbar")).to_be_hidden()
    assert page.evaluate(chosen) == ""
    expect(page.locator(".art h1")).to_be_visible()
    page.keyboard.press("h")
    sentence = page.evaluate(chosen)
    page.keyboard.press("2")
    expect(page.locator("mark.g", has_text=sentence)).to_be_visible()
    page.keyboard.press("h")
    words = page.evaluate(chosen)
    page.keyboard.press("n")
    expect(page.locator("#hlnote blockquote")).to_have_text(words)
    expect(page.locator("#hlnote textarea")).to_be_focused()
    page.keyboard.type("not this")
    page.keyboard.press("Escape")
    expect(page.locator("#hlnote")).to_be_hidden()
    assert not Highlight.objects.filter(quote=words).exists()
    page.keyboard.press("h")
    words = page.evaluate(chosen)
    page.keyboard.press("n")
    expect(page.locator("#hlnote textarea")).to_have_value("")
    page.keyboard.type("A note.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".margin", has_text="A note.")).to_be_visible()
    assert Highlight.objects.get(quote=words).note == "A note."
    assert keeper.complaints == []


def test_it_saves_and_highlights_without_scripts(demo: str, browser: Browser, kept: Kept) -> None:
    with signed_in(demo, browser) as context:
        state = context.storage_state()
    context = browser.new_context(
        java_script_enabled=False, storage_state=state, viewport={"width": 390, "height": 844}
    )
    page = context.new_page()
    page.goto(f"{demo}/read/?show=saved")
    page.get_by_label("Address of any page").fill("https://board-minutes.example/june")
    page.locator(".saveline button").click()
    assert "board-minutes.example" in page.locator(".list .item").first.inner_text()
    page.goto(f"{demo}/read/{kept.article.pk}/")
    page.locator('summary[aria-label="Share and more"]').click()
    page.get_by_role("link", name="Highlight words").click()
    page.get_by_label(SPRING).check()
    page.locator("#prose").get_by_label("Question").check()
    page.locator("#hl-note").fill("When?")
    page.get_by_role("button", name="Highlight", exact=True).click()
    assert page.locator("mark.b").inner_text() == SPRING
    assert page.locator(".margin.b p").first.inner_text() == "When?"
    page.locator(".endnote summary", has_text=SPRING).click()
    form = page.locator(".endnote .lines li", has_text=SPRING)
    form.get_by_role("button", name="Remove the highlight").click()
    assert page.locator("mark.b").count() == 0
    context.close()


def test_a_highlight_is_changed_and_removed(keeper: Visitor, kept: Kept) -> None:
    page = keeper.goto(kept.path("a saved page"))
    row = page.locator(".endnote .lines li", has_text="A pupil looking")
    row.locator("summary").click()
    row.get_by_label("Note").fill("Is number 7 the one of 1931?")
    row.get_by_label("Tags, with commas between them").fill("lamps, archive")
    row.get_by_label("Doubt").check()
    assert barriers(page) == []
    row.get_by_role("button", name="Save").click()
    expect(page.locator(".margin.r")).to_contain_text("Is number 7 the one of 1931?")
    assert Highlight.objects.get(color="r").tags == ["archive", "lamps"]
    row.locator("summary").click()
    row.get_by_role("button", name="Remove the highlight").click()
    expect(page.locator("mark.r")).to_have_count(0)
    expect(page.locator("#toast")).to_contain_text("The highlight is removed.")
    assert keeper.complaints == []


def test_a_highlight_that_no_longer_fits_says_so(keeper: Visitor, kept: Kept) -> None:
    StoredPage.objects.filter(pk=kept.article.page_id).update(content=f"<p>{LIT}</p>", text=LIT)
    Article.objects.filter(pk=kept.article.pk).update(text=LIT)
    page = keeper.goto(kept.path("a saved page"))
    expect(page.locator("mark")).to_have_count(1)
    row = page.locator(".endnote .lines li", has_text="A pupil looking")
    expect(row).to_contain_text("no longer in the text")
    row.locator("summary").click()
    expect(row.locator("blockquote")).to_have_text(FOUND)
    assert barriers(page) == []


def test_all_highlights_are_filtered_and_taken_along(keeper: Visitor, kept: Kept) -> None:
    page = keeper.goto("/highlights/")
    rows = page.locator("main article")
    expect(rows).to_have_count(2)
    page.get_by_label("What it is").select_option("To cite")
    page.get_by_role("button", name="Show").click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(LIT)
    page.get_by_label("What it is").select_option("")
    page.get_by_label("Tag", exact=True).select_option("lamps")
    page.get_by_role("button", name="Show").click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(FOUND)
    page.locator('summary[aria-label="Take the highlights along"]').click()
    with page.expect_download() as file:
        page.get_by_role("link", name="As Markdown").click()
    words = file.value.path().read_text(encoding="utf-8")
    assert FOUND in words
    assert LIT not in words
    assert keeper.complaints == []


def test_two_versions_are_compared_word_by_word(keeper: Visitor, kept: Kept) -> None:
    page = keeper.goto(kept.path("versions"))
    expect(page.locator(".versions li")).to_have_count(3)
    expect(page.locator("h1 del")).to_have_text("drops")
    expect(page.locator("h1 ins")).to_have_text("keeps")
    expect(page.locator(".words ins")).to_have_text(SPRING)
    page.locator("#va").select_option(index=2)
    page.locator("#vb").select_option(index=1)
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".words del")).to_have_text("12")
    expect(page.locator(".words ins")).to_have_text("21")
    expect(page.locator("h1 ins")).to_have_count(0)
    expect(page.locator(".versions [aria-current]")).to_contain_text("12 became 21")
    keeper.goto(f"/read/{kept.edited.pk}/")
    page.get_by_role("link", name="changed twice since it was published").click()
    expect(page.locator(".versions li")).to_have_count(3)
    assert keeper.complaints == []


def test_edits_are_chosen_by_what_was_edited(keeper: Visitor, kept: Kept) -> None:
    page = keeper.goto("/edits/")
    lines = page.locator("main .lines li")
    expect(lines).to_have_count(2)
    page.set_viewport_size({"width": 390, "height": 844})
    assert lines.first.evaluate("line => line.getBoundingClientRect().height") < 100
    page.set_viewport_size({"width": 1280, "height": 900})
    for name, count in (("Headline", 1), ("A number", 1), ("Taken back", 0), ("All edits", 2)):
        page.locator(".chips").get_by_role("link", name=name).click()
        expect(page.locator(".chips [aria-current]")).to_have_text(name)
        expect(lines).to_have_count(count)
    page.get_by_role("link", name="In all feeds").click()
    expect(page.locator(".chips [aria-current]")).to_have_count(2)
    page.get_by_role("link", name="By source").click()
    expect(page.locator("main table tbody tr")).to_have_count(1)
    assert keeper.complaints == []


def test_an_import_tells_what_could_not_be_read(keeper: Visitor, kept: Kept) -> None:
    page = keeper.goto("/settings/data/")
    page.get_by_role("link", name="pocket.csv").click()
    expect(page.get_by_role("link", name="A lamp that is gone")).to_be_visible()
    expect(page.locator("#saved-import")).to_contain_text("This is no address of a page.")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("[role=status]").first).to_contain_text("Freshet asks for 1 page again.")
    assert keeper.complaints == []
