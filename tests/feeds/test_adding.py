"""Adding feeds: what is taken, recognised, or refused, and that new ones are visited at once."""

import ipaddress
from datetime import UTC, datetime

import pytest

from feeds.adding.add import WantedFeed, add_feed, add_feeds
from feeds.categories import category_at
from feeds.models import Feed, FeedAlias

pytestmark = pytest.mark.django_db


def test_it_adds_a_feed_that_is_visited_at_once():
    added = add_feed("https://News.example:443/feed.xml#top")
    feed = Feed.objects.get()
    assert (added.outcome, added.feed) == ("added", feed)
    assert feed.url == "https://News.example:443/feed.xml#top"
    assert feed.canonical_url == "https://news.example/feed.xml"
    assert feed.host.name == "news.example"
    assert feed.phase == Feed.Phase.TRAINING
    assert feed.selected_because == "just added"
    assert abs(feed.selected_at - datetime.now(UTC)).total_seconds() < 60


def test_a_page_of_a_known_place_is_added_as_its_feed(settings):
    add_feed("https://www.youtube.com/channel/UC1/videos")
    settings.FEED_BRIDGES = {"rsshub": "https://hub.example"}
    add_feed("https://t.me/s/some")
    assert set(Feed.objects.values_list("canonical_url", flat=True)) == {
        "https://www.youtube.com/feeds/videos.xml?channel_id=UC1",
        "https://hub.example/telegram/channel/some",
    }


def test_it_starts_training_at_a_random_tick_of_the_first_four(settings):
    settings.FEED_TICK_SECONDS = 600
    add_feeds([WantedFeed(f"https://h{i}.example/") for i in range(200)])
    feeds = Feed.objects.all()
    ticks = {round((feed.training_due - feed.training_since).total_seconds() / 600 + 0.5) for feed in feeds}
    assert ticks == {0, 1, 2, 3}


@pytest.mark.parametrize(
    "again",
    [
        "https://a.example/feed",
        "HTTPS://A.EXAMPLE:443/feed",
        "https://a.example/x/../feed#f",
        "a.example/feed",
    ],
)
def test_it_recognises_another_spelling(again):
    first = add_feed("https://a.example/feed").feed
    added = add_feed(again)
    assert (added.outcome, added.feed) == ("duplicate", first)
    assert "https://a.example/feed" in added.message
    assert Feed.objects.count() == 1


def test_it_recognises_a_former_address():
    feed = add_feed("https://new.example/feed").feed
    FeedAlias.objects.create(canonical_url="https://old.example/feed", feed=feed)
    assert add_feed("https://old.example/feed").feed == feed


def test_it_takes_an_address_without_scheme():
    assert add_feed(" news.example/blog ").feed.url == "http://news.example/blog"


def test_an_address_with_a_login_that_cannot_be_used_is_refused():
    added = add_feed("https://user%3A:word@a.example/")
    assert (added.outcome, added.feed) == ("refused", None)
    assert added.message == "'https://a.example/': a user name holds no colon"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no address"),
        ("ftp://a.example/feed", "'ftp' is not http or https"),
        ("file:///etc/passwd", "'file' is not http"),
        ("javascript:alert(1)", "not http"),
        ("https://", "valid"),
        ("http://127.0.0.1/", "private or special"),
        ("http://2130706433/", "private or special"),
        ("http://0x7f.1/", "private or special"),
        ("http://[::1]/", "private or special"),
        ("http://[::ffff:10.0.0.1]/", "private or special"),
        ("http://169.254.169.254/latest/meta-data/", "private or special"),
        ("http://localhost/feed", "private or special"),
        ("https://a.example:22/", "port 22"),
        ("https://a.example/" + "x" * 2000, "longer than 2000"),
        ("https://a.example\x00.b/", "not a valid URL"),
        ("http://a.example/\ud800", "not a valid URL"),
    ],
)
def test_it_refuses_and_names_the_address_and_the_reason(text, reason):
    added = add_feed(text)
    assert (added.outcome, added.feed) == ("refused", None)
    assert reason in added.message
    assert text[:20].encode("ascii", "backslashreplace").decode().replace("\x00", "\\x00") in added.message
    assert not Feed.objects.exists()


def test_it_takes_private_addresses_of_allowed_networks(settings):
    settings.FETCH_ALLOWED_NETWORKS = (ipaddress.ip_network("127.0.0.0/8"),)
    assert add_feed("http://127.0.0.1:8800/feed").outcome == "added"
    assert add_feed("http://localhost:8800/feed").outcome == "added"
    assert add_feed("http://10.0.0.1/feed").outcome == "refused"


def test_one_bad_address_does_not_keep_the_others_out():
    outcomes = add_feeds(
        [WantedFeed("ftp://x/"), WantedFeed("https://a.example/"), WantedFeed("https://a.example/#x")]
    )
    assert [outcome.outcome for outcome in outcomes] == ["refused", "added", "duplicate"]
    assert outcomes[2].feed == outcomes[1].feed


def test_it_puts_a_feed_into_its_category():
    assert add_feed("https://a.example/", category=category_at(("News", "Tech"))).feed.category.path == (
        "News",
        "Tech",
    )


def test_it_wakes_the_controller_once_the_feeds_are_stored(django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks() as callbacks:
        add_feeds([WantedFeed("https://a.example/"), WantedFeed("https://b.example/")])
        add_feed("https://a.example/")
    assert len(callbacks) == 1


def test_thousands_of_feeds_take_few_queries(django_assert_max_num_queries):
    wanted = [WantedFeed(f"https://host{i % 750}.example/{i}/feed.xml", f"Feed {i}") for i in range(3_000)]
    with django_assert_max_num_queries(30):
        outcomes = add_feeds(wanted)
    assert {outcome.outcome for outcome in outcomes} == {"added"}
