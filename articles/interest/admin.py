"""Events and interests in the admin, read-only; subscribers change them on their own pages."""

from __future__ import annotations

from django.contrib import admin

from articles.interest.models import CrowdState, Event, Interest
from crawler.web.admin import RecordAdmin


@admin.register(Event)
class EventAdmin(RecordAdmin):
    """Admin of the log of subscribers' actions and of lists shown."""

    list_display = ("subscriber", "kind", "article_id", "at", "undone")
    list_filter = ("kind", ("undone", admin.EmptyFieldListFilter))
    list_select_related = ("subscriber__user",)
    search_fields = ("subscriber__user__username",)
    # An article's own name would load its text.
    fields = ("subscriber", "article_id", "kind", "at", "undone")
    readonly_fields = ("article_id",)


@admin.register(Interest)
class InterestAdmin(RecordAdmin):
    """Admin of the number of events learned per subscriber; the weights themselves are private."""

    list_display = ("subscriber", "version", "learned", "changed")
    list_select_related = ("subscriber__user",)
    search_fields = ("subscriber__user__username",)
    fields = ("subscriber", "version", "learned", "changed")


@admin.register(CrowdState)
class CrowdStateAdmin(RecordAdmin):
    """Admin of when the crowd was learned, and from how much."""

    list_display = ("lists", "event", "changed")
    fields = ("lists", "event", "changed")
