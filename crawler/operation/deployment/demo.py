"""An invented deployment that looks lived in: for demonstrations, browser tests, pictures in the docs."""

from __future__ import annotations

import random
import uuid
import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from articles.enrichment.enrich import enrich
from articles.enrichment.models import Enrichment
from articles.interest.log import Kind, note
from articles.models import Article, Page
from articles.personal.following import follow, subscriber_of
from articles.personal.marking import star
from articles.personal.selection import create_personal_feed, followed_articles, revoke_address
from articles.personal.topics import follow_topic
from articles.things.derived.save import derive
from crawler.accounts.demo import VISITOR
from crawler.engine.models import Host, Pulse
from crawler.fetching.http.urls import canonical_url, host_key
from crawler.frontier.admission import Found, admit
from crawler.frontier.crawls import begin as begin_crawl
from crawler.frontier.figures import note as note_figures
from crawler.frontier.models import Crawl
from crawler.frontier.queue import renew_hosts
from crawler.pipeline.documents import bury
from crawler.pipeline.documents import note as note_phase
from crawler.pipeline.index import index
from crawler.pipeline.messages import PhaseOutcome
from crawler.pipeline.models import Document, UriFilter
from crawler.text.keys import digest
from feeds.adding.imports import start_import
from feeds.adding.opml import Outline
from feeds.categories import category_at
from feeds.laboratory.experiments import advance, begin
from feeds.laboratory.models import Experiment
from feeds.models import Feed, FeedAlias, PostingHistory, Retrieval, Tick
from feeds.replay.trace import Trace
from feeds.scheduling.history import pack
from feeds.scheduling.rates import Floats
from feeds.visiting.rules import rules
from recrawl.comparing.differences import difference
from recrawl.models import Change, Check, Site, Source, Visit, key_of
from recrawl.models import WatchedPage as SitePage

# Names and addresses are invented; .example belongs to nobody (RFC 2606).
SOURCES = (
    # title, host, category, articles a day, hour of most posts (UTC), language
    ("The Harbour Courier", "courier.example", "News/World", 38, 8, "en"),
    ("Abendblatt am Deich", "deich.example", "News/World", 24, 16, "de"),
    ("Gazette du Fleuve", "fleuve.example", "News/World", 17, 9, "fr"),
    ("Riverside Weather Desk", "weather.example", "News/Local", 12, 5, "en"),
    ("Town Hall Minutes", "townhall.example", "News/Local", 1.2, 13, "en"),
    ("Compiler Weekly", "compilers.example", "Technology", 0.4, 17, "en"),
    ("Packets and Queues", "packets.example", "Technology", 3.5, 15, "en"),
    ("The Slow Database", "slowdb.example", "Technology/Databases", 0.9, 11, "en"),
    ("Notas de Sistemas", "sistemas.example", "Technology", 2.2, 19, "es"),
    ("Index and Heap", "indexheap.example", "Technology/Databases", 1.6, 7, "en"),
    ("Journal of Small Waters", "waters.example", "Science", 2.8, 10, "en"),
    ("Estuary Research Notes", "estuary.example", "Science", 0.6, 14, "en"),
    ("Night Sky Almanac", "sky.example", "Science", 1.0, 22, "en"),
    ("Kitchen by the Canal", "kitchen.example", "Leisure", 1.4, 18, "en"),
    ("Slow Trains", "trains.example", "Leisure", 0.8, 20, "en"),
    ("Paddle and Portage", "paddle.example", "Leisure", 0.3, 12, "en"),
    ("Quay Podcast", "quay.example", "Leisure", 0.5, 6, "en"),
    ("川辺の暮らし", "kawabe.example", "Leisure", 2.0, 1, "ja"),
)
_MONDAY = 1_767_571_200.0
SUBJECTS = (
    "Harbour wall", "Ferry timetable", "Spring flood", "Tide table", "Old weir", "Mill bridge", "Reed bed",
    "Water board", "Query planner", "Packet loss", "Eel migration", "Night train",
)  # fmt: skip
EVENTS = (
    "reopens after a winter of repairs", "draws a crowd nobody expected", "and what we learned from it",
    "is measured for the first time", "gets a second opinion", "moves to its summer place", "waits for rain",
    "explained in one page", "runs late, and people like it",
)  # fmt: skip
TEXT = (
    "The water came up in the night, slower than the gauges had said. By morning the quay was wet to the "
    "second step, and the ferry had moved its mooring to the upper landing.\n"
    "People who have lived here longer than the wall think it what rivers do. The Harbour Board disagrees, "
    "and has asked for another survey. It will be published in the spring."
)
CONTENT = (
    "<p>The water came up in the night, <em>slower</em> than the gauges had said.</p>"
    '<p>By morning the quay was wet. The <a href="https://courier.example/board">board</a> is asking.</p>'
)


FOLLOWED = {
    "The Harbour Courier": "News", "Riverside Weather Desk": "News/Local", "Town Hall Minutes": "News/Local",
    "Compiler Weekly": "Technology", "川辺の暮らし": "",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Failing:
    """A feed that cannot be read, with its failure for some hours."""

    name: str
    host: str
    failure: str
    detail: str
    hours: int


FAILING = (
    Failing("Bulletin of the Lock Keepers", "locks.example", "http-503", "503 Service Unavailable", 5),
    Failing("Marsh Observer", "marsh.example", "dns", "no address belongs to marsh.example", 30),
    Failing("The Certificate Times", "expired.example", "tls", "certificate has expired", 90),
    Failing("Not Quite A Feed", "html.example", "not-a-feed", "text/html without a feed in it", 3),
)


def seed(now: datetime, *, password: str | None = None, replayed: bool = True) -> None:
    """Fill an empty database with three days of a deployment's life that ends now.

    Two people belong to it, `reader` and `keeper`, who keeps it; without a password nobody signs in as one of
    them. Without `replayed` its experiment has begun only, which spares half a minute of a processor's time.
    """
    dice = random.Random(20)  # noqa: S311 - invented data
    User.objects.create_user("reader", password=password)
    User.objects.create_user(VISITOR, password=password, is_staff=True)
    for number, source in enumerate(SOURCES):
        _source(now, dice, number, source)
    for failing in FAILING:
        _failing(now, failing)
    _feed(
        "https://gone.example/rss",
        title="Ferry News (closed)",
        status="gone",
        last_attempt=now - timedelta(days=9),
    )
    _feed("https://quiet.example/rss", title="Minutes of a Club", status="paused")
    for queue in ("fetch", "store"):
        Pulse.objects.create(queue=queue, sent=now, answered=now)
    _ticks(now)
    _experiment(replayed)
    _crawl(now)
    _graph(now)
    _site(now)
    _subscriber(now)
    _import(now)
    derive(now)


def _source(
    now: datetime, dice: random.Random, number: int, source: tuple[str, str, str, float, int, str]
) -> None:
    title, host, folder, a_day, peak, language = source
    trained = number % 3 != 2
    feed = _feed(
        f"https://{host}/feed.xml",
        title=title,
        site_url=f"https://{host}/",
        category=category_at(tuple(folder.split("/"))),
        format=("RSS 2.0", "Atom 1.0", "JSON Feed 1.1")[number % 3],
        language=language,
        description=f"{title}, by the people who live there.",
        phase=Feed.Phase.NORMAL if trained else Feed.Phase.TRAINING,
        document_size=20,
        etag='"4f2a"',
        subscribers=number % 5,
        added=now - timedelta(days=3 if not trained else 60),
        training_since=now - timedelta(days=3 if not trained else 60),
        training_m=1.0 + number % 9,
        training_due=now + timedelta(minutes=10 + 7 * number),
    )
    rates = _rates(a_day, peak)
    _history(feed, now, rates)
    _visits(now, dice, feed, rates)
    FeedAlias.objects.create(canonical_url=f"http://{host}/rss", feed=feed)


def _feed(url: str, **fields: Any) -> Feed:
    """Add a feed with these fields."""
    canonical = canonical_url(url)
    host = Host.objects.named({host_key(canonical)})[host_key(canonical)]
    return Feed.objects.create(url=url, canonical_url=canonical, host_id=host, **fields)


def _trace(feeds: int, days: int) -> Trace:
    """Return posting times of feeds of very different rates."""
    dice = np.random.default_rng(3)
    posts: list[tuple[str, float]] = []
    for number in range(feeds):
        hourly = float(dice.lognormal(-1.5, 1.2))
        times = _MONDAY + dice.uniform(0, days * 86_400.0, dice.poisson(hourly * days * 24))
        posts += [(f"feed{number}", time) for time in times.tolist()]
    return Trace.of("invented", posts)


def _rates(a_day: float, peak: int) -> Floats:
    """24 articles per hour that add up to `a_day`, most of them around the peak."""
    away = np.minimum((np.arange(24) - peak) % 24, (peak - np.arange(24)) % 24)
    shape = np.exp(-((away / 4.0) ** 2)) + 0.06
    by_hour: Floats = a_day * shape / shape.sum()
    return by_hour


def _history(feed: Feed, now: datetime, rates: Floats) -> None:
    week = np.array([1, 1.1, 1, 1.05, 0.9, 0.4, 0.3])[:, None] * rates[None, :]
    watched = np.full((7, 24), 1.8)
    watched[6, 3:6] = 0.0
    PostingHistory.objects.create(
        feed=feed,
        hourly=pack(rates[None, :])[0],
        week_counts=pack((week * watched).reshape(1, 168))[0],
        week_exposure=pack(watched.reshape(1, 168))[0],
        updated=now,
    )


def _visits(now: datetime, dice: random.Random, feed: Feed, rates: Floats) -> None:
    """Three days of retrievals an hour or so apart, and the articles they brought."""
    at = now - timedelta(days=3)
    log: list[Retrieval] = []
    articles: list[Article] = []
    m = t = 1.0
    while at < now - timedelta(minutes=8):
        gap = dice.uniform(0.6, 2.2)
        at = min(at + timedelta(hours=gap), now - timedelta(minutes=dice.uniform(1, 8)))
        expected = float(rates[at.hour]) * gap
        new = sum(dice.random() < expected / 3 for _ in range(3)) if expected < 3 else round(expected)
        m, t = (max(1.0, 0.2 * m + 0.8 * t), 1.0) if new else (min(80.0, m + 0.3 * t), min(80.0, t + m))
        log.append(_visit(dice, feed, at, new=new, expected=expected, m=m, t=min(t, 99.0)))
        articles += [_article(dice, feed, at, len(articles) + i) for i in range(new)]
    Retrieval.objects.bulk_create(log)
    Article.objects.bulk_create(articles)
    feed.last_attempt = feed.last_success = at
    feed.last_new = max((article.fetched for article in articles), default=None)
    feed.not_before = now + timedelta(minutes=dice.uniform(-5, 9))
    feed.floor, feed.floor_detail = "min-gap", "no closer than 10 minutes to the last retrieval"
    feed.save()


def _visit(
    dice: random.Random, feed: Feed, at: datetime, *, new: int, expected: float, m: float, t: float
) -> Retrieval:
    unchanged = dice.random() < 0.75
    outcome = "new" if new else "not-modified" if unchanged else "nothing-new"
    training = feed.phase == Feed.Phase.TRAINING
    return Retrieval(
        feed=feed,
        at=at,
        outcome=outcome,
        status=304 if outcome == "not-modified" else 200,
        new=new,
        bytes=0 if outcome == "not-modified" else dice.randrange(8_000, 60_000),
        elapsed=dice.uniform(0.06, 0.9),
        conditional=True,
        because="training: its ToE reached zero"
        if training
        else f"rank {dice.randrange(1, 40)} of 124: {expected:.2f} new articles expected",
        expected=expected,
        m=m if training else None,
        t=t if training else None,
        toe=min(5, int(m) + 1) if training else None,
    )


def _article(dice: random.Random, feed: Feed, fetched: datetime, number: int) -> Article:
    title = f"{dice.choice(SUBJECTS)} {dice.choice(EVENTS)}"
    others = (f"{dice.choice(SUBJECTS)} {dice.choice(EVENTS)}." for _ in range(8))
    text = f"{' '.join(others)}\n{TEXT}"
    delay = dice.uniform(60, 2400)
    identity = f"tag:{feed.host.name},2026:{number}"
    with_page = number % 4 == 0
    url = f"https://{feed.host.name}/2026/{number}"
    page = None
    if with_page:
        page = Page.objects.create(
            url=url, url_key=uuid.uuid4(), host=feed.host, status="stored", fetched=fetched, text=TEXT * 3
        )
    return Article(
        feed=feed,
        identity=identity,
        identity_key=digest(identity),
        url=url,
        page=page,
        title=title,
        author=dice.choice(("Ines Vold", "Tomas Reiher", "A. Marsh", "")),
        category=dice.choice(("harbour", "weather", "")),
        categories=["harbour", "notes"],
        language=feed.language,
        published=fetched - timedelta(seconds=delay),
        dating=Article.Dating.FEED,
        fetched=fetched,
        delay=delay,
        content=CONTENT,
        text=text,
        text_length=len(text),
        enclosures=[{"url": f"{url}.mp3", "type": "audio/mpeg", "length": 23_400_000}]
        if number % 5 == 0
        else [],
    )


def _subscriber(now: datetime) -> None:
    """The keeper reads, too: feeds in folders, a topic, personal feeds, a story in two feeds, opinions."""
    subscriber = subscriber_of(User.objects.get(username=VISITOR))
    for title, folder in FOLLOWED.items():
        follow(subscriber, Feed.objects.get(title=title), folder=folder)
    follow_topic(subscriber, "keyword", "ferry")
    create_personal_feed(subscriber, name="Rivers and ferries", include=["ferry", "river"], order="interest")
    revoke_address(create_personal_feed(subscriber, name="Everything, newest first"))
    first_report = Article.objects.filter(feed__title="The Harbour Courier").latest("published")
    again = Feed.objects.get(title="Riverside Weather Desk").articles.latest("published")
    Article.objects.filter(pk=again.pk).update(
        title=first_report.title, text=first_report.text, published=first_report.published
    )
    newest = list(followed_articles(subscriber).values_list("pk", flat=True)[:80])
    keys = {*newest, first_report.pk, again.pk}
    Enrichment.objects.exclude(pk__in=keys).update(state=Enrichment.State.DONE)
    while enrich(now):
        pass
    note(subscriber, newest[:40], Kind.SHOWN, now - timedelta(hours=3))
    note(subscriber, newest[:40:4], Kind.OPENED, now - timedelta(hours=2))
    note(subscriber, newest[1:9:4], Kind.LESS, now - timedelta(hours=1))
    star(subscriber, newest[2:4], now)


def _import(now: datetime) -> None:
    """Add a list of feeds of which one is read, one fails, one waits and one was refused."""
    keeper = User.objects.get(username=VISITOR)
    urls = (
        "https://late.example/rss",
        "https://lost.example/rss",
        "https://new.example/rss",
        "http://10.0.0.1/",
    )
    start_import(keeper, [Outline(url) for url in urls], name="a list.opml", follows=False)
    Feed.objects.filter(url=urls[0]).update(
        title="Late Edition", last_success=now, selected_at=None, document_size=3
    )
    Feed.objects.filter(url=urls[1]).update(
        failure="not-a-feed", failure_streak=1, failing_since=now, selected_at=None
    )


def _failing(now: datetime, failing: Failing) -> None:
    since = now - timedelta(hours=failing.hours)
    feed = _feed(
        f"https://{failing.host}/feed",
        title=failing.name,
        failure=failing.failure,
        failure_detail=failing.detail,
        failure_streak=failing.hours // 2 + 1,
        failing_since=since,
        last_attempt=now - timedelta(minutes=40),
        last_success=since - timedelta(hours=1),
        not_before=now + timedelta(minutes=90),
        floor="back-off",
        floor_detail="failing visits are retried ever more slowly, at least once a day",
        training_due=now,
    )
    Retrieval.objects.create(
        feed=feed,
        at=now - timedelta(minutes=40),
        outcome="failed",
        failure=failing.failure,
        detail=failing.detail,
    )
    page_failure = {"http-503": "http-404", "dns": "robots"}.get(failing.failure)
    if page_failure:
        page = Page.objects.create(
            url=f"https://{failing.host}/1", url_key=uuid.uuid4(), host=feed.host, status="failed",
            failure=page_failure, failure_detail="asked once", attempts=1,
        )  # fmt: skip
        article = _article(random.Random(1), feed, since - timedelta(hours=2), 1)  # noqa: S311
        article.page = page
        article.save()


def _crawl(now: datetime) -> None:
    """A crawl that has begun well: an hour of pages, a queue, some failures."""
    seeds, scope = ["https://courier.example/"], [r"\.example/"]
    crawl = begin_crawl(Crawl(seeds=seeds, scope=scope, max_wait=600.0, strategy="link-score"))
    own_links = [Found(f"https://courier.example/{i}", "intra", 0.2357, 1, None) for i in range(12)]
    others = [Found(f"https://{source[1]}/", "inter", 0.4714, 1, None) for source in SOURCES[1:]]
    with transaction.atomic():
        admit(crawl, [*own_links, *others], now)
    urls = list(crawl.urls.order_by("id"))
    for at, url in enumerate(urls[:20]):
        url.fetched, url.waited, url.attempts, url.elapsed = now, 30.0 * at, 1, 0.2
        url.state, url.status, url.failure = (
            ("failed", 404, "http-404") if at % 6 == 5 else ("crawled", 200, "")
        )
        if url.state == "crawled":
            url.title, url.size, url.inter, url.intra = "A page", 20_000 + at, 5, 2
            url.out = [linked_url.key for linked_url in urls[at + 1 : at + 5]]
        url.save()
    renew_hosts(crawl, {url.host_id for url in urls})
    Crawl.objects.filter(pk=crawl.pk).update(crawled=17, duplicates=240, refused={"scope": 31}, bytes=412_000)
    for half_hours in (2, 1, 0):
        spread = {
            name: [9, 90.0 * (3 - half_hours), 1.0, 30.0] for name in ("waiting", "parent", "size", "queue")
        }
        note_at = now - timedelta(minutes=30 * half_hours)
        note_figures(
            crawl.pk, note_at, crawled=6, dropped=half_hours, duplicates=80, inter=[11.0], intra=[4.0]
        )
        bucket = crawl.buckets.latest("start")
        bucket.figures |= spread
        bucket.save()


def _graph(now: datetime) -> None:
    """Documents that went through the pipeline, one on its way and one that died."""
    host = Host.objects.get(name="courier.example")
    lease = uuid.uuid4()
    for number in range(1, 9):
        url = f"https://courier.example/graph/{number}"
        triples = (
            f'<{url}> <http://purl.org/dc/terms/title> "{SUBJECTS[number]}: a word from the harbour" .\n'
            f"<{url}> <http://rdfs.org/sioc/ns#links_to> <https://courier.example/graph/{number % 8 + 1}> .\n"
            f"<{url}> <http://www.w3.org/2000/01/rdf-schema#seeAlso> <https://courier.example/feed> .\n"
            f"<{url}> <http://xmlns.com/foaf/0.1/topic> _:b0 .\n"
            '_:b0 <http://xmlns.com/foaf/0.1/name> "Ann" .\n'
            "_:b1 <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Organization> .\n"
            '_:b1 <http://schema.org/name> "Harbour Board" .\n'
            "_:b1 <http://schema.org/url> <https://board.example/> ."
        )
        Document.objects.create(
            url=url, key=digest(url), host=host, source="crawl", fetched=now, state="transformed",
            lease=lease, leased_until=now, type="html", reason="the first tag is HTML's",
            transformer="page.xsl@1",
            content_type="text/html", triples=zlib.compress(triples.encode()),
        )  # fmt: skip
    index(lease, "demo")
    Document.objects.update(state="done", links=1)
    first, second = Document.objects.order_by("id")[:2]
    Document.objects.filter(pk=first.pk + 6).update(state="indexed")
    bury(second, "transform", "entities", "an RDF document that declares entities is refused").save()
    for phase, seconds in (("detect", 0.001), ("transform", 0.02), ("extract", 0.004)):
        note_phase(phase, "demo", [PhaseOutcome(number, seconds=seconds) for number in range(8)])
    UriFilter.objects.create(pattern=r"\.pdf$")


def _experiment(replayed: bool) -> None:
    """A small one, done or begun."""
    policies = ["round-robin", "advarss", "freshness", "full-information"]
    experiment = begin(Experiment(source="upload", policies=policies), _trace(feeds=15, days=9))
    while advance(experiment.pk) and replayed:
        pass


def _ticks(now: datetime) -> None:
    length = timedelta(seconds=settings.CRAWL_TICK_SECONDS)
    Tick.objects.bulk_create(
        Tick(
            started=now - i * length - timedelta(seconds=40),
            finished=now - i * length - timedelta(seconds=38),
            policy=rules().policy,
            ranked=3,
            candidates=16,
            budget=3.0,
            cutoff=3.0,
        )
        for i in range(int(timedelta(days=3) / length))
    )


def _site(now: datetime) -> None:
    """A watched site with three visits behind it, and one that could not be mapped."""
    host = Host.objects.get(name="courier.example")
    Site.objects.create(
        url="https://lost.example/", host=host, state="failed",
        trouble="Its top page cannot be read: The host name could not be resolved to an address.",
    )  # fmt: skip
    site = Site.objects.create(
        url="https://courier.example/harbour/", host=host, title="The harbour office", state="watched",
        next_visit=now + timedelta(days=4), visited=3,
    )  # fmt: skip
    paths = [
        "",
        "tides/",
        *(f"tides/{day}" for day in range(1, 7)),
        "notices/",
        *(f"notices/{n}" for n in "abc"),
    ]
    urls = [f"{site.url}{path}" for path in paths]
    links = {0: [1, 8], 1: list(range(2, 8)), 8: [9, 10, 11]}
    rows = [
        SitePage.objects.create(
            site=site, url=url, key=key_of(url), state="live", title=f"Harbour {path or 'office'}", size=9000,
            fetched=now - timedelta(days=3), fetched_in=3, checks=3, changes=at % 3,
            changed=now - timedelta(days=10) if at % 3 else None, raw=digest(url),
            links=[key_of(urls[to]) for to in links.get(at, [0])],
        )
        for at, (url, path) in enumerate(zip(urls, paths, strict=True))
    ]  # fmt: skip
    SitePage.objects.create(
        site=site, url=f"{site.url}old", key=key_of(f"{site.url}old"), state="gone", status=404
    )
    Source.objects.create(
        site=site, url="https://courier.example/sitemap.xml", key=1, kind="sitemap", read=now
    )
    gain = difference(
        ["High tide 04:10", "Low tide 10:20", "Wind <NW>"], ["High tide 04:55", "Low tide 10:20"]
    )
    for number in range(4):
        begun = now - timedelta(days=7 * (4 - number))
        visit = Visit.objects.create(
            site=site, number=number, method="adaptive", started=begun, finished=begun + timedelta(minutes=4),
            pages=12, weekly=3, budget=4, fetched=4, changed=number % 3, found=1, requests=6, conditional=5,
            not_modified=3, bytes=21_000, whole=108_000, missed=0.4, stale=0.1,
        )  # fmt: skip
        for at, row in enumerate(rows[: 6 if number else 0]):
            changed = at in {1, 3}
            Check.objects.create(
                visit=visit, page=row, at=begun, outcome="changed" if changed else "same", age=1, days=7,
                reason="the top page" if not at else "/harbour/tides/ changed, which leads here", status=200,
                conditional=True, bytes=900, raw=row.raw,
            )  # fmt: skip
            if changed:
                Change.objects.create(
                    site=site, page=row, visit=visit, at=begun, kind="edited", title=row.title,
                    summary="High tide 04:55", added=1, removed=2, difference=gain.packed(), raw=row.raw,
                )  # fmt: skip
