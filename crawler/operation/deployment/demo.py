"""An invented deployment that looks lived in: for demonstrations, browser tests, pictures in the docs.

What it consists of is `demo.json`. Strings like `now-3d` are times there, `$host` stands for a name's value,
`@harbour` for a row made before under that name, and {"host": "a.example"} for the result of a call.
"""

from __future__ import annotations

import json
import random
import re
import uuid
import zlib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from django.apps import apps
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
from recrawl.models import key_of

DATA: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
"""Names and addresses are invented; .example belongs to nobody (RFC 2606)."""
_MONDAY = 1_767_571_200.0
_TIME = re.compile(r"now(?:([+-]\d+)([dhm]))?")
_UNITS = {"d": timedelta(days=1), "h": timedelta(hours=1), "m": timedelta(minutes=1)}


def seed(now: datetime, *, password: str | None = None, replayed: bool = True) -> None:
    """Fill an empty database with three days of a deployment's life that ends now.

    Two people belong to it, `reader` and `keeper`, who keeps it; without a password nobody signs in as one of
    them. Without `replayed` its experiment has begun only, which spares half a minute of a processor's time.
    """
    dice = random.Random(20)  # noqa: S311 - invented data
    User.objects.create_user("reader", password=password)
    User.objects.create_user(VISITOR, password=password, is_staff=True)
    for number, source in enumerate(DATA["sources"]):
        _source(now, dice, number, source)
    lease = uuid.uuid4()
    rows_by_name = _rows(now, lease)
    for unread in DATA["unread_articles"]:
        about = _filled(unread, now, rows_by_name)
        article = _article(random.Random(1), about["feed"], about["at"], 1)  # noqa: S311 - invented data
        article.page = about["page"]
        article.save()
    for queue in ("fetch", "store"):
        Pulse.objects.create(queue=queue, sent=now, answered=now)
    _ticks(now)
    _experiment(replayed)
    _crawl(now)
    _graph(lease)
    _subscriber(now)
    _import(now)
    derive(now)


def _host(name: str) -> int:
    return Host.objects.named({name})[name]


_CALLS: dict[str, Callable[[Any], Any]] = {
    "host": _host,
    "key_of": key_of,
    "digest": digest,
    "uuid": lambda _: uuid.uuid4(),
    "compressed": lambda lines: zlib.compress("\n".join(lines).encode()),
    "difference": lambda texts: difference(*texts).packed(),
}


def _filled(value: Any, now: datetime, names: Mapping[str, Any]) -> Any:
    """Return a value of the data with its times counted from now, its names filled in and its calls made."""
    if isinstance(value, dict):
        filled = {key: _filled(each, now, names) for key, each in value.items()}
        (key, argument), *others = filled.items()
        return filled if others or key not in _CALLS else _CALLS[key](argument)
    if isinstance(value, list):
        return [_filled(each, now, names) for each in value]
    if not isinstance(value, str):
        return value
    if match := _TIME.fullmatch(value):
        return now + int(match[1] or 0) * _UNITS[match[2] or "m"]
    if value[:1] in {"$", "@"} and (name := Template(value[1:]).safe_substitute(names)) in names:
        return names[name]
    return Template(value).safe_substitute(names)


def _rows(now: datetime, lease: uuid.UUID) -> dict[str, Any]:
    """Make the rows of the data: model, name, columns, and the values of names for each of several rows."""
    rows_by_name: dict[str, Any] = {"lease": lease}
    for model, name, fields, *each in DATA["rows"]:
        for values in each[0] if each else [{}]:
            names = {**rows_by_name, **{key: _filled(value, now, {}) for key, value in values.items()}}
            row = apps.get_model(model)._default_manager.create(**_filled(fields, now, names))
            rows_by_name[Template(name).safe_substitute(names)] = row
    return rows_by_name


def _source(now: datetime, dice: random.Random, number: int, source: dict[str, Any]) -> None:
    is_trained = number % 3 != 2
    since = now - timedelta(days=60 if is_trained else 3)
    host = source["host"]
    feed = Feed.objects.create(
        **_filled(DATA["source"], now, source),
        canonical_url=f"https://{host}/feed.xml", host_id=_host(host),
        category=category_at(tuple(source["category"].split("/"))),
        format=("RSS 2.0", "Atom 1.0", "JSON Feed 1.1")[number % 3],
        phase=Feed.Phase.NORMAL if is_trained else Feed.Phase.TRAINING,
        subscribers=number % 5, added=since, training_since=since, training_m=1.0 + number % 9,
        training_due=now + timedelta(minutes=10 + 7 * number),
    )  # fmt: skip
    # 24 articles per hour, most of them around the peak.
    away = np.minimum((np.arange(24) - source["peak"]) % 24, (source["peak"] - np.arange(24)) % 24)
    shape = np.exp(-((away / 4.0) ** 2)) + 0.06
    rates: Floats = source["a_day"] * shape / shape.sum()
    watched = np.full((7, 24), 1.8)
    watched[6, 3:6] = 0.0
    forecast = np.array(DATA["week"])[:, None] * rates[None, :]
    week = forecast * watched
    PostingHistory.objects.create(
        feed=feed, hourly=pack(rates[None, :])[0], week_counts=pack(week.reshape(1, 168))[0],
        week_exposure=pack(watched.reshape(1, 168))[0], rates=pack(forecast.reshape(1, 168))[0], updated=now,
    )  # fmt: skip
    _visits(now, dice, feed, rates)
    FeedAlias.objects.create(canonical_url=f"http://{host}/rss", feed=feed)


def _visits(now: datetime, dice: random.Random, feed: Feed, rates: Floats) -> None:
    """Add three days of retrievals an hour or so apart, and the articles they brought."""
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
    feed.save()


def _visit(
    dice: random.Random, feed: Feed, at: datetime, *, new: int, expected: float, m: float, t: float
) -> Retrieval:
    outcome = ("not-modified", "nothing-new")[dice.random() >= 0.75]
    outcome = "new" if new else outcome
    is_same, is_training = outcome == "not-modified", feed.phase == Feed.Phase.TRAINING
    return Retrieval(
        feed=feed, at=at, outcome=outcome, status=304 if is_same else 200, new=new,
        bytes=0 if is_same else dice.randrange(8_000, 60_000), elapsed=dice.uniform(0.06, 0.9),
        conditional=True,
        because="training: its ToE reached zero" if is_training
        else f"rank {dice.randrange(1, 40)} of 124: {expected:.2f} new articles expected",
        expected=expected, m=m if is_training else None, t=t if is_training else None,
        toe=min(5, int(m) + 1) if is_training else None,
    )  # fmt: skip


def _article(dice: random.Random, feed: Feed, fetched: datetime, number: int) -> Article:
    title, *others = [f"{dice.choice(DATA['subjects'])} {dice.choice(DATA['events'])}" for _ in range(9)]
    text = f"{' '.join(f'{sentence}.' for sentence in others)}\n{DATA['text']}"
    delay = dice.uniform(60, 2400)
    names = {"host": feed.host.name, "number": number}
    fields = _filled(DATA["article"], fetched, names)
    page = None
    if number % 4 == 0:
        page = Page.objects.create(
            url=fields["url"], url_key=uuid.uuid4(), host=feed.host, status="stored", fetched=fetched,
            text=DATA["text"] * 3,
        )  # fmt: skip
    return Article(
        feed=feed, identity_key=digest(fields["identity"]), page=page, title=title,
        author=dice.choice(DATA["authors"]), category=dice.choice(DATA["categories"]), language=feed.language,
        published=fetched - timedelta(seconds=delay), fetched=fetched, delay=delay, text=text,
        text_length=len(text),
        enclosures=[] if number % 5 else _filled(DATA["enclosures"], fetched, names),
        **fields,
    )  # fmt: skip


def _ticks(now: datetime) -> None:
    length = timedelta(seconds=settings.FEED_TICK_SECONDS)
    Tick.objects.bulk_create(
        Tick(
            started=now - i * length - timedelta(seconds=40),
            finished=now - i * length - timedelta(seconds=38), policy=rules().policy, **DATA["tick"],
        )
        for i in range(int(timedelta(days=3) / length))
    )  # fmt: skip


def _experiment(replayed: bool) -> None:
    """Run or begin a small experiment on feeds with very different rates."""
    dice = np.random.default_rng(3)
    posts: list[tuple[str, float]] = []
    for number in range(15):
        hourly = float(dice.lognormal(-1.5, 1.2))
        times = _MONDAY + dice.uniform(0, 9 * 86_400.0, dice.poisson(hourly * 9 * 24))
        posts += [(f"feed{number}", time) for time in times.tolist()]
    experiment = begin(Experiment(**DATA["experiment"]), Trace.of("invented", posts))
    while advance(experiment.pk) and replayed:
        pass


def _crawl(now: datetime) -> None:
    """Add a crawl that has begun well: an hour of pages, a queue, some failures."""
    crawl = begin_crawl(Crawl(**DATA["crawl"]["begun"]))
    own_links = [Found(f"https://courier.example/{i}", "intra", 0.2357, 1, None) for i in range(12)]
    hosts = [source["host"] for source in DATA["sources"][1:]]
    with transaction.atomic():
        admit(crawl, [*own_links, *(Found(f"https://{h}/", "inter", 0.4714, 1, None) for h in hosts)], now)
    urls = list(crawl.urls.order_by("id"))
    for at, url in enumerate(urls[:20]):
        url.fetched, url.waited, url.attempts, url.elapsed = now, 30.0 * at, 1, 0.2
        url.state, url.status, url.failure = ("failed", 404, "http-404")
        if at % 6 != 5:
            url.state, url.status, url.failure = ("crawled", 200, "")
            url.title, url.size, url.inter, url.intra = "A page", 20_000 + at, 5, 2
            url.out = [linked_url.key for linked_url in urls[at + 1 : at + 5]]
        url.save()
    renew_hosts(crawl, {url.host_id for url in urls})
    Crawl.objects.filter(pk=crawl.pk).update(**DATA["crawl"]["so_far"])
    for back in (2, 1, 0):
        then = now - timedelta(minutes=30 * back)
        note_figures(crawl.pk, then, crawled=6, dropped=back, duplicates=80, inter=[11.0], intra=[4.0])
        bucket = crawl.buckets.latest("start")
        spread = [9, 90.0 * (3 - back), 1.0, 30.0]
        bucket.figures |= dict.fromkeys(("waiting", "parent", "size", "queue"), spread)
        bucket.save()


def _graph(lease: uuid.UUID) -> None:
    """Index the documents, of which one is on its way and one died, and add what the pipeline noted."""
    index(lease, "demo")
    Document.objects.update(state="done", links=1)
    first, second = Document.objects.order_by("id")[:2]
    Document.objects.filter(pk=first.pk + 6).update(state="indexed")
    bury(second, *DATA["died"]).save()
    for phase, seconds in DATA["phases"].items():
        note_phase(phase, "demo", [PhaseOutcome(number, seconds=seconds) for number in range(8)])
    UriFilter.objects.create(pattern=r"\.pdf$")


def _subscriber(now: datetime) -> None:
    """Let the keeper read, too: feeds in folders, a topic, personal feeds, a story in two feeds, opinions."""
    subscriber = subscriber_of(User.objects.get(username=VISITOR))
    for title, folder in DATA["followed"].items():
        follow(subscriber, Feed.objects.get(title=title), folder=folder)
    follow_topic(subscriber, "keyword", "ferry")
    create_personal_feed(subscriber, name="Rivers and ferries", include=["ferry", "river"], order="interest")
    revoke_address(create_personal_feed(subscriber, name="Everything, newest first"))
    # Not its newest: where that stood first of all, reading one article marked two (browser tests at noon).
    first_report = Article.objects.filter(feed__title="The Harbour Courier").order_by("-published")[5]
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
    keeper, urls = User.objects.get(username=VISITOR), DATA["import"]["urls"]
    start_import(keeper, [Outline(url) for url in urls], name="a list.opml", follows=False)
    for url, fields in zip(urls, DATA["import"]["found"], strict=False):
        Feed.objects.filter(url=url).update(**_filled(fields, now, {}))
