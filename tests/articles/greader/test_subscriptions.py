"""What is followed, and how readers change it."""

from datetime import UTC, datetime

import pytest

from articles.models import PersonalFeed, Subscription
from crawler.web.pictures.addresses import icon_address
from feeds.adding.opml import read_opml
from feeds.models import Feed
from tests.factories import make_feed, make_personal_feed

pytestmark = pytest.mark.django_db


@pytest.fixture
def news(ann):
    feed = make_feed("https://news.example/feed", title="News", site_url="https://news.example/")
    return Subscription.objects.create(subscriber=ann.subscriber, feed=feed, folder="Papers/Daily")


def followed_articles(reader):
    rows = reader.get("subscription/list", output="json").json()["subscriptions"]
    return {row["url"]: (row["title"], [each["label"] for each in row["categories"]]) for row in rows}


def edit(reader, **form):
    answer = reader.post("subscription/edit", form)
    assert (answer.status_code, answer.content) == (200, b"OK"), answer.content


def test_the_list_has_what_the_original_s_had(ann, news):
    Subscription.objects.update(created=datetime(2026, 3, 1, tzinfo=UTC))
    (row,) = ann.get("subscription/list", output="json").json()["subscriptions"]
    label = "user/-/label/Papers/Daily"
    assert row == {
        "id": f"feed/{news.feed_id}",
        "title": "News",
        "categories": [{"id": label, "label": "Papers/Daily", "type": "folder"}],
        "sortid": f"{news.pk:08X}",
        "firstitemmsec": "1772323200000",
        "url": "https://news.example/feed",
        "htmlUrl": "https://news.example/",
        "iconUrl": f"http://testserver{icon_address(news.feed_id)}",
    }


def test_lists_take_one_query_and_hold_one_s_own(ann, bob, news, django_assert_num_queries):
    for _ in range(4):
        Subscription.objects.create(subscriber=ann.subscriber, feed=make_feed())
    with django_assert_num_queries(2):  # login, subscriptions
        assert len(followed_articles(ann)) == 5
    assert followed_articles(bob) == {}
    assert bob.get("tag/list").json() == {"tags": [{"id": "user/-/state/com.google/starred"}]}


def test_tags_are_the_star_and_the_folders(ann, news):
    Subscription.objects.create(subscriber=ann.subscriber, feed=make_feed(), folder="Art")
    Subscription.objects.create(subscriber=ann.subscriber, feed=make_feed(), folder="Art")
    tags = ann.get("tag/list", output="json").json()["tags"]
    assert [tag["id"].rpartition("/label/")[2] for tag in tags[1:]] == ["Art", "Papers/Daily"]
    assert {tag["type"] for tag in tags[1:]} == {"folder"}


def test_what_is_followed_comes_as_opml(ann, news):
    (outline,) = read_opml(ann.get("subscription/export").content)
    assert (outline.url, outline.folder) == ("https://news.example/feed", ("Papers", "Daily"))


def test_preferences_are_empty(ann):
    assert ann.get("preference/list").json() == {"prefs": []}
    assert ann.get("preference/stream/list").json() == {"streamprefs": {}}


def test_subscribing_by_address(ann):
    edit(ann, ac="subscribe", s="feed/https://new.example/rss", t="New", a="user/-/label/ Fun /Odd")
    assert followed_articles(ann) == {"https://new.example/rss": ("New", ["Fun/Odd"])}
    assert Feed.objects.get().status == "active"
    edit(ann, ac="subscribe", s="feed/https://new.example/rss", t="Other", a="user/-/label/Other")
    assert followed_articles(ann) == {"https://new.example/rss": ("New", ["Fun/Odd"])}


def test_subscribing_to_a_feed_that_is_here(ann, bob, news):
    edit(bob, ac="subscribe", s=f"feed/{news.feed_id}")
    assert followed_articles(bob) == {"https://news.example/feed": ("News", [])}


def test_unsubscribing(ann, bob, news):
    edit(bob, ac="subscribe", s=f"feed/{news.feed_id}")
    edit(ann, ac="unsubscribe", s=f"feed/{news.feed_id}")
    assert followed_articles(ann) == {}
    assert len(followed_articles(bob)) == 1


def test_unsubscribing_by_address(ann, news):
    edit(ann, ac="unsubscribe", s="feed/https://news.example/feed")
    assert not Subscription.objects.exists()
    assert Feed.objects.exists()


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"t": "Mine"}, ("Mine", ["Papers/Daily"])),
        ({"a": "user/-/label/Fun"}, ("News", ["Fun"])),
        ({"a": "user/-/label/Fun", "r": "user/-/label/Papers/Daily"}, ("News", ["Fun"])),
        ({"r": "user/-/label/Papers/Daily"}, ("News", [])),
        ({"r": "user/-/label/Another"}, ("News", ["Papers/Daily"])),
        ({"t": ""}, ("News", ["Papers/Daily"])),
    ],
)
def test_editing_title_and_folder(ann, news, form, expected):
    edit(ann, ac="edit", s=f"feed/{news.feed_id}", **form)
    assert followed_articles(ann) == {"https://news.example/feed": expected}


def test_editing_many_at_once(ann, news):
    other = Subscription.objects.create(subscriber=ann.subscriber, feed=make_feed())
    edit(
        ann,
        ac="edit",
        s=[f"feed/{news.feed_id}", f"feed/{other.feed_id}"],
        t=["", "Two"],
        a="user/-/label/All",
    )
    assert sorted(followed_articles(ann).values()) == [("News", ["All"]), ("Two", ["All"])]


@pytest.mark.parametrize(
    "form",
    [{"ac": "edit"}, {"s": "feed/1"}, {"ac": "steal", "s": "feed/1"}, {"ac": "edit", "s": "feed/1"},
     {"ac": "unsubscribe", "s": "feed/99999"}, {"ac": "subscribe", "s": "feed/99999"},
     {"ac": "subscribe", "s": "feed/http://127.0.0.1/"}, {"ac": "subscribe", "s": "feed/ftp://a.example/"},
     {"ac": "subscribe", "s": "feed/https://a.example/", "a": "user/-/state/com.google/starred"},
     {"ac": "subscribe", "s": "user/-/label/Fun"}, {"ac": "subscribe", "s": "feed/" + "9" * 40},
     {"ac": "unsubscribe", "s": "feed/https://nobody.example/"}],
)  # fmt: skip
def test_what_cannot_be_done_is_a_bad_request_and_changes_nothing(ann, bob, form):
    make_feed()
    before = Feed.objects.count()
    answer = ann.post("subscription/edit", form)
    assert answer.status_code == 400, answer.content
    assert answer.content.startswith(b"Not understood: ")
    assert not Subscription.objects.exists()
    assert Feed.objects.count() == before


def test_one_bad_feed_among_many_undoes_the_rest(ann):
    answer = ann.post(
        "subscription/edit", ac="subscribe", s=["feed/https://a.example/", "feed/http://127.0.0.1/"]
    )
    assert answer.status_code == 400
    assert not Feed.objects.exists()


def test_nobody_edits_another_s_subscription(ann, bob, news):
    for action in ("edit", "unsubscribe"):
        assert bob.post("subscription/edit", ac=action, s=f"feed/{news.feed_id}", t="Mine").status_code == 400
    assert followed_articles(ann) == {"https://news.example/feed": ("News", ["Papers/Daily"])}


@pytest.mark.parametrize("prefix", ["", "feed/"])
def test_adding_quickly(ann, prefix):
    answer = ann.post("subscription/quickadd", quickadd=f"{prefix}https://new.example/").json()
    feed = Feed.objects.get()
    assert answer == {
        "query": f"{prefix}https://new.example/",
        "numResults": 1,
        "streamId": f"feed/{feed.pk}",
        "streamName": "https://new.example/",
    }
    assert list(followed_articles(ann)) == ["https://new.example/"]


def test_what_cannot_be_added_says_why(ann):
    answer = ann.post("subscription/quickadd", quickadd="http://127.0.0.1/feed").json()
    assert answer["numResults"] == 0
    assert "private" in answer["error"]
    assert ann.post("subscription/quickadd").status_code == 400


def test_renaming_a_folder(ann, bob, news):
    Subscription.objects.create(subscriber=bob.subscriber, feed=news.feed, folder="Papers/Daily")
    personal_feed = make_personal_feed(ann.subscriber, folder="Papers/Daily")
    form = {"s": "user/-/label/Papers/Daily", "dest": "user/-/label/Dailies"}
    assert ann.post("rename-tag", form).content == b"OK"
    assert followed_articles(ann)["https://news.example/feed"][1] == ["Dailies"]
    assert followed_articles(bob)["https://news.example/feed"][1] == ["Papers/Daily"]
    renamed = PersonalFeed.objects.get()
    assert renamed.folder == "Dailies"
    assert renamed.changed > personal_feed.changed


@pytest.mark.parametrize(
    "form",
    [{"s": "user/-/label/Papers/Daily"}, {"dest": "user/-/label/X"},
     {"s": "user/-/label/None", "dest": "user/-/label/X"},
     {"s": "user/-/label/Papers/Daily", "dest": "user/-/label/ / "},
     {"s": "feed/1", "dest": "user/-/label/X"},
     {"s": "user/-/label/Papers/Daily", "dest": "user/-/state/com.google/read"}],
)  # fmt: skip
def test_a_folder_is_renamed_from_something_to_something(ann, news, form):
    assert ann.post("rename-tag", form).status_code == 400
    assert followed_articles(ann)["https://news.example/feed"][1] == ["Papers/Daily"]


def test_taking_folders_away_leaves_their_feeds(ann, bob, news):
    Subscription.objects.create(subscriber=ann.subscriber, feed=make_feed(), folder="Art")
    assert ann.post("disable-tag", s=["user/-/label/Papers/Daily", "user/-/label/Art"]).content == b"OK"
    assert [labels for _, labels in followed_articles(ann).values()] == [[], []]
    assert bob.post("disable-tag", s="user/-/label/Art").content == b"OK"
    assert ann.post("disable-tag").status_code == 400


def test_a_list_is_imported(ann):
    opml = (
        '<?xml version="1.0"?><opml version="2.0"><body><outline text="Water"><outline type="rss" '
        'text="A &amp; B" xmlUrl="https://a.example/feed?x=1&amp;y=2"/></outline></body></opml>'
    )
    answer = ann.client.post(
        "/reader/api/0/subscription/import",
        opml,
        "text/xml",
        headers={"authorization": f"GoogleLogin auth={ann.token}"},
    )
    assert answer.status_code == 200
    row = ann.subscriber.subscriptions.get()
    assert (row.folder, row.feed.url) == ("Water", "https://a.example/feed?x=1&y=2")
    bad = ann.client.post(
        "/reader/api/0/subscription/import",
        "<opml/>",
        "text/xml",
        headers={"authorization": f"GoogleLogin auth={ann.token}"},
    )
    assert bad.status_code == 400
