"""An upgrade that fails in the middle leaves the tables as they were."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management.base import CommandError
from django.db import connection

from crawler.management.commands import run

pytestmark = pytest.mark.django_db


def test_what_was_migrated_before_the_failure_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE half_of_an_upgrade ()")
        raise ValueError("there is no such column\nand more")

    monkeypatch.setattr(run, "call_command", fail)
    with pytest.raises(
        CommandError, match=r"as they were \(there is no such column\): start the version before"
    ):
        run._upgrade()
    assert "half_of_an_upgrade" not in connection.introspection.table_names()
