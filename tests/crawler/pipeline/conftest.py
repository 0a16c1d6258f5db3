"""What every test of the pipeline may count on."""

from __future__ import annotations

import pytest
from django.db import connection

from crawler.pipeline.models import LinkQuery

QUERIES = {
    "Feeds and data": (0.9, "http://www.w3.org/2000/01/rdf-schema#seeAlso"),
    "Items of feeds": (0.7, "http://purl.org/rss/1.0/link"),
}


@pytest.fixture(autouse=True)
def empty_graph(request: pytest.FixtureRequest) -> None:
    """Tests with transactions leave what lies in tables of no model."""
    if request.node.get_closest_marker("django_db"):
        request.getfixturevalue("_django_db_helper")
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM pipeline_quad; DELETE FROM pipeline_term")


@pytest.fixture
def link_queries() -> None:
    """Two of those that migrations make, and no others: tests with transactions empty the table."""
    LinkQuery.objects.all().delete()
    for name, (weight, predicate) in QUERIES.items():
        LinkQuery.objects.create(name=name, weight=weight, predicates=[predicate])
