"""A kind of work that only this file knows, with a payload of its own: handed out, taken back, given up."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import QuerySet
from msgspec.structs import replace

from crawler.engine import work
from crawler.engine.check_in import check_in
from crawler.engine.leased import MAX_LOSSES, BatchSpace, lost
from crawler.engine.leases import hand_out, lease_seconds, sweep
from crawler.engine.models import Host
from crawler.engine.signals import settled
from crawler.engine.work import Results, Stored, Work
from crawler.failures import FetchError
from crawler.fetching.http.client import Client
from crawler.fetching.http.site_lines import Robots
from crawler.messages import Assignment, Batch, Harvest, Report, decode, encode
from crawler.reading.documents import Payload
from crawler.terminals import handlers
from crawler.terminals.answers import answered, refused
from crawler.terminals.client import terminal_client
from crawler.terminals.serve import serve_host
from crawler.text.records import Record
from tests.servers import Reply, WebServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("terminal_on_loopback")]


class Icon(Record, Payload, frozen=True, tag=True):
    """What it brings."""

    content: bytes

    @property
    def weight(self) -> int:
        return len(self.content)


class Icons(Work):
    """The icon of each host; kept in memory, which an app would not do."""

    kinds = ("icon",)
    order = 60
    wanted: dict[int, str]
    out: dict[int, uuid.UUID]
    losses: Counter[int]
    stored: dict[int, bytes]
    failed: dict[int, str]

    @classmethod
    def begin(cls) -> None:
        cls.wanted, cls.out, cls.losses, cls.stored, cls.failed = {}, {}, Counter(), {}, {}

    def waiting(self, now: datetime) -> QuerySet[Any] | None:
        return None

    def choose(self, now: datetime, limit: int) -> Sequence[Host]:
        return list(Host.objects.filter(id__in=set(self.wanted) - set(self.out), lease=None)[:limit])

    def lease(
        self, leases: Mapping[int, uuid.UUID], space: Mapping[int, BatchSpace], now: datetime
    ) -> dict[int, list[Assignment]]:
        taken = {}
        for host in set(leases) & set(self.wanted) - set(self.out):
            if space[host].places:
                self.out[host] = leases[host]
                taken[host] = [Assignment("icon", host, self.wanted[host], suspect=self.losses[host] > 0)]
        return taken

    def settle(self, results: Results, leases: Sequence[uuid.UUID], now: datetime) -> list[int]:
        done = [result for result in self.mine(results) if self.out.get(result.id) in leases]
        for result in done:
            del self.out[result.id], self.wanted[result.id]
            if result.failure:
                self.failed[result.id] = result.failure
            elif (icon := result.brought(Icon)) is not None:
                self.stored[result.id] = icon.content
        return [result.id for result in done]

    def give_back(self, leases: Sequence[uuid.UUID]) -> None:
        for host in [host for host, lease in self.out.items() if lease in leases]:
            del self.out[host]

    def lose(self, leases: Sequence[uuid.UUID], now: datetime) -> list[Harvest]:
        mine = [host for host, lease in self.out.items() if lease in leases]
        self.losses.update(mine)
        return [lost("icon", one, self.wanted[one], now) for one in mine if self.losses[one] >= MAX_LOSSES]


def fetch_icon(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
    at = datetime.now(UTC).timestamp()
    try:
        response = client.get(assignment.url, accept="image/*", spacing=spacing)
        return answered(assignment, at, response, payload=Icon(response.body))
    except FetchError as error:
        return refused(assignment, at, error)


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    Icons.begin()
    work.register(Icons)
    handlers.serves("icon", asks_robots=True)(fetch_icon)
    yield
    work.unregister(Icons)
    handlers.forget("icon")


@pytest.fixture
def host() -> Iterator[Host]:
    with WebServer() as web:
        web.replies["/favicon.ico"] = Reply(b"an icon", headers={"Content-Type": "image/x-icon"})
        row = Host.objects.create(name="127.0.0.1")
        Icons.wanted[row.pk] = f"{web.origin}/favicon.ico"
        yield row


def serve(batch: Batch) -> Report:
    """What a terminal answers, with both messages as they go through a queue."""
    return decode(Report, encode(serve_host(terminal_client(), decode(Batch, encode(batch)))))


def test_it_is_handed_out_fetched_and_settled_and_others_hear_of_it(host: Host) -> None:
    heard: list[Stored] = []

    def listen(stored: Stored, **_: object) -> None:
        heard.append(stored)

    settled.connect(listen)
    try:
        (batch,) = hand_out(datetime.now(UTC))
        assert hand_out(datetime.now(UTC)) == [], "it is out"
        report = serve(batch)
        check_in([report])
        check_in([report])
    finally:
        settled.disconnect(listen)
    assert Icons.stored == {host.pk: b"an icon"}
    assert [stored.get(Icons) for stored in heard if Icons in stored] == [[host.pk]]
    assert hand_out(datetime.now(UTC)) == []


def test_its_payload_weighs_what_it_says(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host's turn ends when the report is heavy."""
    (batch,) = hand_out(datetime.now(UTC))
    twice = replace(batch, assignments=batch.assignments * 2)
    assert len(serve(twice).harvests) == 2
    monkeypatch.setattr("crawler.terminals.serve.MAX_BYTES", len(b"an icon") - 1)
    assert len(serve(twice).harvests) == 1


def test_a_failure_has_its_name(host: Host) -> None:
    Icons.wanted[host.pk] += "/missing"
    (batch,) = hand_out(datetime.now(UTC))
    check_in([serve(batch)])
    assert Icons.failed == {host.pk: "http-404"}


def test_what_is_given_back_goes_out_again(host: Host) -> None:
    (batch,) = hand_out(datetime.now(UTC))
    check_in([Report(batch.host, batch.lease)])
    (again,) = hand_out(datetime.now(UTC))
    assert [one.suspect for one in again.assignments] == [False]


def test_what_is_lost_too_often_is_given_up(host: Host) -> None:
    now = datetime.now(UTC)
    for number in range(MAX_LOSSES):
        (batch,) = hand_out(now)
        assert [one.suspect for one in batch.assignments] == [number > 0]
        now += timedelta(seconds=lease_seconds() + 1)
        assert sweep(now) == 1
    assert Icons.failed == {host.pk: "lost"}
    assert hand_out(now) == []


def test_results_of_a_kind_that_nobody_knows_change_nothing(host: Host) -> None:
    (batch,) = hand_out(datetime.now(UTC))
    odd = Harvest("odd", host.pk, 1.0, "http://odd.example/")
    check_in([decode(Report, encode(Report(batch.host, batch.lease, (odd,))))])
    assert (Icons.stored, Icons.failed) == ({}, {})
    assert len(hand_out(datetime.now(UTC))) == 1, "it was given back"


def test_assignments_of_a_kind_that_a_terminal_does_not_know_are_a_named_failure(host: Host) -> None:
    handlers.forget("icon")
    (batch,) = hand_out(datetime.now(UTC))
    check_in([serve(batch)])
    assert Icons.failed == {host.pk: "malformed"}


def test_a_kind_that_another_function_serves_is_refused() -> None:
    def fetch_other(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
        raise AssertionError

    with pytest.raises(ValueError, match="fetch_icon serve the same kind"):
        handlers.serves("icon")(fetch_other)


def test_a_kind_that_another_work_settles_is_refused() -> None:
    class OtherIcons(Icons):
        kinds = ("other", "icon")

    with pytest.raises(ValueError, match="OtherIcons and Icons serve the same kind"):
        work.register(OtherIcons)
    assert OtherIcons not in [type(registered) for registered in work.works()]
