"""A task that meets a deadlock, or a server that ends under it, is done again and not lost."""

from __future__ import annotations

import pytest
from django.db import connection

from crawler.celery import DatabaseTask, app

# The class is named: without workers of pytest the application is made before any database is known.
pytestmark = pytest.mark.django_db(transaction=True)
DEADLOCK = "DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '40P01'; END $$"
SHUTDOWN = "SELECT pg_terminate_backend(pg_backend_pid())"


@pytest.mark.parametrize("refusal", [DEADLOCK, SHUTDOWN])
def test_it_is_done_again(refusal: str) -> None:
    done: list[int] = []

    def work() -> None:
        done.append(1)
        with connection.cursor() as cursor:
            if len(done) == 1:
                cursor.execute(refusal)
            cursor.execute("SELECT 1")

    app.task(work, base=DatabaseTask, name="tests.again", shared=False)()
    assert len(done) == 2
    del app.tasks["tests.again"]


def test_what_is_wrong_for_good_is_told() -> None:
    def work() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")

    with pytest.raises(Exception, match="division by zero"):
        app.task(work, base=DatabaseTask, name="tests.wrong", shared=False)()
    del app.tasks["tests.wrong"]
