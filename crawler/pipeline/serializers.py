"""Documents, phases, rules and quads as the API shows and takes them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from crawler.pipeline.models import (
    Document,
    HttpTransformer,
    LinkQuery,
    SavedQuery,
    Stylesheet,
    UriFilter,
    is_stylesheet,
)
from crawler.web.fields import NumberField, RowSerializer, TextField


class DocumentSerializer(serializers.ModelSerializer[Document]):
    """A document and the phase that it has reached."""

    attempts = serializers.IntegerField(source="losses", read_only=True, help_text="Leases lost in a row.")

    class Meta:
        model = Document
        fields = [
            "id", "url", "source", "crawl", "content_type", "status", "fetched", "state", "type", "reason",
            "sha256", "transformer", "notes", "quads", "version", "links", "failed_phase", "failure",
            "detail", "attempts", "changed",
        ]  # fmt: skip
        read_only_fields = fields


class AgainSerializer(serializers.Serializer[Any]):
    """Which dead letters to send again; all without either."""

    failed_phase = TextField(required=False, max_length=9)
    failure = TextField(required=False, max_length=20)


class SentSerializer(serializers.Serializer[Any]):
    """How many were sent again."""

    sent = serializers.IntegerField()


class PhaseSerializer(serializers.Serializer[Any]):
    """The finished and the waiting work of a phase."""

    phase = serializers.CharField()
    documents = serializers.IntegerField()
    failures = serializers.IntegerField()
    seconds = serializers.FloatField()
    pages_per_second = serializers.FloatField(allow_null=True)
    paper_pages_per_second = serializers.FloatField()
    waiting = serializers.IntegerField()


class ProgressSerializer(serializers.Serializer[Any]):
    """Documents in steps of ten minutes: when they start, and by phase a count for each of them."""

    starts = serializers.ListField(child=serializers.DateTimeField())
    documents = serializers.DictField(child=serializers.ListField(child=serializers.IntegerField()))


class LinkQuerySerializer(RowSerializer[LinkQuery]):
    """A query of the phase extract."""

    sparql = serializers.CharField(read_only=True)
    weight = NumberField(min_value=0, max_value=1, default=0.5)

    class Meta:
        model = LinkQuery
        fields = ["id", "name", "predicates", "weight", "enabled", "hits", "sparql"]
        read_only_fields = ["id", "hits", "sparql"]


class UriFilterSerializer(RowSerializer[UriFilter]):
    """A rule on addresses."""

    class Meta:
        model = UriFilter
        fields = ["id", "pattern", "allow", "position", "enabled", "hits"]
        read_only_fields = ["id", "hits"]


class StylesheetSerializer(RowSerializer[Stylesheet]):
    """A stylesheet beside our own."""

    class Meta:
        model = Stylesheet
        fields = ["id", "name", "types", "pattern", "grddl", "content", "enabled"]
        read_only_fields = ["id"]
        extra_kwargs = {"content": {"max_length": 1_000_000}}


class TrialSerializer(serializers.Serializer[Any]):
    """A stylesheet to try, and the address of a document here; without one, the newest."""

    content = serializers.CharField(max_length=1_000_000, validators=[is_stylesheet])
    document = serializers.CharField(max_length=4_096, required=False, default="")


class TrialAnswerSerializer(serializers.Serializer[Any]):
    """Statements that a stylesheet makes of a document, as N-Triples."""

    document = serializers.CharField()
    statements = serializers.ListField(child=serializers.CharField())


class HttpTransformerSerializer(RowSerializer[HttpTransformer]):
    """A plug-in behind HTTP."""

    class Meta:
        model = HttpTransformer
        fields = ["id", "name", "types", "pattern", "address", "enabled"]
        read_only_fields = ["id"]


class SavedQuerySerializer(RowSerializer[SavedQuery]):
    """A SPARQL query that everybody who may ask the graph finds under its name."""

    author = serializers.CharField(source="author.username", default="", read_only=True)
    page = serializers.CharField(source="get_absolute_url", read_only=True)

    class Meta:
        model = SavedQuery
        fields = ["id", "name", "query", "author", "page", "created"]
        read_only_fields = ["id", "created"]


class QuestionSerializer(serializers.Serializer[Any]):
    """A question to the graph in words, with its SPARQL."""

    slug = serializers.CharField()
    audience = serializers.CharField()
    text = serializers.CharField()
    explanation = serializers.CharField()
    query = serializers.CharField()


class PatternSerializer(serializers.Serializer[Any]):
    """A pattern of quads: each term as N-Triples spells it, or a bare address."""

    subject = TextField(required=False, max_length=100_000, default="")
    predicate = TextField(required=False, max_length=100_000, default="")
    object = TextField(required=False, max_length=100_000, default="")
    context = TextField(required=False, max_length=100_000, default="")  # type: ignore[assignment]
    limit = serializers.IntegerField(min_value=1, max_value=10_000, default=1000)


class QuadSerializer(serializers.Serializer[Any]):
    """A quad, each term as N-Triples spells it."""

    subject = serializers.CharField(source="subject.n3")
    predicate = serializers.CharField(source="predicate.n3")
    object = serializers.CharField(source="object.n3")
    context = serializers.CharField(source="context.n3")  # type: ignore[assignment]


class HitSerializer(serializers.Serializer[Any]):
    """A quad whose literal matched the words."""

    rank = serializers.FloatField()
    quad = QuadSerializer()
