"""Statements that a connection keeps planned."""

import pytest
from django.db import connection

from articles.models import Article
from crawler.database.prepared import PREPARED_AFTER, planned_rows, rows_of
from tests.factories import make_article


def prepared():
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        return [statement for (statement,) in cursor.fetchall()]


@pytest.mark.django_db
def test_what_is_asked_often_is_planned_once_and_answers_the_same(django_assert_num_queries):
    asked = "SELECT id, title FROM articles_article WHERE title = %s"
    article = make_article(title="Flood")
    with django_assert_num_queries(PREPARED_AFTER):
        for _ in range(PREPARED_AFTER):
            assert planned_rows(asked, ["Flood"]) == [(article.pk, "Flood")]
    assert not [statement for statement in prepared() if "title = $1" in statement]
    assert planned_rows(asked, ["Flood"]) == [(article.pk, "Flood")]
    assert [statement for statement in prepared() if "title = $1" in statement]
    make_article(title="Drought")
    assert [title for _, title in planned_rows(asked, ["Drought"])] == ["Drought"]


@pytest.mark.django_db
def test_nothing_else_is_prepared():
    many = "SELECT " + ", ".join(["%s::int"] * 60)
    for _ in range(PREPARED_AFTER + 2):
        planned_rows(many, [1] * 60)
        Article.objects.filter(title="Flood").exists()
    assert connection.connection.prepare_threshold is None
    assert not [statement for statement in prepared() if "$60" in statement or "LIMIT 1" in statement]


@pytest.mark.django_db
def test_a_query_that_can_find_nothing_is_not_asked(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert rows_of(Article.objects.filter(pk__in=[]).values_list("pk")) == []
