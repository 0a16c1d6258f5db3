"""Which articles a personal feed holds."""

from datetime import UTC, datetime, timedelta

import pytest

from articles.enrichment.models import Enrichment, Story
from articles.models import Article, PersonalFeed
from articles.personal.following import follow
from articles.personal.selection import chosen, keywords, selection
from tests.factories import make_article, make_feed, make_personal_feed, make_subscriber

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def ann():
    return make_subscriber("ann")


def titles(personal_feed):
    keys = chosen(personal_feed, 0, 100)
    assert keys == list(selection(personal_feed).values_list("pk", flat=True))
    rows = Article.objects.in_bulk(keys)
    return [rows[key].title for key in keys]


def test_it_holds_what_is_followed_newest_first(ann):
    feed = make_feed()
    follow(ann, feed)
    for days, title in ((0, "old"), (2, "new"), (1, "middle")):
        make_article(feed, title=title, published=NOW + timedelta(days=days))
    make_article(title="not followed")
    assert titles(make_personal_feed(ann)) == ["new", "middle", "old"]


def test_a_folder_holds_those_inside_it(ann):
    for folder in ("News", "News/Tech", "Newspapers", ""):
        feed = make_feed()
        follow(ann, feed, folder=folder)
        make_article(feed, title=folder or "none")
    assert sorted(titles(make_personal_feed(ann, folder="News"))) == ["News", "News/Tech"]
    assert len(titles(make_personal_feed(ann))) == 4


@pytest.mark.parametrize(
    ("include", "exclude", "found"),
    [
        (["river"], [], {"en"}),
        (["Fluss"], [], {"de"}),
        (["river", "Fluss"], [], {"en", "de"}),
        (["bank of the river"], [], {"en"}),
        (["river of the bank"], [], set()),
        (["北京"], [], {"zh"}),
        ([], ["river"], {"de", "zh"}),
        (["river"], ["flooded"], set()),
        (['"'], [], set()),
        ([], ['"', "-", "or", "!&|"], {"en", "de", "zh"}),
    ],
)
def test_keywords_choose_in_any_language(ann, include, exclude, found):
    feed = make_feed()
    follow(ann, feed)
    make_article(feed, title="en", language="en", text="The banks of the rivers were flooding.")
    make_article(feed, title="de", language="de", text="Die Flüsse traten über die Ufer.")
    make_article(feed, title="zh", language="zh", text="我在北京大学。")
    assert set(titles(make_personal_feed(ann, include=include, exclude=exclude))) == found


def test_of_a_story_it_holds_the_first_that_the_subscriber_follows(ann):
    feeds = [make_feed() for _ in range(3)]
    story, other = Story.objects.create(), Story.objects.create()
    for feed, title, of in (
        (feeds[0], "nobody follows", story), (feeds[1], "first", story), (feeds[2], "later", story),
        (feeds[2], "alone in its story", other), (feeds[2], "in none", None),
    ):  # fmt: skip
        article = make_article(feed, title=title, published=NOW)
        Enrichment.objects.update_or_create(article=article, defaults={"story": of})
    follow(ann, feeds[1])
    follow(ann, feeds[2])
    Enrichment.objects.filter(article__title="in none").delete()
    for order in PersonalFeed.Order:
        held = chosen(make_personal_feed(ann, order=order), 0, 10)
        told = set(Article.objects.filter(pk__in=held).values_list("title", flat=True))
        assert told == {"first", "alone in its story", "in none"}
    ben = make_subscriber("ben", *feeds)
    assert len(chosen(make_personal_feed(ben), 0, 10)) == 3


def test_keywords_are_split_where_people_split_them():
    assert keywords(" a,b  c\n\n,d, a ") == ["a", "b c", "d"]
    assert len(keywords(",".join(map(str, range(500))))) == 50
