"""Models of watched sites: pages, visits, fetches, changes, and sources that announce news."""

from __future__ import annotations

import secrets
import uuid
from datetime import datetime

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Now
from django.urls import reverse

from crawler.engine.leased import LeasedRow
from crawler.engine.models import Host
from crawler.frontier.models import Crawl
from crawler.http.urls import origin
from crawler.reading.lines import Rules, SelectorFault, usable_selector
from crawler.text.keys import digest
from crawler.web.validators import between, is_pattern
from recrawl.methods.registry import DEFAULT, METHODS

METHOD_CHOICES = [(name, name) for name in METHODS]
SETTINGS = (
    "method", "every", "budget", "max_pages", "ignore_selectors", "ignore_patterns", "minimum_change",
)  # fmt: skip
"""The fields of a site that users can set."""

SAVED_VISITS = 8
"""The highest budget a site may save, in visits."""


def is_selector(value: str) -> None:
    """Raise ValidationError unless `value` is a valid CSS selector."""
    try:
        usable_selector(value)
    except SelectorFault as error:
        raise ValidationError(str(error), code="selector") from error


def new_key() -> str:
    """Return an unguessable word for the address of a feed of changes."""
    return secrets.token_urlsafe(24)


def key_of(url: str) -> int:
    """Return 63 bits of a URL's digest: unique within a site, and cheaper than a UUID if there are many
    links.
    """
    return digest(url).int >> 65


def path_of(url: str) -> str:
    """Return a page's URL without its origin."""
    return url[url.index("/", url.index("//") + 2) :]


class SiteQuerySet(models.QuerySet["Site"]):
    """Queries of sites."""

    def due(self, now: datetime) -> SiteQuerySet:
        """Filter to sites whose next visit may begin, the longest waiting first."""
        opened = Visit.objects.filter(site=OuterRef("pk"), finished__isnull=True)
        watched = self.filter(state=Site.State.WATCHED, next_visit__lte=now)
        return watched.filter(~Exists(opened)).order_by("next_visit")

    def mapped(self) -> SiteQuerySet:
        """Filter to sites whose mapping crawl has ended and has not been settled."""
        goes_on = [Crawl.State.RUNNING, Crawl.State.PAUSED]
        return self.filter(state=Site.State.MAPPING).exclude(crawl__state__in=goes_on)

    def light(self) -> SiteQuerySet:
        """Defer the columns that only visits need."""
        return self.defer("memory", "template")


class Site(models.Model):
    """A watched site: its top page, how it is visited, and which parts of its pages do not count."""

    class State(models.TextChoices):
        MAPPING = "mapping", "being mapped"
        WATCHED = "watched", "watched"
        PAUSED = "paused", "paused"
        FAILED = "failed", "could not be mapped"

    url = models.TextField(unique=True, help_text="Its top page; pages below its directory are watched.")
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="sites", editable=False)
    title = models.TextField(blank=True)
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    method = models.CharField(max_length=20, choices=METHOD_CHOICES, default=DEFAULT)
    every = models.FloatField(
        default=7.0,
        validators=between(1 / 24, 366),
        help_text="Days from one visit to the next.",
    )
    budget = models.FloatField(
        default=0.25,
        validators=between(0.001, 1.0),
        help_text="Pages fetched in a visit, as a share of all; what is left over is saved up.",
    )
    max_pages = models.PositiveIntegerField(
        default=1000,
        validators=between(1, 100_000),
        help_text="Pages known at most.",
    )
    ignore_selectors = ArrayField(
        models.TextField(validators=[is_selector]),
        default=list,
        blank=True,
        help_text="CSS selectors of what does not count in a page.",
    )
    ignore_patterns = ArrayField(
        models.TextField(validators=[is_pattern]),
        default=list,
        blank=True,
        help_text="Regular expressions of lines of text that do not count.",
    )
    minimum_change = models.PositiveIntegerField(
        default=0, help_text="Characters that must have come or gone before a change is reported."
    )
    key = models.CharField(max_length=40, unique=True, default=new_key, editable=False)
    former = ArrayField(
        models.TextField(), default=list, editable=False, help_text="Addresses that led to the present one."
    )

    state = models.CharField(max_length=8, choices=State, default=State.MAPPING, editable=False)
    trouble = models.TextField(blank=True, editable=False, help_text="What went wrong, in words.")
    crawl = models.ForeignKey(
        Crawl, null=True, on_delete=models.SET_NULL, related_name="mapped_sites", editable=False
    )
    created = models.DateTimeField(db_default=Now(), editable=False)
    next_visit = models.DateTimeField(null=True, editable=False)
    visited = models.PositiveIntegerField(default=0, editable=False, help_text="Visits begun.")
    saved = models.FloatField(default=0.0, editable=False, help_text="Fetches saved up.")
    template = ArrayField(models.BigIntegerField(), default=list, editable=False)
    memory = models.BinaryField(default=bytes, editable=False)

    objects = SiteQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["next_visit"], name="site_due", condition=Q(state="watched"))]

    def __str__(self) -> str:
        return self.title or self.url

    def get_absolute_url(self) -> str:
        return reverse("site", args=[self.pk])

    @property
    def origin(self) -> str:
        """Return scheme, host and port."""
        return origin(self.url)

    @property
    def prefix(self) -> str:
        """Return the common prefix of its pages' URLs: the directory of the top page."""
        return self.url.partition("?")[0].rpartition("/")[0] + "/"

    @property
    def selectors_digest(self) -> uuid.UUID:
        """Return a digest of the ignored selectors, to recognize lines read with other selectors."""
        return digest("\n".join(self.ignore_selectors))

    def rules(self) -> Rules:
        """Return the rules for lines of pages that do not count."""
        return Rules(frozenset(self.template), tuple(self.ignore_patterns), self.minimum_change)


def estimated_coverage(changed: int, missed: float) -> float | None:
    """Return the share of all estimated changes that were found. Returns None for less than half a change."""
    return changed / (changed + missed) if changed + missed >= 0.5 else None


class Visit(models.Model):
    """One visit to a site. `number` counts a site's visits; 0 is the mapping."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="visits")
    number = models.PositiveIntegerField()
    method = models.CharField(max_length=20)
    started = models.DateTimeField()
    finished = models.DateTimeField(null=True)
    pages = models.PositiveIntegerField(default=0, help_text="Pages known when it began.")
    weekly = models.FloatField(help_text="Fetches that one visit's budget gives.")
    budget = models.PositiveIntegerField(help_text="Fetches it may make, what was saved included.")
    rounds = models.PositiveIntegerField(default=0)

    fetched = models.PositiveIntegerField(default=0, help_text="Known pages that were asked for.")
    changed = models.PositiveIntegerField(default=0)
    found = models.PositiveIntegerField(default=0, help_text="New pages.")
    vanished = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    requests = models.PositiveIntegerField(default=0)
    conditional = models.PositiveIntegerField(default=0, help_text="Requests that named a validator.")
    not_modified = models.PositiveIntegerField(default=0, help_text="Answered with 304.")
    bytes = models.BigIntegerField(default=0)
    whole = models.BigIntegerField(default=0, help_text="Bytes that all known pages would have been.")
    missed = models.FloatField(
        null=True, help_text="Changes of this visit that it is thought to have missed."
    )
    stale = models.FloatField(null=True, help_text="Share of copies thought to be out of date after it.")

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["site", "number"], name="visit_once")]
        indexes = [models.Index(fields=["site"], name="visit_open", condition=Q(finished__isnull=True))]

    def __str__(self) -> str:
        return f"visit {self.number} of site {self.site_id}"

    @property
    def rate(self) -> float | None:
        """Return the share of fetched pages that had changed."""
        return self.changed / self.fetched if self.fetched else None

    @property
    def coverage(self) -> float | None:
        """Return the estimated share of changes that were found. Returns None before the end."""
        return None if self.missed is None else estimated_coverage(self.changed, self.missed)


class WatchedPageQuerySet(models.QuerySet["WatchedPage"]):
    """Queries of pages."""

    def live(self) -> WatchedPageQuerySet:
        """Filter to pages that exist."""
        return self.filter(state=WatchedPage.State.LIVE)

    def light(self) -> WatchedPageQuerySet:
        """Defer text and links."""
        return self.defer("lines", "links")


class WatchedPage(models.Model):
    """A page of a site and its stored copy."""

    class State(models.TextChoices):
        FOUND = "found", "found, not fetched yet"
        LIVE = "live", "there"
        GONE = "gone", "gone"
        MOVED = "moved", "leads elsewhere"
        FAILED = "failed", "cannot be read"

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="pages", db_index=False)
    url = models.TextField()
    key = models.BigIntegerField(help_text="Digest of the URL.")
    state = models.CharField(max_length=6, choices=State, default=State.FOUND)
    title = models.TextField(blank=True)
    first_seen = models.DateTimeField(db_default=Now())
    fetched = models.DateTimeField(null=True, help_text="When it was last had.")
    fetched_in = models.PositiveIntegerField(default=0, help_text="Number of the visit that did.")
    checks = models.PositiveIntegerField(default=0, help_text="Fetches after the first.")
    changes = models.PositiveIntegerField(default=0)
    changed = models.DateTimeField(null=True, help_text="When a change was last found.")
    status = models.PositiveSmallIntegerField(default=0)
    failure = models.CharField(max_length=40, blank=True)
    size = models.PositiveIntegerField(default=0, help_text="Bytes of the body.")
    etag = models.TextField(blank=True)
    last_modified = models.TextField(blank=True)
    raw = models.UUIDField(null=True, help_text="Checksum of the body: BLAKE2b, 128 bits.")
    content = models.UUIDField(null=True, help_text="Checksum of the text that counts.")
    lines = models.BinaryField(default=bytes, help_text="Its text as marked lines, under zlib.")
    selectors = models.UUIDField(
        null=True, help_text="Digest of the selectors that the lines were read with."
    )
    links = ArrayField(
        models.BigIntegerField(), default=list, help_text="Keys of the URLs of the site that it links to."
    )
    leads_to = models.TextField(blank=True, help_text="The URL that it leads to, where it has moved.")

    objects = WatchedPageQuerySet.as_manager()

    class Meta:
        db_table = "recrawl_page"
        verbose_name = "page"
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["site", "key"], name="site_page_once")]

    def __str__(self) -> str:
        return self.url

    def get_absolute_url(self) -> str:
        return reverse("site-page", args=[self.site_id, self.pk])

    @property
    def path(self) -> str:
        """Return the path by which methods name the page."""
        return path_of(self.url)


class Source(models.Model):
    """A sitemap or a feed of a site that announces new and changed pages."""

    class Kind(models.TextChoices):
        SITEMAP = "sitemap", "sitemap"
        FEED = "feed", "feed"

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="sources")
    url = models.TextField()
    key = models.BigIntegerField()
    kind = models.CharField(max_length=7, choices=Kind)
    usable = models.BooleanField(default=True)
    told = models.TextField(blank=True, help_text="What its index last said of its time.")
    read_as = models.TextField(blank=True, help_text="What the index said when it was last read.")
    read = models.DateTimeField(null=True)
    etag = models.TextField(blank=True)
    last_modified = models.TextField(blank=True)
    body_hash = models.TextField(blank=True)
    failure = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["site", "key"], name="site_source_once")]

    def __str__(self) -> str:
        return self.url


class Announcement(models.Model):
    """A source's statement about a page: its stamp (a time as written), and the number of the visit in which
    it changed.
    """

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="announcements", db_index=False)
    page = models.ForeignKey(WatchedPage, on_delete=models.CASCADE, related_name="announcements")
    stamp = models.TextField(blank=True)
    since = models.PositiveIntegerField(default=0, help_text="Number of the visit; 0: as it was found.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "page"], name="announcement_once")]

    def __str__(self) -> str:
        return f"{self.stamp} of page {self.page_id}"


class Wanted(LeasedRow):
    """A planned fetch of a page or a source in an open visit, with its reason."""

    visit = models.ForeignKey(Visit, on_delete=models.CASCADE, related_name="wanted")
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="+", db_index=False)
    page = models.ForeignKey(WatchedPage, null=True, on_delete=models.CASCADE, related_name="+")
    source = models.ForeignKey(Source, null=True, on_delete=models.CASCADE, related_name="+")
    reason = models.CharField(max_length=200)
    hops = models.PositiveSmallIntegerField(default=0, help_text="Redirects in a row that led to it.")
    attempts = models.PositiveSmallIntegerField(default=0)
    not_before = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                name="wanted_one", condition=Q(page__isnull=True, source__isnull=False)
                | Q(page__isnull=False, source__isnull=True),
            ),
            models.UniqueConstraint(fields=["visit", "page"], name="wanted_page_once"),
            models.UniqueConstraint(fields=["visit", "source"], name="wanted_source_once"),
        ]  # fmt: skip
        indexes = [
            models.Index(fields=["host", "id"], name="wanted_waiting", condition=Q(lease__isnull=True)),
            models.Index(fields=["lease"], name="wanted_leased", condition=Q(lease__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.page or self.source} for {self.visit}"


class Check(models.Model):
    """One fetch of a page in a visit: its outcome and its reason."""

    class Outcome(models.TextChoices):
        SAME = "same", "as stored"
        MINOR = "minor", "changed in what does not count"
        CHANGED = "changed", "changed"
        NEW = "new", "new"
        GONE = "gone", "gone"
        MOVED = "moved", "leads elsewhere"
        FAILED = "failed", "could not be had"

    visit = models.ForeignKey(Visit, on_delete=models.CASCADE, related_name="checks", db_index=False)
    page = models.ForeignKey(WatchedPage, on_delete=models.CASCADE, related_name="all_checks")
    at = models.DateTimeField(db_index=True)
    outcome = models.CharField(max_length=7, choices=Outcome)
    age = models.FloatField(default=0.0, help_text="Visits since the page was last had.")
    days = models.FloatField(default=0.0, help_text="The same in days.")
    reason = models.CharField(max_length=200)
    status = models.PositiveSmallIntegerField(default=0)
    failure = models.CharField(max_length=40, blank=True)
    conditional = models.BooleanField(default=False)
    requests = models.PositiveSmallIntegerField(default=1)
    bytes = models.PositiveIntegerField(default=0)
    raw = models.UUIDField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["visit", "page"], name="check_once")]

    def __str__(self) -> str:
        return f"{self.page_id} in visit {self.visit_id}: {self.outcome}"


class ChangeQuerySet(models.QuerySet["Change"]):
    """Queries of changes."""

    def counting(self) -> ChangeQuerySet:
        """Exclude changes that do not count: kind `template`, which small changes have too."""
        return self.exclude(kind=Change.Kind.TEMPLATE)

    def with_pages(self) -> ChangeQuerySet:
        """Join the page columns that are displayed."""
        return self.select_related("page").defer("page__lines", "page__links")


class Change(models.Model):
    """A new, changed or vanished page, with the added and removed lines of its text."""

    class Kind(models.TextChoices):
        EDITED = "edited", "changed"
        NEW = "new", "new"
        GONE = "gone", "gone"
        MOVED = "moved", "leads elsewhere"
        BACK = "back", "back again"
        TEMPLATE = "template", "changed with the rest of the site"

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="changes", db_index=False)
    page = models.ForeignKey(WatchedPage, on_delete=models.CASCADE, related_name="history")
    visit = models.ForeignKey(Visit, on_delete=models.CASCADE, related_name="changes")
    at = models.DateTimeField(db_index=True)
    kind = models.CharField(max_length=8, choices=Kind)
    title = models.TextField(blank=True)
    summary = models.TextField(blank=True)
    added = models.PositiveIntegerField(default=0, help_text="Lines.")
    removed = models.PositiveIntegerField(default=0, help_text="Lines.")
    difference = models.BinaryField(default=bytes, help_text="Hunks of lines, under zlib.")
    raw = models.UUIDField(null=True, help_text="Checksum of the body after it.")
    uid = models.UUIDField(default=uuid.uuid4, editable=False, help_text="Its name in feeds.")

    objects = ChangeQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["visit", "page"], name="change_once")]
        indexes = [models.Index(F("site"), F("id").desc(), name="site_changes")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: page {self.page_id} at {self.at:%Y-%m-%d}"

    def get_absolute_url(self) -> str:
        return reverse("site-change", args=[self.site_id, self.pk])
