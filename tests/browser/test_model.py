"""A language model and searches by meaning in a browser: asked, answered, cancelled, failing, absent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from playwright.sync_api import Browser, Page, expect

from articles.enrichment.models import Story
from articles.meaning import searching
from articles.meaning.calls import ask_vectors
from articles.meaning.models import QuestionVector
from articles.meaning.vectors import TABLE, ensure_vectors, literal, store_vectors
from articles.modelled import chat
from articles.modelled.answering import answer_next
from articles.modelled.asking import ask_about
from articles.modelled.models import ModelTask
from articles.modelled.questions import ask_about_story, ask_archive, ask_brief
from articles.models import Article, Mark, Subscriber
from crawler.fetching.sandboxed import client as confined
from crawler.notices.models import Rule, Target
from tests.articles import embedding_server, model_server
from tests.articles.embedding_server import vector_of
from tests.articles.model_server import stream
from tests.browser.conftest import Visitor, signed_in
from tests.browser.fit import SIZES, sticks_out, too_small_for_thumbs
from tests.browser.test_pages import COLOURS, barriers
from tests.factories import make_article
from tests.servers import Reply, WebServer

PATH = model_server.PATH
SUMMARY = "Nineteen lamps were found under a sail, and the pier is lit again."
QUESTION = "Where were the nineteen lanterns of the pier found?"
ANSWER = (
    'The lanterns lay under a sail [1]. A pupil "looking for a bicycle" found them [1].\n\n'
    'They are lit by hand on Tuesdays [2]. The keeper calls it "the finest light on the whole coast" [2]. '
    "Nobody knows who took them down."
)
TEXTS = {
    "Nineteen lanterns under a sail": "For eleven winters the pier was dark. A pupil looking for a bicycle"
    " found nineteen lanterns under a sail. They are numbered, and two are missing.",
    "The pier is lit by hand": "The lanterns of the pier are lit by hand, on Tuesdays. It takes two people"
    " forty minutes, because somebody walks the whole pier and looks at it.",
}


@dataclass
class Lanterns:
    """A model that answers, and two articles that it can be asked about."""

    server: WebServer
    articles: list[Article]

    @property
    def path(self) -> str:
        """The path of the first article."""
        return f"/read/{self.articles[0].pk}/?show=all"


@pytest.fixture
def lanterns(transactional_db: None, settings: Any) -> Iterator[Lanterns]:
    """A deployment with a model, and nothing of it afterwards."""
    followed = Article.objects.filter(feed__subscriptions__subscriber__user__username="keeper")
    feed = followed.select_related("feed__host").latest("pk").feed
    articles = [
        make_article(feed, title=title, text=text, content=f"<p>{text}</p>", language="en")
        for title, text in TEXTS.items()
    ]
    with WebServer({PATH: stream(SUMMARY)}) as server:
        settings.MODEL_URL, settings.MODEL_NAME, settings.MODEL_KEY = server.origin, "tiny", ""
        settings.MODEL_SECONDS = 10
        yield Lanterns(server, articles)
    confined.programs.close()
    ModelTask.objects.all().delete()
    Article.objects.filter(pk__in=[article.pk for article in articles]).delete()


def answer_all() -> None:
    """Answer what was asked, as the process does that asks the model."""
    while answer_next(datetime.now(UTC)):
        pass


def choose(page: Page, name: str) -> None:
    """Choose an entry of the article's menu."""
    page.locator('summary[aria-label="Share and more"]').click()
    page.get_by_role("button", name=name, exact=True).click()


def ask(visitor: Visitor, question: str = QUESTION) -> Page:
    """Ask the archive a question, from the keyboard."""
    page = visitor.goto("/ask/")
    expect(page.get_by_label("Your question")).to_be_focused()
    page.keyboard.type(question)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/ask/\d+/"))
    return page


# --- About an article -------------------------------------------------------------------------------


def test_the_whole_menu_is_reached_on_a_phone(keeper: Visitor, lanterns: Lanterns) -> None:
    page = keeper.page
    for height in (844, 600):
        page.set_viewport_size({"width": 390, "height": height})
        keeper.goto(lanterns.path)
        page.locator('summary[aria-label="Share and more"]').click()
        for name in ("To cite it (BibTeX)", "Copy the link"):
            entry = page.locator(".pop :is(a, button)", has_text=name)
            entry.scroll_into_view_if_needed()
            expect(entry).to_be_in_viewport(ratio=1)
    assert barriers(page) == []
    assert too_small_for_thumbs(page, ".menu[open] .pop") == []


@pytest.mark.parametrize("size", SIZES)
def test_a_summary_and_a_translation_come_by_themselves(
    keeper: Visitor, lanterns: Lanterns, size: tuple[int, int]
) -> None:
    page = keeper.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    keeper.goto(lanterns.path)
    choose(page, "Summarise")
    box = page.locator(".modelled", has=page.get_by_role("heading", name="Summary"))
    expect(box).to_contain_text("It waits for its turn with tiny.")
    assert too_small_for_thumbs(page, ".modelled") == [] or size[0] > 390
    answer_all()
    expect(box).to_contain_text(SUMMARY)
    expect(box).to_contain_text("Made by tiny.")
    expect(box.get_by_role("button")).to_have_count(0)

    lanterns.server.replies[PATH] = stream("Neunzehn Laternen lagen unter einem Segel.")
    page.locator('summary[aria-label="Share and more"]').click()
    page.get_by_label("Language of the translation").select_option("de")
    page.get_by_role("button", name="Translate", exact=True).click()
    answer_all()
    box = page.locator(".modelled", has=page.get_by_role("heading", name="Translation: Deutsch"))
    expect(box).to_contain_text("Neunzehn Laternen")
    expect(box).to_contain_text("Made by tiny.")
    expect(box.locator(".answer")).to_have_attribute("lang", "de")
    page.reload()
    page.get_by_role("link", name="Translation: Deutsch").click()
    expect(box).to_be_in_viewport()
    assert keeper.complaints == []


def test_proposed_labels_are_set_by_a_click(keeper: Visitor, lanterns: Lanterns) -> None:
    lanterns.server.replies[PATH] = stream("lanterns, pier")
    page = keeper.goto(lanterns.path)
    choose(page, "Propose labels")
    answer_all()
    page.get_by_role("button", name="lanterns", exact=True).click()
    expect(page.locator("#labels")).to_contain_text("lanterns")
    assert Mark.objects.get(article=lanterns.articles[0]).labels == ["lanterns"]
    assert keeper.complaints == []


def test_a_question_is_cancelled(keeper: Visitor, lanterns: Lanterns) -> None:
    page = keeper.goto(lanterns.path)
    choose(page, "Summarise")
    cancel = page.locator(".modelled").get_by_role("button", name="Cancel")
    cancel.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".modelled")).to_contain_text("You cancelled it.")
    assert ModelTask.objects.get().state == ModelTask.State.CANCELLED
    page.reload()
    expect(page.locator(".modelled")).to_have_count(0)
    assert keeper.complaints == []


def test_a_model_that_fails_is_tried_again(keeper: Visitor, lanterns: Lanterns) -> None:
    lanterns.server.replies[PATH] = Reply(b"<h1>Router</h1>")
    page = keeper.goto(lanterns.path)
    choose(page, "Summarise")
    answer_all()
    expect(page.locator(".modelled")).to_contain_text(chat.NONSENSE)
    assert barriers(page) == []
    lanterns.server.replies[PATH] = stream(SUMMARY)
    page.get_by_role("button", name="Try again").click()
    answer_all()
    expect(page.locator(".modelled")).to_contain_text(SUMMARY)
    assert keeper.complaints == []


def test_an_article_is_summarised_without_scripts(demo: str, browser: Browser, lanterns: Lanterns) -> None:
    with signed_in(demo, browser) as context:
        state = context.storage_state()
    context = browser.new_context(
        java_script_enabled=False, storage_state=state, viewport={"width": 390, "height": 844}
    )
    page = context.new_page()
    page.goto(demo + lanterns.path)
    choose(page, "Summarise")
    answer_all()
    page.get_by_role("link", name="Look again").click()
    assert SUMMARY in page.locator(".modelled").inner_text()
    page.goto(f"{demo}/ask/")
    lanterns.server.replies[PATH] = stream(ANSWER)
    page.get_by_label("Your question").fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_role("button", name="Cancel").click()
    assert "You cancelled it." in page.locator(".modelled").inner_text()
    context.close()


# --- About several articles -------------------------------------------------------------------------


def test_a_question_is_answered_with_links_to_its_articles(keeper: Visitor, lanterns: Lanterns) -> None:
    lanterns.server.replies[PATH] = stream(ANSWER)
    page = ask(keeper)
    expect(page.locator(".modelled")).to_contain_text("It waits for its turn with tiny.")
    answer_all()
    box = page.locator(".modelled")
    expect(box.get_by_role("heading", name=QUESTION)).to_be_visible()
    expect(box.locator(".answer")).to_contain_text("(without a source)")
    expect(box).not_to_contain_text("finest light")
    expect(box).to_contain_text("1 quotation is in none of the articles and was taken out.")
    expect(box).to_contain_text("Made by tiny.")
    expect(box.locator("ol a")).to_have_count(2)
    first = box.locator("ol a").first
    title = first.inner_text()
    assert title in TEXTS
    page.goto(f"{keeper.address}/ask/")
    page.get_by_role("link", name=QUESTION).click()
    box.locator(".answer a").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    assert keeper.complaints == []


def test_a_question_that_no_article_answers_stays_in_the_field(keeper: Visitor, lanterns: Lanterns) -> None:
    page = keeper.goto("/ask/")
    page.get_by_label("Your question").fill("zebras")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#toast")).to_contain_text("No article here has the words of your question.")
    expect(page.get_by_label("Your question")).to_have_value("zebras")
    assert keeper.complaints == []


def test_a_question_is_asked_again_after_a_failure(keeper: Visitor, lanterns: Lanterns) -> None:
    lanterns.server.replies[PATH] = Reply(b"{}", 500)
    page = ask(keeper)
    answer_all()
    expect(page.locator(".modelled")).to_contain_text("answers 500")
    lanterns.server.replies[PATH] = stream(ANSWER)
    page.get_by_role("button", name="Try again").click()
    answer_all()
    expect(page.locator(".modelled")).to_contain_text("lit by hand on Tuesdays")
    assert keeper.complaints == []


def test_a_morning_brief_and_what_a_story_tells(keeper: Visitor, lanterns: Lanterns) -> None:
    lanterns.server.replies[PATH] = stream("The pier is lit again [1].")
    page = keeper.goto("/search/")
    page.get_by_role("link", name="Ask your articles").last.click()
    page.get_by_role("button", name="Morning brief").click()
    answer_all()
    expect(page.locator(".modelled")).to_contain_text("The pier is lit again")
    expect(page.locator(".modelled h2")).to_have_text("Morning brief")
    keeper.goto(Story.objects.earliest("id").get_absolute_url())
    page.get_by_role("button", name="Summarise").click()
    answer_all()
    expect(page.locator(".modelled .answer a").first).to_have_text("[1]")
    assert keeper.complaints == []


def test_a_digest_begins_with_a_brief_if_it_is_ticked(keeper: Visitor, lanterns: Lanterns) -> None:
    user = User.objects.get(username="keeper")
    place = Target(user=user, kind="mail", name="My letter box")
    place.address = "keeper@news.example"
    place.save()
    page = keeper.goto("/me/notifications/new/")
    tick = page.get_by_label("Begin with a morning brief")
    expect(tick).to_be_hidden()
    page.get_by_label("tell me").select_option("daily")
    tick.check()
    page.get_by_label("My letter box").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page).to_have_url(re.compile("/notifications/$"))
    assert Rule.objects.get(user=user).with_brief
    Rule.objects.filter(user=user).delete()
    place.delete()
    assert keeper.complaints == []


# --- By meaning -------------------------------------------------------------------------------------


@pytest.fixture
def meaning(lanterns: Lanterns, settings: Any) -> Iterator[Lanterns]:
    """The same two articles with vectors, in a deployment that has an endpoint for them."""
    with WebServer({embedding_server.PATH: embedding_server.answer}) as server:
        settings.EMBEDDINGS_URL, settings.EMBEDDINGS_MODEL = server.origin, "tiny"
        searching._resting["until"] = 0.0
        ask_vectors(["warm"], 5)
        ensure_vectors("tiny", embedding_server.SIZE)
        store_vectors({each.pk: literal(vector_of("lantern")) for each in lanterns.articles})
        yield lanterns
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE {TABLE}")
    QuestionVector.objects.all().delete()


def test_articles_are_found_by_meaning_and_related(keeper: Visitor, meaning: Lanterns) -> None:
    page = keeper.goto("/search/?q=lamps")
    hits = page.locator(".hit", has_text="Also found by meaning")
    expect(hits).to_have_count(2)
    assert barriers(page) == []
    assert sticks_out(page) == []
    hits.get_by_role("link").first.click()
    page.locator("summary", has_text="Related").click()
    related = page.locator("details", has_text="Related").locator(".lines a")
    expect(related).to_have_count(1)
    assert barriers(page) == []
    related.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("sail|by hand"))
    assert keeper.complaints == []


# --- All of them ------------------------------------------------------------------------------------


@pytest.fixture
def answered(lanterns: Lanterns) -> dict[str, str]:
    """The paths of pages on which something of the model stands, by what they show."""
    person, now = Subscriber.objects.get(user__username="keeper"), datetime.now(UTC)
    about, other = lanterns.articles
    story = Story.objects.earliest("id")
    ask_about(person, "summary", about, "", now)
    ask_about(person, "translation", about, "de", now)
    lanterns.server.replies[PATH] = stream(SUMMARY)
    answer_all()
    ask_about(person, "tags", about, "", now)
    lanterns.server.replies[PATH] = stream("lanterns, pier, light by hand")
    answer_all()
    question = ask_archive(person, QUESTION, now)
    ask_about_story(person, story, now)
    brief = ask_brief(person, now)
    lanterns.server.replies[PATH] = stream(ANSWER)
    answer_all()
    ask_about(person, "summary", other, "", now)
    lanterns.server.replies[PATH] = Reply(b"<h1>Router</h1>")
    answer_all()
    ask_about(person, "translation", other, "fr", now)
    waiting = ask_archive(person, "Which lantern of the pier is missing?", now)
    return {
        "article": lanterns.path,
        "failed and waiting": f"/read/{other.pk}/?show=all",
        "ask": "/ask/",
        "answer": f"/ask/{question.pk}/",
        "brief": f"/ask/{brief.pk}/",
        "waiting": f"/ask/{waiting.pk}/",
        "story": story.get_absolute_url(),
        "rule": "/me/notifications/new/",
        "search": "/search/?q=lanterns",
    }


@pytest.mark.parametrize("language", ["en", "de"])
def test_each_page_is_accessible_and_fits(
    demo: str, browser: Browser, answered: dict[str, str], language: str
) -> None:
    with signed_in(demo, browser) as context:
        context.set_extra_http_headers({"Accept-Language": language})
        page = context.new_page()
        for name, path in answered.items():
            page.goto(demo + path)
            for width, height in SIZES:
                page.set_viewport_size({"width": width, "height": height})
                for colours in ("light", "dark"):
                    page.emulate_media(color_scheme=colours)
                    assert barriers(page, *(COLOURS if colours == "dark" else ())) == [], (name, width)
            assert sticks_out(page) == [], name
            page.set_viewport_size({"width": 390, "height": 844})
            assert too_small_for_thumbs(page, ".modelled") == [], name


def test_without_a_model_no_page_has_any_of_it(
    keeper: Visitor, lanterns: Lanterns, answered: dict[str, str], settings: Any
) -> None:
    settings.MODEL_URL = ""
    words = re.compile(
        "Ask your articles|Summarise|Translate|Propose labels|morning brief|Made by", re.IGNORECASE
    )
    for name in ("article", "failed and waiting", "story", "rule", "search"):
        page = keeper.goto(answered[name])
        assert words.findall(page.locator("body").inner_text()) == [], name
        expect(page.locator(".modelled, [name=with_brief], [action*='/model/']")).to_have_count(0)
        expect(page.get_by_text("Related", exact=True)).to_have_count(0)
    assert keeper.complaints == []
    for name in ("ask", "answer"):
        answer = page.goto(keeper.address + answered[name])
        assert answer is not None
        assert answer.status == 404
