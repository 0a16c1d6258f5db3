"""Admin pages of crawls: view, begin, stop, resume and cancel them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from crawler.engine.wake import wake_controller
from crawler.frontier.crawls import cancel, pause, resume
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.web.admin import RecordAdmin


@admin.register(Crawl)
class CrawlAdmin(RecordAdmin):
    """The admin of crawls of the open web."""

    list_display = (
        "id",
        "seeds",
        "strategy",
        "state",
        "crawled",
        "dropped",
        "duplicates",
        "created",
        "reason",
    )
    list_filter = ("state", "strategy")
    actions = ("stop", "go_on", "cancel_for_good")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_staff)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_staff)

    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Redirect to the page of crawls, which has the form that begins one."""
        return redirect("crawls")

    @admin.action(description="Stop (can be resumed)")
    def stop(self, request: HttpRequest, crawls: QuerySet[Crawl]) -> None:
        self.message_user(request, f"{pause(crawls)} stopped.")

    @admin.action(description="Resume")
    def go_on(self, request: HttpRequest, crawls: QuerySet[Crawl]) -> None:
        self.message_user(request, f"{sum(resume(crawl) for crawl in crawls)} resumed.")
        wake_controller()

    @admin.action(description="Cancel")
    def cancel_for_good(self, request: HttpRequest, crawls: QuerySet[Crawl]) -> None:
        self.message_user(request, f"{cancel(crawls)} cancelled.")


@admin.register(CrawlUrl)
class CrawlUrlAdmin(RecordAdmin):
    """The admin of the URLs of crawls."""

    list_display = ("id", "crawl", "url", "state", "score", "depth", "status", "failure")
    list_filter = ("state",)
    list_select_related = ("crawl",)
    search_fields = ("=url",)
    exclude = ("body",)
