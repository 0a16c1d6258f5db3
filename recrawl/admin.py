"""Admin of watched sites: their settings, and pages, visits and changes read-only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from crawler.web.admin import RecordAdmin, RowAdmin
from recrawl.models import LONG_COLUMNS, SETTINGS, Change, Check, Site, Source, Version, Visit, WatchedPage
from recrawl.pages.forms import SettingsForm
from recrawl.visiting.mapping import forget
from recrawl.visiting.visits import pause, resume, visit_now


@admin.register(Site)
class SiteAdmin(RowAdmin):
    """Admin of sites. New sites are added by the form on the page of sites."""

    form = SettingsForm
    list_display = ("url", "title", "state", "method", "every", "budget", "visited", "next_visit")
    list_filter = ("state", "method")
    search_fields = ("url", "title")
    fields = (
        "url",
        "title",
        *SETTINGS,
        "state",
        "trouble",
        "crawl",
        "created",
        "next_visit",
        "visited",
        "saved",
    )
    readonly_fields = ("url", "state", "trouble", "crawl", "created", "next_visit", "visited", "saved")
    actions = ("stop", "go_on", "visit")

    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Redirect to the page that has the form."""
        return redirect("site-add")

    def delete_model(self, request: HttpRequest, obj: Site) -> None:
        forget(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Site]) -> None:
        for site in queryset:
            forget(site)

    @admin.action(description="Pause")
    def stop(self, request: HttpRequest, sites: QuerySet[Site]) -> None:
        self.message_user(request, f"{sum(pause(site, datetime.now(UTC)) for site in sites)} paused.")

    @admin.action(description="Resume")
    def go_on(self, request: HttpRequest, sites: QuerySet[Site]) -> None:
        self.message_user(request, f"{sum(resume(site) for site in sites)} resumed.")

    @admin.action(description="Visit now")
    def visit(self, request: HttpRequest, sites: QuerySet[Site]) -> None:
        begun = sum(visit_now(site, datetime.now(UTC)) for site in sites)
        self.message_user(request, f"{begun} will be visited now.")


@admin.register(Visit)
class VisitAdmin(RecordAdmin):
    """Visits to sites."""

    list_display = (
        "site", "number", "method", "started", "finished", "budget", "fetched", "changed", "found",
        "vanished", "failed", "requests", "bytes",
    )  # fmt: skip
    list_select_related = ("site",)


@admin.register(WatchedPage)
class WatchedPageAdmin(RecordAdmin):
    """Pages of sites."""

    list_display = ("url", "site", "state", "fetched", "checks", "changes", "changed", "status", "failure")
    list_filter = ("state",)
    list_select_related = ("site",)
    search_fields = ("=url",)
    exclude = ("lines", "links")


@admin.register(Check)
class CheckAdmin(RecordAdmin):
    """Fetches of pages."""

    list_display = ("page", "at", "outcome", "reason", "status", "failure", "bytes")
    list_filter = ("outcome",)
    list_select_related = ("page",)


@admin.register(Change)
class ChangeAdmin(RecordAdmin):
    """Changes of pages."""

    list_display = ("page", "at", "kind", "added", "removed", "summary")
    list_filter = ("kind",)
    list_select_related = ("page",)
    exclude = ("difference",)


@admin.register(Source)
class SourceAdmin(RecordAdmin):
    """Sitemaps and feeds of sites."""

    list_display = ("url", "site", "kind", "usable", "read", "failure")
    list_filter = ("kind", "usable")
    list_select_related = ("site",)


@admin.register(Version)
class VersionAdmin(RecordAdmin):
    """Admin of earlier versions of pages."""

    list_display = ("page", "title", "since", "until", "status")
    list_select_related = ("page",)
    search_fields = ("page__url", "title")
    fields = ("page", "title", "since", "until", "status")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Version]:
        versions: QuerySet[Version] = super().get_queryset(request)
        return versions.defer("lines", "headers", *(f"page__{name}" for name in LONG_COLUMNS))
