"""Whether a proxy that speaks TLS is believed in, where nothing is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_settings import start


@pytest.mark.parametrize(
    ("given", "believed"),
    [
        ({}, False),
        ({"PUBLIC_URL": "https://feeds.example.org"}, True),
        ({"PUBLIC_URL": "http://feeds.example.org"}, False),
        ({"PUBLIC_URL": "https://feeds.example.org", "BEHIND_TLS_PROXY": "no"}, False),
        ({"BEHIND_TLS_PROXY": "yes"}, True),
    ],
)
def test_a_public_address_of_https_means_that_a_proxy_stands_before(
    tmp_path: Path, given: dict[str, str], believed: bool
) -> None:
    code = "from django.conf import settings as s; print(s.BEHIND_TLS_PROXY, s.SESSION_COOKIE_SECURE)"
    done = start(tmp_path, code, DATABASE_URL="none", **given)
    assert done.stdout.split() == [str(believed)] * 2, done.stderr
