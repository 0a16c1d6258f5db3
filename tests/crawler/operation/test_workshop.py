"""The workshop's cards: a number and a sentence that goes on, or a sentence alone."""

from __future__ import annotations

import pytest
from django.test import Client

from crawler.frontier.models import Crawl
from crawler.operation.site.workshop import (
    count_facts,
    crawls_in_words,
    graph_in_words,
    lab_in_words,
    pipeline_in_words,
)
from feeds.laboratory.doubling import Gain
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def make_crawl(**fields: object) -> Crawl:
    return Crawl.objects.create(**({"seeds": ["https://harbour.example/"]} | fields))


def test_crawls() -> None:
    assert crawls_in_words() == ("", "Read a whole site once, from a start address.")
    make_crawl(state="done", crawled=1)
    assert crawls_in_words() == ("1", "page came with the last crawl, of harbour.example.")
    make_crawl(crawled=120, max_pages=324)
    assert crawls_in_words() == ("120 of 324", "pages of harbour.example are here.")
    make_crawl(crawled=3)
    assert crawls_in_words() == ("2", "crawls run; they have brought 123 pages.")


def test_lab() -> None:
    assert lab_in_words(None)[0] == ""
    assert lab_in_words(Gain(10, 9.8)) == ("", "Twice as many requests would bring articles hardly earlier.")
    assert lab_in_words(Gain(10, 6)) == ("4 min", "earlier is what twice the requests would bring.")


def test_graph_and_pipeline() -> None:
    assert count_facts() == 0
    assert graph_in_words(0)[0] == ""
    assert graph_in_words(18_240)[0] == "18,240"
    assert graph_in_words(1)[1].startswith("fact about")
    assert pipeline_in_words(0) == ("", "Every document that came has been read.")
    assert pipeline_in_words(1) == ("1", "document waits to be read.")


def test_only_owners_are_led_to_people_and_the_administration(client: Client) -> None:
    client.force_login(make_user(staff=True))
    assert 'href="/admin/"' not in client.get("/tools/").content.decode()
    client.force_login(make_user(staff=True, is_superuser=True))
    main = client.get("/tools/").content.decode().partition("<main")[2]
    assert 'href="/admin/"' in main
    assert "/people/" in main
