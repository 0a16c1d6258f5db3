"""Questions to a language model: asked once, answered late, twice or never; limits, pages and the API."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from rest_framework.test import APIClient

from articles.modelled import answering, calls, chat, tasks
from articles.modelled.answering import answer_next, claim, delete_old, settle
from articles.modelled.asking import ask_about, cancel, recent_failure
from articles.modelled.models import MAX_ATTEMPTS, ModelTask
from articles.modelled.program import ChatReport
from articles.models import Article, Subscriber
from articles.personal.archive import read_archive, write_archive
from crawler.fetching.sandboxed import client as confined
from crawler.operation.deployment.processes import Sealed, children
from crawler.operation.site.health import Health
from crawler.operation.site.own_troubles import own_groups
from crawler.web.limits import LimitReached
from tests.articles.model_server import PATH, stream
from tests.factories import make_article, make_feed, make_subscriber, make_user
from tests.html import flat
from tests.servers import Reply, Request, WebServer

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC)
BACKEND = "crawler.accounts.backends.NameOrMailBackend"
State = ModelTask.State


@pytest.fixture(scope="module", autouse=True)
def _programs_end() -> Iterator[None]:
    """End the sandboxed processes with the file: a start of theirs takes a second."""
    yield
    confined.programs.close()


@pytest.fixture
def model(settings: Any) -> Iterator[WebServer]:
    """A model that answers every question with "A lamp.", in a deployment that has it."""
    with WebServer({PATH: stream("A lamp.")}) as server:
        settings.MODEL_URL, settings.MODEL_NAME, settings.MODEL_KEY = server.origin, "tiny", "tide"
        settings.MODEL_SECONDS = 10
        yield server


@pytest.fixture
def ann() -> Subscriber:
    return make_subscriber("ann")


@pytest.fixture
def article() -> Article:
    return make_article(title="Lamps", content="<p>One lamp was found.</p>", text="One lamp was found.")


@pytest.fixture
def reader(client: Client, ann: Subscriber) -> Client:
    client.force_login(ann.user, backend=BACKEND)
    return client


@pytest.fixture
def api(ann: Subscriber) -> APIClient:
    client = APIClient()
    client.force_login(ann.user)
    return client


def asked(
    person: Subscriber, article: Article, kind: str = "summary", language: str = "", at: datetime = NOW
) -> ModelTask:
    return ask_about(person, kind, article, language, at)


def fresh(row: ModelTask) -> ModelTask:
    return ModelTask.objects.get(pk=row.pk)


# --- Asking and answering ---------------------------------------------------------------------------


def test_a_question_is_asked_in_a_process_of_its_own_and_answered(
    model: WebServer, ann: Subscriber, article: Article
) -> None:
    row = asked(ann, article)
    assert (row.state, fresh(row).is_open) == (State.WAITING, True)
    assert answer_next(datetime.now(UTC))
    row = fresh(row)
    assert (row.state, row.answer, row.model) == (State.DONE, "A lamp.", "tiny")
    assert (row.prompt, row.leased_until, row.attempts) == ([], None, 1)
    (request,) = model.requests
    assert "One lamp was found." in request.body.decode()
    assert "ann" not in json.loads(request.body)["messages"][1]["content"]
    assert not answer_next(datetime.now(UTC))


def test_the_same_question_is_never_asked_twice(model: WebServer, ann: Subscriber, article: Article) -> None:
    row = asked(ann, article)
    assert asked(ann, article).pk == row.pk
    answer_next(datetime.now(UTC))
    assert asked(ann, article).pk == row.pk
    bob = make_subscriber("bob")
    his = asked(bob, article)
    assert (his.pk != row.pk, his.state, his.answer) == (True, State.DONE, "A lamp.")
    assert not answer_next(datetime.now(UTC))
    assert len(model.requests) == 1


def test_another_language_another_text_or_another_model_is_another_question(
    model: WebServer, ann: Subscriber, article: Article, settings: Any
) -> None:
    keys = {asked(ann, article).digest, asked(ann, article, "summary", "de").digest}
    keys |= {asked(ann, article, "translation", "de").digest, asked(ann, article, "translation", "fr").digest}
    article.content = "<p>Two lamps were found.</p>"
    keys.add(asked(ann, article).digest)
    settings.MODEL_NAME = "large"
    keys.add(asked(ann, article).digest)
    assert len(keys) == 6


def test_two_people_who_wait_for_one_answer_get_it_together(
    model: WebServer, ann: Subscriber, article: Article
) -> None:
    rows = [asked(ann, article), asked(make_subscriber("bob"), article)]
    assert answer_next(datetime.now(UTC))
    assert [fresh(row).answer for row in rows] == ["A lamp.", "A lamp."]
    assert len(model.requests) == 1


def test_while_one_process_asks_no_other_asks_the_same(
    model: WebServer, ann: Subscriber, article: Article
) -> None:
    asked(ann, article)
    asked(make_subscriber("bob"), article)
    assert claim(NOW) is not None
    assert claim(NOW) is None


def test_a_question_whose_process_died_is_asked_again_and_given_up_after_three(
    model: WebServer, ann: Subscriber, article: Article
) -> None:
    row = asked(ann, article)
    at = NOW
    for _attempt in range(MAX_ATTEMPTS):
        assert claim(at) is not None
        assert claim(at) is None
        at += timedelta(hours=1)
    assert answer_next(at)
    row = fresh(row)
    assert (row.state, row.failure) == (State.FAILED, answering.GIVEN_UP)
    assert model.requests == []


def test_an_answer_that_comes_late_changes_nothing(
    ann: Subscriber, article: Article, model: WebServer
) -> None:
    asked(ann, article)
    late = claim(NOW)
    again = claim(NOW + timedelta(hours=1))
    assert late is not None
    assert again is not None
    settle(late, ChatReport(state="done", text="Old."), NOW)
    assert fresh(again).state == State.RUNNING
    settle(again, ChatReport(state="done", text="New."), NOW)
    settle(late, ChatReport(state="failed", detail="no"), NOW)
    assert (fresh(again).state, fresh(again).answer) == (State.DONE, "New.")


def test_a_process_that_is_killed_becomes_a_sentence(
    model: WebServer, ann: Subscriber, article: Article
) -> None:
    def kill(request: Request) -> Reply:
        confined.programs.close()
        return stream("A lamp.", seconds=0.5)

    model.replies[PATH] = kill
    row = asked(ann, article)
    answer_next(datetime.now(UTC))
    assert fresh(row).failure == calls.NO_PROCESS


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (stream("A la", end=b""), chat.CUT),
        (Reply(b"<h1>Router</h1>"), chat.NONSENSE),
        (Reply(status=302, headers={"Location": "http://127.0.0.1:1/"}), "leads elsewhere"),
        (Reply(b"{}", 500), "answers 500"),
        (stream("lamp " * 20_000), chat.TOO_LONG),
    ],
)
def test_what_goes_wrong_is_told_and_can_be_tried_again(
    model: WebServer, ann: Subscriber, article: Article, reply: Reply, sentence: str
) -> None:
    model.replies[PATH] = reply
    row = asked(ann, article)
    answer_next(datetime.now(UTC))
    assert fresh(row).state == State.FAILED
    assert sentence in fresh(row).failure
    model.replies[PATH] = stream("A lamp.")
    again = asked(ann, article)
    answer_next(datetime.now(UTC))
    assert (again.pk != row.pk, fresh(again).answer) == (True, "A lamp.")


def test_an_endless_answer_ends_with_its_time(
    model: WebServer, ann: Subscriber, article: Article, settings: Any
) -> None:
    settings.MODEL_SECONDS = 1
    model.replies[PATH] = stream(*["lamp "] * 500, pause=0.05)
    row = asked(ann, article)
    answer_next(datetime.now(UTC))
    assert (fresh(row).state, fresh(row).failure) == (State.FAILED, chat.TOO_SLOW)


def test_a_busy_model_is_asked_later_and_in_the_end_no_more(
    model: WebServer, ann: Subscriber, article: Article
) -> None:
    model.replies[PATH] = Reply(status=429, headers={"Retry-After": "300"})
    row, at = asked(ann, article), NOW
    for _attempt in range(MAX_ATTEMPTS - 1):
        assert answer_next(at)
        assert fresh(row).state == State.WAITING
        assert not answer_next(datetime.now(UTC) + timedelta(seconds=200))
        at = datetime.now(UTC) + timedelta(seconds=301)
        ModelTask.objects.update(due=at)
    answer_next(at)
    assert (fresh(row).state, fresh(row).failure) == (State.FAILED, chat.BUSY)


def test_progress_is_stored_and_a_cancelled_question_is_dropped(
    model: WebServer, ann: Subscriber, article: Article, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.replies[PATH] = stream(*["lamp "] * 400, pause=0.02)
    row = asked(ann, article)
    counts: list[int] = []
    note = answering._Progress.note

    def note_and_cancel(progress: Any, received: int) -> None:
        note(progress, received)
        counts.append(fresh(row).received)
        if counts[-1] > 5:
            cancel(row, NOW)

    monkeypatch.setattr(answering._Progress, "note", note_and_cancel)
    assert answer_next(datetime.now(UTC))
    assert (fresh(row).state, fresh(row).answer) == (State.CANCELLED, "")
    assert max(counts) > 5


def test_waiting_questions_are_found_by_the_tick(
    model: WebServer, ann: Subscriber, article: Article, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    enqueued: list[Any] = []
    monkeypatch.setattr(tasks.answer_questions, "apply_async", lambda **options: enqueued.append(options))
    tasks.go_on_with_questions()
    assert enqueued == []
    asked(ann, article)
    tasks.go_on_with_questions()
    assert len(enqueued) == 1
    settings.MODEL_URL = ""
    tasks.go_on_with_questions()
    assert len(enqueued) == 1


def test_old_questions_without_an_answer_are_deleted(
    model: WebServer, ann: Subscriber, article: Article
) -> None:
    rows = [asked(ann, article), asked(ann, article, "translation", "de")]
    cancel(rows[0], NOW - timedelta(days=40))
    answer_next(datetime.now(UTC))
    assert delete_old(NOW, 30) == 1
    assert ModelTask.objects.get().pk == rows[1].pk


def test_answers_go_with_their_article_and_their_person(
    model: WebServer, ann: Subscriber, article: Article
) -> None:
    asked(ann, article)
    asked(make_subscriber("bob"), article)
    ann.user.delete()
    assert ModelTask.objects.count() == 1
    article.delete()
    assert not ModelTask.objects.exists()


# --- Limits -----------------------------------------------------------------------------------------


def test_ten_questions_of_a_person_wait_at_most(model: WebServer, ann: Subscriber) -> None:
    rows = [asked(ann, make_article(text=f"Text {number}.")) for number in range(10)]
    with pytest.raises(LimitReached, match="10 questions of yours wait already"):
        asked(ann, make_article())
    asked(make_subscriber("bob"), make_article())
    cancel(rows[0], NOW)
    asked(ann, make_article())


def test_answers_of_a_day_are_limited_and_kept_ones_cost_none(
    model: WebServer, ann: Subscriber, article: Article, settings: Any
) -> None:
    settings.MODEL_DAILY_ANSWERS = 2
    known = make_article()
    asked(make_subscriber("bob"), known)
    answer_next(datetime.now(UTC))
    asked(ann, article)
    model.replies[PATH] = Reply(status=500)
    asked(ann, make_article())
    while answer_next(datetime.now(UTC)):
        pass
    with pytest.raises(LimitReached, match="2 answers in 24 hours"):
        asked(ann, make_article())
    assert asked(ann, known).answer == "A lamp."
    asked(ann, make_article(), at=NOW + timedelta(days=1, seconds=1))


# --- Pages ------------------------------------------------------------------------------------------


def test_without_a_model_nothing_of_it_is_on_any_page(
    reader: Client, api: APIClient, ann: Subscriber, article: Article, settings: Any
) -> None:
    settings.MODEL_URL = ""
    page = reader.get(f"/read/{article.pk}/").content.decode()
    assert "Summarise" not in page
    assert "model-" not in page
    assert reader.post(f"/read/{article.pk}/model/summary/").status_code == 404
    assert reader.get("/model/1/").status_code == 404
    assert reader.post("/model/1/cancel/").status_code == 404
    assert api.get("/api/model/").status_code == 404
    assert api.post("/api/model/", {"kind": "summary", "article": article.pk}).status_code == 404
    assert not ModelTask.objects.exists()


def test_processes_ask_only_where_there_is_a_model(settings: Any, tmp_path: Any) -> None:
    settings.DATA_DIR = tmp_path
    settings.MODEL_URL = ""
    assert "model" not in [child.name for child in children(Sealed())]
    settings.MODEL_URL = "http://model.example"
    assert [child.queues for child in children(Sealed()) if child.name == "model"] == [("model",)]


def test_a_summary_waits_with_progress_and_then_stands_above_the_article(
    model: WebServer, reader: Client, article: Article
) -> None:
    page = reader.get(f"/read/{article.pk}/").content.decode()
    assert "Summarise" in page
    answer = reader.post(f"/read/{article.pk}/model/summary/", {"next": f"/read/{article.pk}/?show=all"})
    row = ModelTask.objects.get()
    assert answer["Location"] == f"/read/{article.pk}/?show=all#model-{row.pk}"
    page = flat(reader.get(f"/read/{article.pk}/").content)
    assert "It waits for its turn with tiny." in page
    assert f'hx-get="/model/{row.pk}/"' in page
    ModelTask.objects.update(state=State.RUNNING, received=1200)
    part = flat(reader.get(f"/model/{row.pk}/", headers={"HX-Request": "true"}).content)
    assert "tiny is answering: 1,200 characters so far." in part
    assert "Cancel" in part
    ModelTask.objects.update(state=State.WAITING)
    answer_next(datetime.now(UTC))
    page = flat(reader.get(f"/read/{article.pk}/").content)
    assert "Made by tiny." in page
    assert page.index("A lamp.") < page.index('id="prose"')
    part = flat(reader.get(f"/model/{row.pk}/", headers={"HX-Request": "true"}).content)
    assert "hx-get" not in part


def test_a_translation_stands_below_and_is_linked_at_the_top(
    model: WebServer, reader: Client, article: Article
) -> None:
    reader.post(f"/read/{article.pk}/model/translation/", {"language": "de"})
    answer_next(datetime.now(UTC))
    row = ModelTask.objects.get()
    page = flat(reader.get(f"/read/{article.pk}/").content)
    assert f'<a href="#model-{row.pk}">Translation: Deutsch</a>' in page
    assert page.index('id="prose"') < page.index("A lamp.")
    assert '<div class="answer" lang="de"' in page


def test_what_a_model_writes_is_shown_as_text(model: WebServer, reader: Client, article: Article) -> None:
    model.replies[PATH] = stream("<script>alert(1)</script> & <b>lamp</b>")
    reader.post(f"/read/{article.pk}/model/summary/")
    answer_next(datetime.now(UTC))
    page = reader.get(f"/read/{article.pk}/").content.decode()
    assert "<script>alert" not in page
    assert "&lt;b&gt;lamp&lt;/b&gt;" in page


def test_a_failure_is_a_sentence_with_a_way_to_try_again(
    model: WebServer, reader: Client, article: Article
) -> None:
    model.replies[PATH] = Reply(b"<h1>Router</h1>")
    reader.post(f"/read/{article.pk}/model/summary/")
    answer_next(datetime.now(UTC))
    page = flat(reader.get(f"/read/{article.pk}/").content)
    assert chat.NONSENSE in page
    assert "Try again" in page


def test_a_question_is_cancelled_on_its_page(model: WebServer, reader: Client, article: Article) -> None:
    reader.post(f"/read/{article.pk}/model/summary/")
    row = ModelTask.objects.get()
    answer = reader.post(f"/model/{row.pk}/cancel/")
    assert answer["Location"] == f"/read/{article.pk}/#model-{row.pk}"
    assert fresh(row).state == State.CANCELLED
    assert f"model-{row.pk}" not in reader.get(f"/read/{article.pk}/").content.decode()
    part = flat(reader.get(f"/model/{row.pk}/", headers={"HX-Request": "true"}).content)
    assert "You cancelled it." in part


@pytest.mark.parametrize(
    ("kind", "language", "sentence"),
    [
        ("translation", "", "Choose a language."),
        ("translation", "klingon", "Choose a language."),
        ("poem", "", "There is no such question."),
    ],
)
def test_refusals_are_sentences(
    model: WebServer, reader: Client, *, kind: str, language: str, sentence: str
) -> None:
    article = make_article(content="<p>One lamp was found.</p>")
    answer = reader.post(f"/read/{article.pk}/model/{kind}/", {"language": language}, follow=True)
    assert sentence in answer.content.decode()
    assert not ModelTask.objects.exists()


def test_an_article_without_text_is_not_asked_about(model: WebServer, reader: Client) -> None:
    empty = make_article(text="", content="", summary="")
    answer = reader.post(f"/read/{empty.pk}/model/summary/", follow=True)
    assert "The article has no text here." in answer.content.decode()


def test_a_long_article_says_that_it_was_cut(model: WebServer, reader: Client) -> None:
    article = make_article(content=f"<p>{'lamp ' * 6000}</p>")
    reader.post(f"/read/{article.pk}/model/summary/")
    answer_next(datetime.now(UTC))
    assert "the model got only its beginning" in flat(reader.get(f"/read/{article.pk}/").content)


def test_questions_of_others_are_nobodys(
    model: WebServer, reader: Client, api: APIClient, article: Article
) -> None:
    row = asked(make_subscriber("bob"), article)
    assert reader.get(f"/model/{row.pk}/").status_code == 404
    assert reader.post(f"/model/{row.pk}/cancel/").status_code == 404
    assert api.get(f"/api/model/{row.pk}/").status_code == 404
    assert api.delete(f"/api/model/{row.pk}/").status_code == 404
    assert api.get("/api/model/").json()["results"] == []
    assert f"model-{row.pk}" not in reader.get(f"/read/{article.pk}/").content.decode()
    assert fresh(row).state == State.WAITING


def test_an_article_of_another_person_cannot_be_asked_about(
    model: WebServer, reader: Client, api: APIClient
) -> None:
    bob = make_user("bob")
    private = make_article(make_feed(owner=bob), owner=bob)
    assert reader.post(f"/read/{private.pk}/model/summary/").status_code == 404
    answer = api.post("/api/model/", {"kind": "summary", "article": private.pk}, format="json")
    assert answer.status_code == 404


# --- The API, the command, health, the archive --------------------------------------------------------


def test_programs_ask_and_get_the_answer(model: WebServer, api: APIClient, article: Article) -> None:
    given = {"kind": "translation", "article": article.pk, "language": "de"}
    answer = api.post("/api/model/", given, format="json")
    assert (answer.status_code, answer.json()["state"]) == (202, "waiting")
    answer_next(datetime.now(UTC))
    row = api.get(f"/api/model/{answer.json()['id']}/").json()
    assert (row["state"], row["answer"], row["model"], row["failure_code"]) == (
        "done",
        "A lamp.",
        "tiny",
        None,
    )
    assert [each["id"] for each in api.get("/api/model/?state=done").json()["results"]] == [row["id"]]
    assert api.delete(f"/api/model/{row['id']}/").status_code == 204
    assert api.get(f"/api/model/{row['id']}/").json()["state"] == "done"


def test_programs_cancel(model: WebServer, api: APIClient, article: Article) -> None:
    key = api.post("/api/model/", {"kind": "summary", "article": article.pk}, format="json").json()["id"]
    assert api.delete(f"/api/model/{key}/").status_code == 204
    assert api.get(f"/api/model/{key}/").json()["state"] == "cancelled"


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"kind": "summary", "article": 2**62}, 404),
        ({"kind": "poem", "article": 1}, 400),
        ({"kind": "summary"}, 400),
        ({"kind": "translation", "language": "x" * 30}, 400),
    ],
)
def test_wrong_questions_of_programs_are_refused(
    model: WebServer, api: APIClient, article: Article, given: dict[str, Any], status: int
) -> None:
    assert api.post("/api/model/", given, format="json").status_code == status


def test_the_command_tells_whether_the_model_answers(
    model: WebServer, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("model")
    assert "tiny answers in" in capsys.readouterr().out
    model.replies[PATH] = Reply(b"no", 401)
    with pytest.raises(SystemExit, match="1"):
        call_command("model")
    assert "answers 401: no" in capsys.readouterr().err
    settings.MODEL_URL = ""
    with pytest.raises(SystemExit, match="2"):
        call_command("model")


def test_who_operates_is_told_when_the_last_questions_failed(
    model: WebServer, ann: Subscriber, settings: Any
) -> None:
    model.replies[PATH] = Reply(b"<h1>Router</h1>")
    well = Health("ok", "ok", "ok", "ok")
    keeper = make_user("keeper", staff=True)
    for number in range(3):
        assert recent_failure(NOW + timedelta(minutes=1)) is None
        asked(ann, make_article(text=f"Text {number}."))
        answer_next(datetime.now(UTC))
    (group,) = own_groups(keeper, well, (1e12, None), datetime.now(UTC), UTC, operates=True)
    assert group.cause == "The language model does not answer"
    assert chat.NONSENSE in group.text
    assert own_groups(keeper, well, (1e12, None), datetime.now(UTC), UTC, operates=False) == []
    settings.MODEL_URL = ""
    assert own_groups(keeper, well, (1e12, None), datetime.now(UTC), UTC, operates=True) == []


def test_answers_are_carried_by_archives(model: WebServer, article: Article) -> None:
    ann = make_subscriber("ann", article.feed)
    asked(ann, article, "translation", "de")
    answer_next(datetime.now(UTC))
    out = io.BytesIO()
    write_archive(ann, out, NOW)
    tom = make_subscriber("tom", article.feed)
    taken = read_archive(tom, out.getvalue(), NOW, makes_articles=False)
    assert taken.answers == 1
    assert "1 answer of a model" in taken.in_words()
    row = ModelTask.objects.get(subscriber=tom)
    assert (row.answer, row.language, row.model, row.article_id) == ("A lamp.", "de", "tiny", article.pk)
    assert read_archive(tom, out.getvalue(), NOW, makes_articles=False).answers == 0
    # What a file says is an answer is given to nobody else.
    assert asked(make_subscriber("eve"), article, "translation", "de").digest != row.digest
