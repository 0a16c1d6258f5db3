"""Morning briefs in digests: there where the model was quick, and left out where it was not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from articles.modelled import questions
from articles.modelled.answering import answer_next
from articles.modelled.models import ModelTask
from articles.models import Article
from crawler.fetching.sandboxed import client as confined
from crawler.notices import briefs
from crawler.notices.models import Notification, Rule, Target
from crawler.notices.watching import look
from crawler.notices.writing import write
from tests.articles.model_server import PATH, stream
from tests.factories import make_article, make_feed, make_subscriber, make_user
from tests.html import flat
from tests.servers import Reply, WebServer

pytestmark = pytest.mark.django_db
EIGHT = datetime.now(UTC).replace(hour=8, minute=0, second=0, microsecond=0)
SLOT = EIGHT if datetime.now(UTC) > EIGHT else EIGHT - timedelta(days=1)
"""The last one: what was said to come, came too late before eight in the morning."""
BEFORE, AFTER = SLOT - timedelta(minutes=5), SLOT + timedelta(seconds=1)
BACKEND = "crawler.accounts.backends.NameOrMailBackend"


@pytest.fixture(scope="module", autouse=True)
def _programs_end() -> Iterator[None]:
    """End the sandboxed processes with the file: a start of theirs takes a second."""
    yield
    confined.programs.close()


@pytest.fixture
def model(settings: Any) -> Iterator[WebServer]:
    """A model that writes a brief, in a deployment that has it."""
    with WebServer({PATH: stream('A bridge was built [1]. They say "it was all a dream" [1].')}) as server:
        settings.MODEL_URL, settings.MODEL_NAME, settings.MODEL_KEY = server.origin, "tiny", ""
        settings.MODEL_SECONDS, settings.PUBLIC_URL = 10, "https://news.example"
        yield server


@pytest.fixture
def mara() -> Any:
    return make_subscriber("mara", make_feed(title="Courier")).user


@pytest.fixture
def article(mara: Any) -> Article:
    moment = BEFORE - timedelta(minutes=30)
    feed = mara.subscriber.subscriptions.get().feed
    return make_article(feed, title="New bridge", text="A bridge.", published=moment, fetched=moment)


@pytest.fixture
def rule(mara: Any, article: Article) -> Rule:
    target = Target(user=mara, kind="mail", name="mail")
    target.address = "mara@news.example"
    target.save()
    rule = Rule.objects.create(
        user=mara, pace=Rule.Pace.DAILY, hour=8, with_brief=True, looked=BEFORE - timedelta(hours=1)
    )
    Rule.objects.filter(pk=rule.pk).update(created=BEFORE - timedelta(hours=1))
    rule.refresh_from_db()
    rule.targets.set([target])
    return rule


def written(rule: Rule, at: datetime) -> list[Notification]:
    look(rule, at)
    write(rule, at)
    rule.refresh_from_db()
    return list(rule.messages.all())


def test_a_brief_is_asked_for_before_the_digest_and_stands_above_its_articles(
    model: WebServer, rule: Rule, article: Article
) -> None:
    assert written(rule, BEFORE) == []
    assert written(rule, BEFORE + timedelta(minutes=1)) == []
    row = ModelTask.objects.get()
    assert row.subject["articles"] == [article.pk]
    answer_next(datetime.now(UTC))
    (message,) = written(rule, AFTER)
    html = flat(message.html.encode())
    assert html.index("A bridge was built.") < html.index("New bridge</a>")
    assert f'href="https://news.example/read/{article.pk}/"' in html
    assert "all a dream" not in message.html + message.text
    assert "1 quotation is in none of the articles" in html
    assert "A bridge was built. [1]" in message.text
    assert "Made by tiny." in message.text


@pytest.mark.parametrize("reply", [None, Reply(status=500), Reply(b"<h1>Router</h1>")])
def test_without_an_answer_in_time_the_digest_goes_out_without_a_brief(
    model: WebServer, rule: Rule, reply: Reply | None
) -> None:
    written(rule, BEFORE)
    if reply:
        model.replies[PATH] = reply
        answer_next(datetime.now(UTC))
    (message,) = written(rule, AFTER)
    assert "New bridge" in message.text
    assert "Morning brief" not in message.text + message.html


def test_no_error_of_the_brief_holds_the_digest(
    model: WebServer, rule: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(briefs, "ask_brief", fail)
    monkeypatch.setattr(briefs, "sourced", fail)
    assert written(rule, BEFORE) == []
    questions.ask_brief(rule.user.subscriber, BEFORE)
    answer_next(datetime.now(UTC))
    assert len(written(rule, AFTER)) == 1


@pytest.mark.parametrize("fields", [{"with_brief": False}, {"pace": Rule.Pace.NOW}, {"hour": 12}])
def test_other_rules_ask_for_no_brief(model: WebServer, rule: Rule, fields: dict[str, Any]) -> None:
    Rule.objects.filter(pk=rule.pk).update(**fields)
    rule.refresh_from_db()
    written(rule, BEFORE)
    assert not ModelTask.objects.exists()


def test_an_article_of_another_person_is_in_no_brief(model: WebServer, rule: Rule, article: Article) -> None:
    bob = make_user("bob")
    private = make_feed(owner=bob)
    make_article(private, owner=bob, published=article.published, text="Secret.")
    rule.user.subscriber.subscriptions.create(feed=private)
    written(rule, BEFORE)
    assert ModelTask.objects.get().subject["articles"] == [article.pk]


def test_a_brief_is_offered_only_where_there_is_a_model(
    client: Client, rule: Rule, settings: Any, model: WebServer
) -> None:
    client.force_login(rule.user, backend=BACKEND)
    assert 'name="with_brief"' in client.get(rule.get_absolute_url()).content.decode()
    settings.MODEL_URL = ""
    assert 'name="with_brief"' not in client.get(rule.get_absolute_url()).content.decode()
