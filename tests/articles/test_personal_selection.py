"""Which articles a personal feed holds."""

from datetime import UTC, datetime, timedelta

import pytest

from articles.following import follow
from articles.personal import keywords, selection
from tests.factories import make_article, make_feed, make_personal_feed, make_subscriber

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def ann():
    return make_subscriber("ann")


def titles(personal_feed):
    return [article.title for article in selection(personal_feed)]


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


def test_keywords_are_split_where_people_split_them():
    assert keywords(" a,b  c\n\n,d, a ") == ["a", "b c", "d"]
    assert len(keywords(",".join(map(str, range(500))))) == 50
