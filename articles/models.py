"""Articles and their pages; subscribers, their subscriptions, topics, marks and personal feeds."""

from __future__ import annotations

import secrets
from typing import cast

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import pgettext_lazy

from articles.operators import split_operators
from articles.search import ArticleVector, article_condition
from crawler.database.readers import visible
from crawler.engine.leased import LeasedRow
from crawler.web.syndication.item import title_of

LABEL_LENGTH = 100
NO_LABELS = Value([], ArrayField(models.CharField(max_length=LABEL_LENGTH)))


class Page(LeasedRow):
    """The web page of one or more articles, downloaded once however many feeds link to it."""

    class Status(models.TextChoices):
        WAITING = "waiting", pgettext_lazy("state of a page", "waiting")
        STORED = "stored", pgettext_lazy("state of a page", "stored")
        REFUSED = "refused", pgettext_lazy("state of a page", "refused by robots.txt")
        FAILED = "failed", pgettext_lazy("state of a page", "given up")

    url = models.TextField()
    url_key = models.UUIDField(unique=True, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        help_text="With whose logins it was fetched; it is no other person's page.",
    )
    host = models.ForeignKey("crawler.Host", on_delete=models.PROTECT, related_name="pages")
    requested = models.BooleanField(
        default=False, db_default=False, help_text="A person saved it, so that robots.txt is not asked."
    )
    imported = models.BooleanField(
        default=False, db_default=False, help_text="Saved with thousands of a file: others come first."
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING)
    not_before = models.DateTimeField(db_default=Now())
    attempts = models.PositiveSmallIntegerField(default=0)
    failure = models.CharField(max_length=40, blank=True)
    failure_detail = models.TextField(blank=True)
    fetched = models.DateTimeField(null=True, blank=True)
    html = models.BinaryField(default=b"", help_text="zlib of the body as received.")
    content_type = models.CharField(max_length=200, blank=True)
    reading = models.CharField(
        max_length=8, default="1", help_text="Version of what read it (articles.messages)."
    )
    title = models.TextField(blank=True)
    text = models.TextField(blank=True)
    content = models.TextField(blank=True, help_text="Sanitised HTML of the main content.")
    image = models.TextField(blank=True, help_text="Address of the picture that the page names for previews.")
    language = models.CharField(max_length=20, blank=True)
    author = models.TextField(blank=True)
    published = models.DateTimeField(null=True, blank=True)
    canonical_url = models.TextField(blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["host", "id"], name="page_waiting", condition=Q(status="waiting", lease__isnull=True)
            ),
            models.Index(fields=["lease"], name="page_lease", condition=Q(lease__isnull=False)),
            models.Index(fields=["failure"], name="page_failure", condition=~Q(failure="")),
            models.Index(fields=["fetched"], name="page_fetched"),
            models.Index(fields=["reading", "-id"], name="page_reading", condition=Q(status="stored")),
        ]

    def __str__(self) -> str:
        return self.url


class ArticleQuerySet(models.QuerySet["Article"]):
    """Common queries of articles."""

    def newest_first(self) -> ArticleQuerySet:
        """Order by time of publication, newest first, ties by id."""
        return self.order_by("-published", "-id")

    def search(
        self, words: str, language: str = "", *, typing: bool = False, by_words: bool = True
    ) -> ArticleQuerySet:
        """Filter to articles that match a web-style query in title, author or text, and its operators.

        With `typing`, the last word may be the beginning of one. Without `by_words` its operators are all
        that counts.
        """
        plain, operators = split_operators(words)
        is_filtered = plain and by_words
        articles = self.filter(article_condition(plain, language, typing=typing)) if is_filtered else self
        for operator in operators:
            articles = articles.filter(operator.condition)
        return articles

    def public(self) -> ArticleQuerySet:
        """Filter to articles that are everybody's."""
        return self.filter(owner__isnull=True)


_ArticleManager = models.Manager.from_queryset(ArticleQuerySet)


class ArticleManager(_ArticleManager["Article"]):
    """Articles without those that belong to another person than the one who reads."""

    def get_queryset(self) -> ArticleQuerySet:
        return cast(ArticleQuerySet, visible(super().get_queryset()))


class Article(models.Model):
    """An entry of a feed, stored once. `text` is the page's main text, else the text from the feed."""

    class Dating(models.TextChoices):
        FEED = "feed", pgettext_lazy("source of a date", "the feed's date")
        PAGE = "page", pgettext_lazy("source of a date", "the page's date")
        FETCHED = "fetched", pgettext_lazy("source of a date", "the time of retrieval (no usable date given)")
        SAVED = "saved", pgettext_lazy("source of a date", "the time at which it was saved")

    feed = models.ForeignKey("feeds.Feed", on_delete=models.CASCADE, related_name="articles", db_index=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        help_text="As of its feed.",
    )
    identity = models.TextField()
    identity_key = models.UUIDField(editable=False)
    url = models.TextField(blank=True)
    page = models.ForeignKey(Page, null=True, blank=True, on_delete=models.SET_NULL, related_name="articles")
    title = models.TextField(blank=True)
    author = models.TextField(blank=True)
    category = models.TextField(blank=True)
    categories = ArrayField(models.TextField(), default=list, blank=True)
    language = models.CharField(max_length=20, blank=True)
    published = models.DateTimeField(help_text="When it appeared, as far as known.")
    dating = models.CharField(max_length=10, choices=Dating)
    fetched = models.DateTimeField()
    delay = models.FloatField(
        null=True, help_text="Seconds from publication to retrieval, where both are sure."
    )
    summary = models.TextField(blank=True, help_text="Sanitised HTML from the feed.")
    content = models.TextField(blank=True, help_text="Sanitised HTML from the feed.")
    text = models.TextField(blank=True)
    text_length = models.PositiveIntegerField(default=0)
    enclosures = models.JSONField(default=list, blank=True)
    details = models.JSONField(
        default=dict,
        blank=True,
        help_text="The rest of what the feed says of it (crawler.reading.documents).",
    )
    image = models.TextField(blank=True, help_text="Address of the picture that stands for it in lists.")
    revision = models.PositiveSmallIntegerField(default=0, help_text="How often the feed rewrote the entry.")
    updated = models.DateTimeField(db_default=Now(), help_text="When this row last changed.")
    search = models.GeneratedField(
        expression=ArticleVector(F("language"), F("title"), F("author"), F("text")),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    objects = ArticleManager()

    class Meta:
        ordering = ["-published", "-id"]
        indexes = [
            models.Index(fields=["-published", "-id"], name="article_newest"),
            models.Index(fields=["feed", "-published", "-id"], name="article_feed_newest"),
            models.Index(fields=["feed", "id"], name="article_feed_id"),
            models.Index(fields=["-fetched"], name="article_fetched"),
            models.Index(fields=["language", "-published"], name="article_language"),
            models.Index(fields=["category", "-published"], name="article_category"),
            models.Index(fields=["owner"], name="article_owner", condition=Q(owner__isnull=False)),
            GinIndex(fields=["search"], name="article_search"),
            GinIndex(fields=["categories"], name="article_tags"),
        ]
        constraints = [models.UniqueConstraint(fields=["feed", "identity_key"], name="article_once_a_feed")]

    def __str__(self) -> str:
        """Return the title, else the first words of the text (posts of Mastodon and Bluesky have none)."""
        text = "" if "text" in self.get_deferred_fields() else self.text
        return title_of(self.title, text) if text or self.title else self.url or self.identity

    def get_absolute_url(self) -> str:
        return reverse("article", args=[self.pk])


class Subscriber(models.Model):
    """A person who follows feeds and signs in as a user."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="subscriber")
    created = models.DateTimeField(db_default=Now(), editable=False)
    folders = ArrayField(
        models.CharField(max_length=400),
        default=list,
        blank=True,
        help_text="Folders that stay when no feed is in them.",
    )

    def __str__(self) -> str:
        return self.user.get_username()


class Subscription(models.Model):
    """A feed followed by a subscriber, in a folder of theirs ("News/Technology")."""

    subscriber = models.ForeignKey(Subscriber, on_delete=models.CASCADE, related_name="subscriptions")
    feed = models.ForeignKey("feeds.Feed", on_delete=models.CASCADE, related_name="subscriptions")
    folder = models.CharField(max_length=400, blank=True, help_text="Folders within folders with / between.")
    title = models.CharField(max_length=400, blank=True, help_text="The subscriber's own name for the feed.")
    created = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["folder", "id"]
        constraints = [models.UniqueConstraint(fields=["subscriber", "feed"], name="subscription_once")]

    def __str__(self) -> str:
        return f"{self.subscriber} follows {self.feed}"


class Topic(models.Model):
    """A keyword, category or site that a subscriber follows, whichever feed it appears in."""

    class Kind(models.TextChoices):
        KEYWORD = "keyword", pgettext_lazy("kind of topic", "keyword")
        CATEGORY = "category", pgettext_lazy("kind of topic", "category")
        SITE = "site", pgettext_lazy("kind of topic", "site")

    subscriber = models.ForeignKey(Subscriber, on_delete=models.CASCADE, related_name="topics")
    kind = models.CharField(max_length=8, choices=Kind)
    value = models.CharField(max_length=200, help_text="The word or phrase, the category, or the host name.")
    created = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["kind", "value"]
        constraints = [models.UniqueConstraint(fields=["subscriber", "kind", "value"], name="topic_once")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.value}"


class Mark(models.Model):
    """A subscriber's mark on an article: the times of reading and starring, and labels.

    An article without a mark, or with `read` NULL, is unread. A rule may have `muted` it, so that no list
    has it, or `raised` it, so that it comes first among what interests the subscriber.
    """

    subscriber = models.ForeignKey(Subscriber, on_delete=models.CASCADE, related_name="marks")
    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="marks")
    read = models.DateTimeField(null=True, blank=True)
    starred = models.DateTimeField(null=True, blank=True)
    labels = ArrayField(
        models.CharField(max_length=LABEL_LENGTH),
        default=list,
        db_default=NO_LABELS,
        blank=True,
        help_text="The subscriber's own words for it, sorted.",
    )
    muted = models.DateTimeField(null=True, blank=True)
    raised = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["subscriber", "article"], name="mark_once")]
        indexes = [
            models.Index(
                fields=["subscriber", "article"], name="mark_muted", condition=Q(muted__isnull=False)
            ),
            models.Index(
                fields=["subscriber", "article"], name="mark_raised", condition=Q(raised__isnull=False)
            ),
            models.Index(
                fields=["subscriber", "-starred"], name="mark_starred", condition=Q(starred__isnull=False)
            ),
            models.Index(fields=["subscriber", "article"], name="mark_labelled", condition=~Q(labels=[])),
        ]

    def __str__(self) -> str:
        return f"{self.subscriber}'s mark on article {self.article_id}"


class PersonalFeed(models.Model):
    """A feed made for one subscriber: a filter over the articles they follow, served at a secret address."""

    class Body(models.TextChoices):
        FULL = "full", pgettext_lazy("text of an article", "full text")
        SUMMARY = "summary", pgettext_lazy("text of an article", "summary")

    class Order(models.TextChoices):
        NEWEST = "newest", pgettext_lazy("order of articles", "newest first")
        INTEREST = "interest", pgettext_lazy("order of articles", "by interest")

    subscriber = models.ForeignKey(Subscriber, on_delete=models.CASCADE, related_name="personal_feeds")
    name = models.CharField(max_length=200)
    folder = models.CharField(max_length=400, blank=True, help_text="Only this folder and those inside it.")
    query = models.CharField(
        max_length=300, blank=True, help_text="A search over all articles, in place of those followed."
    )
    include = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    exclude = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    categories = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    body = models.CharField(max_length=10, choices=Body, default=Body.FULL)
    order = models.CharField(max_length=10, choices=Order, default=Order.NEWEST)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["subscriber", "name"], name="personal_feed_name")]

    def __str__(self) -> str:
        return self.name


class FeedVersion(models.Model):
    """A counter of the changes to a feed's articles (`articles.personal.versions`)."""

    feed = models.OneToOneField(
        "feeds.Feed", on_delete=models.CASCADE, primary_key=True, related_name="version"
    )
    version = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"version {self.version} of feed {self.feed_id}"


class PersonalPage(models.Model):
    """The validators of a document as it was built last, to answer conditional requests without building it
    again.
    """

    personal_feed = models.ForeignKey(PersonalFeed, on_delete=models.CASCADE, related_name="pages")
    kind = models.CharField(max_length=8)
    number = models.PositiveIntegerField()
    stamp = models.BinaryField()
    digest = models.CharField(max_length=32, help_text="Of the document's bytes; the strong validator.")
    changed = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["personal_feed", "kind", "number"], name="personal_page_once")
        ]

    def __str__(self) -> str:
        return f"page {self.number} of {self.personal_feed} as {self.kind}"


def new_token() -> str:
    """Return 256 random bits, safe in a URL."""
    return secrets.token_urlsafe(32)


class PersonalFeedToken(models.Model):
    """A secret address of a personal feed. A revoked address stays, so that it can answer 410."""

    token = models.CharField(max_length=64, unique=True, default=new_token, editable=False)
    personal_feed = models.ForeignKey(
        PersonalFeed, null=True, on_delete=models.SET_NULL, related_name="tokens"
    )
    created = models.DateTimeField(db_default=Now(), editable=False)
    revoked = models.DateTimeField(null=True, blank=True)
    last_read = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["personal_feed"], name="one_valid_token", condition=Q(revoked__isnull=True)
            )
        ]

    def __str__(self) -> str:
        return f"token of {self.personal_feed}"


class CarriedMark(models.Model):
    """A mark that a subscriber brought from elsewhere for an article that is not stored here yet."""

    subscriber = models.ForeignKey(Subscriber, on_delete=models.CASCADE, related_name="carried_marks")
    feed = models.ForeignKey("feeds.Feed", on_delete=models.CASCADE, related_name="+")
    identity_key = models.UUIDField()
    read = models.DateTimeField(null=True)
    starred = models.DateTimeField(null=True)
    labels = ArrayField(models.CharField(max_length=LABEL_LENGTH), default=list, db_default=NO_LABELS)
    created = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["subscriber", "feed", "identity_key"], name="carried_mark_once")
        ]

    def __str__(self) -> str:
        return f"of {self.subscriber} in {self.feed_id}"
