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
from django.utils.translation import gettext_lazy, pgettext_lazy

from crawler.database.columns import NameColumn
from crawler.database.reasons import ReasonField, ShortReasonField
from crawler.engine.leased import LeasedRow
from crawler.engine.models import Host
from crawler.fetching.browser.steps import checked_steps
from crawler.fetching.http.urls import origin
from crawler.frontier.models import Body, Crawl
from crawler.reading.lines import Rules, SelectorFault, usable_selector
from crawler.reading.parts import (
    DATA,
    MARKUP,
    TEXT,
    ReadingRules,
    check_part,
    chooses_data,
    parts_digest_words,
)
from crawler.text.keys import digest
from crawler.web.validators import between, is_pattern
from recrawl.comparing.conditions import ABOVE, ADDED, ANY, BELOW, BY_PERCENT, NO_NUMBER, REMOVED, Conditions
from recrawl.comparing.visual import region
from recrawl.methods.registry import DEFAULT, METHODS
from recrawl.visiting.decision import PageRules

SETTINGS = (
    "method", "every", "budget", "max_pages", "ignore_selectors", "ignore_patterns", "minimum_change",
    "parts", "compared", "trigger_patterns", "direction", "minimum_percent", "number_rule", "number",
    "keep_copies", "browser", "steps", "visual_percent", "visual_ignored",
)  # fmt: skip
"""The fields of a site that users can set."""
LIST_DEFAULTS = {"every": 1.0, "budget": 1.0}
"""The settings that are other for chosen pages than for a site."""

SAVED_VISITS = 8
"""The highest budget a site may save, in visits."""


def is_selector(value: str) -> None:
    """Raise ValidationError unless `value` is a valid CSS selector."""
    try:
        usable_selector(value)
    except SelectorFault as error:
        raise ValidationError(str(error), code="selector") from error


def is_part(value: str) -> None:
    """Raise ValidationError unless `value` chooses a part of a document (`crawler.reading.watched`)."""
    try:
        check_part(value)
    except SelectorFault as error:
        raise ValidationError(str(error), code="part") from error


def is_steps(value: object) -> None:
    """Raise ValidationError unless `value` is a list of steps for a browser."""
    try:
        checked_steps(value)
    except ValueError as error:
        raise ValidationError(str(error), code="steps") from error


def is_region(value: str) -> None:
    """Raise ValidationError unless `value` is a region of a picture."""
    try:
        region(value)
    except ValueError as error:
        raise ValidationError(str(error), code="region") from error


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

    def failed(self, now: datetime) -> SiteQuerySet:
        """Filter to sites that could not be mapped and are due again, unless someone ended it."""
        due = Q(next_visit__lte=now) | (Q(next_visit__isnull=True) & ~Q(trouble__contains="was cancelled"))
        return self.filter(due, state=Site.State.FAILED).order_by("id")

    def mapped(self) -> SiteQuerySet:
        """Filter to sites whose mapping crawl, or the first reading of a list, has ended unsettled."""
        goes_on = [Crawl.State.RUNNING, Crawl.State.PAUSED]
        waits = Wanted.objects.filter(visit__site=OuterRef("pk"), visit__number=0)
        return self.filter(~Exists(waits), state=Site.State.MAPPING).exclude(crawl__state__in=goes_on)

    def light(self) -> SiteQuerySet:
        """Defer the columns that only visits need."""
        return self.defer("memory", "template")


class Site(models.Model):
    """A watched site or list of pages: how it is visited, what of its pages counts, what is reported.

    A list's `url` is its first page's.
    """

    class Kind(models.TextChoices):
        SITE = "site", pgettext_lazy("kind of watch", "a site or a section of one")
        PAGES = "pages", pgettext_lazy("kind of watch", "chosen pages")

    class Compared(models.TextChoices):
        TEXT = TEXT, pgettext_lazy("what is compared", "the text")
        MARKUP = MARKUP, pgettext_lazy("what is compared", "the markup, with links and pictures")
        DATA = DATA, pgettext_lazy("what is compared", "the data that the page states for programs")

    class Direction(models.TextChoices):
        ANY = ANY, pgettext_lazy("direction of a change", "every change")
        ADDED = ADDED, pgettext_lazy("direction of a change", "only if something is added")
        REMOVED = REMOVED, pgettext_lazy("direction of a change", "only if something is removed")

    class NumberRule(models.TextChoices):
        NONE = NO_NUMBER, pgettext_lazy("rule for a number", "any number")
        ABOVE = ABOVE, pgettext_lazy("rule for a number", "is above")
        BELOW = BELOW, pgettext_lazy("rule for a number", "is below")
        PERCENT = BY_PERCENT, pgettext_lazy("rule for a number", "has changed by at least so many percent")

    class State(models.TextChoices):
        MAPPING = "mapping", pgettext_lazy("state of a site", "being mapped")
        WATCHED = "watched", pgettext_lazy("state of a site", "watched")
        PAUSED = "paused", pgettext_lazy("state of a site", "paused")
        FAILED = "failed", pgettext_lazy("state of a site", "could not be mapped")

    kind = models.CharField(max_length=5, choices=Kind, default=Kind.SITE, editable=False)
    url = models.TextField(help_text="Its top page; pages below its directory are watched.")
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="sites", editable=False)
    title = models.TextField(blank=True)
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    method = NameColumn(max_length=20, names=METHODS, default=DEFAULT)
    every = models.FloatField(
        default=7.0,
        validators=between(1 / 24, 366),
        help_text=gettext_lazy("Days from one visit to the next."),
    )
    budget = models.FloatField(
        default=0.25,
        validators=between(0.001, 1.0),
        help_text=gettext_lazy("Pages fetched in a visit, as a share of all; what is left over is saved up."),
    )
    max_pages = models.PositiveIntegerField(
        default=1000,
        validators=between(1, 100_000),
        help_text=gettext_lazy("Pages known at most."),
    )
    ignore_selectors = ArrayField(
        models.TextField(validators=[is_selector]),
        default=list,
        blank=True,
        help_text=gettext_lazy("CSS selectors of what does not count in a page."),
    )
    ignore_patterns = ArrayField(
        models.TextField(validators=[is_pattern]),
        default=list,
        blank=True,
        help_text="Regular expressions of lines of text that do not count.",
    )
    minimum_change = models.PositiveIntegerField(
        default=0,
        help_text=gettext_lazy("Characters that must have come or gone before a change is reported."),
    )
    parts = ArrayField(
        models.TextField(validators=[is_part]),
        default=list,
        blank=True,
        help_text=gettext_lazy(
            "The parts of a page that count, all of it without any: css:SELECTOR, xpath:EXPRESSION, "
            "jsonpath:EXPRESSION or jq:EXPRESSION."
        ),
    )
    compared = models.CharField(
        max_length=6,
        choices=Compared,
        default=Compared.TEXT,
        help_text=gettext_lazy("The aspect of a page that is compared."),
    )
    trigger_patterns = ArrayField(
        models.TextField(validators=[is_pattern]),
        default=list,
        blank=True,
        help_text=gettext_lazy(
            "Regular expressions: a change is reported only if one matches a line that changed."
        ),
    )
    direction = models.CharField(
        max_length=7,
        choices=Direction,
        default=Direction.ANY,
        help_text=gettext_lazy("The direction of the changes that are reported."),
    )
    minimum_percent = models.FloatField(
        default=0.0,
        validators=between(0, 100),
        help_text=gettext_lazy("Percent of the text that must have changed before a change is reported."),
    )
    number_rule = models.CharField(
        max_length=7,
        choices=NumberRule,
        default=NumberRule.NONE,
        blank=True,
        help_text=gettext_lazy("A rule for the page's price, or else for the first number in its text."),
    )
    number = models.FloatField(default=0.0, help_text=gettext_lazy("The number of that rule."))
    keep_copies = models.BooleanField(
        default=False,
        help_text=gettext_lazy("Keep the bytes of each version as well, to be saved as an archive (WARC)."),
    )
    browser = models.BooleanField(
        default=False,
        help_text=gettext_lazy("Open pages in a browser: for those that are empty without JavaScript."),
    )
    steps = models.JSONField(
        default=list,
        blank=True,
        validators=[is_steps],
        help_text=gettext_lazy("Steps in the browser before the page is read."),
    )
    visual_percent = models.FloatField(
        default=0.0,
        validators=between(0, 100),
        help_text=gettext_lazy(
            "Percent of the picture that must look different for a report without a change of text; 0: never."
        ),
    )
    visual_ignored = ArrayField(
        models.CharField(max_length=40, validators=[is_region]),
        default=list,
        blank=True,
        help_text=gettext_lazy("Regions of the picture that do not count: left,top,width,height in pixels."),
    )
    key = models.CharField(max_length=40, unique=True, default=new_key, editable=False)
    former = ArrayField(
        models.TextField(), default=list, editable=False, help_text="Addresses that led to the present one."
    )

    state = models.CharField(max_length=8, choices=State, default=State.MAPPING, editable=False)
    trouble = ReasonField(blank=True, editable=False, help_text="What went wrong, in words.")
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
        constraints = [
            models.UniqueConstraint(fields=["url"], name="site_url_once", condition=Q(kind="site"))
        ]
        indexes = [
            models.Index(fields=["next_visit"], name="site_due", condition=Q(state="watched")),
            models.Index(fields=["url"], name="site_url"),
        ]

    def __str__(self) -> str:
        return self.title or self.url

    @property
    def is_visited_again(self) -> bool:
        """True where another visit is planned."""
        return self.state == self.State.WATCHED or (
            self.state == self.State.FAILED and self.next_visit is not None
        )

    @property
    def badge(self) -> str:
        """The class of the badge that shows its state: `good`, `warn`, `bad` or none."""
        if self.state == self.State.FAILED:
            return "bad"
        if self.state == self.State.PAUSED or self.trouble:
            return "warn"
        return "good" if self.state == self.State.WATCHED else ""

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
    def is_list(self) -> bool:
        """True for chosen pages, false for a site or a section of one."""
        return self.kind == self.Kind.PAGES

    @property
    def reading(self) -> ReadingRules:
        """Return how its pages are read."""
        return ReadingRules(tuple(self.parts), tuple(self.ignore_selectors), self.compared)

    @property
    def selectors_digest(self) -> uuid.UUID:
        """Return a digest of how pages are read, to recognize lines that were read in another way."""
        words = parts_digest_words(self.parts, self.ignore_selectors, self.compared)
        return digest(f"{words}\nbrowser {self.steps}" if self.browser else words)

    def name_of(self, url: str) -> str:
        """Return the name by which methods know a page: its path, or the whole URL in a list."""
        return url if self.is_list else path_of(url)

    def rules(self) -> Rules:
        """Return the rules for lines of pages that do not count. Of chosen pages and parts all lines do."""
        is_chosen = self.is_list or bool(self.parts) or self.compared != TEXT
        template = frozenset() if is_chosen else frozenset(self.template)
        return Rules(template, tuple(self.ignore_patterns), self.minimum_change, whole=is_chosen)

    def page_rules(self) -> PageRules:
        """Return the rules that decide what an answer changes in a page's row."""
        return PageRules(
            self.rules(),
            self.conditions(),
            self.selectors_digest,
            is_list=self.is_list,
            keep_copies=self.keep_copies,
            visual_percent=self.visual_percent,
            visual_ignored=self.visual_ignored,
        )

    def conditions(self) -> Conditions:
        """Return the conditions under which a change is reported."""
        return Conditions(
            tuple(self.trigger_patterns),
            self.direction,
            self.minimum_percent,
            self.number_rule,
            self.number,
            is_data=bool(self.parts) and all(chooses_data(part) for part in self.parts),
        )


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


LONG_COLUMNS = ("lines", "links", "headers", "look")
"""The columns of a page that lists of pages do not need."""


class WatchedPageQuerySet(models.QuerySet["WatchedPage"]):
    """Queries of pages."""

    def live(self) -> WatchedPageQuerySet:
        """Filter to pages that exist."""
        return self.filter(state=WatchedPage.State.LIVE)

    def light(self) -> WatchedPageQuerySet:
        """Defer the long columns."""
        return self.defer(*LONG_COLUMNS)


class WatchedPage(models.Model):
    """A page of a site and its stored copy."""

    class State(models.TextChoices):
        FOUND = "found", pgettext_lazy("state of a page", "found, not fetched yet")
        LIVE = "live", pgettext_lazy("state of a page", "there")
        GONE = "gone", pgettext_lazy("state of a page", "gone")
        MOVED = "moved", pgettext_lazy("state of a page", "leads elsewhere")
        FAILED = "failed", pgettext_lazy("state of a page", "cannot be read")

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
    body = models.ForeignKey(
        Body, null=True, on_delete=models.SET_NULL, related_name="+", help_text="Its bytes, where kept."
    )
    headers = models.JSONField(default=list, help_text="As received, where the bytes are kept.")
    picture = models.ForeignKey(
        Body, null=True, on_delete=models.SET_NULL, related_name="+", help_text="Its screenshot, WebP."
    )
    look = models.BinaryField(default=bytes, help_text="Grid of the screenshot (`recrawl.comparing.visual`).")
    price = models.FloatField(null=True, help_text="The price that it states.")
    currency = models.CharField(max_length=8, blank=True)
    availability = models.CharField(max_length=40, blank=True, help_text="As schema.org names it.")

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


class Version(models.Model):
    """An earlier copy of a page, which a change that counts has replaced."""

    page = models.ForeignKey(WatchedPage, on_delete=models.CASCADE, related_name="versions", db_index=False)
    since = models.DateTimeField(help_text="When it was last had.")
    until = models.DateTimeField(db_index=True, help_text="When the next one was had.")
    title = models.TextField(blank=True)
    status = models.PositiveSmallIntegerField(default=0)
    lines = models.BinaryField(default=bytes, help_text="Its text as marked lines, under zlib.")
    raw = models.UUIDField(null=True)
    body = models.ForeignKey(Body, null=True, on_delete=models.SET_NULL, related_name="+")
    headers = models.JSONField(default=list)
    picture = models.ForeignKey(Body, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["page", "id"], name="page_versions")]

    def __str__(self) -> str:
        return f"page {self.page_id} from {self.since} to {self.until}"


class StatedOffer(models.Model):
    """A price and a stock that a page stated from some time on."""

    page = models.ForeignKey(WatchedPage, on_delete=models.CASCADE, related_name="offers", db_index=False)
    at = models.DateTimeField()
    price = models.FloatField(null=True)
    currency = models.CharField(max_length=8, blank=True)
    availability = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["page", "at"], name="offer_series")]

    def __str__(self) -> str:
        return f"{self.price} {self.currency} {self.availability}"


class Source(models.Model):
    """A sitemap or a feed of a site that announces new and changed pages."""

    class Kind(models.TextChoices):
        SITEMAP = "sitemap", pgettext_lazy("kind of source", "sitemap")
        FEED = "feed", pgettext_lazy("kind of source", "feed")

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
    reason = ShortReasonField(max_length=200)
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
        SAME = "same", pgettext_lazy("outcome of a look", "as stored")
        MINOR = "minor", pgettext_lazy("outcome of a look", "changed in what does not count")
        CHANGED = "changed", pgettext_lazy("outcome of a look", "changed")
        NEW = "new", pgettext_lazy("outcome of a look", "new")
        GONE = "gone", pgettext_lazy("outcome of a look", "gone")
        MOVED = "moved", pgettext_lazy("outcome of a look", "leads elsewhere")
        FAILED = "failed", pgettext_lazy("outcome of a look", "could not be had")

    visit = models.ForeignKey(Visit, on_delete=models.CASCADE, related_name="checks", db_index=False)
    page = models.ForeignKey(WatchedPage, on_delete=models.CASCADE, related_name="all_checks")
    at = models.DateTimeField(db_index=True)
    outcome = models.CharField(max_length=7, choices=Outcome)
    age = models.FloatField(default=0.0, help_text="Visits since the page was last had.")
    days = models.FloatField(default=0.0, help_text="The same in days.")
    reason = ShortReasonField(max_length=200)
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


ALIKE = ("visit", "kind", "summary", "added", "removed")
"""The fields that changes have in common which pages of a site underwent in the same way."""


class ChangeQuerySet(models.QuerySet["Change"]):
    """Queries of changes."""

    def counting(self) -> ChangeQuerySet:
        """Exclude changes that do not count: kinds `template`, which small changes have too, and `unmet`."""
        return self.exclude(kind__in=[Change.Kind.TEMPLATE, Change.Kind.UNMET])

    def with_pages(self) -> ChangeQuerySet:
        """Join the page columns that are displayed."""
        return self.select_related("page").defer(*(f"page__{name}" for name in LONG_COLUMNS))

    def alike(self, change: Change) -> ChangeQuerySet:
        """Filter to the other changes that the same visit saw in the same words."""
        if not change.summary:
            return self.none()
        fields = {name: getattr(change, name) for name in ALIKE}
        return self.filter(**fields).exclude(pk=change.pk)

    def one_of_each(self) -> ChangeQuerySet:
        """Leave only the newest of changes that are alike."""
        newer = self.filter(id__gt=OuterRef("pk"), **{name: OuterRef(name) for name in ALIKE}).order_by()
        return self.filter(Q(summary="") | ~Exists(newer))


class Change(models.Model):
    """A new, changed or vanished page, with the added and removed lines of its text."""

    class Kind(models.TextChoices):
        EDITED = "edited", pgettext_lazy("kind of change", "changed")
        NEW = "new", pgettext_lazy("kind of change", "new")
        GONE = "gone", pgettext_lazy("kind of change", "gone")
        MOVED = "moved", pgettext_lazy("kind of change", "leads elsewhere")
        BACK = "back", pgettext_lazy("kind of change", "back again")
        TEMPLATE = "template", pgettext_lazy("kind of change", "changed with the rest of the site")
        UNMET = "unmet", pgettext_lazy("kind of change", "changed, but not as you asked")

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="changes", db_index=False)
    page = models.ForeignKey(WatchedPage, on_delete=models.CASCADE, related_name="history")
    visit = models.ForeignKey(Visit, on_delete=models.CASCADE, related_name="changes")
    at = models.DateTimeField(db_index=True)
    kind = models.CharField(max_length=8, choices=Kind)
    title = models.TextField(blank=True)
    summary = ReasonField(blank=True)
    added = models.PositiveIntegerField(default=0, help_text="Lines.")
    removed = models.PositiveIntegerField(default=0, help_text="Lines.")
    difference = models.BinaryField(default=bytes, help_text="Hunks of lines, under zlib.")
    raw = models.UUIDField(null=True, help_text="Checksum of the body after it.")
    visual = models.FloatField(null=True, help_text="Percent of the picture that looks different.")
    areas = models.JSONField(default=list, help_text="Boxes around what does: left, top, width, height.")
    before = models.ForeignKey(
        Version, null=True, on_delete=models.SET_NULL, related_name="+", help_text="The version it replaced."
    )
    uid = models.UUIDField(default=uuid.uuid4, editable=False, help_text="Its name in feeds.")

    objects = ChangeQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["visit", "page"], name="change_once")]
        indexes = [models.Index(F("site"), F("id").desc(), name="site_changes")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: page {self.page_id} at {self.at:%Y-%m-%d}"

    def get_absolute_url(self) -> str:
        return reverse("change", args=[self.pk])


class SeenChanges(models.Model):
    """The changes that a person has seen: all up to one but for some, and some after it."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="seen_changes"
    )
    up_to = models.BigIntegerField(default=0, help_text="Primary key of a change.")
    unseen = ArrayField(models.BigIntegerField(), default=list, help_text="Keys up to it, not seen yet.")
    seen = ArrayField(models.BigIntegerField(), default=list, help_text="Keys after it, seen.")

    def __str__(self) -> str:
        return f"up to {self.up_to} but {len(self.unseen)}, and {len(self.seen)} more"
