"""Enrichment beside transactions that store articles: neither ends in a deadlock, and storing goes first."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection, transaction

from articles.enrichment import enrich as module
from articles.enrichment.enrich import enrich
from articles.enrichment.models import Enrichment
from articles.intake import lock_articles
from articles.models import Article, Page
from tests.factories import make_article, make_feed

pytestmark = pytest.mark.django_db(transaction=True)
NOW = datetime(2026, 3, 1, tzinfo=UTC)
TEXT = "The river rose after the rain. Farmers moved their cattle to the hills. Nobody was hurt in the flood."


class Beside(threading.Thread):
    """Work on a connection of its own; `error` is what it ended with."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__()
        self._work, self.error = work, None
        self.start()

    def run(self) -> None:
        try:
            self._work()
        except Exception as error:
            self.error = error
        finally:
            connection.close()


def waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        return bool(cursor.fetchone()[0])


def test_an_article_that_is_edited_while_it_is_enriched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check-in has the article and wants its enrichment, enrichment the other way round."""
    article = make_article(title="Flood", text=TEXT, language="")
    begun, read = [], module._read

    def edit() -> None:
        Article.objects.filter(pk=article.pk).update(title="Flood in the valley")

    def read_while_it_is_edited(one: Any) -> bool:
        begun.append(Beside(edit))
        deadline = time.monotonic() + 10
        while not waits_for_a_lock() and begun[0].is_alive() and time.monotonic() < deadline:
            time.sleep(0.01)
        return read(one)

    monkeypatch.setattr(module, "_read", read_while_it_is_edited)
    assert enrich(NOW) == 1
    begun[0].join(20)
    assert len(begun) == 1, "it was done twice"
    assert begun[0].error is None
    article.refresh_from_db()
    assert (article.title, article.language) == ("Flood in the valley", "en")


def test_enrichment_gives_way_to_a_check_in_that_has_another_article_of_the_story() -> None:
    first = make_article(feed=make_feed(), title="Flood in the valley", text=TEXT * 5, language="en")
    assert enrich(NOW) == 1
    second = make_article(feed=make_feed(), title="Flood in the valley", text=TEXT * 5, language="en")
    has_first, ends = threading.Event(), threading.Event()

    def check_in() -> None:
        with transaction.atomic():
            Article.objects.filter(pk=first.pk).update(title="Flood in the valley!")
            has_first.set()
            ends.wait(20)
            Article.objects.filter(pk=second.pk).update(author="Ann")

    beside = Beside(check_in)
    assert has_first.wait(20)
    threading.Timer(1.2, ends.set).start()
    assert enrich(NOW) == 1
    beside.join(20)
    assert beside.error is None
    assert set(Enrichment.objects.values_list("failure", "attempts")) == {("", 0)}
    while enrich(NOW):
        pass
    assert len(set(Enrichment.objects.values_list("story", flat=True))) == 1


def test_an_article_that_is_held_for_long_waits_without_losing_an_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_article(title="Flood", text=TEXT, language="en")

    def refused(*_: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '40P01'; END $$")

    monkeypatch.setattr(module, "_categorise", refused)
    monkeypatch.setattr("crawler.database.transactions.CONTENTIONS", 2)
    assert enrich(NOW) == 0
    row = Enrichment.objects.get()
    assert (row.state, row.attempts, row.failure) == (Enrichment.State.WAITING, 0, "")


def test_two_that_lock_the_same_articles_by_feed_and_by_page_do_not_meet_in_a_circle() -> None:
    """They come to the same rows in opposite orders."""
    feed = make_feed()
    pages = [
        Page.objects.create(url=f"https://a.example/{one}", url_key=uuid.uuid4(), host=feed.host).pk
        for one in range(2)
    ]
    for page in pages:
        make_article(feed=feed, text=TEXT, page_id=page)
    order: list[list[int]] = [pages, pages[::-1]]

    def lock(wanted: list[int]) -> None:
        for _ in range(30):
            with transaction.atomic():
                lock_articles(pages=wanted)
                for page in wanted:
                    Article.objects.filter(page=page).update(author="Ann")

    both = [Beside(lambda wanted=wanted: lock(wanted)) for wanted in order]
    for one in both:
        one.join(60)
    assert [one.error for one in both] == [None, None]
