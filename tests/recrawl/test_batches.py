"""Many sites planned at once: each as it would be alone, whatever another does, in a few statements."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crawler.engine.models import Host
from recrawl.models import Announcement, Check, Site, Source, Visit, Wanted, WatchedPage, key_of
from recrawl.visiting import visits

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)
PATHS = ["", "about", "news/", *(f"news/{name}" for name in "abcdefghi")]


def watched(name: str, **options: Any) -> Site:
    """A site of twelve pages whose visit is due; they are linked as a front page with news."""
    top = f"https://{name}.example/"
    site = Site.objects.create(
        url=top, host=Host.objects.create(name=f"{name}.example"), next_visit=NOW,
        **{"method": "adaptive", "budget": 0.5, "state": "watched", **options},
    )  # fmt: skip
    links = {path: [""] for path in PATHS} | {"": ["about", "news/"], "news/": PATHS[3:]}
    WatchedPage.objects.bulk_create(
        WatchedPage(
            site=site, url=top + path, key=key_of(top + path), state="live", size=100, fetched=NOW,
            links=[key_of(top + link) for link in links[path]],
        )
        for path in PATHS
    )  # fmt: skip
    return site


def asked(visit: Visit) -> list[tuple[str, str]]:
    """Path and reason of what waits, in order."""
    return [(row.page.path, row.reason) for row in visit.wanted.select_related("page") if row.page]


def answer(visit: Visit, outcome: str = "same") -> None:
    """Give every page that waits this outcome."""
    rows = list(visit.wanted.all())
    Check.objects.bulk_create(
        Check(visit=visit, page_id=row.page_id, at=NOW, outcome=outcome, age=1.0, reason=row.reason)
        for row in rows
    )
    Visit.objects.filter(pk=visit.pk).update(fetched=visit.fetched + len(rows))
    visit.wanted.all().delete()
    visit.refresh_from_db()


def begun(*sites: Site) -> list[Visit]:
    return visits.begin([site.pk for site in sites], NOW)


def advanced(*made: Visit) -> None:
    visits.advance([visit.pk for visit in made], NOW)
    for visit in made:
        visit.refresh_from_db()


def test_sites_begin_together_in_the_order_given_each_with_its_own_figures() -> None:
    sites = [watched("a"), watched("b", budget=0.25, saved=1.0), watched("c")]
    made = begun(*reversed(sites))
    assert [visit.site for visit in made] == [*reversed(sites)]
    assert [(one.number, one.pages, one.whole, one.weekly, one.budget) for one in made] == [
        (1, 12, 1200, 6.0, 6), (1, 12, 1200, 3.0, 4), (1, 12, 1200, 6.0, 6),
    ]  # fmt: skip
    for site in sites:
        site.refresh_from_db()
    assert [site.saved for site in sites] == [6.0, 4.0, 6.0]
    assert {site.next_visit for site in sites} == {NOW + timedelta(days=7)}


def test_begun_twice_is_begun_once() -> None:
    paused, empty, site = watched("paused", state="paused"), watched("empty"), watched("site")
    empty.pages.all().delete()
    assert [(visit.site, visit.pages) for visit in begun(paused, empty, site)] == [(empty, 0), (site, 12)]
    assert begun(paused, empty, site) == []
    assert visits.begin([site.pk], NOW) == []
    site.refresh_from_db()
    assert (site.visited, site.saved) == (1, 6.0)


def test_a_batch_wants_what_each_alone_would_want() -> None:
    together, alone = [
        [watched(f"{kind}{n}", saved=48.0) for n in range(3)] for kind in ("together", "alone")
    ]
    batch, others = begun(*together), begun(*alone)
    for outcome in ("changed", "changed", "same"):
        advanced(*batch)
        for visit in others:
            advanced(visit)
        assert [asked(visit) for visit in batch] == [asked(visit) for visit in others]
        for visit in (*batch, *others):
            answer(visit, outcome)
    assert {visit.fetched for visit in (*batch, *others)} == {4}


def test_more_sites_need_no_more_statements() -> None:
    counts = []
    for sites in (2, 7):
        made = [watched(f"site-{sites}-{n}") for n in range(sites)]
        with CaptureQueriesContext(
            connection,
        ) as queries:
            opened = begun(*made)
            visits.advance([visit.pk for visit in opened], NOW)
        assert Wanted.objects.filter(visit__in=opened).count() == sites
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_advanced_twice_is_advanced_once() -> None:
    made = begun(watched("a"), watched("b"))
    advanced(*made)
    rows = list(Wanted.objects.values_list("id", "visit", "page"))
    advanced(*made)
    assert list(Wanted.objects.values_list("id", "visit", "page")) == rows
    assert [visit.rounds for visit in made] == [1, 1]


def test_new_visits_read_their_sources_first_and_others_go_on() -> None:
    told, plain = watched("told"), watched("plain")
    for name, usable, told_as in (("a.xml", True, ""), ("b.xml", False, ""), ("c.xml", True, "2026")):
        Source.objects.create(
            site=told, url=told.url + name, key=key_of(name), kind="sitemap", usable=usable, told=told_as,
            read_as=told_as,
        )  # fmt: skip
    made = begun(told, plain)
    advanced(*made)
    assert [row.source.url for row in made[0].wanted.all() if row.source] == [f"{told.url}a.xml"]
    assert asked(made[0]) == []
    assert asked(made[1]) == [("/", "the top page")]


def test_every_visit_heeds_the_sources_that_it_has_read_itself() -> None:
    made = begun(watched("a"), watched("b"))
    for visit in made:
        source = Source.objects.create(
            site=visit.site, url=f"{visit.site.url}feed", key=1, kind="feed",
            read=NOW + timedelta(minutes=1 if visit is made[0] else -1),
        )  # fmt: skip
        page = visit.site.pages.get(url__endswith="/news/h")
        Announcement.objects.create(source=source, page=page, stamp="new", since=visit.number)
    Visit.objects.update(rounds=1, budget=30)
    advanced(*made)
    for visit in made:
        answer(visit)
    advanced(*made)
    assert ("/news/h", f"announced by {made[0].site.url}feed") in asked(made[0])
    assert not any(why.startswith("announced") for _, why in asked(made[1]))


def test_a_site_whose_visit_cannot_be_planned_waits_and_the_others_go_on() -> None:
    broken, sound = watched("broken", method="gone"), watched("sound")
    made = begun(broken, sound)
    advanced(*made)
    assert [asked(visit) for visit in made] == [[], [("/", "the top page")]]
    assert [visit.rounds for visit in made] == [0, 1]
    Visit.objects.filter(site=broken).update(method="adaptive")
    advanced(*made)
    assert [asked(visit) for visit in made] == [[("/", "the top page")]] * 2
    assert [visit.rounds for visit in made] == [1, 1]


def test_what_cannot_be_stored_together_is_stored_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made = begun(watched("a"), watched("broken"), watched("c"))
    insert = visits.insert_rows

    def fail(model: Any, rows: list[Wanted], **options: Any) -> list[Any]:
        if any(row.visit_id == made[1].pk for row in rows):
            raise ValueError("a row cannot be written")
        return insert(model, rows, **options)

    monkeypatch.setattr(visits, "insert_rows", fail)
    assert visits.tend(NOW) is False
    for visit in made:
        visit.refresh_from_db()
    assert [len(asked(visit)) for visit in made] == [1, 0, 1]
    assert [visit.rounds for visit in made] == [1, 0, 1]


def test_a_visit_that_cannot_end_stays_open_and_the_others_end(monkeypatch: pytest.MonkeyPatch) -> None:
    made = begun(watched("broken", budget=1 / 6), watched("sound", budget=1 / 6))
    Visit.objects.update(budget=1)
    advanced(*made)
    for visit in made:
        answer(visit, "changed")
    tell = visits._mark_template_changes

    def fail(visit: Visit) -> None:
        WatchedPage.objects.filter(site=visit.site_id).update(title="half done")
        if visit.pk == made[0].pk:
            raise RuntimeError("an end that breaks")
        tell(visit)

    monkeypatch.setattr(visits, "_mark_template_changes", fail)
    advanced(*made)
    assert [visit.finished for visit in made] == [None, NOW]
    assert [visit.rounds for visit in made] == [1, 2]
    assert [visit.site.pages.filter(title="half done").exists() for visit in made] == [False, True]
    saved, memory = zip(*Site.objects.order_by("id").values_list("saved", "memory"), strict=True)
    assert saved == (2.0, 1.0)
    assert [bool(one) for one in memory] == [False, True]
    monkeypatch.undo()
    advanced(*made)
    assert [visit.finished for visit in made] == [NOW, NOW]
    assert not visits.idle().exists()


def test_a_batch_has_so_many_pages_at_most_or_one_visit() -> None:
    sizes = [4000, 5000, 2000, 50_000, 1, 9999, 1]
    opened = [Visit(pk=pk, pages=pages) for pk, pages in enumerate(sizes)]
    assert list(visits.batches(opened)) == [[0, 1], [2], [3], [4, 5], [6]]
    assert list(visits.batches([])) == []
