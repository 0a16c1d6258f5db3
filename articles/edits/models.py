"""Versions of articles, pages that are to be looked at again, and how often each site edits."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import pgettext_lazy

from crawler.engine.leased import LeasedRow


class ArticleVersion(models.Model):
    """A text that an article had. The first is the one before its first edit.

    The texts of the first and the last version are stored whole, those between as differences from the one
    before. `digest` is the hash of the version and of all before it (`articles.edits.differences.chained`).
    """

    class Shown(models.TextChoices):
        FEED = "feed", pgettext_lazy("what showed a version", "its feed")
        PAGE = "page", pgettext_lazy("what showed a version", "its page")

    article = models.ForeignKey(
        "articles.Article", on_delete=models.CASCADE, related_name="versions", db_index=False
    )
    number = models.PositiveSmallIntegerField()
    seen = models.DateTimeField(help_text="When it was seen first.")
    shown_by = models.CharField(max_length=4, choices=Shown)
    title = models.TextField(blank=True)
    body = models.BinaryField(default=b"", help_text="The text, whole or as a difference; zlib.")
    is_whole = models.BooleanField(default=True)
    length = models.PositiveIntegerField(default=0, help_text="Characters of the text.")
    kinds = ArrayField(models.CharField(max_length=20), default=list, help_text="What was edited.")
    words = models.PositiveIntegerField(default=0, help_text="Words that differ from the version before.")
    added = models.PositiveIntegerField(default=0, help_text="Sentences that came.")
    removed = models.PositiveIntegerField(default=0, help_text="Sentences that went.")
    change = ArrayField(
        models.CharField(max_length=60), default=list, help_text="A number or name, before and after."
    )
    digest = models.BinaryField(max_length=32)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["article", "number"], name="version_once")]
        indexes = [
            models.Index(fields=["-seen", "-id"], name="version_newest", condition=Q(number__gt=1)),
        ]

    def __str__(self) -> str:
        return f"version {self.number} of {self.article_id}"


class PageRecheck(LeasedRow):
    """A page of a new article that is to be looked at again; gone after its last look."""

    page = models.OneToOneField("articles.Page", on_delete=models.CASCADE, related_name="recheck")
    host = models.ForeignKey("crawler.Host", on_delete=models.CASCADE, related_name="+", db_index=False)
    since = models.DateTimeField(help_text="When the page was downloaded first.")
    rung = models.PositiveSmallIntegerField(default=0, help_text="The look that is next.")
    due = models.DateTimeField()
    is_chosen = models.BooleanField(default=False, help_text="The budget allows its next look.")
    not_before = models.DateTimeField()
    etag = models.TextField(blank=True)
    last_modified = models.TextField(blank=True)
    failure = models.CharField(max_length=40, blank=True, help_text="What the last look failed by.")
    gone = models.PositiveSmallIntegerField(default=0, help_text="Looks in a row at which it was gone.")

    class Meta:
        indexes = [
            models.Index(
                fields=["host", "id"], name="recheck_chosen", condition=Q(is_chosen=True, lease__isnull=True)
            ),
            models.Index(fields=["due"], name="recheck_due", condition=Q(is_chosen=False)),
            models.Index(fields=["lease"], name="recheck_lease", condition=Q(lease__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"look {self.rung + 1} at page {self.page_id}"


class HostEdits(models.Model):
    """How many looks at a site's articles found an edit, by how long after the publication they were."""

    host = models.OneToOneField(
        "crawler.Host", on_delete=models.CASCADE, related_name="edits", primary_key=True
    )
    looks = ArrayField(models.FloatField(), default=list)
    edits = ArrayField(models.FloatField(), default=list)

    def __str__(self) -> str:
        return f"edits of {self.host_id}"


class RecheckHour(models.Model):
    """Looks in an hour: what was spent of the budget for them."""

    hour = models.DateTimeField(primary_key=True)
    looks = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.looks} looks at {self.hour}"
