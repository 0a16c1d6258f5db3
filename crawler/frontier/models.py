"""Crawls: what to fetch, the queue in PostgreSQL, bodies kept once, and figures per half hour."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.urls import reverse

from crawler.engine.leased import LeasedRow
from crawler.engine.models import Host
from crawler.frontier.score import INTER_WEIGHT, INTRA_WEIGHT
from crawler.frontier.strategies import STRATEGIES, Strategy, make_strategy
from crawler.web.validators import between

STRATEGY_CHOICES = [(name, name) for name in STRATEGIES]
BUCKET = timedelta(minutes=30)
"""Figures are kept for each such stretch of time, as in the paper."""


class CrawlQuerySet(models.QuerySet["Crawl"]):
    """Reads of crawls."""

    def running(self) -> CrawlQuerySet:
        """Those that hand out URLs."""
        return self.filter(state=Crawl.State.RUNNING)


class Crawl(models.Model):
    """One crawl: its seeds, rules and limits, and what became of it."""

    class State(models.TextChoices):
        RUNNING = "running", "running"
        PAUSED = "paused", "stopped, can be resumed"
        DONE = "done", "done"
        CANCELLED = "cancelled", "cancelled"

    seeds = ArrayField(models.TextField())
    strategy = models.CharField(max_length=20, choices=STRATEGY_CHOICES, default="link-score")
    scope = ArrayField(
        models.TextField(),
        default=list,
        blank=True,
        help_text="Regular expressions; a URL must match one of them. Empty: the whole web.",
    )
    max_pages = models.PositiveIntegerField(
        null=True, blank=True, validators=between(1, 1e8), help_text="Pages to crawl; empty: no limit."
    )
    max_wait = models.FloatField(
        default=30.0,
        validators=between(0.1, 1e6),
        help_text="Minutes after which a URL that still waits is dropped.",
    )
    max_minutes = models.FloatField(
        null=True, blank=True, validators=between(0.1, 1e6), help_text="Time; empty: no limit."
    )
    max_bytes = models.BigIntegerField(
        null=True, blank=True, validators=between(1, 1e15), help_text="Bytes received; empty: no limit."
    )
    max_depth = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=between(0, 1000), help_text="Links from a seed; empty: 100."
    )
    max_hosts = models.PositiveIntegerField(
        null=True, blank=True, validators=between(1, 1e7), help_text="Hosts; empty: no limit."
    )
    inter_weight = models.FloatField(default=INTER_WEIGHT, validators=between(0, 1))
    intra_weight = models.FloatField(default=INTRA_WEIGHT, validators=between(0, 1))
    sitemaps = models.BooleanField(default=False, help_text="Also what the sites' sitemaps name.")
    keep_bodies = models.BooleanField(default=True, help_text="Keep what was fetched, once by content.")
    into_graph = models.BooleanField(
        default=False,
        help_text="Feeds and data too, and all of it through the pipeline: its graph names the next URLs.",
    )
    selectors = ArrayField(
        models.TextField(),
        null=True,
        blank=True,
        editable=False,
        help_text="Set where a site is mapped: the text of pages is read, what these match is marked.",
    )

    state = models.CharField(max_length=10, choices=State, default=State.RUNNING, editable=False)
    reason = models.TextField(blank=True, editable=False, help_text="Why it ended or stopped.")
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    created = models.DateTimeField(db_default=Now(), editable=False)
    paused = models.DateTimeField(null=True, editable=False)
    finished = models.DateTimeField(null=True, editable=False)
    running_for = models.FloatField(default=0.0, editable=False, help_text="Seconds, up to the last pause.")
    resumed = models.DateTimeField(db_default=Now(), editable=False)

    crawled = models.PositiveIntegerField(default=0, editable=False)
    dropped = models.PositiveIntegerField(default=0, editable=False, help_text="By the time control.")
    duplicates = models.PositiveIntegerField(default=0, editable=False)
    bytes = models.BigIntegerField(default=0, editable=False)
    refused = models.JSONField(default=dict, editable=False, help_text="URLs not queued, by budget.")

    objects = CrawlQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["id"], name="crawl_running", condition=Q(state="running"))]

    def __str__(self) -> str:
        return f"crawl {self.pk} from {', '.join(self.seeds)[:100]}"

    def get_absolute_url(self) -> str:
        return reverse("crawl", args=[self.pk])

    def seconds(self, now: datetime) -> float:
        """How long it has run, pauses left out."""
        if self.state != self.State.RUNNING:
            return self.running_for
        return self.running_for + (now - self.resumed).total_seconds()

    def rules(self) -> Strategy:
        """The order of its queue."""
        return make_strategy(self.strategy, self.inter_weight, self.intra_weight)


class CrawlHost(models.Model):
    """A host in a crawl: the first of its waiting URLs, by which hosts are ordered."""

    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="hosts")
    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="+")
    domain = models.TextField()
    admitted = models.PositiveIntegerField(default=0, help_text="URLs ever queued.")
    best = models.FloatField(null=True, help_text="Score of the first waiting URL; null: none waits.")
    head = models.BigIntegerField(null=True)
    ready = models.DateTimeField(db_default=Now(), help_text="When its first waiting URL may go out.")
    served = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["crawl", "host"], name="crawl_host_once")]
        indexes = [
            models.Index(
                "crawl", F("best").desc(), "head", name="crawl_host_best",
                condition=Q(best__isnull=False),
            ),
            models.Index(
                "crawl", F("served").asc(nulls_first=True), "head", name="crawl_host_turn",
                condition=Q(best__isnull=False),
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.host_id} in crawl {self.crawl_id}"


class Body(models.Model):
    """The content of a page, kept once however many URLs have it."""

    digest = models.UUIDField(primary_key=True, help_text="BLAKE2b of the bytes, 128 bits.")
    content = models.BinaryField(help_text="zlib of the bytes.")
    size = models.PositiveIntegerField()

    class Meta:
        verbose_name_plural = "bodies"

    def __str__(self) -> str:
        return str(self.digest)


class CrawlUrl(models.Model):
    """A URL of a crawl, from its discovery to its end; the primary key is the order of discovery."""

    class State(models.TextChoices):
        QUEUED = "queued", "waiting, or out with a terminal"
        CRAWLED = "crawled", "crawled"
        MOVED = "moved", "led elsewhere"
        FAILED = "failed", "not crawled"
        DROPPED = "dropped", "waited too long"

    class Link(models.TextChoices):
        SEED = "seed", "a seed"
        INTER = "inter", "from another registrable domain"
        INTRA = "intra", "from its own registrable domain"

    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="urls", db_index=False)
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="+", db_index=False)
    url = models.TextField()
    key = models.UUIDField()
    parent = models.BigIntegerField(null=True, help_text="The page that first linked to it.")
    depth = models.PositiveSmallIntegerField(default=0)
    link = models.CharField(max_length=5, choices=Link)
    score = models.FloatField()
    state = models.CharField(max_length=8, choices=State, default=State.QUEUED)
    queued = models.DateTimeField()
    attempts = models.PositiveSmallIntegerField(default=0)
    waited = models.FloatField(null=True, help_text="Seconds in the queue.")

    fetched = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(default=0)
    failure = models.CharField(max_length=40, blank=True)
    detail = models.TextField(blank=True)
    elapsed = models.FloatField(null=True, help_text="Seconds.")
    size = models.PositiveIntegerField(null=True, help_text="Bytes of the body.")
    content_type = models.CharField(max_length=200, blank=True)
    headers = models.JSONField(default=list, help_text="As received.")
    title = models.TextField(blank=True)
    body = models.ForeignKey(
        Body,
        null=True,
        on_delete=models.PROTECT,
        related_name="urls",
        db_constraint=False,
        db_index=False,
    )
    inter = models.PositiveIntegerField(null=True, help_text="Its links to other registrable domains.")
    intra = models.PositiveIntegerField(null=True)
    out = ArrayField(models.UUIDField(), default=list, help_text="Keys of the URLs that it links to.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["crawl", "key"], name="crawl_url_once")]
        indexes = [models.Index(fields=["crawl", "state", "id"], name="crawl_state")]

    def __str__(self) -> str:
        return self.url


class Place(models.Model):
    """A URL's place in the queue, in a row of its own: small, and a lease moves it instead of rewriting
    a page's long row and its indexes.

    It comes and goes with its crawl, in transactions that know its page: no constraint of the database.
    """

    page = models.OneToOneField(
        CrawlUrl, on_delete=models.DO_NOTHING, primary_key=True, related_name="%(class)s", db_constraint=False
    )
    crawl = models.ForeignKey(
        Crawl, on_delete=models.CASCADE, related_name="%(class)s", db_index=False, db_constraint=False
    )
    host = models.ForeignKey(
        Host, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    url = models.TextField()
    link = models.CharField(max_length=5, choices=CrawlUrl.Link)
    score = models.FloatField()
    queued = models.DateTimeField()
    not_before = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    losses = models.PositiveSmallIntegerField(db_default=0, editable=False, help_text="Leases lost in a row.")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.url


class Waiting(Place):
    """A URL that waits for its turn."""

    class Meta:
        indexes = [
            models.Index("crawl", "host", F("score").desc(), "page", name="crawl_queue"),
            models.Index(fields=["crawl", "queued"], name="crawl_waiting"),
        ]


class Leased(Place, LeasedRow):
    """A URL that is out with a terminal, under the lease of its host."""

    lease = models.UUIDField()
    waited = models.FloatField(help_text="Seconds in the queue.")

    class Meta:
        indexes = [
            models.Index(fields=["lease"], name="crawl_lease"),
            models.Index(fields=["crawl"], name="crawl_out"),
        ]


class CrawlPattern(models.Model):
    """How many URLs of one shape a crawl has queued, against endless families of them."""

    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="patterns", db_index=False)
    key = models.UUIDField()
    pattern = models.TextField()
    admitted = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["crawl", "key"], name="crawl_pattern_once")]

    def __str__(self) -> str:
        return self.pattern


class CrawlBucket(models.Model):
    """Figures of one half hour: counts, and least, sum and most of what the paper's figures show."""

    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="buckets", db_index=False)
    start = models.DateTimeField()
    crawled = models.PositiveIntegerField(default=0)
    dropped = models.PositiveIntegerField(default=0)
    duplicates = models.PositiveIntegerField(default=0)
    figures: Any = models.JSONField(
        default=dict,
        help_text="By name: [number, sum, least, most] of waiting, parent, size, queue, inter, intra.",
    )

    class Meta:
        ordering = ["start"]
        constraints = [models.UniqueConstraint(fields=["crawl", "start"], name="crawl_bucket_once")]

    def __str__(self) -> str:
        return f"crawl {self.crawl_id} at {self.start:%Y-%m-%d %H:%M}"
