"""The tables of crawls: crawls, their queue, bodies stored once, and figures per half hour."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext_lazy, pgettext_lazy

from crawler.database.columns import NameColumn
from crawler.database.reasons import ReasonField
from crawler.engine.leased import LeasedRow
from crawler.engine.models import Host
from crawler.fetching.http.domains import host_of
from crawler.frontier.scope import Scope
from crawler.frontier.score import INTER_WEIGHT, INTRA_WEIGHT
from crawler.frontier.strategies import DEFAULT, STRATEGIES, LinkScore, Strategy, make_strategy
from crawler.web.validators import between

MAX_QUERY = 20_000
"""Characters of a query that leads a crawl."""
BUCKET = timedelta(minutes=1)
"""Length of the intervals for which figures are kept; charts of long crawls put them together."""


class CrawlQuerySet(models.QuerySet["Crawl"]):
    """Queries for crawls."""

    def running(self) -> CrawlQuerySet:
        """Filter to crawls that hand out URLs."""
        return self.filter(state=Crawl.State.RUNNING)


class Crawl(models.Model):
    """A crawl: its seeds, rules, limits, state and counters."""

    class State(models.TextChoices):
        RUNNING = "running", pgettext_lazy("state of a crawl", "running")
        PAUSED = "paused", pgettext_lazy("state of a crawl", "stopped, can be resumed")
        DONE = "done", pgettext_lazy("state of a crawl", "done")
        CANCELLED = "cancelled", pgettext_lazy("state of a crawl", "cancelled")

    seeds = ArrayField(models.TextField())
    strategy = NameColumn(max_length=20, names=STRATEGIES, default=DEFAULT)
    scope = ArrayField(
        models.TextField(),
        default=list,
        blank=True,
        help_text=gettext_lazy(
            "Regular expressions; a URL must match one of them. Empty: the start addresses' hosts."
        ),
    )
    anywhere = models.BooleanField(
        default=False,
        help_text=gettext_lazy("Without a scope: follow links to other hosts, too, through the whole web."),
    )
    max_pages = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=between(1, 1e8),
        help_text=gettext_lazy("Pages to crawl; empty: no limit."),
    )
    max_wait = models.FloatField(
        default=30.0,
        validators=between(0.1, 1e6),
        help_text=gettext_lazy("Minutes after which a URL that still waits is dropped."),
    )
    max_minutes = models.FloatField(
        null=True, blank=True, validators=between(0.1, 1e6), help_text=gettext_lazy("Time; empty: no limit.")
    )
    max_bytes = models.BigIntegerField(
        null=True,
        blank=True,
        validators=between(1, 1e15),
        help_text=gettext_lazy("Bytes received; empty: no limit."),
    )
    max_depth = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=between(0, 1000),
        help_text=gettext_lazy("Links from a seed; empty: 100."),
    )
    max_hosts = models.PositiveIntegerField(
        null=True, blank=True, validators=between(1, 1e7), help_text=gettext_lazy("Hosts; empty: no limit.")
    )
    inter_weight = models.FloatField(default=INTER_WEIGHT, validators=between(0, 1))
    intra_weight = models.FloatField(default=INTRA_WEIGHT, validators=between(0, 1))
    sitemaps = models.BooleanField(
        default=False, help_text=gettext_lazy("Also what the sites' sitemaps name.")
    )
    keep_bodies = models.BooleanField(
        default=True, help_text=gettext_lazy("Keep what was fetched, once by content.")
    )
    into_graph = models.BooleanField(
        default=False,
        help_text=gettext_lazy(
            "Feeds and data too, and all of it through the pipeline: its graph names the next URLs."
        ),
    )
    link_query = models.TextField(
        blank=True,
        default="",
        max_length=MAX_QUERY,
        help_text=gettext_lazy(
            "SPARQL or N3QL that names ?address, asked of the graph while the crawl runs. "
            "Empty: what the pipeline's queries find."
        ),
    )
    selectors = ArrayField(
        models.TextField(),
        null=True,
        blank=True,
        editable=False,
        help_text="Set where a site is mapped: the text of pages is read, what these match is marked.",
    )

    state = models.CharField(max_length=10, choices=State, default=State.RUNNING, editable=False)
    reason = ReasonField(blank=True, editable=False, help_text="Why it ended or stopped.")
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    created = models.DateTimeField(db_default=Now(), editable=False)
    paused = models.DateTimeField(null=True, editable=False)
    finished = models.DateTimeField(null=True, editable=False)
    running_for = models.FloatField(default=0.0, editable=False, help_text="Seconds, up to the last pause.")
    resumed = models.DateTimeField(db_default=Now(), editable=False)

    crawled = models.PositiveIntegerField(default=0, editable=False)
    requests = models.PositiveIntegerField(
        db_default=0, editable=False, help_text="Redirects, failures and repeated attempts included."
    )
    ranked_again = models.PositiveIntegerField(
        default=0, editable=False, help_text="Crawled pages at which the known links are ranked again."
    )
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

    @property
    def queue(self) -> models.QuerySet[CrawlUrl]:
        """The crawl's URLs that wait for their turn or are leased to terminals."""
        return self.urls.filter(state=CrawlUrl.State.QUEUED)

    @property
    def waiting(self) -> models.QuerySet[CrawlUrl]:
        """The crawl's URLs that wait for their turn."""
        return self.queue.filter(lease__isnull=True)

    @property
    def leased(self) -> models.QuerySet[CrawlUrl]:
        """The crawl's URLs that are leased to terminals."""
        return self.urls.filter(lease__isnull=False)

    def seconds(self, now: datetime) -> float:
        """Return the seconds that the crawl has run, without pauses."""
        if self.state != self.State.RUNNING:
            return self.running_for
        return self.running_for + (now - self.resumed).total_seconds()

    def bounds(self) -> Scope:
        """Return the URLs that the crawl may fetch. Raises ScopeError."""
        return Scope(self.scope, () if self.anywhere else map(host_of, self.seeds))

    def rules(self) -> Strategy:
        """Return the crawl's strategy, which orders its queue.

        A query that leads the crawl weighs addresses itself: nothing is added to its weights, or put in their
        place.
        """
        name = LinkScore.name if self.link_query else self.strategy
        return make_strategy(name, self.inter_weight, self.intra_weight)


class CrawlHost(models.Model):
    """A host in a crawl, with the score and id of its first waiting URL, by which hosts are ordered."""

    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="hosts")
    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="+")
    domain = models.TextField()
    admitted = models.PositiveIntegerField(default=0, help_text="URLs ever queued.")
    crawled = models.PositiveIntegerField(db_default=0, help_text="Pages crawled.")
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
    """The content of pages, stored once for all URLs that have it."""

    digest = models.UUIDField(primary_key=True, help_text="BLAKE2b of the bytes, 128 bits.")
    content = models.BinaryField(help_text="zlib of the bytes.")
    size = models.PositiveIntegerField()

    class Meta:
        verbose_name_plural = "bodies"

    def __str__(self) -> str:
        return str(self.digest)


class CrawlUrl(LeasedRow):
    """A URL of a crawl, from its discovery to its end; the primary key is the order of discovery.

    A queued URL without a lease waits for its turn; one with a lease is out with a terminal.
    """

    class State(models.TextChoices):
        QUEUED = "queued", pgettext_lazy("state of a URL", "waiting, or out with a terminal")
        CRAWLED = "crawled", pgettext_lazy("state of a URL", "crawled")
        MOVED = "moved", pgettext_lazy("state of a URL", "led elsewhere")
        FAILED = "failed", pgettext_lazy("state of a URL", "not crawled")
        DROPPED = "dropped", pgettext_lazy("state of a URL", "waited too long")

    class Link(models.TextChoices):
        SEED = "seed", pgettext_lazy("origin of a URL", "a seed")
        INTER = "inter", pgettext_lazy("origin of a URL", "from another registrable domain")
        INTRA = "intra", pgettext_lazy("origin of a URL", "from its own registrable domain")

    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="urls", db_index=False)
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="+", db_index=False)
    url = models.TextField()
    key = models.UUIDField()
    parent = models.BigIntegerField(null=True, help_text="The page that first linked to it.")
    depth = models.PositiveSmallIntegerField(default=0)
    hops = models.PositiveSmallIntegerField(default=0, help_text="Redirects in a row that led to it.")
    link = models.CharField(max_length=5, choices=Link)
    score = models.FloatField()
    state = models.CharField(max_length=8, choices=State, default=State.QUEUED)
    queued = models.DateTimeField()
    not_before = models.DateTimeField(help_text="When it may be tried, while it waits.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="The one that is out included.")
    losses = models.PositiveSmallIntegerField(db_default=0, editable=False, help_text="Leases lost in a row.")
    waited = models.FloatField(null=True, help_text="Seconds in the queue, once it is out.")

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
        indexes = [
            models.Index(fields=["crawl", "state", "id"], name="crawl_state"),
            models.Index(
                "crawl", "host", "attempts", F("score").desc(), "id", name="crawl_queue",
                condition=Q(state="queued", lease__isnull=True),
            ),
            models.Index(
                fields=["crawl", "queued"], name="crawl_waiting",
                condition=Q(state="queued", lease__isnull=True),
            ),
            models.Index(fields=["lease"], name="crawl_lease", condition=Q(lease__isnull=False)),
            models.Index(fields=["crawl"], name="crawl_out", condition=Q(lease__isnull=False)),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.url


class CrawlPattern(models.Model):
    """The number of URLs of one pattern that a crawl has queued, a limit on endless families of URLs."""

    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="patterns", db_index=False)
    key = models.UUIDField()
    pattern = models.TextField()
    admitted = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["crawl", "key"], name="crawl_pattern_once")]

    def __str__(self) -> str:
        return self.pattern


class CrawlBucket(models.Model):
    """The figures of a crawl in one minute: counts, and number, sum, minimum and maximum of measures.

    Those of crawls before 0.9 are of half an hour, as in the paper.
    """

    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="buckets", db_index=False)
    start = models.DateTimeField()
    minutes = models.PositiveSmallIntegerField(default=1)
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
