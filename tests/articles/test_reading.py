"""The reading list: marks, views, orders; the account; feedback from a feed reader."""

from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils.crypto import salted_hmac

from articles.enrichment.enrich import enrich
from articles.interest.models import Event
from articles.models import Article, Mark, PersonalFeed, Subscriber
from articles.personal.following import follow
from articles.personal.rating import feedback_addresses
from articles.personal.selection import address_token, chosen, revoke_address
from articles.personal.versions import touch
from tests.factories import make_article, make_feed, make_personal_feed, make_subscriber

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def ann(client):
    subscriber = make_subscriber("ann", make_feed("https://news.example/feed", title="News"))
    client.force_login(subscriber.user)
    client.subscriber = subscriber
    return client


def publish(ann, count=3, **fields):
    feed = ann.subscriber.subscriptions.get().feed
    return [
        make_article(feed, title=f"article {n}", published=NOW + timedelta(hours=n), **fields)
        for n in range(count)
    ]


def titles(client, view="all", order="new"):
    rows = client.get("/read/", {"show": view, "order": order}).context["rows"]
    return [row.article.title for row in rows]


def test_what_was_read_leaves_the_unread(ann):
    articles = publish(ann)
    ann.post(f"/me/read/{articles[1].pk}/read/")
    assert titles(ann, view="unread") == ["article 2", "article 0"]
    assert titles(ann) == ["article 2", "article 1", "article 0"]
    ann.post(f"/me/read/{articles[1].pk}/unread/")
    assert len(titles(ann, view="unread")) == 3


def test_stars_are_a_view_of_their_own_and_teach(ann):
    articles = publish(ann)
    ann.post(f"/me/read/{articles[0].pk}/star/")
    assert titles(ann, view="starred") == ["article 0"]
    assert Event.objects.filter(kind="saved", undone=None).count() == 1
    ann.post(f"/me/read/{articles[0].pk}/unstar/")
    assert titles(ann, view="starred") == []


def test_marks_answer_htmx_with_the_buttons_alone(ann):
    (article,) = publish(ann, 1)
    answer = ann.post(f"/me/read/{article.pk}/star/", headers={"HX-Request": "true"})
    assert "Starred" in answer.content.decode()
    assert "<html" not in answer.content.decode()
    assert ann.post(f"/me/read/{article.pk}/burn/").status_code == 404
    assert ann.get(f"/me/read/{article.pk}/star/").status_code == 405


def test_marks_are_each_subscribers_own(ann):
    (article,) = publish(ann, 1)
    ann.post(f"/me/read/{article.pk}/read/")
    ben = Client()
    ben.force_login(make_subscriber("ben", article.feed).user)
    assert titles(ben, view="unread") == ["article 0"]


def test_what_is_hidden_leaves_the_list(ann):
    articles = publish(ann)
    ann.post(f"/me/interest/feedback/{articles[2].pk}/hide/")
    assert titles(ann) == ["article 1", "article 0"]


def test_the_former_address_of_the_reading_list_leads_on(ann):
    for given, to in (
        ("", "/read/"), ("?view=starred&folder=News", "/read/?folder=News&show=starred"),
        ("?view=hidden&order=interest", "/read/?order=interest"), ("?q=two+words", "/search/?q=two+words"),
    ):  # fmt: skip
        assert ann.get(f"/me/{given}")["Location"] == to


def test_a_story_is_listed_once_and_says_where_else_it_is(ann):
    text = " ".join(f"The river {n} rose after rain number {n}." for n in range(30))
    publish(ann, 1, text=text)
    other = make_feed()
    follow(ann.subscriber, other)
    make_article(other, title="article 0", text=text, published=NOW)
    make_article(title="article 0", text=text, published=NOW)
    enrich(NOW)
    (row,) = ann.get("/read/", {"show": "all"}).context["rows"]
    assert row.also_in == 2


def test_interest_orders_what_is_like_what_was_liked(ann):
    feed = ann.subscriber.subscriptions.get().feed
    liked = make_feed(title="Liked")
    follow(ann.subscriber, liked)
    for n in range(12):
        make_article(feed, title=f"dull {n}", published=NOW + timedelta(hours=n), author="Ben")
        make_article(liked, title=f"good {n}", published=NOW + timedelta(hours=n), author="Cid")
    good = list(Article.objects.filter(feed=liked).order_by("pk"))
    assert titles(ann, order="interest") == titles(ann)
    for article in good[:6]:
        ann.post(f"/me/interest/feedback/{article.pk}/more/")
    first = titles(ann, order="interest")[:8]
    assert sum(title.startswith("good") for title in first) >= 7
    row = make_personal_feed(ann.subscriber, order="interest")
    assert sum(Article.objects.get(pk=key).feed_id == liked.pk for key in chosen(row, 0, 8)) >= 7
    ann.post("/me/interest/reset/")
    assert titles(ann, order="interest") == titles(ann)


def test_everything_is_taken_along_and_deleted(ann):
    articles = publish(ann)
    ann.post(f"/me/read/{articles[0].pk}/star/")
    make_personal_feed(ann.subscriber, name="Mine")
    taken = ann.get("/me/account/export/").json()
    assert taken["feeds"][0]["url"] == "https://news.example/feed"
    assert taken["personal_feeds"][0]["name"] == "Mine"
    assert taken["marks"][0]["title"] == "article 0"
    ann.post("/settings/data/", {"sure": "no"})
    assert Subscriber.objects.filter(pk=ann.subscriber.pk).exists()
    ann.post("/settings/data/", {"sure": "ann"})
    assert not Subscriber.objects.filter(pk=ann.subscriber.pk).exists()
    assert not Mark.objects.exists()
    assert not PersonalFeed.objects.exists()


def test_an_items_address_rates_by_post_alone(ann):
    (article,) = publish(ann, 1)
    row = make_personal_feed(ann.subscriber)
    stranger, rate = Client(), feedback_addresses(row, [article.pk])[article.pk]
    assert rate in Client().get(f"/personal/{address_token(row)}.rss").content.decode()
    page = stranger.get(rate)
    assert page.status_code == 200
    assert "article 0" in page.content.decode()
    assert not Event.objects.exists()
    said = stranger.post(rate, {"word": "more"})
    assert "You will see more like it" in said.content.decode()
    assert Event.objects.get().kind == "more"
    stranger.post(rate, {"word": "undo-more"})
    assert Event.objects.get().undone is not None
    assert stranger.post(rate, {"word": "burn"}).status_code == 400


def test_addresses_of_feedback_that_were_given_out_stay_valid(ann, settings):
    (article,) = publish(ann, 1)
    row = make_personal_feed(ann.subscriber)
    named = f"{row.pk}-{article.pk}"
    digest = salted_hmac("articles.personal.rating", named, algorithm="sha256").digest()
    signature = urlsafe_b64encode(digest[:16]).decode().rstrip("=")
    given_out = f"/personal/rate/{named}-{signature}/"
    assert feedback_addresses(row, [article.pk]) == {article.pk: given_out}
    assert Client().get(given_out).status_code == 200
    settings.SECRET_KEY = "another"
    assert Client().get(given_out).status_code == 404


def test_an_address_of_feedback_cannot_be_made_up(ann):
    first, second = publish(ann, 2)
    row = make_personal_feed(ann.subscriber)
    good = feedback_addresses(row, [first.pk])[first.pk]
    forged = good.replace(f"-{first.pk}-", f"-{second.pk}-")
    for address in (forged, good[:-2] + "x/", "/personal/rate/1-1-x/", "/personal/rate/nothing/"):
        assert ann.get(address).status_code == 404
    revoke_address(row)
    assert ann.post(good, {"word": "more"}).status_code == 404
    assert not Event.objects.exists()


def test_a_reader_that_has_the_document_costs_one_query(ann, django_assert_num_queries):
    publish(ann)
    row = make_personal_feed(ann.subscriber)
    address = f"/personal/{address_token(row)}.rss"
    reader = Client()
    etag = reader.get(address)["ETag"]
    with django_assert_num_queries(1):
        assert reader.get(address, headers={"If-None-Match": etag}).status_code == 304
    publish(ann, 1, identity="another")
    assert reader.get(address, headers={"If-None-Match": etag}).status_code == 200


@pytest.mark.parametrize("change", ["feedback", "settings", "follow", "words", "story", "topic"])
def test_whatever_changes_the_document_is_noticed(ann, change):
    text = " ".join(f"The river {n} rose after rain number {n}." for n in range(30))
    articles = publish(ann, text=text)
    row = make_personal_feed(ann.subscriber, order="interest")
    address = f"/personal/{address_token(row)}.rss"
    etag = ann.get(address)["ETag"]
    other = make_article(title="elsewhere", text="The river rose.")
    assert ann.get(address, headers={"If-None-Match": etag}).status_code == 304
    if change == "feedback":
        ann.post(f"/me/interest/feedback/{articles[2].pk}/hide/")
    elif change == "settings":
        PersonalFeed.objects.get().save()
        PersonalFeed.objects.update(name="Another", changed=datetime.now(UTC))
    elif change == "follow":
        follow(ann.subscriber, other.feed)
    elif change == "words":
        Article.objects.filter(pk=articles[0].pk).update(title="new words")
        touch([articles[0].feed_id])
    elif change == "story":
        make_article(title="article 0", text=text, published=NOW)
        enrich(NOW)
    else:
        ann.post("/me/following/topics/", {"kind": "keyword", "value": "river"})
    assert ann.get(address, headers={"If-None-Match": etag}).status_code == 200
