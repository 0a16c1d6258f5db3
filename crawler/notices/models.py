"""The tables of notifications: targets, rules, what was noticed, and the messages that are sent."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import pgettext_lazy

from articles.models import LABEL_LENGTH, Article, PersonalFeed, Topic
from crawler.database import secrets
from crawler.database.reasons import ShortReasonField
from crawler.engine.leased import lease_ended
from crawler.notices.rules.matching import ArticleConditions
from crawler.notices.targets import KINDS
from crawler.notices.targets.base import TargetKind
from crawler.text.characters import one_line
from crawler.text.patterns import LONGEST
from feeds.models import Feed
from recrawl.models import Site, WatchedPage

MAX_ATTEMPTS = 5
MAX_TOPIC = 500
"""Characters of a personal feed's address."""


def _hour(**options: Any) -> Any:
    return models.PositiveSmallIntegerField(validators=[MaxValueValidator(23)], **options)


def target_kinds() -> list[tuple[str, Any]]:
    """Return the keys and names of the kinds of targets, as choices."""
    return [(key, pgettext_lazy(*kind.title)) for key, kind in KINDS.items()]


class Target(models.Model):
    """A place that messages of one person go to. Its address is stored encrypted."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="targets")
    kind = models.CharField(max_length=8, choices=target_kinds)
    name = models.CharField(max_length=100)
    sealed = models.TextField(editable=False)
    created = models.DateTimeField(db_default=Now(), editable=False)
    failing_since = models.DateTimeField(null=True, editable=False)
    failure = ShortReasonField(max_length=300, blank=True, editable=False)
    last_sent = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **options: Any) -> None:
        """Store the target. Its name is one line."""
        self.name = one_line(self.name, 100)
        super().save(*args, **options)

    @property
    def target_kind(self) -> TargetKind:
        """The class of its kind; the base class for a kind that is known no more, which sends nothing."""
        return KINDS.get(self.kind, TargetKind())

    @property
    def address(self) -> str:
        """The address, decrypted. Raises `secrets.UnreadableError`."""
        return secrets.unseal(self.sealed)

    @address.setter
    def address(self, address: str) -> None:
        self.sealed = secrets.seal(address)

    @property
    def masked(self) -> str:
        """The address as pages show it."""
        try:
            address = self.address
        except secrets.UnreadableError:
            return _("unreadable: give it again")
        display_address = self.target_kind.shown(address)
        return secrets.masked(display_address) if self.target_kind.is_masked else display_address


ARTICLE_CONDITIONS = (
    "looked_in", "expression", "without_expression", "author", "tag", "language", "longer_than",
    "shorter_than", "copies",
)  # fmt: skip
"""ArticleConditions of a rule that only an article can meet, beside its words."""
DEED_FIELDS = ("deeds", "labels")
RULE_FIELDS = (
    "name",
    "when",
    "feed",
    "folder",
    "topic",
    "query",
    "site",
    "page",
    "feeds_at_least",
    "lines_at_least",
    "condition",
    "number",
    "words",
    "without_words",
    *ARTICLE_CONDITIONS,
    "once_a_story",
    "with_brief",
    "pace",
    "hour",
    "weekday",
    "most_an_hour",
    "quiet_from",
    "quiet_until",
    "title_template",
    "text_template",
    "targets",
)
"""The fields of a rule that a person fills in."""
RULE_ABOUT = frozenset(("feed", "folder", "topic", "site", "page"))
"""Those that say what it is about."""


class RuleQuerySet(models.QuerySet["Rule"]):
    """Common queries of rules."""

    def active(self) -> RuleQuerySet:
        """Filter to rules that are not paused, of people whose account is open."""
        return self.filter(paused=False, user__is_active=True)

    def acting(self) -> RuleQuerySet:
        """Filter to rules that do something to articles."""
        return self.filter(~Q(deeds=[]), when=Rule.When.ARTICLE)

    def telling(self) -> RuleQuerySet:
        """Filter to rules that send messages, or would if they had a place to send them to."""
        return self.filter(Q(deeds=[]) | Q(targets__isnull=False)).distinct()


class Rule(models.Model):
    """When something happens, and it is not too often, then a message to each target.

    When an article comes, also a deed: it is muted, marked, labelled, saved or moved up (`notices.rules`).
    """

    class When(models.TextChoices):
        ARTICLE = "article", pgettext_lazy("when", "an article comes")
        STORY = "story", pgettext_lazy("when", "several feeds tell the same story")
        EDIT = "edit", pgettext_lazy("when", "an article is edited after publication")
        MARK = "mark", pgettext_lazy("when", "you highlight words")
        PAGE = "page", pgettext_lazy("when", "a watched page changes")
        FEED = "feed", pgettext_lazy("when", "a feed cannot be read, or can again")
        CRAWL = "crawl", pgettext_lazy("when", "a crawl ends")
        DISK = "disk", pgettext_lazy("when", "the disk is nearly full")

    class Pace(models.TextChoices):
        NOW = "now", pgettext_lazy("pace", "at once")
        DAILY = "daily", pgettext_lazy("pace", "once a day")
        WEEKLY = "weekly", pgettext_lazy("pace", "once a week")

    class Condition(models.TextChoices):
        ANY = "", pgettext_lazy("condition of a value", "any change")
        BELOW = "below", pgettext_lazy("condition of a value", "it is below")
        ABOVE = "above", pgettext_lazy("condition of a value", "it is above")
        FALLS = "falls", pgettext_lazy("condition of a value", "it falls")
        AVAILABLE = "available", pgettext_lazy("condition of a value", "it is available")

    class Deed(models.TextChoices):
        MUTE = "mute", pgettext_lazy("what a rule does", "mute it")
        READ = "read", pgettext_lazy("what a rule does", "mark it read")
        STAR = "star", pgettext_lazy("what a rule does", "star it")
        LABEL = "label", pgettext_lazy("what a rule does", "label it")
        SAVE = "save", pgettext_lazy("what a rule does", "save it")
        UP = "up", pgettext_lazy("what a rule does", "move it up")

    class LookedIn(models.TextChoices):
        ANYWHERE = "", pgettext_lazy("part of an article", "anywhere")
        TITLE = "title", pgettext_lazy("part of an article", "the title")
        TEXT = "text", pgettext_lazy("part of an article", "the text")
        AUTHOR = "author", pgettext_lazy("part of an article", "the author")
        ADDRESS = "address", pgettext_lazy("part of an article", "the address")
        TAG = "tag", pgettext_lazy("part of an article", "the tags")

    BOUNDS = (Condition.BELOW, Condition.ABOVE)
    """ArticleConditions that compare with a number."""
    OPERATORS = (When.CRAWL, When.DISK)
    """Kinds that concern who runs the deployment."""
    OF_ARTICLES = (When.ARTICLE, When.STORY, When.EDIT, When.MARK, When.FEED)
    """Kinds that are about articles and feeds."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="rules")
    name = models.CharField(max_length=200, blank=True)
    when = models.CharField(max_length=8, choices=When, default=When.ARTICLE)
    feed = models.ForeignKey(Feed, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    folder = models.CharField(max_length=400, blank=True)
    topic = models.ForeignKey(Topic, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    query = models.CharField(max_length=300, blank=True)
    site = models.ForeignKey(Site, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    page = models.ForeignKey(WatchedPage, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    feeds_at_least = models.PositiveSmallIntegerField(
        default=3, validators=[MinValueValidator(2), MaxValueValidator(100)]
    )
    lines_at_least = models.PositiveIntegerField(default=1, validators=[MaxValueValidator(100_000)])
    condition = models.CharField(
        max_length=9,
        choices=Condition,
        default=Condition.ANY,
        blank=True,
        help_text="Of a watched page's value; it is told once, when it begins to be met.",
    )
    number = models.FloatField(null=True, blank=True, help_text="The number of the condition.")
    words = models.CharField(max_length=300, blank=True)
    without_words = models.CharField(max_length=300, blank=True)
    looked_in = models.CharField(
        max_length=8,
        choices=LookedIn,
        default=LookedIn.ANYWHERE,
        blank=True,
        help_text="Part of an article in which words and expressions are looked for.",
    )
    expression = models.CharField(
        max_length=LONGEST, blank=True, help_text="A regular expression; its case counts with (?-i) alone."
    )
    without_expression = models.CharField(max_length=LONGEST, blank=True)
    author = models.CharField(max_length=200, blank=True, help_text="Part of an author's name.")
    tag = models.CharField(max_length=200, blank=True, help_text="A tag of the article, as a whole.")
    language = models.CharField(max_length=20, blank=True, help_text="Such as de, which de-AT is, too.")
    longer_than = models.PositiveIntegerField(null=True, blank=True, help_text="Words of the text.")
    shorter_than = models.PositiveIntegerField(null=True, blank=True, help_text="Words of the text.")
    copies = models.BooleanField(
        default=False, db_default=False, help_text="Only what another feed has told before."
    )
    deeds = ArrayField(
        models.CharField(max_length=8, choices=Deed),
        default=list,
        db_default=Value([], ArrayField(models.CharField(max_length=8))),
        blank=True,
        help_text="What is done to the article.",
    )
    labels = ArrayField(
        models.CharField(max_length=LABEL_LENGTH),
        default=list,
        db_default=Value([], ArrayField(models.CharField(max_length=LABEL_LENGTH))),
        blank=True,
        help_text="Those that the article gets.",
    )
    once_a_story = models.BooleanField(default=True)
    with_brief = models.BooleanField(
        default=False, db_default=False, help_text="Digests begin with a brief of the language model."
    )
    pace = models.CharField(max_length=6, choices=Pace, default=Pace.NOW)
    hour = _hour(default=8)
    weekday = models.PositiveSmallIntegerField(default=0, validators=[MaxValueValidator(6)])
    most_an_hour = models.PositiveSmallIntegerField(
        default=10, validators=[MinValueValidator(1), MaxValueValidator(1000)]
    )
    quiet_from = _hour(null=True, blank=True)
    quiet_until = _hour(null=True, blank=True)
    title_template = models.CharField(max_length=200, blank=True)
    text_template = models.TextField(max_length=2000, blank=True)
    targets = models.ManyToManyField(Target, related_name="rules", blank=True)
    paused = models.BooleanField(default=False)
    created = models.DateTimeField(db_default=Now(), editable=False)
    looked = models.DateTimeField(editable=False, help_text="Up to when what happened was looked at.")
    digested = models.DateTimeField(null=True, editable=False, help_text="The last digest's time.")
    acted = models.DateTimeField(
        db_default=Now(), editable=False, help_text="Up to when enriched articles were asked for its deeds."
    )
    changed = models.DateTimeField(auto_now=True, db_default=Now(), editable=False)

    objects = RuleQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["looked"], name="rule_active", condition=Q(paused=False)),
            models.Index(fields=["user"], name="rule_acting", condition=~Q(deeds=[])),
        ]

    def __str__(self) -> str:
        return self.name or capfirst(self.get_when_display())

    def save(self, *args: Any, **options: Any) -> None:
        """Store the rule. Its name is one line: it stands in the subjects of mails."""
        self.name = one_line(self.name, 200)
        super().save(*args, **options)

    def get_absolute_url(self) -> str:
        return reverse("rule" if self.deeds else "notification", args=[self.pk])

    @property
    def conditions(self) -> ArticleConditions:
        """The conditions that an article must meet, beside where it comes from."""
        return ArticleConditions(
            words=self.words,
            without_words=self.without_words,
            **{name: getattr(self, name) for name in ARTICLE_CONDITIONS},
        )


class RuleHit(models.Model):
    """An article that a rule did something to, once: at which time, and what can be undone.

    Marks and events that it made have the same time. An undone hit stays, so that it is not done again.
    """

    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="hits")
    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()
    labels = ArrayField(
        models.CharField(max_length=LABEL_LENGTH), default=list, help_text="Those that it did not have yet."
    )
    undone = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["rule", "article"], name="rule_hit_once")]

    def __str__(self) -> str:
        return f"article {self.article_id} by rule {self.rule_id}"


class Notice(models.Model):
    """Something that a rule has noticed, once by its key; or held back, with the reason."""

    class Held(models.TextChoices):
        NOT = "", pgettext_lazy("held back", "no")
        LIMIT = "limit", pgettext_lazy("held back", "too many within an hour")
        STORY = "story", pgettext_lazy("held back", "its story was told already")

    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="notices")
    key = models.CharField(max_length=80)
    at = models.DateTimeField()
    title = models.CharField(max_length=300)
    text = models.TextField(blank=True)
    url = models.TextField(blank=True, help_text="Of what it is about, on the web.")
    path = models.CharField(max_length=300, blank=True, help_text="Of the page that shows it here.")
    source = models.CharField(max_length=300, blank=True)
    image = models.TextField(blank=True)
    story = models.BigIntegerField(null=True)
    held = models.CharField(max_length=8, choices=Held, blank=True)
    told = models.DateTimeField(null=True, help_text="When messages about it were written.")

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["rule", "key"], name="notice_once")]
        indexes = [
            models.Index(fields=["rule", "at"], name="notice_untold", condition=Q(told__isnull=True, held=""))
        ]

    def __str__(self) -> str:
        return self.title


class NotificationQuerySet(models.QuerySet["Notification"]):
    """Common queries of messages."""

    def due(self, now: datetime) -> NotificationQuerySet:
        """Filter to messages that may be sent now: waiting, or out with a process that has not answered."""
        waiting = Q(state=Notification.State.WAITING, due__lte=now)
        return self.filter(waiting | (Q(state=Notification.State.SENDING) & lease_ended(now)))


class Notification(models.Model):
    """A message to one target. The row is the truth: it is sent until the target took it, or given up."""

    class State(models.TextChoices):
        WAITING = "waiting", pgettext_lazy("state of a message", "waits")
        SENDING = "sending", pgettext_lazy("state of a message", "is being sent")
        SENT = "sent", pgettext_lazy("state of a message", "sent")
        FAILED = "failed", pgettext_lazy("state of a message", "given up")

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notifications")
    rule = models.ForeignKey(Rule, null=True, on_delete=models.SET_NULL, related_name="messages")
    target = models.ForeignKey(Target, null=True, on_delete=models.SET_NULL, related_name="messages")
    target_name = models.CharField(max_length=100)
    key = models.CharField(max_length=120)
    title = models.CharField(max_length=300)
    text = models.TextField()
    html = models.TextField(blank=True)
    facts = models.JSONField(default=dict, help_text="What programs get: kind, url, source and more.")
    created = models.DateTimeField(db_default=Now())
    due = models.DateTimeField()
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    leased_until = models.DateTimeField(null=True)
    sent = models.DateTimeField(null=True)
    failure = ShortReasonField(max_length=300, blank=True)

    objects = NotificationQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["target", "key"], name="message_once")]
        indexes = [
            models.Index(fields=["due"], name="message_open", condition=Q(state__in=["waiting", "sending"])),
            models.Index(fields=["user", "-id"], name="message_of_user"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def shape(self) -> str:
        """The class of the word that shows its state."""
        shapes = {self.State.SENT: "good", self.State.FAILED: "bad"}
        return shapes.get(self.State(self.state), "warn" if self.failure else "learn")


class HubClientQuerySet(models.QuerySet["HubClient"]):
    """Common queries of the hub's clients."""

    def due(self, now: datetime) -> HubClientQuerySet:
        """Filter to those with a request that may be sent now, and that no process sends at present."""
        return self.filter(Q(leased_until=None) | lease_ended(now), due__lte=now)


class HubClient(models.Model):
    """A subscriber of a personal feed at our hub (WebSub). The row holds the next request to its callback.

    `until` is NULL before the program has confirmed. `wanted` is what a request asks for and the program has
    not confirmed yet.
    """

    class Wanted(models.TextChoices):
        NOTHING = "", "nothing"
        SUBSCRIBE = "subscribe", "subscribe"
        UNSUBSCRIBE = "unsubscribe", "unsubscribe"

    personal_feed = models.ForeignKey(PersonalFeed, on_delete=models.CASCADE, related_name="hub_clients")
    topic = models.CharField(
        max_length=MAX_TOPIC, help_text="The feed's address, as the program asked for it."
    )
    callback = models.TextField()
    key = models.UUIDField(unique=True, editable=False, help_text="Digest of topic and callback.")
    sealed_secret = models.TextField(blank=True, editable=False)
    until = models.DateTimeField(null=True)
    wanted = models.CharField(max_length=11, choices=Wanted, blank=True)
    wanted_secret = models.TextField(blank=True, editable=False)
    wanted_seconds = models.PositiveIntegerField(default=0)
    stamp = models.BinaryField(default=b"", help_text="State of the feed when it was last looked at.")
    pushed = models.CharField(max_length=40, blank=True, help_text="Digest of the document last pushed.")
    due = models.DateTimeField(null=True, help_text="When the next request is sent; NULL without one.")
    attempts = models.PositiveSmallIntegerField(default=0)
    leased_until = models.DateTimeField(null=True)
    compared_at = models.DateTimeField(
        null=True, help_text="When the feed was last compared with what it was sent."
    )
    last_pushed = models.DateTimeField(null=True)
    failure = ShortReasonField(max_length=300, blank=True)
    created = models.DateTimeField(db_default=Now(), editable=False)

    objects = HubClientQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["due"], name="hub_client_due", condition=Q(due__isnull=False)),
            models.Index(fields=["topic"], name="hub_client_topic"),
        ]

    def __str__(self) -> str:
        return self.host

    @property
    def host(self) -> str:
        """The host of the program."""
        return urlsplit(self.callback).hostname or ""
