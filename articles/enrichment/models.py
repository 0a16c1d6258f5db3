"""Enrichments with their states, counts of terms, the classifier, and stories."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import pgettext_lazy


class Story(models.Model):
    """Articles of several feeds with the same text. Taking a story apart deletes no article."""

    created = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        verbose_name_plural = "stories"

    def __str__(self) -> str:
        return f"story {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("story", args=[self.pk])


class EnrichmentQuerySet(models.QuerySet["Enrichment"]):
    """Common queries of enrichments."""

    def waiting(self) -> EnrichmentQuerySet:
        """Filter to waiting enrichments: those never tried first, then by the newest articles."""
        return self.filter(state=Enrichment.State.WAITING).order_by("attempts", "-article_id")

    def outdated(self, versions: str) -> EnrichmentQuerySet:
        """Filter to enrichments made by other versions of the components."""
        return self.filter(state=Enrichment.State.DONE).exclude(versions=versions)


class Enrichment(models.Model):
    """The enrichment of an article, created by a trigger when the article is stored or its text changes.

    It is `waiting` until enriched. `keywords` are [term, weight] pairs, heaviest first. The categories named
    by the feed stay with the article; `category` is one of the deployment's own names (its feeds'
    categories) or a topic's (`topics.py`), and `category_reason` the article's tag that means it.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    class Source(models.TextChoices):
        NONE = "", pgettext_lazy("source of a category", "none")
        TAGS = "tags", pgettext_lazy("source of a category", "the article's own tags")
        FEED = "feed", pgettext_lazy("source of a category", "the feed's category")
        LEARNED = "learned", pgettext_lazy("source of a category", "learned from labelled articles")

    class Reason(models.TextChoices):
        ALONE = "", pgettext_lazy("reason for a story", "alone")
        ADDRESS = "address", pgettext_lazy("reason for a story", "same canonical address")
        TEXT = "text", pgettext_lazy("reason for a story", "same text")
        APART = "apart", pgettext_lazy("reason for a story", "taken apart by a person")

    article = models.OneToOneField(
        "articles.Article", on_delete=models.CASCADE, primary_key=True, related_name="enrichment"
    )
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    failure = models.TextField(blank=True)
    versions = models.CharField(max_length=80, blank=True, help_text="Of the components that made this.")
    language = models.CharField(max_length=20, blank=True)
    keywords = models.JSONField(default=list, blank=True)
    terms = ArrayField(models.TextField(), default=list, blank=True, help_text="The keywords, for search.")
    category = models.CharField(max_length=200, blank=True)
    category_source = models.CharField(max_length=8, choices=Source, blank=True)
    category_reason = models.CharField(
        max_length=200, blank=True, db_default="", help_text="The article's tag that means the category."
    )
    confidence = models.FloatField(default=0.0, help_text="Of a learned category, from 0 to 1.")
    summary = models.TextField(blank=True, help_text="Three sentences of the text.")
    counted = models.CharField(max_length=8, blank=True, help_text="Version of the words counted once.")
    trained = models.BooleanField(default=False, help_text="The classifier has learned from it.")
    address = models.UUIDField(null=True, blank=True, editable=False, help_text="Of its page, canonical.")
    shingles = models.PositiveIntegerField(default=0)
    signature = models.BinaryField(default=b"", help_text="MinHash of the text's shingles.")
    bands = ArrayField(models.BigIntegerField(), default=list, blank=True)
    story = models.ForeignKey(Story, null=True, blank=True, on_delete=models.SET_NULL, related_name="members")
    reason = models.CharField(max_length=8, choices=Reason, blank=True)
    similarity = models.FloatField(default=0.0, help_text="With the member it joined by, from 0 to 1.")
    at = models.DateTimeField(null=True, blank=True)

    objects = EnrichmentQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["attempts", "-article"], name="enrichment_waiting", condition=Q(state="waiting")
            ),
            models.Index(fields=["state"], name="enrichment_failed", condition=Q(state="failed")),
            models.Index(fields=["versions"], name="enrichment_versions"),
            models.Index(fields=["category", "-article"], name="enrichment_category"),
            models.Index(fields=["address"], name="enrichment_address", condition=Q(address__isnull=False)),
            GinIndex(fields=["bands"], name="enrichment_bands"),
            GinIndex(fields=["terms"], name="enrichment_terms"),
        ]

    def __str__(self) -> str:
        return f"enrichment of article {self.pk}"


class TermCount(models.Model):
    """The number of articles of a language with a term; the empty term counts all articles."""

    language = models.CharField(max_length=8)
    term = models.CharField(max_length=64)
    documents = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["language", "term"], name="term_once")]

    def __str__(self) -> str:
        return f"{self.term} ({self.language})"


class Classifier(models.Model):
    """The deployment's linear classifier of categories: its classes, examples and weights."""

    version = models.CharField(max_length=8)
    classes = ArrayField(models.CharField(max_length=200), default=list)
    examples = ArrayField(models.PositiveIntegerField(), default=list, help_text="Articles by class.")
    weights = models.BinaryField(default=b"")
    changed = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"classifier of {len(self.classes)} categories"
