"""Requests keep the database busy for a bounded time, and say so."""

from __future__ import annotations

import pytest
from django.db import OperationalError, connection, connections
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from crawler.web import deadline

pytestmark = pytest.mark.django_db


def answered(query: str, *statements: str, method: str = "GET") -> HttpResponse:
    """Answer a request by a view that executes these statements."""

    def view(request: HttpRequest) -> HttpResponse:
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
        return HttpResponse("done")

    middleware = deadline.Deadline(view)
    request = RequestFactory().generic(method, f"/api/articles/?{query}")
    try:
        return middleware(request)
    except Exception as error:
        refusal = middleware.process_exception(request, error)
        if refusal is None:
            raise
        return refusal


def timeout() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        return str(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("statements", [("SELECT pg_sleep(9)",), ("SELECT pg_sleep(0.2)",) * 9])
def test_all_statements_of_a_search_share_one_limit(
    monkeypatch: pytest.MonkeyPatch, statements: tuple[str, ...]
) -> None:
    monkeypatch.setattr(deadline, "MAX_SEARCH_SECONDS", 0.5)
    before = timeout()
    answer = answered("q=word", *statements)
    assert answer.status_code == 503  # each has less than the limit, or one has more, and none had its own
    assert b"This search takes too long: use fewer or rarer words" in answer.content
    assert timeout() == before


@pytest.mark.django_db(transaction=True)
def test_other_requests_have_the_limit_of_their_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "MAX_SEARCH_SECONDS", 0.1)
    assert answered("page=1", "SELECT pg_sleep(0.2)").status_code == 200
    assert answered("q=word", "SELECT pg_sleep(0.2)", method="POST").status_code == 200  # a form of the page
    answer = answered("page=1", "SET statement_timeout = 100", "SELECT pg_sleep(9)")
    assert answer.status_code == 503
    assert b"was stopped" in answer.content
    with connection.cursor() as cursor:
        # Closed, it would go back into the pool with its limit, and stop a statement of some later test.
        cursor.execute("RESET statement_timeout")


def test_other_failures_of_the_database_are_not_the_deadline_s() -> None:
    middleware = deadline.Deadline(lambda request: HttpResponse())
    assert middleware.process_exception(RequestFactory().get("/?q=a"), OperationalError("away")) is None


def test_the_web_server_s_statements_end_within_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connections.settings["default"], "OPTIONS", {"options": "-c jit=off"})
    deadline.bound_statements()
    assert connections.settings["default"]["OPTIONS"]["options"] == "-c jit=off -c statement_timeout=60000"


@pytest.mark.parametrize(
    ("query", "searches"),
    [("q=a", True), ("page=2&q=a", True), ("query=x", True), ("page=2", False), ("", False), ("aq=1", False)],
)
def test_a_search_is_known_by_its_address(query: str, searches: bool) -> None:
    assert deadline.is_search(query) is searches


@pytest.mark.django_db(transaction=True)
def test_the_session_is_read_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "MAX_SEARCH_SECONDS", 0.0)
    assert answered("q=word", "SELECT 1 FROM django_session LIMIT 1").status_code == 200
    assert answered("q=word", "SELECT 1").status_code == 503
