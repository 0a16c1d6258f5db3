"""The subscriber's own pages."""

import re
from datetime import UTC, datetime

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from articles.models import PersonalFeed, Subscription
from articles.personal.following import follow
from articles.personal.selection import address_token
from articles.personal.urls import urlpatterns
from feeds.adding.opml import read_opml
from feeds.models import Feed
from tests.factories import make_article, make_feed, make_personal_feed, make_subscriber, make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)
OPML = b'<opml><body><outline text="F"><outline xmlUrl="https://a.example/"/></outline></body></opml>'
PAGES = ("me-feeds", "me-personal-feeds", "me-new-personal-feed")


@pytest.fixture
def ann(client):
    subscriber = make_subscriber("ann")
    client.force_login(subscriber.user)
    client.subscriber = subscriber
    return client


def test_every_page_wants_a_sign_in(client):
    example = {"pk": 1, "change": "rotate", "word": "read"}
    for pattern in urlpatterns:
        if not pattern.name:  # a former address, which leads to the present one
            continue
        names = set(pattern.pattern.converters) | set(pattern.pattern.regex.groupindex)
        address = reverse(pattern.name, kwargs={name: example[name] for name in names})
        for answer in (client.get(address), client.post(address)):
            assert answer.status_code == 302
            assert "next=" in answer["Location"]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_is_empty_says_what_to_do(client, name):
    client.force_login(make_user())
    answer = client.get(reverse(name))
    assert answer.status_code == 200
    page = answer.content.decode()
    assert " style=" not in page
    assert not re.search(r"<script(?![^>]* src=)|\son\w+=", page)


def test_following_adds_feeds_that_are_new_here(ann):
    known = make_feed("https://known.example/")
    said = {"addresses": "https://new.example/\nhttps://known.example/\n\nftp://bad/", "folder": "F"}
    page = ann.post("/me/following/", said, follow=True).content.decode()
    assert set(ann.subscriber.subscriptions.values_list("feed__url", "folder")) == {
        ("https://new.example/", "F"),
        ("https://known.example/", "F"),
    }
    assert "Refused: &#x27;ftp://bad/&#x27;: the scheme" in page
    known.refresh_from_db()
    assert known.subscribers == 1


def test_too_many_addresses_are_refused_together(ann):
    said = {"addresses": "\n".join(f"https://h{i}.example/" for i in range(101))}
    assert "too many at once" in ann.post("/me/following/", said).content.decode()
    assert not Feed.objects.exists()


def test_a_known_feed_is_followed_by_a_button(ann):
    feed = make_feed()
    ann.post(f"/me/follow/{feed.pk}/")
    assert ann.subscriber.subscriptions.get().feed == feed
    assert ann.get(f"/me/follow/{feed.pk}/").status_code == 405


def test_refiling_and_unfollowing(ann):
    row, _ = follow(ann.subscriber, make_feed())
    ann.post(f"/me/following/{row.pk}/", {"folder": "A / B", "title": "Mine"})
    row.refresh_from_db()
    assert (row.folder, row.title) == ("A/B", "Mine")
    ann.post(f"/me/following/{row.pk}/unfollow/")
    assert not Subscription.objects.exists()


def test_opml_in_and_out(ann):
    ann.post("/me/following/opml/import/", {"file": SimpleUploadedFile("f.opml", OPML)})
    assert ann.subscriber.subscriptions.get().folder == "F"
    assert read_opml(ann.get("/me/following/opml/").content)[0].folder == ("F",)


@pytest.mark.parametrize("data", [OPML[:-9], b"", b"\0\1\2"])
def test_broken_opml_is_explained_and_changes_nothing(ann, data):
    answer = ann.post("/me/following/opml/import/", {"file": SimpleUploadedFile("f.opml", data)})
    assert answer.status_code == 400
    assert '<p class="error">' in answer.content.decode()
    assert not Feed.objects.exists()


def test_a_personal_feed_is_made_changed_and_its_address_too(ann):
    said = {"name": "Mine", "include": "river, hill\nsea", "exclude": "", "body": "full", "folder": ""}
    page = ann.post("/me/personal/new/", said, follow=True).content.decode()
    row = PersonalFeed.objects.get()
    first = address_token(row)
    assert f"http://testserver/personal/{first}.atom" in page
    assert row.include == ["river", "hill", "sea"]
    ann.post(f"/me/personal/{row.pk}/", said | {"exclude": "flood"})
    row.refresh_from_db()
    assert row.exclude == ["flood"]
    ann.post(f"/me/personal/{row.pk}/rotate/")
    assert ann.get(f"/personal/{first}.rss").status_code == 410
    ann.post(f"/me/personal/{row.pk}/revoke/")
    assert "was taken back" in ann.get("/settings/own/").content.decode()
    ann.post(f"/me/personal/{row.pk}/delete/")
    assert not PersonalFeed.objects.exists()
    assert ann.post("/me/personal/new/", {"name": ""}).status_code == 200


def test_a_preview_shows_what_a_personal_feed_holds(ann):
    feed = make_feed()
    follow(ann.subscriber, feed)
    make_article(feed, title="Flooded river")
    row = make_personal_feed(ann.subscriber, include=["river"])
    assert "Flooded river" in ann.get(f"/me/personal/{row.pk}/").content.decode()


def test_names_are_unique_among_one_s_own(ann):
    make_personal_feed(make_subscriber("ben"), name="Mine")
    said = {"name": "Mine", "body": "full"}
    assert ann.post("/me/personal/new/", said).status_code == 302
    assert "of this name already" in ann.post("/me/personal/new/", said).content.decode()


@pytest.mark.parametrize("staff", [False, True])
def test_nobody_sees_or_changes_what_is_another_s(client, staff):
    ben = make_subscriber("ben", make_feed(title="Ben's feed"))
    row, personal = ben.subscriptions.get(), make_personal_feed(ben, name="Ben's")
    client.force_login(make_user(staff=staff))
    for name in PAGES:
        assert "Ben" not in client.get(reverse(name)).content.decode()
    for address in (
        f"/me/following/{row.pk}/",
        f"/me/following/{row.pk}/unfollow/",
        f"/me/personal/{personal.pk}/",
        f"/me/personal/{personal.pk}/rotate/",
        f"/me/personal/{personal.pk}/delete/",
    ):
        assert client.post(address, {"name": "x", "folder": "x"}).status_code == 404
    assert client.get(f"/me/personal/{personal.pk}/").status_code == 404
    assert Subscription.objects.count() == PersonalFeed.objects.count() == 1
