"""Checking in: exactly once, whatever comes twice, late or broken."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connections
from msgspec.structs import replace

from articles.models import Article, Page
from crawler.engine.check_in import check_in
from crawler.engine.leases import hand_out, lease_seconds, sweep
from crawler.engine.models import Host
from crawler.fetching.http.site_lines import Robots
from crawler.reading.documents import Enclosure, FeedDocument, RetrievedFeed
from feeds.models import Feed, PostingHistory, Retrieval
from tests.factories import make_feed
from tests.harvests import entry, failed, found, lease, page, report, unchanged, visit

pytestmark = pytest.mark.django_db


def identities() -> list[str]:
    return sorted(Article.objects.values_list("identity", flat=True))


def test_a_visit_stores_articles_log_validators_and_next_state():
    feed = make_feed()
    visit(feed, entry(1), entry(2))
    assert identities() == ["tag:1", "tag:2"]
    assert (feed.etag, feed.title, feed.lease, feed.selected_at) == ('"1"', "A feed", None, None)
    assert (feed.training_m, feed.training_t) == (pytest.approx(1.6), 1.0)
    retrieval = Retrieval.objects.get()
    assert (retrieval.outcome, retrieval.new, retrieval.toe, retrieval.because) == ("new", 2, 2, "a test")
    assert Host.objects.filter(lease__isnull=False).count() == 0


def test_only_what_is_new_is_stored_at_the_next_visit():
    feed = make_feed()
    visit(feed, entry(1))
    visit(feed, entry(1), entry(2))
    assert identities() == ["tag:1", "tag:2"]
    assert [r.new for r in Retrieval.objects.order_by("id")] == [1, 1]
    visit(feed, entry(1), entry(2))
    assert Retrieval.objects.latest("id").outcome == "nothing-new"


def test_the_same_report_twice_changes_nothing():
    (batch,) = lease(make_feed())
    twice = report(batch, found(batch.assignments[0], entry(1)))
    check_in([twice])
    before = Feed.objects.values().get()
    check_in([twice])
    assert Feed.objects.values().get() == before
    assert (Article.objects.count(), Retrieval.objects.count()) == (1, 1)


def test_a_report_after_its_lease_expired_changes_nothing():
    (batch,) = lease(make_feed())
    sweep(datetime.now(UTC) + timedelta(seconds=lease_seconds() + 1))
    check_in([report(batch, found(batch.assignments[0], entry(1)))])
    assert (Article.objects.count(), Retrieval.objects.count()) == (0, 0)


@pytest.mark.django_db(transaction=True)
def test_the_same_report_at_the_same_time_is_stored_once():
    (batch,) = lease(make_feed())
    twice = report(batch, found(batch.assignments[0], *(entry(i) for i in range(50))))

    def store():
        check_in([twice])
        connections.close_all()

    threads = [threading.Thread(target=store) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (Article.objects.count(), Retrieval.objects.count()) == (50, 1)


def test_an_edited_entry_is_updated_in_place():
    feed = make_feed()
    visit(feed, entry(1, title="Before", published=1e9))
    visit(feed, entry(1, title="After", published=1e9))
    article = Article.objects.get()
    assert (article.title, article.revision) == ("After", 1)


def test_the_same_identity_in_another_feed_is_another_article():
    visit(make_feed(), entry(1))
    visit(make_feed(), entry(1))
    assert Article.objects.count() == 2


def test_a_page_is_downloaded_once_for_two_feeds_and_serves_both():
    first, second = make_feed("https://a.example/feed"), make_feed("https://b.example/feed")
    visit(first, entry(1, url="https://news.example/1?utm_source=rss"))
    (batch,) = hand_out(datetime.now(UTC))
    check_in([report(batch, page(batch.assignments[0]))])
    visit(second, entry(1, url="https://news.example/1"))
    assert Page.objects.count() == 1
    assert set(Article.objects.values_list("text", flat=True)) == {
        "The main text of the page, longer than the feed's."
    }
    assert hand_out(datetime.now(UTC)) == []


def test_one_report_that_cannot_be_stored_keeps_no_other_out():
    good, bad = make_feed(), make_feed()
    batches = {a.id: (b, a) for b in lease(good, bad) for a in b.assignments}
    (good_batch, one), (bad_batch, other) = batches[good.id], batches[bad.id]
    poison = found(other, entry(2, title="NUL \0 in a title"))
    check_in([report(bad_batch, poison), report(good_batch, found(one, entry(1)))])
    assert identities() == ["tag:1"]
    assert Host.objects.filter(lease__isnull=False).count() == 0
    bad.refresh_from_db()
    assert (bad.lease, bad.selected_at, bad.failure) == (None, None, "")
    visits = Retrieval.objects.filter(feed=bad)
    assert visits.get().detail == "1 of its entries cannot be stored and is left out"


def test_not_modified_keeps_everything_and_refreshes_validators():
    feed = make_feed()
    visit(feed, entry(1))
    (batch,) = (b for b in lease(feed) if b.host == feed.host.name)
    check_in([report(batch, unchanged(batch.assignments[0], etag='"2"', last_modified="today"))])
    feed.refresh_from_db()
    assert (feed.etag, feed.last_modified, feed.unchanged_streak) == ('"2"', "today", 1)
    assert Retrieval.objects.latest("id").outcome == "not-modified"


def test_a_failure_is_named_and_loses_nothing():
    feed = make_feed()
    visit(feed, entry(1))
    (batch,) = (b for b in lease(feed) if b.host == feed.host.name)
    check_in([report(batch, failed(batch.assignments[0], "http-500", 500, detail="broken"))])
    feed.refresh_from_db()
    assert (feed.failure, feed.failure_detail, feed.failure_streak) == ("http-500", "broken", 1)
    assert (feed.etag, len(feed.fingerprints)) == ('"1"', 12)
    visit(feed, entry(1))
    assert (feed.failure, feed.failure_streak, feed.failing_since) == ("", 0, None)


def test_posting_history_learns_from_the_second_visit_on():
    feed = make_feed()
    visit(feed)
    assert not PostingHistory.objects.exists()
    visit(feed, entry(1))
    assert PostingHistory.objects.get().feed_id == feed.id
    assert Retrieval.objects.latest("id").expected is not None


def test_robots_and_a_wish_for_a_pause_stay_with_the_host():
    feed = make_feed()
    (batch,) = lease(feed)
    refusal = failed(batch.assignments[0], "throttled", 429, retry_after=86_400.0)
    rules = Robots(200, "User-agent: *", 1e9, "https://x.example")
    check_in([report(batch, refusal, robots=rules)])
    host = Host.objects.get(id=feed.host_id)
    assert (host.robots_text, host.robots_origin) == ("User-agent: *", "https://x.example")
    pause = host.not_before - datetime.now(UTC)
    assert timedelta(hours=23) < pause <= timedelta(hours=24)
    feed.refresh_from_db()
    assert feed.not_before - datetime.now(UTC) > timedelta(hours=23)


def test_a_host_is_left_alone_for_as_long_as_its_terminal_says():
    feed = make_feed()
    (batch,) = lease(feed)
    refusal = failed(batch.assignments[0], "too-slow", 0)
    check_in([replace(report(batch, refusal), pause=30.0)])
    pause = Host.objects.get(id=feed.host_id).not_before - datetime.now(UTC)
    assert timedelta(seconds=20) < pause <= timedelta(seconds=30)


def test_a_page_that_fails_for_now_waits_and_one_that_is_not_there_is_given_up(settings):
    visit(make_feed("https://a.example/feed"), entry(1), entry(2))
    (batch,) = hand_out(datetime.now(UTC))
    one, two = batch.assignments
    check_in([report(batch, failed(one, "http-500", 500), failed(two, "http-404", 404))])
    waiting, gone = Page.objects.get(id=one.id), Page.objects.get(id=two.id)
    assert (waiting.status, gone.status) == ("waiting", "failed")
    assert waiting.not_before > datetime.now(UTC) + timedelta(seconds=settings.FEED_MIN_GAP_SECONDS)
    assert Article.objects.filter(text="Some words from the feed.").count() == 2


def test_a_page_that_robots_forbid_is_refused_but_not_while_robots_cannot_be_read():
    visit(make_feed("https://a.example/feed"), entry(1), entry(2))
    (batch,) = hand_out(datetime.now(UTC))
    one, two = batch.assignments
    check_in([report(batch, failed(one, "robots"), failed(two, "robots", 503))])
    assert Page.objects.get(id=one.id).status == "refused"
    assert Page.objects.get(id=two.id).status == "waiting"


def test_a_feed_with_a_title_of_a_thousand_four_byte_characters_is_stored():
    feed = make_feed()
    (batch,) = lease(feed)
    document = FeedDocument("rss20", "\U0001d518" * 1000, entries=(entry(1),))
    check_in([report(batch, found(batch.assignments[0], payload=RetrievedFeed(document)))])
    feed.refresh_from_db()
    assert (feed.failure, feed.title) == ("", "\U0001d518" * 600)
    assert identities() == ["tag:1"]


def test_an_entry_may_hold_more_words_than_a_search_vector():
    feed = make_feed()
    words = " ".join(f"word{number:07}" for number in range(300_000))
    (batch,) = lease(feed)
    check_in([report(batch, found(batch.assignments[0], entry(1, text=words, title=words[:1000])))])
    feed.refresh_from_db()
    assert (feed.failure, identities()) == ("", ["tag:1"])


def test_links_and_media_that_run_scripts_are_left_out():
    odd = (Enclosure("javascript:alert(1)"), Enclosure("https://news.example/a.mp3"))
    visit(make_feed(), entry(1, url="javascript:alert(1)", enclosures=odd))
    article = Article.objects.get()
    assert (article.url, [one["url"] for one in article.enclosures]) == ("", ["https://news.example/a.mp3"])


def test_entries_that_cannot_be_stored_keep_no_other_entry_of_their_feed_out():
    feed = make_feed()
    (batch,) = lease(feed)
    entries = [entry(number, title="NUL \0" if number in {3, 17} else "Sound") for number in range(20)]
    check_in([report(batch, found(batch.assignments[0], *entries))])
    assert Article.objects.count() == 18
    feed.refresh_from_db()
    assert (feed.failure, feed.lease) == ("", None)
    assert Retrieval.objects.get().detail == "2 of its entries cannot be stored and are left out"
    assert len(feed.fingerprints) == 12 * 20  # so that they are not sent again


def test_a_feed_whose_own_words_cannot_be_stored_fails_by_name():
    feed = make_feed()
    (batch,) = lease(feed)
    brought = found(batch.assignments[0], entry(1))
    document = replace(brought.payload.document, title="NUL \0")
    check_in([report(batch, replace(brought, payload=replace(brought.payload, document=document)))])
    feed.refresh_from_db()
    assert feed.failure == "unstorable"


def deseret(number: int) -> str:
    """Return a word of letters that take four bytes each."""
    return "".join(chr(0x10428 + number // 40**place % 40) for place in range(3))


@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"{deseret(number)}-{deseret(7 * number)}" for number in range(40_000)),
        "".join(chr(0x4E00 + number % 20_000) for number in range(250_000)),
        " ".join(f"example{number}.org/path/{number}/page" for number in range(9_000)),
    ],
)
def test_a_text_of_very_many_different_words_is_stored(text):
    feed = make_feed()
    visit(feed, entry(1, text=text), entry(2))
    assert identities() == ["tag:1", "tag:2"]
    assert text.startswith(Article.objects.get(identity="tag:1").text)
