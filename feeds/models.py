"""Feeds, their posting histories and plans, and the log of their retrievals."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import cast

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q, Transform
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext_lazy, pgettext_lazy

from crawler.database.columns import NameColumn
from crawler.database.readers import visible
from crawler.database.reasons import ReasonField
from crawler.engine.leased import LeasedQuerySet, LeasedRow
from crawler.reading.sources.kinds import FEED, MAIL, SAVED


@models.BinaryField.register_lookup
class OctetLength(Transform):
    """Number of bytes of a binary column, for constraints."""

    lookup_name = "octet_length"
    function = "octet_length"
    output_field = models.IntegerField()


class Category(models.Model):
    """A folder of feeds; folders nest as OPML's outlines do."""

    name = models.CharField(max_length=200)
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="children"
    )

    class Meta:
        verbose_name_plural = "categories"
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["parent", "name"], name="category_once", nulls_distinct=False),
        ]

    def __str__(self) -> str:
        return " / ".join(self.path)

    @property
    def path(self) -> tuple[str, ...]:
        """Names from the outermost folder to this one."""
        return (*(self.parent.path if self.parent else ()), self.name)


class FeedQuerySet(LeasedQuerySet["Feed"]):
    """Queries of feeds, named in the domain's terms."""

    def active(self) -> FeedQuerySet:
        """Filter to feeds that are neither paused nor gone."""
        return self.filter(status=Feed.Status.ACTIVE)

    def fetched(self) -> FeedQuerySet:
        """Filter to feeds that are fetched from their address: all but newsletters, which come by mail."""
        return self.exclude(kind=MAIL)

    def disputed(self) -> FeedQuerySet:
        """Filter to feeds about which a second reader disagrees with ours."""
        return self.exclude(opinion=[])

    def idle(self) -> FeedQuerySet:
        """Filter to active feeds that are fetched, and are neither selected for a visit nor leased."""
        return self.active().fetched().free().filter(selected_at__isnull=True)

    def due(self, now: datetime) -> FeedQuerySet:
        """Filter to idle feeds whose floors (politeness, Retry-After, max-age, back-off ...) have passed."""
        return self.idle().filter(not_before__lte=now)

    def failing(self) -> FeedQuerySet:
        """Filter to feeds whose last visit failed, longest failing first."""
        return self.filter(failure_streak__gt=0).order_by("failing_since")


_FeedManager = models.Manager.from_queryset(FeedQuerySet)


class FeedManager(_FeedManager["Feed"]):
    """Feeds without those that people have removed, which are deleted a little later, and those of others.

    Nor is the feed among them that holds what a person saved.
    """

    def get_queryset(self) -> FeedQuerySet:
        return cast(
            "FeedQuerySet", visible(super().get_queryset().filter(removed__isnull=True).exclude(kind=SAVED))
        )


class Feed(LeasedRow):
    """A feed: its address, the results of the last visit, and when the next one is allowed."""

    class Status(models.TextChoices):
        ACTIVE = "active", pgettext_lazy("state of a feed", "active")
        PAUSED = "paused", pgettext_lazy("state of a feed", "paused")
        GONE = "gone", pgettext_lazy("state of a feed", "ended by its publisher")

    class Phase(models.TextChoices):
        TRAINING = "training", pgettext_lazy("phase of a feed", "learning its rhythm")
        NORMAL = "normal", pgettext_lazy("phase of a feed", "rhythm known")

    url = models.TextField(help_text="The address as it is fetched.")
    canonical_url = models.TextField(unique=True, editable=False)
    host = models.ForeignKey("crawler.Host", on_delete=models.PROTECT, related_name="feeds", editable=False)
    category = models.ForeignKey(
        Category, null=True, blank=True, on_delete=models.SET_NULL, related_name="feeds"
    )
    kind = models.CharField(
        max_length=10,
        default=FEED,
        help_text="What stands at the address: feed, sitemap, page, json; or mail.",
    )
    rules = models.JSONField(default=dict, blank=True, help_text="Which parts of a page are its articles.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="own_feeds",
        help_text="Whose it is alone, such as a newsletter's or one behind a login; empty: everybody's.",
    )
    proposed = models.JSONField(
        default=dict, blank=True, editable=False, help_text="Rules for a list that was found anew."
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.ACTIVE)
    phase = models.CharField(max_length=10, choices=Phase, default=Phase.TRAINING)
    added = models.DateTimeField(db_default=Now(), editable=False)

    # The feed's description of itself.
    title = models.TextField(blank=True)
    renamed = models.BooleanField(
        default=False, editable=False, help_text="People gave the title; the feed does not change it."
    )
    site_url = models.TextField(blank=True, editable=False)
    description = models.TextField(blank=True, editable=False)
    language = models.CharField(max_length=20, blank=True, editable=False)
    format = models.CharField(max_length=20, blank=True, editable=False)
    icon = models.TextField(blank=True, editable=False, help_text="Address of a small square picture.")
    image = models.TextField(blank=True, editable=False, help_text="Address of its logo or cover.")
    hub = models.TextField(blank=True, editable=False)
    ttl = models.FloatField(null=True, blank=True, editable=False, help_text="Seconds, from RSS ttl.")
    update_period = models.FloatField(null=True, blank=True, editable=False, help_text="Seconds, from sy:*.")
    skip_hours = ArrayField(models.PositiveSmallIntegerField(), default=list, blank=True, editable=False)
    skip_days = ArrayField(models.PositiveSmallIntegerField(), default=list, blank=True, editable=False)
    document_size = models.PositiveIntegerField(
        default=0, editable=False, help_text="Entries its document holds."
    )

    # State of the next conditional request. Belongs to `url` and is reset when it changes.
    etag = models.TextField(blank=True, editable=False)
    last_modified = models.TextField(blank=True, editable=False)
    body_hash = models.CharField(max_length=64, blank=True, editable=False)
    fingerprints = models.BinaryField(default=b"", editable=False)

    # Where a second reader disagreed about the document when it was last asked: kind, ours, theirs of each.
    opinion = models.JSONField(default=list, blank=True, editable=False)
    opinion_at = models.DateTimeField(null=True, blank=True, editable=False)

    # Visits.
    last_attempt = models.DateTimeField(null=True, blank=True, editable=False)
    last_success = models.DateTimeField(null=True, blank=True, editable=False)
    last_new = models.DateTimeField(null=True, blank=True, editable=False)
    unchanged_streak = models.PositiveIntegerField(default=0, editable=False)
    failure_streak = models.PositiveIntegerField(default=0, editable=False)
    failing_since = models.DateTimeField(null=True, blank=True, editable=False)
    failure = models.CharField(max_length=40, blank=True, editable=False)
    failure_detail = models.TextField(blank=True, editable=False)

    # Training phase (papers/000, section 3.1): ToE is kept as the time at which it reaches zero.
    training_since = models.DateTimeField(db_default=Now(), editable=False)
    training_m = models.FloatField(default=4.0, editable=False)
    training_t = models.FloatField(default=1.0, editable=False)
    training_due = models.DateTimeField(db_default=Now(), editable=False)

    # Floors and selection.
    not_before = models.DateTimeField(db_default=Now(), editable=False)
    floor = models.CharField(max_length=20, blank=True, editable=False, help_text="Rule behind not_before.")
    floor_detail = ReasonField(blank=True, editable=False)
    selected_at = models.DateTimeField(null=True, blank=True, editable=False)
    selected_because = ReasonField(blank=True, editable=False)

    # A permanent redirect is believed after several answers over days.
    moved_to = models.TextField(blank=True, editable=False)
    moved_count = models.PositiveSmallIntegerField(default=0, editable=False)
    moved_since = models.DateTimeField(null=True, blank=True, editable=False)

    subscribers = models.PositiveIntegerField(default=0, editable=False)
    active_subscribers = models.PositiveIntegerField(
        default=0, editable=False, help_text="Those who read an article of it in the last 30 days."
    )
    removed = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="Removed by a person; to be deleted soon."
    )

    objects = FeedManager()  # type: ignore[misc]
    with_removed = FeedQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(
                fields=["phase", "not_before"],
                name="feed_due",
                condition=Q(status="active", selected_at__isnull=True, lease__isnull=True),
            ),
            models.Index(
                fields=["host", "selected_at"], name="feed_selected", condition=Q(selected_at__isnull=False)
            ),
            models.Index(fields=["lease"], name="feed_lease", condition=Q(lease__isnull=False)),
            models.Index(fields=["failing_since"], name="feed_failing", condition=Q(failure_streak__gt=0)),
            models.Index(fields=["title"], name="feed_title"),
            models.Index(fields=["last_success"], name="feed_last_success"),
            models.Index(fields=["last_new"], name="feed_last_new"),
            models.Index(fields=["opinion_at"], name="feed_disputed", condition=~Q(opinion=[])),
            models.Index(fields=["removed"], name="feed_removed", condition=Q(removed__isnull=False)),
        ]
        constraints = [
            models.CheckConstraint(
                name="feed_m_in_range", condition=Q(training_m__gte=1, training_m__lte=80)
            ),
            models.CheckConstraint(name="feed_t_in_range", condition=Q(training_t__gte=1)),
        ]

    def __str__(self) -> str:
        return self.title or self.url

    def get_absolute_url(self) -> str:
        return reverse("feed", args=[self.pk])

    @property
    def validators(self) -> bool:
        """True when the server offered validators, so that requests can be conditional."""
        return bool(self.etag or self.last_modified)

    def forget_validators(self) -> None:
        """Make the next request unconditional (after the address changed). Does not save."""
        self.etag = self.last_modified = self.body_hash = ""


class FeedAlias(models.Model):
    """Another address under which a feed was added or found, used to recognise duplicates."""

    canonical_url = models.TextField(unique=True)
    feed = models.ForeignKey(Feed, on_delete=models.CASCADE, related_name="aliases")

    class Meta:
        verbose_name_plural = "feed aliases"

    def __str__(self) -> str:
        return self.canonical_url


class FeedImport(models.Model):
    """Addresses that a person added together, such as those of an OPML file, until their progress is read."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="feed_imports")
    name = models.CharField(max_length=200, blank=True, help_text="Of the file, where there was one.")
    created = models.DateTimeField(db_default=Now(), editable=False)
    follows = models.BooleanField(default=True)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return self.name or f"feeds added at {self.created:%Y-%m-%d %H:%M}"

    def get_absolute_url(self) -> str:
        return reverse("feed-import", args=[self.pk])


class ImportLine(models.Model):
    """An address of an import and what became of it. The feed is gone where it turned out to be another."""

    class Outcome(models.TextChoices):
        ADDED = "added", pgettext_lazy("outcome of an import", "added")
        DUPLICATE = "duplicate", pgettext_lazy("outcome of an import", "known already")
        REFUSED = "refused", pgettext_lazy("outcome of an import", "refused")

    source = models.ForeignKey(FeedImport, on_delete=models.CASCADE, related_name="lines")
    text = models.TextField(help_text="The address as it was given.")
    title = models.TextField(blank=True)
    folder = models.TextField(blank=True)
    kind = models.CharField(max_length=10, default=FEED)
    rules = models.JSONField(default=dict, blank=True)
    is_own = models.BooleanField(default=False)
    feed = models.ForeignKey(Feed, null=True, on_delete=models.SET_NULL, related_name="+")
    outcome = models.CharField(max_length=10, choices=Outcome)
    message = ReasonField(blank=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.text}: {self.outcome}"


class PostingHistory(models.Model):
    """The articles that a feed posts by hour of day and by hour of week (UTC, Monday first).

    Rates are articles per hour. The arrays are little-endian float32, read by `feeds.scheduling.history`: 24
    rates (means over `days`), 168 weighted counts, 168 weighted hours of exposure, 4 levels. `rates` are the
    168 articles per hour forecast from them, which every tick reads. SQL reads them as arrays in the view
    `feeds_posting_rates` (`feed_id`, `hourly`, `weekly`, `threshold`).
    """

    feed = models.OneToOneField(Feed, primary_key=True, on_delete=models.CASCADE, related_name="history")
    hourly = models.BinaryField()
    week_counts = models.BinaryField()
    week_exposure = models.BinaryField()
    days = models.FloatField(default=0.0)
    levels = models.BinaryField(default=bytes(16))
    rates = models.BinaryField(default=bytes(672))
    updated = models.DateTimeField(help_text="The exposure reaches up to this time.")

    class Meta:
        verbose_name_plural = "posting histories"
        constraints = [
            models.CheckConstraint(
                name="history_sizes",
                condition=Q(
                    hourly__octet_length=96,
                    week_counts__octet_length=672,
                    week_exposure__octet_length=672,
                    levels__octet_length=16,
                    rates__octet_length=672,
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"posting history of feed {self.feed_id}"


class PostingPlan(models.Model):
    """The plan of `feeds.scheduling.planning` for a feed: 168 little-endian float32, Monday first.

    Stored apart from the history, because every visit writes a history while plans are written once a day.
    """

    feed = models.OneToOneField(Feed, primary_key=True, on_delete=models.CASCADE, related_name="plan")
    shape = models.BinaryField()

    class Meta:
        constraints = [models.CheckConstraint(name="plan_size", condition=Q(shape__octet_length=672))]

    def __str__(self) -> str:
        return f"plan of feed {self.feed_id}"


class PlanningRules(models.Model):
    """How visits are planned, as an operator has chosen it: one row. What is empty goes by the settings.

    Each tick reads it (`feeds.visiting.rules`), so a change holds from the next one on.
    """

    class Policy(models.TextChoices):
        FRESHNESS = "freshness", pgettext_lazy("how visits are planned", "for the least waiting news")
        ADVARSS = "advarss", pgettext_lazy("how visits are planned", "advaRSS: most expected articles first")
        ROUND_ROBIN = "round-robin", pgettext_lazy("how visits are planned", "round robin: each in its turn")
        TRAINING = "advarss-training", pgettext_lazy("how visits are planned", "advaRSS: always in training")

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    policy = NameColumn(
        max_length=30,
        names=Policy.choices,
        blank=True,
        default="",
        verbose_name=gettext_lazy("Order of the visits"),
    )
    budget = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0.001), MaxValueValidator(60)],
        verbose_name=gettext_lazy("Visits per feed and hour"),
        help_text=gettext_lazy("On average over all feeds: busy ones get more, quiet ones fewer."),
    )
    audience_weight = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(100)],
        verbose_name=gettext_lazy("Weight of a subscriber (c)"),
        help_text=gettext_lazy("Each subscriber raises a feed's rank by this share; 0 counts none."),
    )
    active_only = models.BooleanField(
        default=False,
        verbose_name=gettext_lazy("Count only who reads"),
        help_text=gettext_lazy("Only subscribers who read an article of the feed in the last 30 days weigh."),
    )
    training_max_ticks = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(80)],
        verbose_name=gettext_lazy("Longest wait in training, in ticks"),
        help_text=gettext_lazy("advaRSS knows no such limit but 80; a lower one finds news sooner."),
    )
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = verbose_name_plural = "planning rules"
        constraints = [models.CheckConstraint(name="one_row_of_planning_rules", condition=Q(id=1))]

    def __str__(self) -> str:
        return "planning rules"


class PostingPopulation(models.Model):
    """The posting of all feeds together, the expectation for a feed without a history of its own.

    One row; little-endian float64, 168 weighted counts and 168 weighted hours of exposure summed over feeds,
    and the price of a retrieval in each hour of the week (empty before the first plan). `prior` is what
    another deployment or traces taught (`feeds.visiting.priors`); empty: the one that comes with Freshet.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    week_counts = models.BinaryField()
    week_exposure = models.BinaryField()
    prices = models.BinaryField(default=b"", blank=True)
    prior = models.JSONField(default=dict, blank=True)
    updated = models.DateTimeField()
    planned = models.DateTimeField(null=True, blank=True, help_text="When planning was last begun.")

    class Meta:
        constraints = [models.CheckConstraint(name="one_population", condition=Q(id=1))]

    def __str__(self) -> str:
        return f"posting of all feeds, {self.updated:%Y-%m-%d %H:%M}"


class Retrieval(models.Model):
    """One visit to a feed, as it went."""

    class Outcome(models.TextChoices):
        NEW = "new", pgettext_lazy("outcome of a visit", "new articles")
        NOTHING_NEW = "nothing-new", pgettext_lazy("outcome of a visit", "changed, nothing new")
        SAME_BODY = "same-body", pgettext_lazy("outcome of a visit", "same bytes")
        NOT_MODIFIED = "not-modified", pgettext_lazy("outcome of a visit", "304 not modified")
        FAILED = "failed", pgettext_lazy("outcome of a visit", "failed")

    feed = models.ForeignKey(Feed, on_delete=models.CASCADE, related_name="retrievals", db_index=False)
    lease = models.UUIDField(default=uuid.uuid4, editable=False)
    at = models.DateTimeField()
    outcome = models.CharField(max_length=12, choices=Outcome)
    status = models.PositiveSmallIntegerField(default=0)
    failure = models.CharField(max_length=40, blank=True)
    detail = models.TextField(blank=True)
    new = models.PositiveIntegerField(default=0)
    edited = models.PositiveIntegerField(default=0)
    bytes = models.PositiveIntegerField(default=0)
    elapsed = models.FloatField(default=0, help_text="Seconds.")
    conditional = models.BooleanField(default=False)
    pushed = models.BooleanField(default=False, help_text="A hub sent it; nobody was asked.")
    because = ReasonField(blank=True, help_text="Why the feed was selected.")
    expected = models.FloatField(null=True, help_text="New articles the posting history predicted.")
    m = models.FloatField(null=True, help_text="Training: M after this visit.")
    t = models.FloatField(null=True, help_text="Training: T after this visit.")
    toe = models.PositiveSmallIntegerField(null=True, help_text="Training: ToE after this visit, in ticks.")

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["feed", "-at"], name="retrieval_feed"),
            models.Index(fields=["-at"], name="retrieval_at"),
            models.Index(fields=["failure", "-at"], name="retrieval_failure", condition=~Q(failure="")),
        ]
        constraints = [models.UniqueConstraint(fields=["feed", "lease"], name="retrieval_once_a_lease")]

    def __str__(self) -> str:
        return f"feed {self.feed_id} at {self.at:%Y-%m-%d %H:%M:%S}: {self.outcome}"


class Tick(models.Model):
    """One run of the controller: what it took, and the key at which it stopped taking."""

    started = models.DateTimeField(unique=True)
    finished = models.DateTimeField(null=True, blank=True)
    policy = models.CharField(max_length=40)
    swept = models.PositiveIntegerField(default=0, help_text="Leases that had expired.")
    training = models.PositiveIntegerField(default=0, help_text="Training feeds taken, by ToE.")
    ranked = models.PositiveIntegerField(default=0, help_text="Feeds taken by the policy's rank.")
    candidates = models.PositiveIntegerField(default=0, help_text="Feeds the policy could choose from.")
    budget = models.FloatField(default=0, help_text="Retrievals the budget allowed; the rest carries over.")
    carried = models.FloatField(default=0, help_text="Retrievals left over for the next tick.")
    cutoff = models.FloatField(
        null=True, blank=True, help_text="Key of the last feed taken, if any was left out."
    )

    class Meta:
        app_label = "crawler"  # where its table and its admin page have always been
        ordering = ["-started"]

    def __str__(self) -> str:
        return f"tick of {self.started:%Y-%m-%d %H:%M:%S}"
