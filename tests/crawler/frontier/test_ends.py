"""No URL is lost and no crawl ends while one is left, whoever is killed when and whatever happens at once."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.engine.check_in import check_in
from crawler.engine.leases import hand_out, sweep
from crawler.engine.models import Host
from crawler.frontier.check_in import queue_named_sitemaps
from crawler.frontier.crawls import begin, cancel, pause, requeue, resume, tend
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.frontier.queue import release_urls
from crawler.messages import Batch, Harvest, Report
from crawler.reading.documents import CrawledPage
from tests.factories import make_token, make_user

SEED = "http://seed.example/"


def crawl_from(*seeds: str, **fields: Any) -> Crawl:
    return begin(Crawl(seeds=list(seeds or [SEED]), keep_bodies=False, **fields))


def now() -> datetime:
    return datetime.now(UTC)


def state_of(crawl: Crawl) -> tuple[str, str]:
    crawl.refresh_from_db()
    return crawl.state, crawl.reason


def elsewhere(work: Callable[[], object]) -> None:
    """Do it on another connection, as another process would, and wait for it."""

    def run() -> None:
        try:
            work()
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "it waits for a lock"


@pytest.mark.django_db(transaction=True)
def test_what_comes_back_while_the_crawl_is_looked_at_keeps_it_going() -> None:
    """A terminal was killed; its lease is swept after the first statement of the look, the second ..."""
    after = 0
    while look_with_a_sweep(after):
        after += 1
    assert after > 5


def look_with_a_sweep(after: int) -> bool:
    """Whether the look has so many statements."""
    Crawl.objects.all().delete()
    Host.objects.all().delete()
    crawl = crawl_from()
    (batch,) = hand_out(now())
    asked = 0

    def between(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal asked
        answer = execute(sql, params, many, context)
        if "SAVEPOINT" not in sql:
            if asked == after:
                elsewhere(lambda: release_urls([uuid.UUID(batch.lease)]))
            asked += 1
        return answer

    with connection.execute_wrapper(between):
        tend(now())
    if asked <= after:
        return False
    assert state_of(crawl) == ("running", ""), f"swept after statement {after}"
    assert crawl.waiting.count() == 1
    return True


@pytest.mark.django_db
def test_a_host_that_has_forgotten_what_waits_for_it_is_asked_again() -> None:
    crawl = crawl_from()
    crawl.hosts.update(best=None, head=None)
    assert hand_out(now()) == []
    assert tend(now()) == [crawl.pk]
    assert len(hand_out(now())) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("become", [pause, cancel])
def test_what_a_killed_terminal_had_waits_again_whatever_the_crawl_became(
    become: Callable[[Any], int],
) -> None:
    crawl = crawl_from()
    hand_out(now())
    become(Crawl.objects.all())
    sweep(now() + timedelta(hours=1))
    assert crawl.waiting.count() == 1
    assert not CrawlUrl.objects.filter(lease__isnull=False).exists()


@pytest.mark.django_db(transaction=True)
def test_a_crawl_that_ends_while_sitemaps_come_gets_none_of_them() -> None:
    """Its row is locked by who ends it and by who queues, so that none waits in a crawl that is done."""
    crawl = crawl_from(sitemaps=True)
    (batch,) = hand_out(now())
    check_in([answer(batch, "plain", 1)])
    host = Host.objects.get()
    host.robots_text, host.robots_origin = f"Sitemap: {SEED}sitemap.xml", SEED
    threads = []

    def between(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        done = execute(sql, params, many, context)
        if sql.startswith('UPDATE "frontier_crawl" ') and "nothing is left to crawl" in params[:3]:
            naming = threading.Thread(
                target=lambda: (
                    transaction.atomic(queue_named_sitemaps)([host], now()),
                    connections.close_all(),
                )
            )
            threads.append(naming)
            naming.start()
            naming.join(0.5)
        return done

    with connection.execute_wrapper(between):
        tend(now())
    threads[0].join(20)
    assert state_of(crawl)[0] == "done"
    assert not crawl.queue.exists()


@pytest.mark.django_db
def test_a_done_crawl_with_waiting_urls_can_be_resumed_by_command_page_and_api(client: Client) -> None:
    crawl = crawl_from()
    past = now() - timedelta(days=2)

    def ended() -> None:
        Crawl.objects.update(state="done", reason="nothing is left to crawl", finished=past, running_for=7.0)
        CrawlUrl.objects.update(queued=past)

    ended()
    assert resume(crawl)
    crawl.refresh_from_db()
    assert (crawl.state, crawl.reason, crawl.finished, crawl.running_for) == ("running", "", None, 7.0)
    assert crawl.waiting.get().queued > now() - timedelta(minutes=1), "the time between does not count"
    ended()
    client.force_login(make_user(staff=True, is_superuser=True))
    assert 'value="resume"' in client.get(f"/crawls/{crawl.pk}/").content.decode()
    client.post(f"/crawls/{crawl.pk}/change/", {"action": "resume"})
    assert state_of(crawl) == ("running", "")
    ended()
    headers = {"Authorization": make_token(make_user(staff=True))}
    answer = client.patch(
        f"/api/crawls/{crawl.pk}/", {"state": "running"}, "application/json", headers=headers
    )
    assert answer.json()["state"] == "running"


@pytest.mark.django_db
def test_a_done_crawl_without_anything_left_or_without_room_stays_done(client: Client) -> None:
    crawl = crawl_from(max_pages=3)
    Crawl.objects.update(state="done", crawled=3, finished=now())
    assert not resume(crawl), "its limit is reached: it would end at once"
    Crawl.objects.update(crawled=2)
    CrawlUrl.objects.update(state="crawled")
    assert not resume(crawl)
    client.force_login(make_user(staff=True, is_superuser=True))
    assert 'value="resume"' not in client.get(f"/crawls/{crawl.pk}/").content.decode()


@pytest.mark.django_db(transaction=True)
def test_what_is_queued_again_while_the_end_is_written_down_is_crawled() -> None:
    crawl = crawl_from()
    CrawlUrl.objects.update(state="failed", failure="dns")
    threads = []

    def between(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        answer = execute(sql, params, many, context)
        if sql.startswith('UPDATE "frontier_crawl" ') and "nothing is left to crawl" in params[:3]:
            threads.append(threading.Thread(target=lambda: (requeue(crawl), connections.close_all())))
            threads[-1].start()
            threads[-1].join(0.5)
        return answer

    with connection.execute_wrapper(between):
        tend(now())
    assert len(threads) == 1
    threads[0].join(20)
    assert state_of(crawl) == ("running", "")
    assert crawl.waiting.count() == 1


def answer(batch: Batch, kind: str, number: int) -> Report:
    """A terminal's report: pages with links, failures that pass or last, or some of the URLs alone."""
    failure = {"passing": "timeout", "lasting": "http-404"}.get(kind, "")
    links = tuple(f"http://{name}.example/{number}" for name in ("a", "b")) if kind == "links" else ()
    asked = batch.assignments[: len(batch.assignments) // 2] if kind == "half" else batch.assignments
    harvests = tuple(
        Harvest(
            "crawl", one.id, now().timestamp(), one.url, status=0 if failure else 200, failure=failure,
            payload=None if failure else CrawledPage(links=links),
        )
        for one in asked
    )  # fmt: skip
    return Report(batch.host, batch.lease, harvests)


class World:
    """A crawl of three hosts, its terminals and those who sweep, tend and pause."""

    def __init__(self) -> None:
        Crawl.objects.all().delete()
        Host.objects.update(lease=None, leased_until=None, not_before=None)
        self.crawl = crawl_from(SEED, "http://a.example/", "http://b.example/")
        self.out: list[Batch] = []
        self.number = 0

    def lease(self) -> None:
        self.out += hand_out(now(), 1 + self.number % 2)

    def settle(self, kind: str, times: int = 1) -> None:
        if self.out:
            report = answer(self.out.pop(0), kind, self.number)
            for _ in range(times):
                check_in([report])

    def sweep(self) -> None:
        sweep(now() + timedelta(hours=1))

    def tend(self) -> None:
        tend(now())
        if state_of(self.crawl)[0] == "done":
            assert not self.crawl.urls.filter(state="queued").exists()

    def pause(self) -> None:
        pause(Crawl.objects.filter(pk=self.crawl.pk))

    def resume(self) -> None:
        resume(self.crawl)

    def take(self, step: str) -> None:
        self.number += 1
        if step in {"links", "plain", "half", "passing", "lasting"}:
            self.settle(step)
        elif step == "twice":
            self.settle("links", 2)
        else:
            getattr(self, step)()
        self.due()
        assert not self.crawl.leased.exclude(state="queued").exists(), "finished, and out with a terminal"
        assert not self.crawl.urls.exclude(state="queued").filter(losses__gt=0).exists()

    def due(self) -> None:
        """What is to be tried again may be now."""
        past = now() - timedelta(seconds=1)
        self.crawl.waiting.update(not_before=past)
        self.crawl.hosts.update(ready=past)

    def finish(self) -> None:
        self.resume()
        for _ in range(30):
            self.out = []  # the sweep takes these back
            for step in ("sweep", "lease", "lease", "plain", "plain", "plain", "tend"):
                self.take(step)
            if self.crawl.state == "done":
                return


STEPS = [
    "lease", "lease", "links", "plain", "half", "passing", "lasting", "twice", "sweep",
    "tend", "pause", "resume",
]  # fmt: skip


@pytest.mark.django_db
@settings(max_examples=25)
@given(st.lists(st.sampled_from(STEPS), min_size=5, max_size=25))
def test_a_url_is_always_in_one_place_and_every_one_comes_to_its_end(steps: list[str]) -> None:
    world = World()
    for step in steps:
        world.take(step)
    late = list(world.out)
    world.finish()
    assert world.crawl.state == "done"
    assert not world.crawl.urls.filter(state="queued").exists()
    for batch in late:
        check_in([answer(batch, "links", 999)])
    assert not world.crawl.urls.filter(state="queued").exists(), "what comes too late changes nothing"


def test_the_command_says_what_cannot_be_resumed(db: None) -> None:
    crawl = crawl_from()
    CrawlUrl.objects.update(state="crawled")
    tend(now())
    with pytest.raises(Exception, match="it cannot go on"):
        call_command("crawl", "--resume", str(crawl.pk))
