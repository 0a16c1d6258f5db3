"""Labels on articles: in the reader, in the API, from apps, in an archive; and folders without feeds."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from articles.models import Mark
from articles.personal import labels
from articles.personal.following import folders_of, follow, make_folder, rename_folder
from articles.personal.labels import add_labels, label_named, labels_of, remove_labels, rename_label
from articles.personal.marking import mark_read
from tests.factories import make_article, make_feed, make_subscriber, make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
BACKEND = "crawler.accounts.backends.NameOrMailBackend"
HTMX = {"HX-Request": "true", "HX-Target": "labels"}


@pytest.fixture
def ann():
    return make_subscriber("ann")


@pytest.fixture
def device(ann):
    client = Client()
    client.force_login(ann.user, backend=BACKEND)
    return client


def labels_on(subscriber, article):
    return list(Mark.objects.get(subscriber=subscriber, article=article).labels)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("  To  read\tlater ", "To read later"),
        ("\x00\x1b[31m", "[31m"),
        ("x" * 300, "x" * 100),
        ("\u202e", ""),
    ],
)
def test_a_label_has_no_odd_signs(text, label):
    assert label_named(text) == label


def test_labels_are_added_once_and_taken_away(ann):
    first, second = (make_article(make_feed()).pk for _ in range(2))
    mark_read(ann, [first], NOW)
    add_labels(ann, [first, second, 10**12], ["work", "Atlas", "work "])
    add_labels(ann, [first], ["work"])
    assert labels_on(ann, first) == ["Atlas", "work"]
    assert Mark.objects.get(article=first).read == NOW
    remove_labels(ann, [first], ["work", "never given"])
    assert (labels_on(ann, first), labels_of(ann)) == (["Atlas"], ["Atlas", "work"])


def test_labels_belong_to_one_person(ann):
    article, bob = make_article(make_feed()).pk, make_subscriber("bob")
    add_labels(ann, [article], ["work"])
    assert labels_of(bob) == []
    assert rename_label(bob, "work", "toil") == 0
    assert labels_of(ann) == ["work"]


def test_a_renamed_label_joins_another(ann):
    articles = [make_article(make_feed()).pk for _ in range(3)]
    add_labels(ann, articles, ["work"])
    add_labels(ann, articles[:1], ["job"])
    assert rename_label(ann, "work", "job") == 3
    assert labels_of(ann) == ["job"]
    assert rename_label(ann, "job", "job") == 3
    assert rename_label(ann, "job", "") == 3
    assert labels_of(ann) == []


def test_labels_have_bounds(ann, monkeypatch):
    article = make_article(make_feed()).pk
    add_labels(ann, [article], [f"{number:03}" for number in range(80)])
    assert labels_on(ann, article) == [f"{number:03}" for number in range(labels.MAX_LABELS)]
    monkeypatch.setattr(labels, "MAX_NAMES", 50)
    with pytest.raises(labels.TooManyLabels):
        add_labels(ann, [article], ["one more"])


def test_the_reader_lists_a_label_and_changes_it(ann, device):
    feed = make_feed()
    follow(ann, feed)
    article, other = make_article(feed, title="Rain in May").pk, make_article(feed, title="Sun in June").pk
    answer = device.post(f"/read/{article}/label/", {"add": "weather"}, headers=HTMX)
    assert answer.status_code == 200
    assert "?label=weather&amp;show=all" in answer.content.decode()
    page = device.get("/read/?label=weather&show=all").content.decode()
    assert "Rain in May" in page
    assert "Sun in June" not in page
    assert device.post(f"/read/{article}/label/", {"remove": "weather"}).status_code == 302
    assert labels_of(ann) == []
    assert device.post(f"/read/{other + 1000}/label/", {"add": "x"}).status_code == 404
    assert device.post(f"/read/{article}/label/", {"add": " "}).status_code == 302


def test_a_label_is_kept_when_its_feed_is_no_longer_followed(ann, device):
    article = make_article(make_feed(), title="Rain in May").pk
    add_labels(ann, [article], ["weather"])
    assert "Rain in May" in device.get("/read/?label=weather&show=all").content.decode()


def test_too_many_labels_are_refused_in_words(ann, device, monkeypatch):
    article = make_article(make_feed()).pk
    monkeypatch.setattr(labels, "MAX_NAMES", 0)
    answer = device.post(f"/read/{article}/label/", {"add": "weather"}, headers=HTMX)
    assert "labels at most" in answer.content.decode()


def test_the_api_reads_and_changes_marks(ann, device):
    address = f"/api/articles/{make_article(make_feed()).pk}/marks/"
    assert device.get(address).json() == {"read": False, "starred": False, "labels": []}
    changed = device.patch(address, {"read": True, "labels": ["b", "a"]}, content_type="application/json")
    assert changed.json() == {"read": True, "starred": False, "labels": ["a", "b"]}
    changed = device.patch(address, {"starred": True, "labels": ["b"]}, content_type="application/json")
    assert changed.json() == {"read": True, "starred": True, "labels": ["b"]}
    assert device.patch(address, {"labels": "b"}, content_type="application/json").status_code == 400
    assert Client().get(address).status_code in {401, 403}


def test_folders_may_be_empty(ann, device):
    device.post("/me/following/folders/", {"folder": " News / Science "})
    ann.refresh_from_db()
    assert folders_of(ann) == ["News", "News/Science"]
    assert "News/Science" in device.get("/me/following/").content.decode()
    assert 'data-folder="News/Science"' in device.get("/read/").content.decode()
    device.post("/me/following/folders/remove/", {"folder": "News/Science"})
    ann.refresh_from_db()
    assert folders_of(ann) == []
    for name in ("", "/"):
        assert device.post("/me/following/folders/", {"folder": name}).status_code == 302
    assert folders_of(ann) == []


def test_a_folder_is_renamed_with_feeds_and_without(ann):
    make_folder(ann, "News")
    follow(ann, make_feed(), folder="News")
    assert rename_folder(ann, "News", "Press") == 2
    assert folders_of(ann) == ["Press"]
    assert rename_folder(ann, "Press", "") == 2
    assert folders_of(ann) == []
    assert rename_folder(ann, "Press", "News") == 0


def test_somebody_else_sees_no_labels(ann, device):
    article = make_article(make_feed(), title="Rain in May").pk
    add_labels(ann, [article], ["weather"])
    stranger = Client()
    stranger.force_login(make_user("eve"), backend=BACKEND)
    assert "Rain in May" not in stranger.get("/read/?label=weather&show=all").content.decode()


def test_renaming_needs_no_room_for_another_label(ann, monkeypatch):
    article = make_article(make_feed()).pk
    add_labels(ann, [article], [f"{number:03}" for number in range(50)])
    monkeypatch.setattr(labels, "MAX_NAMES", 50)
    assert rename_label(ann, "000", "zzz") == 1
    assert labels_on(ann, article) == [*(f"{number:03}" for number in range(1, 50)), "zzz"]


def test_a_refused_change_of_labels_changes_none(ann, device, monkeypatch):
    article = make_article(make_feed()).pk
    add_labels(ann, [article], ["a", "b"])
    monkeypatch.setattr(labels, "MAX_NAMES", 2)
    address = f"/api/articles/{article}/marks/"
    refused = device.patch(address, {"labels": ["b", "c", "d"]}, content_type="application/json")
    assert refused.status_code == 400
    assert labels_on(ann, article) == ["a", "b"]
