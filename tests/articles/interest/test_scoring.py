"""Scores, orders and explanations for subscribers."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from articles.enrichment.models import Enrichment
from articles.interest.log import Kind, note, reset
from articles.interest.scoring import described, explain, ranked, reasons
from articles.interest.stored import weights_of
from articles.models import Article
from tests.articles.interest.rows import enriched
from tests.factories import make_article, make_feed, make_subscriber

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def ann():
    return make_subscriber("ann")


def newest():
    return list(Article.objects.order_by("-published", "-pk").values_list("pk", flat=True))


def test_features_come_from_enrichment_and_article(django_assert_num_queries):
    full = enriched("comet", category="Science", author="Ada", feed=make_feed())
    plain = make_article(category="given", author="")
    with django_assert_num_queries(1):
        known = described([full.pk, plain.pk, 10**9])
    found = {article: about.features for article, about in known.items()}
    assert set(found) == {full.pk, plain.pk}
    assert set(found[full.pk]) == {
        "keyword:comet", "category:science", "author:ada", f"feed:{full.feed_id}",
    }  # fmt: skip
    assert set(found[plain.pk]) == {"category:given", f"feed:{plain.feed_id}"}


def test_what_is_liked_comes_first_and_a_reset_brings_back_newest_first(ann):
    feed = make_feed()
    for i in range(8):
        enriched("comet" if i == 2 else f"other{i}", feed=feed, published=NOW + HOUR * i)
    liked = enriched("comet", feed=feed, published=NOW - 24 * HOUR)
    assert [each.article_id for each in ranked(ann, Article.objects.all())] == newest()
    note(ann, [liked.pk], Kind.MORE, NOW)
    placed = ranked(ann, Article.objects.all())
    assert Article.objects.get(pk=placed[0].article_id).enrichment.keywords[0][0] == "comet"
    reset(ann, NOW + HOUR)
    placed = ranked(ann, Article.objects.all())
    assert [each.article_id for each in placed] == newest()
    assert {each.score for each in placed} == {0.0}


def test_one_place_in_ten_is_given_to_explore_what_was_never_shown(ann):
    feed = make_feed()
    articles = [enriched(f"w{i % 4}", feed=feed, published=NOW + HOUR * i) for i in range(30)]
    note(ann, [articles[0].pk], Kind.MORE, NOW)
    note(ann, [article.pk for article in articles[:20]], Kind.SHOWN, NOW)
    placed = ranked(ann, Article.objects.all())
    explored = [i for i, each in enumerate(placed) if each.exploring]
    assert explored == [9, 19, 29][: len(explored)]
    assert explored
    unseen = {article.pk for article in articles[20:]}
    assert {placed[i].article_id for i in explored} <= unseen
    assert ranked(ann, Article.objects.all()) == placed


def test_scores_and_explanations_agree_and_add_up(ann):
    article = enriched("comet", "probe", category="science", author="Ada", published=NOW)
    note(ann, [article.pk], Kind.MORE, NOW)
    note(ann, [enriched("comet", published=NOW).pk], Kind.SHOWN, NOW)
    about = described([article.pk])[article.pk]
    aged = weights_of(ann).aged(about.published)
    said = explain(ann, article.pk, NOW)
    assert said is not None
    assert sum(part.contribution for part in said.parts) == pytest.approx(said.score)
    assert said.score == pytest.approx(aged.score(about.features))
    assert said.deviation == pytest.approx(math.sqrt(aged.variance(about.features)))
    assert said.total == said.score + said.recency
    assert 0.5 < said.chance < 1
    assert {str(part.label) for part in said.parts} >= {"keyword comet", "author ada", "category science"}
    assert said.unknown == []


def test_an_article_of_which_nothing_is_known_has_no_score(ann):
    note(ann, [enriched("comet").pk], Kind.MORE, NOW)
    strange = enriched("other", feed=make_feed())
    said = explain(ann, strange.pk, NOW)
    assert (said.score, said.parts) == (0.0, [])
    assert {label.name for label in said.unknown} == {"other", str(strange.feed)}
    assert explain(ann, 10**9, NOW) is None


def test_weights_are_one_s_own(ann):
    article = enriched("comet")
    note(ann, [article.pk], Kind.MORE, NOW)
    ben = make_subscriber("ben")
    assert weights_of(ben).beliefs == {}
    assert explain(ben, article.pk, NOW).score == 0


def test_an_article_that_is_described_anew_is_scored_anew(ann):
    liked, other = enriched("comet", published=NOW), enriched("tax", published=NOW)
    note(ann, [liked.pk], Kind.MORE, NOW)
    before = {each.article_id: each.score for each in ranked(ann, Article.objects.all())}
    Enrichment.objects.filter(article=other).update(keywords=[["comet", 3.0]])
    after = {each.article_id: each.score for each in ranked(ann, Article.objects.all())}
    assert after[other.pk] > before[other.pk]
    assert after[liked.pk] == before[liked.pk]


def test_the_order_takes_few_queries(ann, django_assert_max_num_queries):
    feed = make_feed()
    for i in range(40):
        last = enriched(f"w{i % 7}", feed=feed, published=NOW + HOUR * i)
    note(ann, [last.pk], Kind.MORE, NOW)
    with django_assert_max_num_queries(4):
        assert len(ranked(ann, Article.objects.all())) == 40


def test_a_reason_that_nobody_would_give_gives_way_to_the_next(ann):
    article = enriched("nbsp", feed=make_feed(title="The Pier"), author="")
    note(ann, [article.pk], Kind.MORE, NOW)
    assert reasons(ann, [article.pk], NOW)[article.pk] == "Because you read The Pier"
