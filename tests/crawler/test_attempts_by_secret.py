"""Unknown secrets of every kind are counted by themselves as well as by address."""

from __future__ import annotations

from datetime import timedelta

import pytest

from crawler.web import attempts

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(attempts, "MOST", 3)
    monkeypatch.setattr(attempts, "WINDOW", timedelta(days=3650))


@pytest.mark.parametrize(
    ("path", "headers", "unknown"),
    [
        ("/api/articles/", {"Authorization": f"Token {'0' * 40}"}, 401),
        ("/reader/api/0/user-info", {"Authorization": "GoogleLogin auth=ada/" + "0" * 40}, 401),
        (f"/personal/{'x' * 43}.rss", {}, 404),
    ],
)
def test_an_unknown_secret_is_refused_after_some_from_any_address(client, path, headers, unknown):
    answers = [client.get(path, headers=headers, REMOTE_ADDR=f"198.51.100.{n}") for n in range(5)]
    assert [answer.status_code for answer in answers] == [unknown] * 3 + [429] * 2
