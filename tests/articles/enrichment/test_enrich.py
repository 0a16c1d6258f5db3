"""Waiting articles are enriched once, again when something changed, and never lost."""

from datetime import UTC, datetime

import pytest
from django.core.management import call_command

from articles.enrichment import categories
from articles.enrichment import enrich as module
from articles.enrichment.enrich import KILLED, MAX_ATTEMPTS, VERSIONS, enrich, renew
from articles.enrichment.models import Classifier, Enrichment, TermCount
from articles.models import Article
from feeds.categories import category_at
from tests.factories import make_article, make_feed

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)
State = Enrichment.State
TEXT = "The river rose after the rain. Farmers moved their cattle to the hills. Nobody was hurt in the flood."


def test_every_new_article_waits_and_is_made():
    article = make_article(title="Flood in the valley", text=TEXT, language="en-GB")
    assert article.enrichment.state == State.WAITING
    assert enrich(NOW) == 1
    row = Enrichment.objects.get()
    assert (row.state, row.language, row.versions, row.at) == (State.DONE, "en", VERSIONS, NOW)
    assert row.terms[0] in {"flood", "valley"}
    assert row.summary == TEXT
    assert enrich(NOW) == 0


def test_an_article_is_counted_once_however_often_it_is_made():
    article = make_article(title="Flood", text=TEXT, language="en")
    enrich(NOW)
    Article.objects.filter(pk=article.pk).update(text=TEXT + " The flood is over.")
    assert Enrichment.objects.get().state == State.WAITING
    enrich(NOW)
    assert TermCount.objects.get(language="en", term="").documents == 1
    assert TermCount.objects.get(language="en", term="flood").documents == 1


def test_what_changes_no_words_does_not_wait_again():
    article = make_article(text=TEXT)
    enrich(NOW)
    Article.objects.filter(pk=article.pk).update(author="Ann")
    assert Enrichment.objects.get().state == State.DONE


def test_older_versions_are_made_anew():
    make_article(text=TEXT)
    enrich(NOW)
    assert renew() == 0
    Enrichment.objects.update(versions="words0")
    assert renew() == 1
    assert Enrichment.objects.get().state == State.WAITING


def test_the_feeds_category_is_taken_and_taught():
    category = category_at(("News", "Floods"))
    feed = make_feed(category=category)
    make_article(feed, text=TEXT)
    enrich(NOW)
    row = Enrichment.objects.get()
    assert (row.category, row.category_source, row.trained) == ("Floods", "feed", True)
    assert Classifier.objects.get().examples == [1]
    feed.category = category_at(("Weather",))
    feed.save()
    enrich(NOW)
    assert Enrichment.objects.get().category == "Weather"
    assert Classifier.objects.get().examples == [1]


def test_the_tags_of_an_article_say_its_topic_before_its_feeds_category():
    feed = make_feed(category=category_at(("News", "Papers")))
    make_article(feed, text=TEXT, categories=["Berlin", "Fußball", "Sport"])
    enrich(NOW)
    row = Enrichment.objects.get()
    assert (row.category, row.category_source, row.category_reason) == ("Sport", "tags", "Fußball")
    assert (row.confidence, row.trained, Classifier.objects.get().classes) == (1.0, True, ["Sport"])
    make_feed(category=category_at(("Fútbol y más",)))
    Article.objects.update(categories=["Fußball", "Berlin"])
    enrich(NOW)
    assert Enrichment.objects.get().category == "Fútbol y más", "the deployment's own name for it"


def test_topics_are_learned_from_tags_for_articles_without():
    lessons = {"politics": "the minister spoke in parliament", "sport": "the goalkeeper saved a penalty"}
    for tag, words in lessons.items():
        for number in range(categories.MIN_EXAMPLES + 2):
            make_article(title=f"{words} {number}", text=f"{words} {number} again", categories=[tag])
    asked = make_article(title="the goalkeeper saved it", text="a penalty and the goalkeeper saved a penalty")
    while enrich(NOW):
        pass
    Enrichment.objects.filter(article=asked).update(state=State.WAITING)
    enrich(NOW)
    row = Enrichment.objects.get(article=asked)
    assert (row.category, row.category_source, row.category_reason) == ("Sport", "learned", "")


def test_what_cannot_be_read_fails_alone_and_says_why(monkeypatch):
    bad, good = make_article(title="bad"), make_article(title="good")

    def broken(text, language=""):
        if text == "bad":
            raise RuntimeError("no words")
        return []

    monkeypatch.setattr(module, "terms", broken)
    for _ in range(2 * MAX_ATTEMPTS):
        enrich(NOW)
    failed = Enrichment.objects.get(article=bad)
    assert (failed.state, failed.failure) == (State.FAILED, "RuntimeError: no words")
    assert Enrichment.objects.get(article=good).state == State.DONE


def test_a_text_that_kills_its_worker_is_met_alone_and_given_up(monkeypatch):
    deadly = make_article(title="deadly")
    harmless = [make_article(title="harmless") for _ in range(3)]

    class Killed(BaseException):
        pass

    def kill(one):
        if one.row.article.title == "deadly":
            raise Killed
        return whole(one)

    whole = module._read
    monkeypatch.setattr(module, "_read", kill)
    for _ in range(20):
        try:
            enrich(NOW)
        except Killed:
            continue
    row = Enrichment.objects.get(article=deadly)
    assert (row.state, row.failure) == (State.FAILED, KILLED)
    assert Enrichment.objects.filter(article__in=harmless, state=State.DONE).count() == 3


def test_a_language_that_nobody_declared_is_heard():
    text = "Der Fluss ist nach dem Regen gestiegen, und die Bauern haben ihr Vieh auf die Hügel gebracht."
    article = make_article(title="Hochwasser", text=text, language="")
    enrich(NOW)
    article.refresh_from_db()
    row = Enrichment.objects.get()
    assert (article.language, row.language, row.state) == ("de", "de", State.DONE)


def test_the_command_says_what_it_did(capsys):
    make_article(text=TEXT)
    call_command("enrich", "--again")
    out = capsys.readouterr().out
    assert "1 articles enriched" in out
    assert "1 done, 0 waiting, 0 failed" in out
