"""Articles found by meaning: filled with vectors, searched and related, with every fault of an endpoint."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from articles.meaning import filling, searching, tasks, vectors
from articles.meaning.calls import ask_vectors
from articles.meaning.embedding import NO_VECTORS, NOT_NUMBERS, WRONG_NUMBER, WRONG_SIZE, vectors_in
from articles.meaning.filling import fill, forget_questions, is_due
from articles.meaning.fusion import fused
from articles.meaning.models import QuestionVector, VectorFilling
from articles.meaning.related import related_articles
from articles.meaning.vectors import (
    VectorTable,
    ensure_vectors,
    extension_problem,
    literal,
    nearest,
    store_vectors,
    vector_table,
)
from articles.modelled.asking import ask_about
from articles.modelled.chat import BUSY, CUT, TOO_LONG, TOO_SLOW, UNREACHABLE, ChatError
from articles.models import Article, Subscriber
from crawler.database.backups import tables_of
from crawler.fetching.sandboxed import client as confined
from crawler.operation.deployment import doctor
from crawler.operation.deployment.processes import Sealed, children
from crawler.operation.site.own_troubles import _meaning
from tests.articles.embedding_server import PATH, SIZE, answer, embeddings, made_vector, texts_in, vector_of
from tests.factories import make_article, make_feed, make_subscriber
from tests.html import flat
from tests.servers import Reply, Request, WebServer

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _vectors_are_possible(db: None) -> None:
    """Skip where the server has no pgvector, as Debian's PostgreSQL without a further package."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
        if cursor.fetchone() is None:
            pytest.skip("no pgvector on this server")


NOW = datetime.now(UTC)
BACKEND = "crawler.accounts.backends.NameOrMailBackend"


@pytest.fixture
def endpoint(settings: Any) -> Iterator[WebServer]:
    """An endpoint that answers rightly, in a deployment that has it."""
    with WebServer({PATH: answer}) as server:
        settings.EMBEDDINGS_URL, settings.EMBEDDINGS_MODEL = server.origin, "tiny"
        settings.EMBEDDINGS_KEY = "tide"
        searching._resting["until"] = 0.0
        ask_vectors(["warm"], 5)  # the process that starts others is there
        server.requests.clear()
        yield server
        searching._resting["until"] = 0.0


@pytest.fixture(scope="module", autouse=True)
def _processes_end() -> Iterator[None]:
    yield
    confined.programs.close()


@pytest.fixture
def ann() -> Subscriber:
    return make_subscriber("ann")


@pytest.fixture
def reader(client: Client, ann: Subscriber) -> Client:
    client.force_login(ann.user, backend=BACKEND)
    return client


@pytest.fixture
def api(ann: Subscriber) -> APIClient:
    client = APIClient()
    client.force_login(ann.user)
    return client


def written(title: str, text: str = "", **fields: Any) -> Article:
    return make_article(title=title, text=text or title, text_length=len(text or title), **fields)


def stored() -> dict[int, str | None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT article_id, vector::text FROM article_vector")
        return dict(cursor.fetchall())


def state() -> VectorFilling:
    return VectorFilling.objects.get()


def later() -> datetime:
    return (VectorFilling.objects.get().not_before or NOW) + timedelta(seconds=1)


# --- Filling ----------------------------------------------------------------------------------------


def test_articles_get_vectors_the_newest_first(endpoint: WebServer) -> None:
    articles = [written(f"Lamp {number}") for number in range(40)]
    assert is_due(NOW)
    assert not fill(NOW)
    assert set(stored()) == {article.pk for article in articles}
    first, second = endpoint.requests
    assert [len(texts_in(request)) for request in endpoint.requests] == [32, 8]
    assert texts_in(first)[0] == "Lamp 39\nLamp 39"
    assert texts_in(second)[-1] == "Lamp 0\nLamp 0"
    assert (first.headers["authorization"], json.loads(first.body)["model"]) == ("Bearer tide", "tiny")
    assert vector_table() == VectorTable("tiny", SIZE)
    assert not is_due(datetime.now(UTC))
    written("Ferry")
    assert is_due(datetime.now(UTC))


def test_the_beginning_of_a_text_alone_is_sent(endpoint: WebServer) -> None:
    written("Lamps", "x" * 5000)
    fill(NOW)
    assert len(texts_in(endpoint.requests[0])[0]) == len("Lamps\n") + 1500


def test_an_article_without_words_is_left_out(endpoint: WebServer) -> None:
    make_article(title="", text="")
    assert not fill(NOW)
    assert not endpoint.requests


def test_a_text_with_a_vector_of_zeros_is_found_by_nothing_and_not_asked_again(endpoint: WebServer) -> None:
    lamp, silent = written("Lamp"), written("Silence")
    endpoint.replies[PATH] = lambda request: embeddings(
        [[0.0] * SIZE if "Silence" in text else vector_of(text) for text in texts_in(request)]
    )
    fill(NOW)
    assert stored()[silent.pk] is None
    assert [key for key, _ in nearest(literal(vector_of("lamp")) or "", Article.objects.all())] == [lamp.pk]
    assert not fill(NOW)
    assert len(endpoint.requests) == 1


def test_another_model_or_size_makes_the_table_anew(endpoint: WebServer, settings: Any) -> None:
    article = written("Lamp")
    fill(NOW)
    settings.EMBEDDINGS_MODEL = "large"
    endpoint.replies[PATH] = lambda request: answer(request, 24)
    assert not fill(NOW)
    assert vector_table() == VectorTable("large", 24)
    assert set(stored()) == {article.pk}
    endpoint.replies[PATH] = answer
    other = written("Boat")
    fill(NOW)
    assert vector_table() == VectorTable("large", SIZE)
    assert set(stored()) == {article.pk, other.pk}


def test_another_model_that_does_not_answer_leaves_the_table(endpoint: WebServer, settings: Any) -> None:
    written("Lamp")
    fill(NOW)
    settings.EMBEDDINGS_MODEL = "large"
    endpoint.replies[PATH] = Reply(status=404)
    assert not fill(NOW)
    assert vector_table() == VectorTable("tiny", SIZE)
    assert state().failures == 1


def test_vectors_go_with_their_articles(endpoint: WebServer) -> None:
    article = written("Lamp")
    fill(NOW)
    article.delete()
    connection.check_constraints()
    assert stored() == {}
    store_vectors({article.pk: literal(vector_of("lamp"))})
    assert stored() == {}


def test_one_process_at_a_time_fills_and_another_takes_over_from_one_that_was_killed(
    endpoint: WebServer,
) -> None:
    article = written("Lamp")
    assert filling._claim(NOW) is not None
    assert not is_due(NOW)
    assert not fill(NOW)
    assert not endpoint.requests
    after = NOW + filling.LEASE + timedelta(seconds=1)
    assert is_due(after)
    fill(after)
    assert set(stored()) == {article.pk}
    assert state().leased_until is None


def test_vectors_that_are_stored_twice_are_there_once(endpoint: WebServer) -> None:
    article = written("Lamp")
    fill(NOW)
    store_vectors({article.pk: literal(vector_of("boat"))})
    assert (stored()[article.pk] or "").startswith("[0,1,0")


def test_people_who_wait_for_an_answer_come_first(
    endpoint: WebServer, ann: Subscriber, settings: Any
) -> None:
    settings.MODEL_URL, settings.MODEL_NAME = "http://model.example", "tiny"
    article = written("Lamp")
    ask_about(ann, "summary", article, "", NOW - timedelta(seconds=5))
    assert not fill(NOW)
    assert not endpoint.requests
    assert state().leased_until is None


def test_the_tick_drives_it_on(endpoint: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    enqueued: list[Any] = []
    monkeypatch.setattr(tasks.fill_vectors, "apply_async", lambda **options: enqueued.append(options))
    tasks.go_on_with_vectors()
    assert not enqueued
    written("Lamp")
    tasks.go_on_with_vectors()
    assert len(enqueued) == 1
    tasks.fill_vectors()
    tasks.go_on_with_vectors()
    assert len(enqueued) == 1


# --- Faults -----------------------------------------------------------------------------------------


def nan(request: Request) -> Reply:
    return embeddings([[float("nan")] * SIZE for _ in texts_in(request)])


FAULTS: dict[str, tuple[Any, str]] = {
    "nonsense": (Reply(b"<html>Hello</html>"), NO_VECTORS),
    "another protocol": (Reply(b'{"choices": []}'), NO_VECTORS),
    "cut": (lambda request: Reply(answer(request).body[:-40]), CUT),
    "empty": (Reply(b""), CUT),
    "too few": (embeddings([]), WRONG_NUMBER),
    "too many": (embeddings([[1.0], [1.0]]), WRONG_NUMBER),
    "too long": (embeddings([[1.0] * 4001]), WRONG_SIZE),
    "no size": (embeddings([[]]), WRONG_SIZE),
    "NaN": (nan, NOT_NUMBERS),
    "null": (embeddings([[None]]), NOT_NUMBERS),  # type: ignore[list-item]
    "infinite": (embeddings([[1e308] * 4]), NOT_NUMBERS),
    "busy": (Reply(status=429, headers={"Retry-After": "900"}), BUSY),
    "elsewhere": (Reply(status=302, headers={"Location": "http://other.example/"}), "leads elsewhere"),
    "key": (Reply(b'{"error": {"message": "no key tide"}}', 401), "no key …"),
    "endless": (Reply(b'{"data": [' + b" " * 9_000_000), TOO_LONG),
    "slow": (lambda request: Reply(answer(request).body, seconds=20), TOO_SLOW),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_and_followed_by_a_pause(
    endpoint: WebServer, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(filling, "BATCH_SECONDS", 1.5)
    article = written("Lamp")
    endpoint.replies[PATH], words = FAULTS[fault]
    assert not fill(NOW)
    row = state()
    assert words in row.failure
    assert row.failures == 1
    assert row.not_before
    assert row.not_before > datetime.now(UTC) + timedelta(seconds=50 if fault != "busy" else 800)
    assert vector_table() is None
    assert not is_due(datetime.now(UTC))
    assert not fill(datetime.now(UTC))
    endpoint.replies[PATH] = answer
    fill(later())
    assert set(stored()) == {article.pk}
    assert (state().failures, state().failure, state().not_before) == (0, "", None)


def test_a_busy_endpoint_is_asked_again_within_its_time(endpoint: WebServer) -> None:
    article, replies = written("Lamp"), iter([Reply(status=429, headers={"Retry-After": "0"})])
    endpoint.replies[PATH] = lambda request: next(replies, None) or answer(request)
    fill(NOW)
    assert set(stored()) == {article.pk}
    assert len(endpoint.requests) == 2


def test_an_endpoint_that_drips_for_ever_ends_with_its_time(endpoint: WebServer) -> None:
    endpoint.replies[PATH] = Reply(b" \n" * 1000, pause=0.2)
    began = time.monotonic()
    assert ask_vectors(["lamp"], 1.0).detail == TOO_SLOW
    assert time.monotonic() - began < 4


def test_an_endpoint_that_is_not_there_is_unreachable(endpoint: WebServer, settings: Any) -> None:
    settings.EMBEDDINGS_URL = "http://127.0.0.1:1"
    assert ask_vectors(["lamp"], 1.0).detail == UNREACHABLE


def test_pauses_grow(endpoint: WebServer) -> None:
    written("Lamp")
    endpoint.replies[PATH] = Reply(status=500)
    pauses = []
    for _ in range(12):
        fill(later() if VectorFilling.objects.exists() else NOW)
        pauses.append((later() - datetime.now(UTC)).total_seconds() // 60)
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (1, 360)
    assert len(endpoint.requests) == 12


def test_an_article_that_the_model_refuses_does_not_keep_the_others_from_their_vectors(
    endpoint: WebServer,
) -> None:
    articles = [written(f"Lamp {number}") for number in range(12)]
    bad = written("Poison")
    articles += [written(f"Boat {number}") for number in range(3)]

    def reply(request: Request) -> Reply:
        if any("Poison" in text for text in texts_in(request)):
            return Reply(b'{"error": "too long"}', 400)
        return answer(request)

    endpoint.replies[PATH] = reply
    fill(NOW)
    for _ in range(20):
        if not is_due(at := later()):
            break
        fill(at)
    vectors_now = stored()
    assert vectors_now.pop(bad.pk) is None
    assert set(vectors_now) == {article.pk for article in articles}


@pytest.mark.parametrize(("body", "count"), [(b"[" * 100_000, 1), (b'{"data": [{"index": 0}]}', 1)])
def test_no_body_breaks_the_reader(body: bytes, count: int) -> None:
    with pytest.raises(ChatError):
        vectors_in(body, count)


def test_vectors_come_in_the_order_of_the_texts_whatever_the_order_of_the_answer() -> None:
    data = [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 0]}]
    assert vectors_in(json.dumps({"data": data}).encode(), 2) == [[1, 0], [0, 1]]
    twice = [{"index": 1, "embedding": [0, 2]}, {"index": 1, "embedding": [3, 0]}]
    with pytest.raises(ChatError):
        vectors_in(json.dumps({"data": twice}).encode(), 2)


# --- The extension ----------------------------------------------------------------------------------


def test_without_the_extension_it_is_told_and_nothing_breaks(
    endpoint: WebServer, reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (filling, vectors, doctor):
        monkeypatch.setattr(module, "extension_problem", lambda: vectors.NO_EXTENSION)
    written("Lamp")
    assert not fill(NOW)
    assert not endpoint.requests
    assert state().failure == vectors.NO_EXTENSION
    with pytest.raises(vectors.NoVectorsError):
        ensure_vectors("tiny", 3)
    (finding,) = doctor._meaning()
    assert (finding.level, "pgvector" in finding.sentence) == ("bad", True)
    (group,) = _meaning(NOW)
    assert "pgvector" in group.text
    assert "Lamp" in reader.get("/search/?q=lamp").content.decode()


def test_with_the_extension_the_doctor_finds_nothing_wrong(endpoint: WebServer) -> None:
    assert extension_problem() == ""
    written("Lamp")
    fill(NOW)
    (finding,) = doctor._meaning()
    assert finding.level == "fine"
    assert _meaning(NOW) == []


def test_three_failures_are_a_trouble(endpoint: WebServer) -> None:
    written("Lamp")
    endpoint.replies[PATH] = Reply(b"", 500)
    fill(NOW)
    fill(later())
    assert _meaning(NOW) == []
    fill(later())
    (group,) = _meaning(datetime.now(UTC))
    assert "500" in group.text
    (finding,) = doctor._meaning()
    assert "500" in finding.sentence


# --- Search -----------------------------------------------------------------------------------------


def test_fusion_counts_ranks() -> None:
    assert fused([1, 2, 3], [3, 4]) == [3, 1, 2, 4]
    assert fused([1, 2], []) == [1, 2]


def test_nearest_finds_the_nearest_of_hundreds_with_filters(endpoint: WebServer) -> None:
    feed, other = make_feed(), make_feed()
    articles = [written(f"A {number}", feed=other if number % 100 == 7 else feed) for number in range(400)]
    ensure_vectors("tiny", SIZE)
    store_vectors({row.pk: literal(made_vector(number)) for number, row in enumerate(articles)})
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE article_vector")
    for probe in (0, 50, 201):
        found = nearest(literal(made_vector(probe)) or "", Article.objects.all(), 5)
        wanted = {(probe + step) % 400 for step in (-2, -1, 0, 1, 2)}
        assert {key for key, _ in found} == {articles[number].pk for number in wanted}
        assert found[0][0] == articles[probe].pk
        assert found[0][1] == pytest.approx(0, abs=1e-3)
    of_other = nearest(literal(made_vector(50)) or "", Article.objects.filter(feed=other))
    assert [key for key, _ in of_other][:2] == [articles[7].pk, articles[107].pk]
    assert len(of_other) == 4
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    of_other = nearest(literal(made_vector(50)) or "", Article.objects.filter(feed=other))
    assert {key for key, _ in of_other} == {articles[number].pk for number in (7, 107, 207, 307)}


def test_a_search_finds_by_meaning_what_has_none_of_its_words(endpoint: WebServer, reader: Client) -> None:
    written("A lantern in the harbour")
    written("Bread for everyone")
    written("The lamp was found")
    page = reader.get("/search/?q=lamp").content.decode()
    assert "A lantern in the harbour" not in page
    fill(NOW)
    page = reader.get("/search/?q=lamp").content.decode()
    text = flat(page)
    assert text.index("The lamp was found") < text.index("A lantern in the harbour")
    assert text.count("Also found by meaning") == 1
    assert "Bread" not in text
    assert "2 articles" in text
    newest = reader.get("/search/?q=lamp&order=new").content.decode()
    assert "A lantern in the harbour" not in newest


def test_filters_and_operators_hold_for_what_is_found_by_meaning(endpoint: WebServer, reader: Client) -> None:
    written("Eine Lantern", language="de")
    written("Old lantern", published=NOW - timedelta(days=400))
    fill(NOW)
    assert "Eine Lantern" in reader.get("/search/?q=lamp").content.decode()
    assert "Eine Lantern" in reader.get("/search/?q=lamp&lang=de").content.decode()
    assert "Eine Lantern" not in reader.get("/search/?q=lamp&lang=fr").content.decode()
    assert "Eine Lantern" not in reader.get("/search/?q=lamp+-lang:de").content.decode()
    assert "Old lantern" not in reader.get("/search/?q=lamp&when=week").content.decode()
    assert "Eine Lantern" not in reader.get("/search/?q=lamp&starred=1").content.decode()


@pytest.mark.parametrize("words", ['"lamp"', "lamp -boat", "lamp or boat", "la"])
def test_who_wants_the_words_themselves_gets_them_alone(
    endpoint: WebServer, reader: Client, words: str
) -> None:
    written("Lantern")
    fill(NOW)
    endpoint.requests.clear()
    assert "Lantern" not in reader.get("/search/", {"q": words}).content.decode()
    assert not endpoint.requests


def test_a_search_is_asked_once(endpoint: WebServer, reader: Client) -> None:
    written("Lantern")
    fill(NOW)
    endpoint.requests.clear()
    for words in ("lamp", "Lamp", "lamp "):
        assert "Lantern" in reader.get("/search/", {"q": words}).content.decode()
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("fault", ["nonsense", "NaN", "slow", "busy", "too many"])
def test_a_search_without_its_vector_is_answered_by_words(
    endpoint: WebServer, reader: Client, fault: str
) -> None:
    written("Lantern")
    written("Lamp")
    fill(NOW)
    endpoint.requests.clear()
    endpoint.replies[PATH] = FAULTS[fault][0]
    began = time.monotonic()
    page = reader.get("/search/?q=lamp")
    assert time.monotonic() - began < 4
    assert page.status_code == 200
    assert "Lamp" in page.content.decode()
    assert "Lantern" not in page.content.decode()
    endpoint.replies[PATH] = answer
    reader.get("/search/?q=lamp")
    assert len(endpoint.requests) == 1  # it rests for a while
    searching._resting["until"] = 0.0
    assert "Lantern" in reader.get("/search/?q=lamp").content.decode()


def test_a_vector_of_another_size_finds_nothing(endpoint: WebServer, reader: Client) -> None:
    written("Lantern")
    fill(NOW)
    endpoint.replies[PATH] = lambda request: answer(request, 24)
    page = reader.get("/search/?q=lamp")
    assert (page.status_code, "Lantern" in page.content.decode()) == (200, False)


def test_old_searches_are_forgotten(endpoint: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filling, "MAX_QUESTIONS", 1)
    for words in ("lamp", "boat"):
        searching.vector_of(words)
    forget_questions()
    assert QuestionVector.objects.count() == 1


def test_the_api_has_the_best_first(endpoint: WebServer, api: APIClient) -> None:
    lantern, lamp = written("Lantern"), written("Lamp")
    written("Lamp of another language", language="fr")
    fill(NOW)
    answer_best = api.get("/api/articles/", {"q": "lamp", "order": "best", "language": "en"})
    lantern.language = lamp.language = "en"
    lantern.save()
    lamp.save()
    answer_best = api.get("/api/articles/", {"q": "lamp", "order": "best", "language": "en"}).json()
    assert [row["id"] for row in answer_best["results"]] == [lamp.pk, lantern.pk]
    plain = api.get("/api/articles/", {"q": "lamp", "language": "en"}).json()
    assert [row["id"] for row in plain["results"]] == [lamp.pk]
    assert api.get("/api/articles/", {"q": "x" * 400, "order": "best"}).status_code == 400


# --- Related ----------------------------------------------------------------------------------------


def test_related_articles_are_about_the_same_and_no_copies(endpoint: WebServer) -> None:
    lamp = written("The lamp of the harbour")
    near = written("A lantern that everybody has forgotten until today")
    written("Bread")
    written("Lamps in the other feed", url=lamp.url)
    fill(NOW)
    assert related_articles(lamp) == [near]


def test_related_articles_are_shown_when_they_are_opened(
    endpoint: WebServer, reader: Client, api: APIClient
) -> None:
    lamp, near = (
        written("The lamp of the harbour"),
        written("A lantern that nobody has forgotten until today"),
    )
    fill(NOW)
    assert f"/read/{lamp.pk}/related/" in reader.get(f"/read/{lamp.pk}/").content.decode()
    part = reader.get(f"/read/{lamp.pk}/related/", headers={"HX-Request": "true"}).content.decode()
    assert near.title in part
    assert "<html" not in part
    page = reader.get(f"/read/{lamp.pk}/related/").content.decode()
    assert near.title in page
    assert "<html" in page
    rows = api.get(f"/api/articles/{lamp.pk}/related/").json()
    assert [row["id"] for row in rows] == [near.pk]


def test_what_belongs_to_another_person_is_neither_found_nor_related(
    endpoint: WebServer, reader: Client, api: APIClient
) -> None:
    bob = make_subscriber("bob")
    lamp = written("The lamp of the harbour")
    secret = written("A lantern of my own that is a secret", feed=make_feed(owner=bob.user), owner=bob.user)
    fill(NOW)
    assert set(stored()) == {lamp.pk, secret.pk}
    assert secret.title not in reader.get("/search/?q=lamp").content.decode()
    assert secret.title not in reader.get(f"/read/{lamp.pk}/related/").content.decode()
    assert api.get(f"/api/articles/{lamp.pk}/related/").json() == []
    assert reader.get(f"/read/{secret.pk}/related/").status_code == 404
    assert api.get(f"/api/articles/{secret.pk}/related/").status_code == 404
    his = Client()
    his.force_login(bob.user, backend=BACKEND)
    assert secret.title in his.get("/search/?q=lamp").content.decode()
    assert secret.title in his.get(f"/read/{lamp.pk}/related/").content.decode()


# --- Off --------------------------------------------------------------------------------------------


def test_without_an_endpoint_there_is_nothing(
    reader: Client, api: APIClient, django_assert_num_queries: Callable[[int], Any]
) -> None:
    lamp = written("Lamp")
    assert vector_table() is None
    with django_assert_num_queries(0):
        tasks.go_on_with_vectors()
        tasks.forget_old_questions()
        tasks.fill_vectors()
        assert related_articles(lamp) == []
        assert _meaning(NOW) == []
        assert list(doctor._meaning()) == []
    assert "related" not in reader.get(f"/read/{lamp.pk}/").content.decode()
    assert reader.get(f"/read/{lamp.pk}/related/").status_code == 404
    assert api.get(f"/api/articles/{lamp.pk}/related/").json() == []
    assert len(api.get("/api/articles/", {"q": "lamp", "order": "best"}).json()["results"]) == 1
    assert "Lamp" in reader.get("/search/?q=lamp").content.decode()
    assert not VectorFilling.objects.exists()
    assert not QuestionVector.objects.exists()
    assert vector_table() is None


def test_the_worker_runs_where_there_is_an_endpoint(settings: Any) -> None:
    assert "model" not in {child.name for child in children(Sealed())}
    settings.EMBEDDINGS_URL = "http://model.example"
    assert "model" in {child.name for child in children(Sealed())}


def test_a_backup_goes_without_vectors(endpoint: WebServer, tmp_path: Any) -> None:
    written("Lamp")
    fill(NOW)
    assert vectors.vector_table() is not None
    assert "article_vector" not in tables_of(connection.connection)
    call_command("backup", str(tmp_path / "backup"), verbosity=0)
