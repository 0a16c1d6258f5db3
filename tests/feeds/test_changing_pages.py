"""Adding feeds by form, following their first visits, and actions on feeds; staff only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from articles.models import Subscription
from feeds.categories import category_at
from feeds.models import Feed, FeedImport
from feeds.pages.adding_views import addresses_in
from feeds.removal import delete_removed
from tests.factories import make_article, make_feed, make_user

pytestmark = pytest.mark.django_db

OPML = b"""<?xml version="1.0"?><opml version="2.0"><head/><body><outline text="News">
<outline text="One" xmlUrl="https://one.example/rss"/><outline text="Two" xmlUrl="https://two.example/rss"/>
</outline></body></opml>"""


@pytest.fixture
def reader(client: Client) -> Client:
    client.force_login(make_user())
    return client


@pytest.fixture
def keeper(client: Client) -> Client:
    client.force_login(make_user("keeper", staff=True))
    return client


@pytest.mark.parametrize("path", ["/add/", "/feeds/add/", "/feeds/actions/", "/feeds/1/edit/"])
def test_people_who_are_not_staff_change_nothing(reader: Client, path: str) -> None:
    feed = make_feed()
    values = {"action": "pause", "feed": feed.id, "addresses": "https://new.example/rss"}
    assert reader.post(path, values).status_code == 403
    html = reader.post(path, values, headers={"Accept-Language": "de"}).content.decode()
    assert "Das dürfen nur Redaktion, Betrieb und Leitung." in html
    assert "Es wurde nichts geändert." in html
    assert Feed.objects.get().status == "active"
    assert "Pick all feeds" not in reader.get("/feeds/").content.decode()


def test_picked_feeds_are_paused_and_resumed(keeper: Client) -> None:
    picked, other = [make_feed(), make_feed()], make_feed()
    values = {"action": "pause", "feed": [feed.id for feed in picked], "next": "/feeds/?phase=training"}
    answer = keeper.post("/feeds/actions/", values)
    assert answer["Location"] == "/feeds/?phase=training"
    assert set(Feed.objects.filter(status="paused")) == set(picked)
    keeper.post("/feeds/actions/", {"action": "resume", "feed": [picked[0].id]})
    assert set(Feed.objects.active()) == {picked[0], other}


def test_retrieve_now_selects_a_feed_and_names_who_asked(keeper: Client) -> None:
    feed = make_feed(not_before=datetime.now(UTC) + timedelta(hours=2))
    answer = keeper.post("/feeds/actions/", {"action": "retrieve", "feed": feed.id}, follow=True)
    feed.refresh_from_db()
    assert feed.selected_because == "asked for by keeper"
    assert "1 feed to be checked now." in answer.content.decode()


def test_feeds_that_cannot_be_retrieved_now_are_counted(keeper: Client) -> None:
    feed = make_feed(status="paused")
    answer = keeper.post("/feeds/actions/", {"action": "retrieve", "feed": feed.id}, follow=True)
    assert "0 feeds to be checked now. 1 feed not: paused" in answer.content.decode()


def test_feeds_move_to_a_category_and_out_of_it(keeper: Client) -> None:
    feed, target = make_feed(), category_at(("Science",))
    assert target is not None
    keeper.post("/feeds/actions/", {"action": "move", "feed": feed.id, "category": target.pk})
    assert Feed.objects.get().category == target
    keeper.post("/feeds/actions/", {"action": "move", "feed": feed.id, "category": ""})
    assert Feed.objects.get().category is None


@pytest.mark.parametrize(
    "values",
    [
        {"action": "pause"},
        {"action": "delete", "feed": "1"},
        {"action": "pause", "feed": "9" * 400},
        {"feed": "x"},
    ],
)
def test_an_action_that_makes_no_sense_changes_nothing_and_says_so(
    keeper: Client, values: dict[str, str]
) -> None:
    make_feed()
    answer = keeper.post("/feeds/actions/", values, follow=True)
    assert "Nothing was changed" in answer.content.decode()
    assert Feed.objects.active().count() == 1


def test_an_action_never_leads_to_another_site(keeper: Client) -> None:
    values = {"action": "pause", "feed": make_feed().id, "next": "https://evil.example/"}
    assert keeper.post("/feeds/actions/", values)["Location"] == "/feeds/"


def added(keeper: Client, **values: object) -> FeedImport:
    """Add by the form, and return the import to which it leads."""
    answer = keeper.post("/add/", {"follow": "on", **values})
    assert answer.status_code == 302, answer.content.decode()
    (made,) = FeedImport.objects.all()
    assert answer["Location"] == f"/add/{made.pk}/"
    return made


def page_of(keeper: Client, made: FeedImport, **headers: str) -> str:
    return " ".join(keeper.get(f"/add/{made.pk}/", headers=headers).content.decode().split())


def test_every_pasted_address_is_listed_with_its_outcome(keeper: Client) -> None:
    known = make_feed("https://known.example/rss", title="Known")
    lines = "https://new.example/rss\n\n  known.example/rss \nftp://old.example/\nhttp://127.0.0.1/"
    html = page_of(keeper, added(keeper, addresses=lines, category="News / Tech"))
    assert known.get_absolute_url() in html and "was known already" in html
    assert "ftp://old.example/" in html and html.count('name="address"') == 2
    assert "Not one of the web" not in html
    new = Feed.objects.get(url="https://new.example/rss")
    assert new.category is not None and new.category.path == ("News", "Tech")
    assert "waits for its turn" in html and 'hx-trigger="every 2s"' in html
    assert Subscription.objects.get(feed=new).folder == "News/Tech"


def test_an_opml_file_adds_its_feeds_in_their_folders_under_their_names(keeper: Client) -> None:
    made = added(keeper, opml=SimpleUploadedFile("feeds.opml", OPML))
    assert {str(feed.category) for feed in Feed.objects.all()} == {"News"}
    assert {feed.title for feed in Feed.objects.all()} == {"One", "Two"}
    assert "feeds.opml" in page_of(keeper, made)


def test_of_many_feeds_a_count_is_followed_and_goes_on_without_the_page(keeper: Client) -> None:
    lines = "\n".join(f"https://site{i}.example/rss" for i in range(60))
    made = added(keeper, addresses=lines)
    assert "<b>0 of 60</b> are read" in page_of(keeper, made)
    now = datetime.now(UTC)
    first, second = Feed.objects.order_by("id")[:2]
    Feed.objects.filter(pk=first.pk).update(last_success=now, selected_at=None, document_size=7)
    Feed.objects.filter(pk=second.pk).update(failure="http-404", failure_streak=1, selected_at=None)
    html = page_of(keeper, made, **{"HX-Request": "true"})
    assert "<html" not in html
    assert "<b>2 of 60</b> are read; 7 articles are there already" in html
    assert "1 is fine" in html and "site1.example/rss</bdi></b>: Not found." in html
    assert f'href="/add/{made.pk}/"' in keeper.get("/add/").content.decode()


def failing(keeper: Client, **feed: object) -> tuple[FeedImport, str]:
    made = added(keeper, addresses="https://a.example/rss")
    values = {"failure": "not-a-feed", "failure_streak": 1, "selected_at": None, **feed}
    Feed.objects.update(**values)
    return made, f"/add/{made.pk}/{made.lines.get().pk}/"


def test_a_failing_line_is_corrected_in_place(keeper: Client) -> None:
    made, path = failing(keeper)
    html = page_of(keeper, made)
    assert "This is a page, not a feed." in html and "Watch it" in html
    keeper.post(path, {"action": "correct", "address": "https://b.example/rss"})
    feed = Feed.objects.get()
    assert feed.url == "https://b.example/rss" and feed.selected_at is not None and not feed.failure
    assert made.lines.get().text == "https://b.example/rss"
    assert "https://b.example/rss</bdi>: waits for its turn" in page_of(keeper, made)


def test_a_correction_that_is_no_address_says_so_beside_the_line(keeper: Client) -> None:
    _, path = failing(keeper)
    answer = keeper.post(
        path, {"action": "correct", "address": "http://10.0.0.1/"}, headers={"HX-Request": "true"}
    )
    assert "is a private or special address" in answer.content.decode()
    assert Feed.objects.get().url == "https://a.example/rss"


def test_a_correction_to_a_known_feed_follows_that_one(keeper: Client) -> None:
    made, path = failing(keeper)
    known = make_feed("https://known.example/rss", title="Known", last_success=datetime.now(UTC))
    keeper.post(path, {"action": "correct", "address": "known.example/rss"})
    assert Feed.objects.get() == known
    assert Subscription.objects.get().feed == known
    assert made.lines.get().outcome == "duplicate"


def test_a_failing_line_is_tried_again_or_dropped(keeper: Client) -> None:
    made, path = failing(keeper, not_before=datetime.now(UTC) + timedelta(hours=1))
    keeper.post(path, {"action": "retry"})
    assert Feed.objects.get().selected_because == "asked for by keeper"
    keeper.post(path, {"action": "drop"})
    assert not Feed.objects.exists() and not made.lines.exists()


def test_dropping_a_line_keeps_a_feed_that_was_there_before(keeper: Client) -> None:
    known = make_feed("https://known.example/rss")
    made = added(keeper, addresses=known.url)
    keeper.post(f"/add/{made.pk}/{made.lines.get().pk}/", {"action": "drop"})
    assert Feed.objects.get() == known


def test_a_refused_line_is_corrected(keeper: Client) -> None:
    made = added(keeper, addresses="http://10.0.0.1/feed")
    line = made.lines.get()
    assert "10.0.0.1" in page_of(keeper, made) and not Feed.objects.exists()
    keeper.post(f"/add/{made.pk}/{line.pk}/", {"action": "correct", "address": "https://c.example/"})
    assert Feed.objects.get().url == "https://c.example/"


def test_an_import_is_its_owner_s_alone(keeper: Client, django_user_model: type) -> None:
    made = added(keeper, addresses="https://a.example/rss")
    keeper.force_login(make_user("other", staff=True))
    assert keeper.get(f"/add/{made.pk}/").status_code == 404
    assert keeper.post(f"/add/{made.pk}/{made.lines.get().pk}/", {"action": "drop"}).status_code == 404


def test_the_earlier_address_of_the_page_leads_to_the_new_one(keeper: Client) -> None:
    assert keeper.get("/feeds/add/?url=a.example")["Location"] == "/add/?url=a.example"
    assert keeper.post("/feeds/add/", {"addresses": "https://a.example/rss"}).status_code == 302
    assert Feed.objects.exists()


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("example.org", ["example.org"]),
        ("https://a.example/x?y=1, b.example/feed\n<http://c.example/>", [
            "https://a.example/x?y=1", "b.example/feed", "http://c.example/"]),
        ("feed:https://a.example/rss", ["feed:https://a.example/rss"]),
        ("Look at this: https://a.example/1 now", []),
        ("climate change", []),
        ("localhost:8000/feed", ["localhost:8000/feed"]),
        ("", []),
        ("...", []),
    ],
)  # fmt: skip
def test_addresses_are_told_from_words(text: str, addresses: list[str]) -> None:
    assert addresses_in(text) == addresses


def test_words_lead_to_the_search(keeper: Client) -> None:
    assert keeper.get("/add/?url=climate+change")["Location"] == "/search/?q=climate+change"
    answer = keeper.get("/add/?url=climate+change", headers={"HX-Request": "true"})
    assert answer["HX-Redirect"] == "/search/?q=climate+change"


@pytest.mark.parametrize("content", [b"<opml><body><outline", b"GIF89a", b"<opml><body/></opml>"])
def test_a_broken_opml_file_is_refused_and_nothing_is_stored(keeper: Client, content: bytes) -> None:
    answer = keeper.post("/add/", {"opml": SimpleUploadedFile("x.opml", content), "addresses": "a.example"})
    assert answer.status_code == 422
    assert "Nothing was added: " in answer.content.decode()
    assert not Feed.objects.exists()


def test_an_empty_form_says_what_to_give(keeper: Client) -> None:
    assert "Give at least one address" in keeper.post("/feeds/add/", {}).content.decode()


def test_a_pause_is_undone_also_after_a_reload(keeper: Client) -> None:
    feed, other = make_feed(), make_feed(status="paused")
    keeper.post("/feeds/actions/", {"action": "pause", "feed": [feed.id, other.id]})
    keeper.get("/feeds/")
    html = keeper.get("/tools/").content.decode()
    assert "Paused 1 feed: no visits until resumed." in html
    keeper.post("/undo/", {"token": keeper.session["undo"]["token"]})
    assert set(Feed.objects.active()) == {feed}


def test_a_removal_hides_the_feed_at_once_and_is_undone(keeper: Client) -> None:
    feed = make_feed("https://gone.example/rss", title="Going", selected_at=datetime.now(UTC))
    make_article(feed, title="Its article")
    keeper.post(f"/me/follow/{feed.pk}/")
    assert "Its article" in keeper.get("/read/").content.decode()
    keeper.post(f"/feeds/actions/?only={feed.pk}&action=remove", {"next": "/feeds/"})
    assert not Feed.objects.exists()
    assert "Its article" not in keeper.get("/read/").content.decode()
    assert keeper.get(feed.get_absolute_url()).status_code == 404
    assert "Going is removed." in keeper.get("/feeds/").content.decode()
    delete_removed(datetime.now(UTC))
    keeper.post("/undo/", {"token": keeper.session["undo"]["token"], "next": "/feeds/"})
    assert Feed.objects.get() == feed
    assert "Its article" in keeper.get("/read/").content.decode()


def test_a_removed_feed_is_deleted_after_a_while(keeper: Client) -> None:
    feed = make_feed()
    make_article(feed)
    keeper.post(f"/feeds/actions/?only={feed.pk}&action=remove")
    token = keeper.session["undo"]["token"]
    assert delete_removed(datetime.now(UTC) + timedelta(minutes=6)) == 1
    assert not Feed.with_removed.exists()
    assert "0 feeds are back" in keeper.post("/undo/", {"token": token}, follow=True).content.decode()


def test_who_adds_a_removed_feed_gets_it_back_with_its_articles(keeper: Client) -> None:
    feed = make_feed("https://gone.example/rss")
    make_article(feed)
    keeper.post(f"/feeds/actions/?only={feed.pk}&action=remove")
    made = added(keeper, addresses="https://gone.example/rss")
    assert Feed.objects.get() == feed and feed.articles.count() == 1
    assert made.lines.get().outcome == "duplicate"


@pytest.mark.parametrize("token", ["", "wrong", "ä" * 5000])
def test_only_one_s_own_last_deed_is_undone(keeper: Client, token: str) -> None:
    feed = make_feed()
    keeper.post(f"/feeds/actions/?only={feed.pk}&action=remove")
    answer = keeper.post("/undo/", {"token": token, "next": "https://evil.example/"}, follow=True)
    assert "too late" in answer.content.decode()
    assert not Feed.objects.exists()


def test_a_feed_is_renamed_and_keeps_the_name_until_it_is_taken_away(keeper: Client) -> None:
    feed = make_feed(title="Its own")
    keeper.post(f"/me/follow/{feed.pk}/")
    values = {f"title-{feed.pk}": "Mine", f"folder-{feed.pk}": "News / Tech", "next": "/feeds/"}
    answer = keeper.post(f"/feeds/{feed.pk}/edit/", values)
    assert answer["Location"] == "/feeds/"
    feed = Feed.objects.get()
    assert (feed.title, feed.renamed, str(feed.category)) == ("Mine", True, "News / Tech")
    assert Subscription.objects.get().folder == "News/Tech"
    keeper.post("/undo/", {"token": keeper.session["undo"]["token"]})
    feed = Feed.objects.get()
    assert (feed.title, feed.renamed, feed.category, Subscription.objects.get().folder) == (
        "Its own", False, None, "",
    )  # fmt: skip


def test_ten_feeds_move_at_once_to_a_new_folder_and_back(keeper: Client) -> None:
    feeds = [make_feed() for _ in range(10)]
    keeper.post("/feeds/actions/", {"action": "move", "feed": [f.pk for f in feeds], "folder": "New / Inner"})
    assert {str(feed.category) for feed in Feed.objects.all()} == {"New / Inner"}
    keeper.post("/undo/", {"token": keeper.session["undo"]["token"]})
    assert {feed.category for feed in Feed.objects.all()} == {None}


def test_feeds_that_need_a_look_are_found_by_their_chips(keeper: Client) -> None:
    now = datetime.now(UTC)
    make_feed(title="Failing", failure="dns", failure_streak=2, failing_since=now)
    make_feed(title="Ended", status="gone")
    make_feed(title="Silent", phase="normal", last_new=now - timedelta(days=400))
    make_feed(title="Paused", status="paused")
    make_feed(title="Learning")
    for chip, titles in {
        "look": {"Failing", "Ended"}, "quiet": {"Silent"}, "paused": {"Paused"},
        "learning": {"Failing", "Learning"},
    }.items():  # fmt: skip
        answer = keeper.get(f"/feeds/?health={chip}")
        assert {feed.title for feed in answer.context["feeds"]} == titles
        assert answer.context["health_counts"][chip] == len(titles)
    assert {row["title"] for row in keeper.get("/api/feeds/?health=look").json()["results"]} == {
        "Failing", "Ended",
    }  # fmt: skip


def test_a_row_becomes_a_form_and_a_row_again(keeper: Client) -> None:
    feed = make_feed(title="A feed")
    assert f'name="title-{feed.pk}"' in keeper.get(f"/feeds/?edit={feed.pk}").content.decode()
    assert f'name="title-{feed.pk}"' in keeper.get(f"/feeds/{feed.pk}/row/?edit=1").content.decode()
    assert f'name="title-{feed.pk}"' not in keeper.get(f"/feeds/{feed.pk}/row/").content.decode()
