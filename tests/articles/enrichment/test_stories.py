"""Which articles are one story, and that this can be undone."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from articles.enrichment.enrich import enrich
from articles.enrichment.models import Enrichment, Story
from articles.enrichment.stories import allow, take_apart, take_out
from articles.models import Article, Page
from crawler.text.keys import digest
from tests.factories import make_article, make_feed

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def prose(seed: int, words: int = 300) -> str:
    dice = random.Random(seed)
    return " ".join(dice.choice("aeiou") + format(dice.randint(0, 3000), "x") + "n" for _ in range(words))


def enriched():
    while enrich(NOW):
        pass


def stories():
    found = {}
    for row in Enrichment.objects.exclude(story=None).order_by("pk"):
        found.setdefault(row.story_id, []).append(row.article_id)
    return list(found.values())


def page(feed, url):
    return Page.objects.get_or_create(url_key=digest(url), defaults={"url": url, "host": feed.host})[0]


def test_one_text_in_two_feeds_is_one_story():
    one, other = (
        make_article(title="Rain", text=prose(1)),
        make_article(title="After the rain", text=prose(1)),
    )
    make_article(title="Rain", text=prose(2))
    enriched()
    assert stories() == [[one.pk, other.pk]]
    row = other.enrichment
    assert (row.reason, row.similarity) == ("text", 1.0)


def test_one_text_under_headings_of_other_things_is_no_story():
    make_article(title="Linux", text=prose(1))
    make_article(title="Network", text=prose(1))
    enriched()
    assert stories() == []


def test_an_edited_copy_joins_the_story_that_is_there():
    text = prose(1)
    keys = [make_article(title="Rain", text=text).pk for _ in range(2)]
    enriched()
    late = make_article(title="Rain", text=text.replace(text[600:640], "something else here"))
    enriched()
    assert stories() == [[*keys, late.pk]]
    assert 0.7 <= late.enrichment.similarity < 1


def test_the_same_title_is_no_story():
    make_article(title="Rain in the hills", text=prose(1))
    make_article(title="Rain in the hills", text=prose(2))
    make_article(title="Rain in the hills", text="Short.")
    make_article(title="Rain in the hills", text="Short.")
    enriched()
    assert stories() == []


def test_one_address_in_two_feeds_is_one_story():
    feeds = [make_feed(), make_feed()]
    own = page(feeds[0], "https://a.example/rain")
    keys = [make_article(feed, title="Rain in the hills", page=own, text="Short.").pk for feed in feeds]
    enriched()
    assert stories() == [keys]


def test_comments_on_a_page_are_no_part_of_its_story():
    posts, comments = make_feed(), make_feed()
    own = page(posts, "https://a.example/rain")
    make_article(posts, title="Rain in the hills", page=own, text=prose(1))
    make_article(comments, title="By: Ann", page=own, text="Thanks!")
    make_article(comments, title="By: Ann", page=own, text="Thanks!")
    enriched()
    assert stories() == []


def test_comments_stay_apart_in_whatever_order_they_come():
    posts, comments = make_feed(), make_feed()
    own = page(posts, "https://a.example/rain")
    make_article(comments, title='"Rain in the hills" by Ann', page=own, text=prose(1))
    enriched()
    make_article(posts, title="Rain in the hills", page=own, text=prose(1))
    make_article(comments, title='"Rain in the hills" by Ben', page=own, text=prose(1))
    enriched()
    assert stories() == []


def test_a_part_of_a_page_is_not_the_page():
    posts, comments = make_feed(), make_feed()
    own = page(posts, "https://a.example/rain")
    make_article(posts, title="Rain in the hills", page=own, text=prose(1))
    make_article(
        comments, title="Rain in the hills", page=own, text=prose(1), url="https://a.example/rain#comment-2"
    )
    enriched()
    assert stories() == []


def test_a_whole_sites_address_makes_no_story():
    feeds = [make_feed(), make_feed()]
    own = page(feeds[0], "https://a.example/")
    for feed in feeds:
        make_article(feed, title="Rain in the hills", page=own, text="Short.")
    enriched()
    assert stories() == []


def test_old_texts_are_another_story():
    make_article(title="Rain", text=prose(1), published=NOW)
    make_article(title="Rain", text=prose(1), published=NOW - timedelta(days=60))
    enriched()
    assert stories() == []


def test_what_changed_leaves_its_story():
    keys = [make_article(title="Rain", text=prose(1)).pk for _ in range(2)]
    enriched()
    Article.objects.filter(pk=keys[0]).update(text=prose(9))
    enriched()
    assert stories() == []
    assert not Story.objects.exists()


def test_one_that_was_taken_out_stays_out_until_it_is_allowed_again():
    keys = [make_article(title="Rain", text=prose(1)).pk for _ in range(3)]
    enriched()
    take_out(Enrichment.objects.get(pk=keys[2]))
    Enrichment.objects.update(state="waiting")
    enriched()
    assert stories() == [keys[:2]]
    allow(Enrichment.objects.get(pk=keys[2]))
    enriched()
    assert stories() == [keys]


def test_taking_a_story_apart_deletes_no_article():
    keys = [make_article(title="Rain", text=prose(1)).pk for _ in range(2)]
    enriched()
    assert take_apart(Story.objects.get()) == 2
    assert Article.objects.filter(pk__in=keys).count() == 2
    assert stories() == []
