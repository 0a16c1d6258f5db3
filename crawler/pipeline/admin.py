"""Admin pages of documents, which can resend dead letters, and of the rules of extract."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from crawler.engine.wake import wake_controller
from crawler.pipeline.documents import resend
from crawler.pipeline.models import (
    Document,
    GraphChange,
    HttpTransformer,
    LinkQuery,
    SavedQuery,
    Stylesheet,
    UriFilter,
)
from crawler.web.admin import RecordAdmin, RowAdmin


@admin.register(Document)
class DocumentAdmin(RecordAdmin):
    """An admin of documents on their way through the pipeline."""

    list_display = ("id", "url", "source", "type", "state", "failed_phase", "failure", "quads", "changed")
    list_filter = ("state", "source", "type", "failed_phase", "failure")
    search_fields = ("=url",)
    exclude = ("triples", "lease", "body", "page")
    actions = ("send_again",)

    @admin.action(description="Send dead letters through again")
    def send_again(self, request: HttpRequest, documents: QuerySet[Document]) -> None:
        self.message_user(request, f"{resend(documents)} sent again.")
        wake_controller()


@admin.register(GraphChange)
class GraphChangeAdmin(RecordAdmin):
    """The log of changes of the graph."""

    list_display = ("id", "url", "version", "added", "removed", "at")
    search_fields = ("=url",)


@admin.register(LinkQuery)
class LinkQueryAdmin(RowAdmin):
    """The queries of the phase extract."""

    list_display = ("name", "weight", "enabled", "hits")
    list_editable = ("weight", "enabled")


@admin.register(Stylesheet)
class StylesheetAdmin(RowAdmin):
    """An admin of users' stylesheets, and of those that documents name."""

    list_display = ("name", "types", "pattern", "grddl", "enabled")
    list_editable = ("enabled",)


@admin.register(HttpTransformer)
class HttpTransformerAdmin(RowAdmin):
    """An admin of plug-ins behind HTTP."""

    list_display = ("name", "address", "types", "pattern", "enabled")
    list_editable = ("enabled",)


@admin.register(UriFilter)
class UriFilterAdmin(RowAdmin):
    """An admin of rules on extracted addresses."""

    list_display = ("pattern", "allow", "position", "enabled", "hits")
    list_editable = ("allow", "position", "enabled")


@admin.register(SavedQuery)
class SavedQueryAdmin(RowAdmin):
    """An admin of saved queries."""

    list_display = ("name", "author", "created")
    search_fields = ("name", "query")
