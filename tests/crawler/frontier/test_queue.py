"""The queue in PostgreSQL under a clock that begins now: order, duplicates, time control, budgets, leases."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crawler.engine.check_in import check_in
from crawler.engine.leased import BatchSpace
from crawler.engine.leases import hand_out
from crawler.engine.models import Host
from crawler.frontier.admission import Found, admit
from crawler.frontier.budgets import Budgets
from crawler.frontier.crawls import CrawlError, begin, cancel, pause, requeue, rescope, resume, tend
from crawler.frontier.graph import pagerank
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.frontier.own_graph import crawled_graph
from crawler.frontier.queue import (
    ATTEMPT_PENALTY,
    drop_expired,
    hosts_in_order,
    lease_urls,
    release_urls,
    renew_all_hosts,
    renew_hosts,
)
from crawler.frontier.scope import ScopeError
from crawler.messages import Harvest, Report

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC)


def later(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


def crawl_from(*seeds: str, **fields: Any) -> Crawl:
    return begin(Crawl(seeds=list(seeds or ["http://seed.example/"]), **fields))


def link(url: str, score: float = 0.3, depth: int = 1, kind: str = "intra") -> Found:
    return Found(url, kind, score, depth)


def taken(crawl: Crawl, now: datetime = NOW, most: int = 100) -> list[str]:
    """What goes out next when all hosts are free, host by host."""
    urls: list[str] = []
    for host in hosts_in_order(crawl, 100, now + timedelta(days=1)):
        found = lease_urls(
            {host.pk: uuid.uuid4()}, {host.pk: BatchSpace(most)}, crawl, now + timedelta(days=1)
        )
        urls += [assignment.url for assignment in found.get(host.pk, [])]
    return urls


def states(crawl: Crawl) -> dict[str, str]:
    return dict(crawl.urls.values_list("url", "state"))


def test_seeds_are_canonical_and_each_once() -> None:
    crawl = crawl_from("HTTP://Seed.Example:80", "http://seed.example/#top", "seed.example")
    assert crawl.seeds == ["http://seed.example/"]
    assert crawl.urls.get().score == 1.0


@pytest.mark.parametrize("seeds", [[], ["ftp://a.example/"], ["http://u%3A:p@a.example/"], ["http://"]])
def test_what_is_no_seed_begins_nothing(seeds: list[str]) -> None:
    with pytest.raises(CrawlError):
        begin(Crawl(seeds=seeds))
    assert not Crawl.objects.exists()


def test_a_scope_that_leaves_out_all_seeds_or_is_none_begins_nothing() -> None:
    with pytest.raises(CrawlError, match="no seed lies in the scope"):
        crawl_from(scope=["^https:"])
    with pytest.raises(ScopeError):
        crawl_from(scope=["("])
    assert not Crawl.objects.exists()


def test_the_best_goes_first_and_among_equals_the_one_found_first() -> None:
    crawl = crawl_from()
    scores = {"a": 0.2, "b": 0.5, "c": 0.2, "d": 0.66}
    admit(crawl, [link(f"http://seed.example/{name}", score) for name, score in scores.items()], NOW)
    assert [url[-1] for url in taken(crawl)] == ["/", "d", "b", "a", "c"]


def test_hosts_go_by_their_best_url() -> None:
    crawl = crawl_from("http://seed.example/", strategy="opic", anywhere=True)
    taken(crawl)
    found = {"http://low.example/": 0.1, "http://high.example/": 0.6, "http://low.example/2": 0.5}
    admit(crawl, [link(url, score) for url, score in found.items()], NOW)
    names = [host.name for host in hosts_in_order(crawl, 10, later(60))]
    assert names == ["high.example", "low.example"]


def test_hosts_go_by_turns_where_the_strategy_says_so() -> None:
    crawl = crawl_from("http://one.example/", strategy="host-round-robin", anywhere=True)
    admit(crawl, [link(f"http://{name}.example/{i}", 0.0) for i in range(3) for name in ("one", "two")], NOW)
    served = [taken(crawl, later(step), most=1) for step in range(3)]
    assert served[0] == ["http://one.example/", "http://two.example/0"]
    assert served[1] == ["http://one.example/0", "http://two.example/1"]


def test_nothing_is_queued_twice_and_what_was_crawled_never_again() -> None:
    crawl = crawl_from()
    first = admit(crawl, [link("http://seed.example/a"), link("http://seed.example/a")], NOW)
    assert (first.new, first.duplicates) == (1, 1)
    CrawlUrl.objects.filter(url="http://seed.example/a").update(state="crawled")
    again = admit(crawl, [link("http://seed.example/a"), link("http://seed.example/b")], NOW)
    assert (again.new, again.duplicates) == (1, 1)
    assert states(crawl)["http://seed.example/a"] == "crawled"


def test_crawls_do_not_know_each_others_urls() -> None:
    one, other = crawl_from(), crawl_from()
    assert one.urls.count() == other.urls.count() == 1


def test_what_waits_longer_than_allowed_is_dropped_and_may_come_back() -> None:
    crawl = crawl_from(max_wait=30)
    CrawlUrl.objects.update(queued=NOW)
    admit(crawl, [link("http://seed.example/late")], later(20))
    assert drop_expired(crawl, later(29)) == 0
    assert drop_expired(crawl, later(31)) == 1
    assert states(crawl) == {"http://seed.example/": "dropped", "http://seed.example/late": "queued"}
    assert drop_expired(crawl, later(31)) == 0
    found = admit(crawl, [link("http://seed.example/")], later(32))
    assert (found.new, found.duplicates) == (1, 0)
    assert drop_expired(crawl, later(51)) == 1, "the other one; this one's time began anew"
    assert taken(crawl) == ["http://seed.example/"]


def test_cash_is_paid_in_to_what_waits() -> None:
    crawl = crawl_from(strategy="opic")
    admit(crawl, [link("http://seed.example/a", 0.2), link("http://seed.example/b", 0.3)], NOW)
    admit(crawl, [link("http://seed.example/a", 0.2)], NOW)
    assert crawl.urls.get(url="http://seed.example/a").score == pytest.approx(0.4)
    assert taken(crawl)[1:] == ["http://seed.example/a", "http://seed.example/b"]


def grown_crawl(pages: int) -> Crawl:
    """A crawl of `pages` pages, each linked from the seed; the first links to /poor, the others to /rich: it
    was found last and has the smallest score.
    """
    crawl = crawl_from(strategy="known-rank")
    names = [f"http://seed.example/{i}" for i in range(pages - 1)]
    admit(crawl, [link(name, 0.01) for name in names], NOW)
    admit(crawl, [link("http://seed.example/poor", 0.5), link("http://seed.example/rich", 0.001)], NOW)
    keys = dict(crawl.urls.values_list("url", "key"))
    crawled = {"http://seed.example/": names, names[0]: ["http://seed.example/poor"]}
    crawled |= {name: ["http://seed.example/rich"] for name in names[1:]}
    for name, targets in crawled.items():
        row = {"state": "crawled", "intra": len(targets), "inter": 0, "out": [keys[to] for to in targets]}
        crawl.urls.filter(url=name).update(**row)
    Crawl.objects.filter(pk=crawl.pk).update(crawled=pages)
    crawl.refresh_from_db()
    return crawl


def test_what_waits_is_ranked_by_the_links_known_so_far() -> None:
    crawl = grown_crawl(8)
    tend(NOW)
    rank = pagerank(crawled_graph(crawl))  # on one host the jumps go to any page alike
    scores = dict(crawl.waiting.values_list("url", "score"))
    places = crawled_graph(crawl).names
    expected = {name: rank[places.index(name)] * len(places) for name in scores}
    assert scores == pytest.approx(expected, rel=0.02)
    crawl.refresh_from_db()
    assert crawl.ranked_again == 12
    assert taken(crawl) == ["http://seed.example/rich", "http://seed.example/poor"]


def test_a_host_of_which_more_is_to_come_goes_first() -> None:
    crawl = crawl_from("http://done.example/", "http://young.example/", strategy="known-rank")
    for name, pages in (("done", 4), ("young", 4)):
        admit(crawl, [link(f"http://{name}.example/{i}", 0.1) for i in range(pages)], NOW)
    crawl.urls.filter(
        url__in=["http://done.example/", *(f"http://done.example/{i}" for i in range(3))]
    ).update(state="crawled")
    crawl.urls.filter(url="http://young.example/").update(state="crawled")
    crawl.hosts.filter(host__name="done.example").update(crawled=4)
    crawl.hosts.filter(host__name="young.example").update(crawled=1)
    renew_all_hosts(crawl)
    assert dict(crawl.hosts.values_list("host__name", "best")) == pytest.approx(
        {"done.example": 0.1 * 5 / 4, "young.example": 0.1 * 5 / 1}
    )
    assert [host.name for host in hosts_in_order(crawl, 9, later(1))] == ["young.example", "done.example"]


def test_ranking_waits_until_the_crawl_has_grown_and_leaves_other_orders_alone() -> None:
    young = grown_crawl(7)
    tend(NOW)
    assert young.urls.get(url="http://seed.example/rich").score == 0.001
    other = grown_crawl(8)
    Crawl.objects.filter(pk=other.pk).update(strategy="opic")
    tend(NOW)
    assert other.urls.get(url="http://seed.example/rich").score == 0.001


def test_a_url_that_is_out_is_not_ranked_and_a_crawl_with_too_many_links_goes_on_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crawl = grown_crawl(8)
    out = crawl.urls.filter(url="http://seed.example/rich")
    out.update(lease=uuid.uuid4())
    tend(NOW)
    assert out.get().score == 0.001
    monkeypatch.setattr("crawler.frontier.ranking.MAX_LINKS", 3)
    large = grown_crawl(8)
    tend(NOW)
    assert large.urls.get(url="http://seed.example/rich").score == 0.001


def test_budgets_of_hosts_patterns_depth_and_scope() -> None:
    crawl = crawl_from(scope=[r"\.example/"], max_hosts=2)
    budgets = Budgets(per_host=5, per_pattern=2, depth=3)
    found = admit(
        crawl,
        [
            *(link(f"http://seed.example/page{i}") for i in range(4)),
            link("http://seed.example/deep", depth=4),
            link("http://other.org/"),
            *(link(f"http://big.example/{name}") for name in "abcdefgh"),
            link("http://third.example/"),
        ],
        NOW,
        budgets,
    )
    assert found.refused == {"pattern": 2, "depth": 1, "scope": 1, "host": 3, "hosts": 1}
    assert found.new == 2 + 5
    again = admit(crawl, [link("http://big.example/i")], NOW, budgets)
    assert again.refused == {"host": 1}


def test_a_lease_that_ends_unanswered_gives_its_urls_back_with_the_time_they_waited() -> None:
    crawl = crawl_from()
    CrawlUrl.objects.update(queued=NOW, not_before=NOW)
    renew_hosts(crawl, {crawl.urls.get().host_id})
    (host,) = hosts_in_order(crawl, 5, later(1))
    lease = uuid.uuid4()
    lease_urls({host.pk: lease}, {host.pk: BatchSpace(5)}, crawl, later(1))
    out = crawl.leased.get()
    assert (out.lease, out.waited, out.attempts) == (lease, 60.0, 1)
    assert not crawl.waiting.exists()
    assert hosts_in_order(crawl, 5, later(1)) == []
    assert release_urls([lease]) == 1
    place = crawl.waiting.get()
    assert (place.queued, place.attempts) == (NOW, 0)
    assert not crawl.leased.exists()
    assert len(hosts_in_order(crawl, 5, later(1))) == 1


def test_a_retry_waits_for_its_time() -> None:
    crawl = crawl_from()
    CrawlUrl.objects.update(not_before=later(10), queued=later(10))
    renew_hosts(crawl, {crawl.urls.get().host_id})
    assert hosts_in_order(crawl, 5, later(9)) == []
    assert len(hosts_in_order(crawl, 5, later(11))) == 1


def test_one_slow_url_comes_behind_the_others_after_its_first_failure() -> None:
    """Five times thirty seconds at the head of the queue would be its host's next minutes."""
    seeds = ["http://seed.example/slow", *(f"http://seed.example/{i}" for i in range(30))]
    crawl = crawl_from(*seeds, strategy="link-score")
    asked = []
    for _ in range(3):
        now = datetime.now(UTC)
        (batch,) = hand_out(now)
        asked.append([one.url for one in batch.assignments])
        first = batch.assignments[0]
        began = now.timestamp() - 30
        late = Harvest("crawl", first.id, began, first.url, failure="too-slow", elapsed=30.0)
        check_in([Report(batch.host, batch.lease, (late,))])
    assert asked[0][0] == "http://seed.example/slow"
    assert len({urls[0] for urls in asked}) == 3
    assert "http://seed.example/slow" not in [*asked[1], *asked[2]], "its time has not come"
    crawl.waiting.update(not_before=NOW)
    order = list(crawl.waiting.order_by("attempts", "-score", "id").values_list("url", flat=True))
    assert order[-3:] == [urls[0] for urls in asked], "in the database, too"
    assert crawl.urls.get(url="http://seed.example/slow").score == 1.0, "the URL's own score stays"


def test_cash_for_what_failed_before_is_paid_without_its_arrears() -> None:
    crawl = crawl_from(strategy="opic")
    admit(crawl, [link("http://seed.example/a", 0.2)], NOW)
    CrawlUrl.objects.filter(url="http://seed.example/a").update(attempts=1)
    CrawlUrl.objects.exclude(url="http://seed.example/a").update(state="crawled")
    admit(crawl, [link("http://seed.example/a", 0.3)], NOW)
    assert crawl.urls.get(url="http://seed.example/a").score == pytest.approx(0.5)
    assert crawl.hosts.get().best == pytest.approx(0.5 - ATTEMPT_PENALTY)


def test_a_crawl_ends_when_nothing_is_left_and_not_before() -> None:
    crawl = crawl_from()
    assert tend(datetime.now(UTC)) == [crawl.pk]
    assert len(taken(crawl)) == 1
    Host.objects.update(lease=CrawlUrl.objects.get().lease, leased_until=later(60))
    assert tend(datetime.now(UTC)) == [crawl.pk]
    CrawlUrl.objects.update(state="crawled", lease=None)
    assert tend(datetime.now(UTC)) == []
    crawl.refresh_from_db()
    assert (crawl.state, crawl.reason) == ("done", "nothing is left to crawl")
    assert crawl.finished is not None


@pytest.mark.parametrize(
    ("limit", "reached", "reason"),
    [
        ({"max_pages": 5}, {"crawled": 5}, "the limit of 5 pages is reached"),
        ({"max_bytes": 100}, {"bytes": 101}, "the limit of 100 bytes is reached"),
        ({"max_minutes": 1.0}, {"running_for": 61.0}, "the limit of 1 minutes is reached"),
    ],
)
def test_limits_end_a_crawl(limit: dict[str, Any], reached: dict[str, Any], reason: str) -> None:
    crawl = crawl_from(**limit)
    Crawl.objects.update(**reached)
    assert tend(datetime.now(UTC)) == []
    crawl.refresh_from_db()
    assert (crawl.state, crawl.reason) == ("done", reason)


def test_stop_and_resume_leave_the_time_of_the_pause_out() -> None:
    crawl = crawl_from()
    assert pause(Crawl.objects.all()) == 1
    assert pause(Crawl.objects.all()) == 0
    Crawl.objects.update(paused=datetime.now(UTC) - timedelta(hours=2))
    CrawlUrl.objects.update(queued=datetime.now(UTC) - timedelta(hours=2, minutes=10))
    assert tend(datetime.now(UTC)) == []
    assert resume(crawl)
    assert not resume(crawl)
    assert tend(datetime.now(UTC)) == [crawl.pk]
    assert crawl.urls.get().state == "queued", "it has waited ten minutes, not two hours"


def test_cancelling_is_for_good() -> None:
    crawl = crawl_from()
    assert cancel(Crawl.objects.all()) == 1
    assert not resume(crawl)
    assert tend(datetime.now(UTC)) == []


def test_another_scope_takes_what_is_outside_out_of_the_queue() -> None:
    crawl = crawl_from()
    admit(crawl, [link("http://seed.example/in"), link("http://seed.example/out")], NOW)
    assert rescope(crawl, ["in$", "/$"]) == 1
    assert taken(crawl) == ["http://seed.example/", "http://seed.example/in"]
    crawl.refresh_from_db()
    assert admit(crawl, [link("http://seed.example/other")], NOW).refused == {"scope": 1}
    with pytest.raises(ScopeError):
        rescope(crawl, ["("])


def test_failures_are_queued_again_by_cause_or_host() -> None:
    crawl = crawl_from("http://a.example/", "http://b.example/")
    CrawlUrl.objects.update(state="failed", failure="http-503", attempts=4)
    CrawlUrl.objects.filter(url="http://a.example/").update(failure="dns")
    tend(datetime.now(UTC))
    assert requeue(crawl, ["http-404"]) == 0
    assert requeue(crawl, ["dns"]) == 1
    crawl.refresh_from_db()
    assert (crawl.state, crawl.finished) == ("running", None)
    assert requeue(crawl, host=CrawlUrl.objects.get(url="http://b.example/").host_id) == 1
    assert sorted(taken(crawl)) == ["http://a.example/", "http://b.example/"]


def test_a_deleted_crawl_takes_its_queue_along() -> None:
    crawl = crawl_from()
    admit(crawl, [link("http://other.example/")], NOW)
    taken(crawl, most=1)
    assert CrawlUrl.objects.filter(lease__isnull=False).exists()
    crawl.delete()
    assert not CrawlUrl.objects.exists()


def test_a_crawl_stays_on_the_hosts_of_its_seeds_with_and_without_www() -> None:
    crawl = crawl_from("http://www.one.example/", "http://two.example:8080/")
    found = [
        "http://one.example/a",
        "http://www.one.example/b",
        "http://two.example/c",
        "http://far.example/d",
    ]
    admitted = admit(crawl, [link(url) for url in found], NOW)
    assert (admitted.new, admitted.refused) == (3, {"scope": 1})


def test_leaving_the_seeds_hosts_is_a_choice_and_a_scope_stands_above_it() -> None:
    far = [link("http://far.example/")]
    assert admit(crawl_from(anywhere=True), far, NOW).new == 1
    assert admit(crawl_from(anywhere=True, scope=["seed.example"]), far, NOW).refused == {"scope": 1}
    assert admit(crawl_from(scope=["far|seed"]), far, NOW).new == 1


def test_a_scope_that_is_taken_away_leaves_the_seeds_hosts() -> None:
    crawl = crawl_from(scope=["example"])
    admit(crawl, [link("http://far.example/"), link("http://seed.example/near")], NOW)
    assert rescope(crawl, []) == 1
    assert {url.url for url in crawl.waiting} == {"http://seed.example/", "http://seed.example/near"}
