"""Saved pages and highlights as the API shows and takes them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from rest_framework import serializers

from articles.models import LABEL_LENGTH, Page
from articles.personal.labels import MAX_LABELS
from articles.saved.models import MAX_NOTE, MAX_QUOTE, Highlight, SavedImport, SavedPage
from articles.saved.saving import MAX_TITLE
from crawler.web.fields import TextField

MAX_ADDRESS = 4000
STATES = {
    Page.Status.WAITING: "waiting",
    Page.Status.STORED: "stored",
    Page.Status.REFUSED: "failed",
    Page.Status.FAILED: "failed",
}


def tags_field(**options: Any) -> serializers.ListField:
    """Return a field of tags."""
    return serializers.ListField(
        child=TextField(max_length=LABEL_LENGTH), max_length=MAX_LABELS, required=False, **options
    )


class NewSavedSerializer(serializers.Serializer[Any]):
    """A page to save."""

    url = TextField(max_length=MAX_ADDRESS)
    title = TextField(max_length=MAX_TITLE, required=False, allow_blank=True)
    tags = tags_field()
    note = TextField(max_length=MAX_NOTE, required=False, allow_blank=True)


class ChangedSavedSerializer(serializers.Serializer[Any]):
    """Changes of a saved page; `tags` are all that it has from then on."""

    title = TextField(max_length=MAX_TITLE, required=False)
    tags = tags_field()
    note = TextField(max_length=MAX_NOTE, required=False, allow_blank=True)
    read = serializers.BooleanField(required=False)
    starred = serializers.BooleanField(required=False)


class SavedSerializer(serializers.ModelSerializer[SavedPage]):
    """A saved page. `id` is that of its article, by which the other addresses of the API take it."""

    id = serializers.IntegerField(source="article_id", read_only=True)
    article = serializers.IntegerField(source="article_id", read_only=True)
    url = serializers.CharField(source="article.url", read_only=True)
    title = serializers.CharField(source="article.title", read_only=True)
    author = serializers.CharField(source="article.author", read_only=True)
    language = serializers.CharField(source="article.language", read_only=True)
    published = serializers.SerializerMethodField(help_text="When it appeared, where that is known.")
    text_length = serializers.IntegerField(source="article.text_length", read_only=True)
    tags = serializers.SerializerMethodField()
    read = serializers.SerializerMethodField()
    starred = serializers.SerializerMethodField()
    highlights = serializers.SerializerMethodField(help_text="How many there are.")
    state = serializers.SerializerMethodField(
        help_text='"waiting" while its page is still to be read, "stored", or "failed".'
    )
    failure = serializers.CharField(source="article.page.failure", default="", read_only=True)
    failure_detail = serializers.CharField(source="article.page.failure_detail", default="", read_only=True)

    class Meta:
        model = SavedPage
        fields = [
            "id", "article", "url", "title", "author", "language", "published", "saved", "way", "note",
            "tags", "read", "starred", "highlights", "text_length", "state", "failure", "failure_detail",
        ]  # fmt: skip
        read_only_fields = fields

    def get_published(self, row: SavedPage) -> datetime | None:
        return row.published or (row.article.page.published if row.article.page else None)

    def get_tags(self, row: SavedPage) -> list[str]:
        return getattr(row, "labels", None) or []

    def get_read(self, row: SavedPage) -> bool:
        return getattr(row, "was_read", None) is not None

    def get_starred(self, row: SavedPage) -> bool:
        return getattr(row, "was_starred", None) is not None

    def get_highlights(self, row: SavedPage) -> int:
        return getattr(row, "highlight_count", 0) or 0

    def get_state(self, row: SavedPage) -> str:
        page = row.article.page
        return STATES[Page.Status(page.status)] if page else "stored"


class SavedImportSerializer(serializers.ModelSerializer[SavedImport]):
    """A file of saved pages: how far it is, and what could not be taken or read."""

    waiting = serializers.IntegerField(read_only=True, help_text="Pages whose texts are still to come.")
    stored = serializers.IntegerField(read_only=True)
    failed = serializers.IntegerField(read_only=True, help_text="Pages that could not be read.")

    class Meta:
        model = SavedImport
        fields = [
            "id", "name", "program", "created", "total", "position", "known", "waiting", "stored", "failed",
            "problem_count", "problems",
        ]  # fmt: skip
        read_only_fields = fields


class FailedPageSerializer(serializers.ModelSerializer[SavedPage]):
    """A saved page that could not be read, and why."""

    id = serializers.IntegerField(source="article_id", read_only=True)
    url = serializers.CharField(source="article.url", read_only=True)
    title = serializers.CharField(source="article.title", read_only=True)
    failure = serializers.CharField(source="article.page.failure", read_only=True)
    failure_detail = serializers.CharField(source="article.page.failure_detail", read_only=True)

    class Meta:
        model = SavedPage
        fields = ["id", "url", "title", "saved", "failure", "failure_detail"]
        read_only_fields = fields


class HighlightSerializer(serializers.ModelSerializer[Highlight]):
    """A highlight. `fits` is false where the article's text has changed so that it is not in it any more."""

    article_title = serializers.CharField(source="article.title", read_only=True)
    article_url = serializers.CharField(source="article.url", read_only=True)
    tags = tags_field()
    quote = TextField(max_length=MAX_QUOTE, trim_whitespace=True)
    note = TextField(max_length=MAX_NOTE, required=False, allow_blank=True)
    start = serializers.IntegerField(read_only=True)
    end = serializers.IntegerField(read_only=True)
    before = TextField(
        max_length=MAX_QUOTE, required=False, allow_blank=True, trim_whitespace=False,
        help_text="What stands before the words, where they stand in the article more than once.",
    )  # fmt: skip
    after = TextField(max_length=MAX_QUOTE, required=False, allow_blank=True, trim_whitespace=False)
    fits = serializers.SerializerMethodField()

    class Meta:
        model = Highlight
        fields = [
            "id", "article", "article_title", "article_url", "quote", "before", "after", "start", "end",
            "color", "note", "tags", "fits", "created", "changed",
        ]  # fmt: skip
        read_only_fields = ["id", "created", "changed"]

    def get_fits(self, row: Highlight) -> bool:
        from articles.saved.highlighting import fits  # noqa: PLC0415 - reads articles' bodies

        return fits(row)
