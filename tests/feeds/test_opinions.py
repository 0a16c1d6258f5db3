"""Second opinions of feeds: kept with the feed until the readers agree, and listed for operators."""

from __future__ import annotations

import pytest
from django.test import Client
from msgspec.structs import replace

from crawler.engine.check_in import check_in
from crawler.reading.documents import Disagreement, RetrievedFeed
from crawler.web.roles import EDITOR, OPERATOR, give_role
from feeds.models import Feed
from feeds.visiting.decision import MAX_DISAGREEMENTS, MAX_WORDS
from tests.factories import make_feed, make_user
from tests.harvests import entry, found, lease, report

pytestmark = pytest.mark.django_db

LINK = Disagreement("link", "", "https://site.example/1")
DATE = Disagreement("date", "2021-03-06T14:05:09+00:00", "2021-03-06T09:05:09+00:00")


def visit_with(feed: Feed, *opinion: Disagreement, asked: bool = True) -> Feed:
    """Visit a feed with a second opinion, unless none was `asked`."""
    batch = next(batch for batch in lease(feed) if batch.assignments[0].kind == "feed")
    harvest = found(batch.assignments[0], entry(1))
    assert isinstance(harvest.payload, RetrievedFeed)
    payload = replace(harvest.payload, opinion=opinion if asked else None)
    check_in([report(batch, replace(harvest, payload=payload))])
    feed.refresh_from_db()
    return feed


def test_disagreements_stay_until_the_readers_agree() -> None:
    feed = visit_with(make_feed(), LINK, DATE)
    kept = [
        {"kind": "link", "ours": "", "theirs": "https://site.example/1"},
        {"kind": "date", "ours": DATE.ours, "theirs": DATE.theirs},
    ]
    assert feed.opinion == kept
    asked = feed.opinion_at
    assert asked is not None
    feed = visit_with(feed, asked=False)
    assert (feed.opinion, feed.opinion_at) == (kept, asked)
    assert list(Feed.objects.disputed()) == [feed]
    feed = visit_with(feed)
    assert feed.opinion == []
    assert feed.opinion_at is not None
    assert feed.opinion_at > asked
    assert not Feed.objects.disputed()


def test_a_terminal_s_opinion_is_bounded_and_storable() -> None:
    feed = visit_with(make_feed(), *[Disagreement("link", "\0" + "x" * 5000)] * 100)
    assert len(feed.opinion) == MAX_DISAGREEMENTS
    assert len(feed.opinion[0]["ours"]) <= MAX_WORDS
    assert feed.last_success is not None


def test_operators_see_both_readings(client: Client) -> None:
    visit_with(make_feed("https://sound.example/feed", title="Sound"))
    person = make_user("ada")
    give_role(person, EDITOR)
    client.force_login(person)
    assert client.get("/feeds/opinions/").status_code == 403
    assert "/feeds/opinions/" not in client.get("/feeds/").content.decode()
    give_role(person, OPERATOR)
    assert "Both programs read every feed alike." in client.get("/feeds/opinions/").content.decode()
    visit_with(make_feed("https://site.example/feed"), LINK, DATE)
    html = client.get("/feeds/opinions/").content.decode()
    for words in ("A feed", "where an entry leads", LINK.theirs, "when an entry was published", DATE.ours):
        assert words in html
    assert "Sound" not in html
    assert "/feeds/opinions/" in client.get("/feeds/").content.decode()
