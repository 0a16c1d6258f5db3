"""Documents on their way through the pipeline, the graph that they become, and what is asked of it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import pgettext_lazy

from crawler.database.columns import NameColumn
from crawler.database.reasons import ReasonField
from crawler.engine.leased import LeasedRow
from crawler.engine.models import Host
from crawler.frontier.models import Body, Crawl
from crawler.pipeline.sparql.run import MAX_QUERY_CHARACTERS
from crawler.reading.detect import TYPES
from crawler.web.validators import is_pattern

_XSLT = "http://www.w3.org/1999/XSL/Transform"


def is_stylesheet(content: str) -> None:
    """Refuse text that does not look like a stylesheet. Raises ValidationError."""
    if _XSLT not in content:
        raise ValidationError("this is no XSLT stylesheet: its namespace is missing", code="stylesheet")


class Document(LeasedRow):
    """The latest representation of a URL, and the phase that it has reached."""

    class State(models.TextChoices):
        FETCHED = "fetched", pgettext_lazy("state of a document", "waits for detect")
        DETECTED = "detected", pgettext_lazy("state of a document", "waits for transform")
        TRANSFORMED = "transformed", pgettext_lazy("state of a document", "waits for index")
        INDEXED = "indexed", pgettext_lazy("state of a document", "waits for extract")
        DONE = "done", pgettext_lazy("state of a document", "through")
        DEAD = "dead", pgettext_lazy("state of a document", "dead letter")

    class Source(models.TextChoices):
        CRAWL = "crawl", pgettext_lazy("source of a document", "a crawl")
        ADDRESS = "address", pgettext_lazy("source of a document", "an address given by hand")
        FEED = "feed", pgettext_lazy("source of a document", "a feed")
        ARTICLE = "article", pgettext_lazy("source of a document", "an article's page")

    url = models.TextField()
    key = models.UUIDField(unique=True, editable=False)
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="+")
    source = models.CharField(max_length=7, choices=Source)
    crawl = models.ForeignKey(Crawl, null=True, on_delete=models.SET_NULL, related_name="documents")
    depth = models.PositiveSmallIntegerField(default=0)
    body = models.ForeignKey(
        Body, null=True, on_delete=models.PROTECT, related_name="documents", db_constraint=False
    )
    page = models.BigIntegerField(
        null=True, db_index=True, db_column="page_id", help_text="Key of the article's page that it is."
    )
    content_type = models.CharField(max_length=200, blank=True)
    status = models.PositiveSmallIntegerField(default=200)
    etag = models.TextField(blank=True)
    last_modified = models.TextField(blank=True)
    fetched = models.DateTimeField()

    state = models.CharField(max_length=11, choices=State, default=State.FETCHED)
    type = models.CharField(max_length=12, blank=True)
    reason = models.TextField(blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    transformer = models.CharField(max_length=100, blank=True)
    notes = ArrayField(models.TextField(), default=list, blank=True)
    triples = models.BinaryField(default=b"", help_text="zlib of N-Triples, until they are indexed.")
    quads = models.PositiveIntegerField(default=0)
    version = models.PositiveIntegerField(default=0, help_text="How often its graph has changed.")
    links = models.PositiveIntegerField(default=0, help_text="URLs that extract took from its graph.")

    failed_phase = models.CharField(max_length=9, blank=True)
    failure = models.CharField(max_length=20, blank=True)
    detail = models.TextField(blank=True)
    losses = models.PositiveSmallIntegerField(
        default=0, editable=False, db_column="attempts", help_text="Leases lost in a row."
    )
    leased_until = models.DateTimeField(null=True)
    changed = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["state", "losses", "id"], name="document_waiting",
                condition=Q(lease__isnull=True) & ~Q(state__in=["done", "dead"]),
            ),
            models.Index(fields=["lease"], name="document_lease", condition=Q(lease__isnull=False)),
            models.Index(fields=["state", "-id"], name="document_state"),
            models.Index(fields=["failed_phase", "failure"], name="document_dead", condition=Q(state="dead")),
            models.Index(fields=["fetched"], name="document_fetched"),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.url


class PhaseFigure(models.Model):
    """The work of one worker in one phase within one minute."""

    phase = models.CharField(max_length=9)
    worker = models.CharField(max_length=100)
    minute = models.DateTimeField()
    documents = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0, help_text="Of work, not of waiting.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["phase", "worker", "minute"], name="phase_figure_once")
        ]
        indexes = [models.Index(fields=["minute"], name="phase_figure_minute")]

    def __str__(self) -> str:
        return f"{self.phase} by {self.worker} at {self.minute:%Y-%m-%d %H:%M}"


class GraphChange(models.Model):
    """A changed graph, or only a changed origin: the log that replicas follow."""

    context = models.BigIntegerField(help_text="Key of the graph's name.")
    url = models.TextField()
    version = models.PositiveIntegerField()
    at = models.DateTimeField(db_default=Now())
    added = models.PositiveIntegerField()
    removed = models.PositiveIntegerField()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["context", "-id"], name="graph_change_context")]

    def __str__(self) -> str:
        return f"{self.url}: {self.added} in, {self.removed} out"


class LinkQuery(models.Model):
    """A query of the phase extract: addresses behind these predicates, the heavier first."""

    name = models.CharField(max_length=100, unique=True)
    predicates = ArrayField(models.TextField(), help_text="IRIs of predicates whose objects are followed.")
    weight = models.FloatField(default=0.5, help_text="From 0 to 1: the score in a crawl's queue.")
    enabled = models.BooleanField(default=True)
    hits = models.BigIntegerField(default=0, editable=False)

    class Meta:
        verbose_name_plural = "link queries"
        ordering = ["-weight", "name"]

    def __str__(self) -> str:
        return self.name

    def sparql(self) -> str:
        """Return the query in SPARQL."""
        names = "\n    ".join(f"<{predicate}>" for predicate in self.predicates)
        return (
            "SELECT ?address WHERE {\n"
            f"  VALUES ?predicate {{\n    {names}\n  }}\n"
            "  GRAPH ?document { ?subject ?predicate ?address }\n"
            "}"
        )


class CrawlLead(models.Model):
    """How far the query that leads a crawl was asked: of which graph, and what it named."""

    crawl = models.OneToOneField(Crawl, primary_key=True, on_delete=models.CASCADE, related_name="lead")
    query = models.UUIDField(null=True, help_text="Digest of the query as it was asked.")
    change = models.BigIntegerField(default=-1, help_text="The last change of the graph that it saw.")
    seen = models.DateTimeField(null=True, help_text="When the replica looked for changes.")
    found = models.PositiveIntegerField(default=0, help_text="Addresses that it named.")
    failure = ReasonField(blank=True, default="")
    course: Any = models.JSONField(
        default=list, help_text="[requests, addresses named] of each answer that was another than before."
    )

    def __str__(self) -> str:
        return f"lead of crawl {self.crawl_id}"


class SavedQuery(models.Model):
    """A SPARQL query under a name, for everybody who may ask the graph."""

    name = models.CharField(max_length=200, unique=True)
    query = models.TextField(max_length=MAX_QUERY_CHARACTERS)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    created = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        verbose_name_plural = "saved queries"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('graph-query')}?saved={self.pk}"


class UriFilter(models.Model):
    """A rule on extracted addresses: the first match accepts or rejects. Without a match all pass."""

    pattern = models.CharField(
        max_length=500, validators=[is_pattern],
        help_text="A regular expression, looked for in the address.",
    )  # fmt: skip
    allow = models.BooleanField(default=False)
    position = models.PositiveSmallIntegerField(default=0)
    enabled = models.BooleanField(default=True)
    hits = models.BigIntegerField(default=0, editable=False)

    class Meta:
        ordering = ["position", "id"]

    def __str__(self) -> str:
        return f"{'allow' if self.allow else 'deny'} {self.pattern}"


class Transformer(models.Model):
    """A user's way to make triples of documents, and the documents it is meant for."""

    name = models.CharField(max_length=100, unique=True)
    types = ArrayField(
        NameColumn(max_length=12, names=TYPES), default=list, blank=True,
        help_text="Types of documents, such as html, xml or rss-2.0; empty: all.",
    )  # fmt: skip
    pattern = models.CharField(
        max_length=500, blank=True, validators=[is_pattern],
        help_text="A regular expression on the address; empty: every address.",
    )  # fmt: skip
    enabled = models.BooleanField(default=True)

    class Meta:
        abstract = True
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Stylesheet(Transformer):
    """An XSLT 1.0 stylesheet that turns documents into RDF/XML, beside our own; it gets a parameter `url`."""

    grddl = models.CharField(
        max_length=500, blank=True,
        help_text="Its own address: then only for documents that name it as their transformation (GRDDL).",
    )  # fmt: skip
    content = models.TextField(
        validators=[is_stylesheet], help_text="The stylesheet. It reaches no file and no network."
    )


class HttpTransformer(Transformer):
    """A plug-in: a service that receives documents by POST and returns RDF in any of five formats."""

    address = models.URLField(
        max_length=500, validators=[URLValidator(schemes=["http", "https"])],
        help_text="Documents are sent there as they came, their own address in Content-Location. It answers "
        "within 5 s in N-Triples, N-Quads, Turtle, RDF/XML or JSON-LD, or with 204 for nothing.",
    )  # fmt: skip

    class Meta(Transformer.Meta):
        verbose_name = "HTTP transformer"
