"""/metrics: Prometheus text, for holders of a token."""

import re
from datetime import UTC, datetime

import pytest

from tests.factories import make_article, make_feed, make_token, make_user

pytestmark = pytest.mark.django_db
LINE = re.compile(r'freshet_[a-z_]+(\{[a-z]+="[^"]*"\})? -?[0-9.e+-]+|# (HELP|TYPE) freshet_[a-z_]+ .+')


def test_it_is_well_formed_and_tells_the_figures(client, settings):
    settings.METRICS_TOKEN = "word"
    make_feed(status="paused")
    make_article(delay=30.0, fetched=datetime.now(UTC))
    answer = client.get("/metrics", headers={"Authorization": "Bearer word"})
    text = answer.content.decode()
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    assert all(LINE.fullmatch(line) for line in text.splitlines())
    assert text.endswith("\n")
    for line in (
        'freshet_feeds{status="paused"} 1',
        "freshet_articles 1",
        'freshet_delay_seconds{quantile="0.5"} 30',
    ):
        assert line in text.splitlines()


def test_an_api_token_opens_it(client):
    assert client.get("/metrics", headers={"Authorization": make_token(make_user())}).status_code == 200


@pytest.mark.parametrize("given", ["", "Bearer ", "Bearer wrong", "Token wrong", "Bearer wörd", "Token \x80"])
def test_others_are_refused(client, settings, given):
    settings.METRICS_TOKEN = "word"
    answer = client.get("/metrics", headers={"Authorization": given})
    assert answer.status_code == 401
    assert b"freshet_" not in answer.content


def test_without_the_setting_no_empty_word_opens_it(client):
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 401
