"""What must hold for every page in a real browser, and what only a browser can show."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from articles.enrichment.models import Story
from articles.interest.models import Event
from articles.models import Article
from crawler.frontier.models import Crawl
from feeds.laboratory.experiments import advance
from feeds.laboratory.models import Experiment
from feeds.models import Feed, FeedImport, Retrieval, Tick
from recrawl.models import Change, Site
from recrawl.models import WatchedPage as SitePage
from tests.browser.conftest import Visitor

PAGES = (
    "/",
    "/feeds/",
    "/feeds/?q=nothing+is+called+so",
    "busy feed",
    "training feed",
    "failing feed",
    "/feeds/visits/?hours=24",
    "/articles/?q=ferry",
    "an article",
    "/tools/",
    "/tools/health/",
    "/tools/health/details/",
    "/crawls/",
    "a crawl",
    "a crawl's strategies",
    "a crawl's URLs",
    "/sites/",
    "/sites/?show=all",
    "/sites/watched/",
    "/sites/add/",
    "/sites/add/?url=https://courier.example/&part=css:main",
    "/sites/import/",
    "/sites/pick/?url=http://10.0.0.1/",
    "/sites/pick/?url=http://10.0.0.1/&for=list",
    "/newsletters/",
    "/add/rules/?url=http://10.0.0.1/&entry=li",
    "/sites/report/",
    "a site",
    "a site's pages",
    "a site's changes",
    "a site's visit",
    "a page of a site",
    "a change",
    "a change side by side",
    "a change in one text",
    "versions of a page",
    "/pipeline/",
    "/pipeline/documents/",
    "/pipeline/links/?dry=1",
    "/pipeline/stylesheets/",
    "/graph/",
    "/graph/?q=harbour",
    "/graph/query/?example=authors",
    "/tools/kept/?days=30",
    "/feeds/opinions/",
    "/graph/questions/",
    "/graph/questions/authors/",
    "/about/person/Ines Vold/",
    "/about/topic/harbour/",
    "/about/organisation/Harbour Board/",
    "/graph/entity/?iri=https://courier.example/graph/1",
    "/lab/",
    "/lab/full/",
    "an experiment",
    "/read/",
    "/read/?show=starred",
    "/read/?show=saved",
    "/read/?order=interest",
    "an article in the reader",
    "/me/following/",
    "/me/personal/",
    "/me/?order=interest",
    "/settings/apps/",
    "/settings/data/",
    "/me/interest/",
    "/me/interest/log/",
    "why an article",
    "/highlights/",
    "/edits/",
    "/edits/?sources=1",
    "/articles/enrichment/",
    "/articles/stories/",
    "a story",
    "/api/docs/",
    "/nowhere/",
    "/add/",
    "/add/?url=http://10.0.0.1/",
    "an import",
    "/feeds/?health=look",
    "a feed's row as a form",
    "/search/",
    "/search/?q=harbour",
    "/me/notifications/",
    "/me/notifications/new/",
    "/me/notifications/targets/new/",
    "/me/notifications/log/",
)
TOOLS = (
    "/tools/", "/crawls/", "/pipeline/", "/graph/", "/lab/", "/api/docs/", "/feeds/visits/",
    "/feeds/opinions/", "/articles/enrichment/", "/me/interest/log/", "why an article",
    "a crawl", "an experiment",
)  # fmt: skip
PRIVATE_WORDS = re.compile(
    r"\b(?:ticks?|toe|terminals?|leases?|floors?|min-gap|gates?|divisions?|dead letters?|log odds|errno"
    r"|training|retrievals?|retrieved|polic(?:y|ies))\b",
    re.IGNORECASE,
)
"""Words of the code and the papers, which readers meet only behind details and in Tools."""
SLIPS = re.compile(
    r"(?<![\d.,])1 (?:pages|articles|feeds|sites|days|hours|minutes|visits|changes|requests|versions|lines)\b"
    r"|Starred, \d|\bNone\b(?= of \d)|&(?:amp|lt|gt|quot);|</?[a-z]+>"
)
"""What no sentence has: one of several, a word of Python, markup."""
AXE = Axe()
COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of axe that a change of colours alone can break."""


def path_of(name: str) -> str:  # noqa: PLR0911 - a table of exceptions
    """The path of a page that is named by what it shows."""
    if name in {"an article", "an article in the reader", "a story", "why an article"}:
        return _of_articles(name)
    if name.startswith("a crawl"):
        address = Crawl.objects.latest("id").get_absolute_url()
        return address + {"a crawl's strategies": "strategies/", "a crawl's URLs": "urls/"}.get(name, "")
    if "site" in name and not name.startswith("/"):
        site = Site.objects.get(state="watched")
        page = SitePage.objects.filter(changes__gt=0).earliest("id")
        parts = {"a site's pages": "pages/", "a site's changes": "changes/", "a site's visit": "visits/2/"}
        return page.get_absolute_url() if "page of" in name else site.get_absolute_url() + parts.get(name, "")
    if name == "an import":
        return FeedImport.objects.latest("pk").get_absolute_url()
    if name == "a feed's row as a form":
        return f"/feeds/?edit={Feed.objects.earliest('pk').pk}"
    if name.startswith("a change"):
        row = Change.objects.latest("id")
        if "side" in name:
            return f"/sites/{row.site_id}/changes/{row.pk}/?view=side"
        return row.get_absolute_url() + ("?as=one" if "one text" in name else "")
    if name == "versions of a page":
        row = Change.objects.latest("id")
        return f"/sites/{row.site_id}/pages/{row.page_id}/versions/"
    if name == "an experiment":
        return f"{Experiment.objects.get(finished__isnull=False).get_absolute_url()}?delay=120"
    titles = {
        "busy feed": "The Harbour Courier",
        "training feed": "Gazette du Fleuve",
        "failing feed": "Marsh Observer",
    }
    return Feed.objects.get(title=titles[name]).get_absolute_url() if name in titles else name


def _of_articles(name: str) -> str:
    if name == "a story":
        return Story.objects.earliest("id").get_absolute_url()
    if name == "why an article":
        return f"/me/interest/why/{Event.objects.filter(kind='opened').latest('id').article_id}/"
    article = Article.objects.filter(page__isnull=False, enclosures=[]).earliest("id")
    return f"/read/{article.pk}/" if name == "an article in the reader" else article.get_absolute_url()


def barriers(page: Page, *rules: str) -> list[str]:
    """What axe finds, by all of its rules or by these: rule, and the elements that break it."""
    options = {"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {})
    found = AXE.run(page, options=options).response["violations"]
    return [f"{each['id']}: {[node['html'][:160] for node in each['nodes'][:4]]}" for each in found]


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_accessible_quiet_and_fits_a_phone(reader: Visitor, name: str) -> None:
    page = reader.goto(path_of(name))
    if not name.startswith(TOOLS):
        assert PRIVATE_WORDS.findall(page.locator("main").inner_text()) == []
    assert SLIPS.findall(page.locator("main").inner_text()) == []
    assert [
        words for words in page.locator("main label").all_inner_texts() if words.rstrip().endswith(":")
    ] == []
    assert barriers(page) == []
    page.emulate_media(color_scheme="dark")
    assert barriers(page, *COLOURS) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expected = [] if name != "/nowhere/" else ["404"]
    assert len(reader.complaints) == len(expected), reader.complaints


def test_the_sign_in_page_is_accessible(demo: str, transactional_db: None, page: Page) -> None:
    page.goto(f"{demo}/accounts/login/")
    assert barriers(page) == []


def test_the_theme_is_toggled_and_remembered(keeper: Visitor) -> None:
    page = keeper.goto("/tools/")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.locator(".foot .menu summary").click()
    toggle = page.get_by_role("button", name="Light or dark")
    toggle.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    toggle.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    dark = page.evaluate(background)
    assert dark != light
    keeper.goto("/feeds/")
    assert page.evaluate(background) == dark
    assert keeper.complaints == []


def test_the_first_key_leads_past_the_navigation(keeper: Visitor) -> None:
    page = keeper.goto("/articles/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_the_charts_are_drawn_and_told_as_tables(keeper: Visitor) -> None:
    page = keeper.goto(path_of("training feed"))
    expect(page.locator("figure canvas")).to_have_count(2)
    page.locator("summary", has_text="Details for experts").click()
    expect(page.locator("figure canvas").first).to_be_visible()
    page.wait_for_function("document.querySelector('figure canvas').getBoundingClientRect().width > 300")
    page.locator("figure[data-chart]").first.get_by_text("The numbers as a table").click()
    numbers = page.locator("figure[data-chart]").first.locator("details tbody tr")
    expect(numbers).to_have_count(Retrieval.objects.filter(feed__title="Gazette du Fleuve").count())
    assert keeper.complaints == []


def test_the_overview_renews_itself(keeper: Visitor) -> None:
    keeper.page.clock.install()
    page = keeper.goto("/tools/")
    expect(page.locator("#tiles")).to_contain_text("All is well.")
    Tick.objects.all().delete()
    page.clock.fast_forward(11_000)
    expect(page.locator("#tiles")).to_contain_text("Freshet is starting.")
    expect(page.locator("#all-figures")).to_contain_text("no tick has finished yet")


def test_an_experiment_is_started_and_followed_to_its_end(keeper: Visitor) -> None:
    page = keeper.goto("/lab/full/")
    for name in ("full-information", "newsblur", "nutch-adaptive", "min-delay", "freshness", "commafeed"):
        page.get_by_label(name, exact=True).uncheck()
    page.get_by_label("Curve of delay by budget").uncheck()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("status")).to_contain_text("0 of 4 replays done, next round-robin")
    assert barriers(page) == []
    experiment = Experiment.objects.latest("id")
    advance(experiment.pk)
    expect(page.get_by_role("status")).to_contain_text("1 of 4 replays done")
    expect(page.locator("svg.plot")).to_have_count(3)
    while advance(experiment.pk):
        pass
    expect(page.get_by_role("progressbar")).to_have_count(0)
    expect(page.locator("#results tbody tr").first).to_contain_text("round-robin")
    assert keeper.complaints == []
    experiment.delete()


def test_the_log_turns_its_pages_in_place(keeper: Visitor) -> None:
    page = keeper.goto(path_of("busy feed"))
    page.get_by_text("Details for experts").click()
    page.get_by_role("link", name="next →").click()
    expect(page.locator("#log")).to_contain_text("page 2 of")
    assert page.url.endswith("?page=2")
    page.reload()
    expect(page.locator("#log")).to_be_visible()
    assert keeper.complaints == []
