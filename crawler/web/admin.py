"""The engine's rows in the admin: hosts, pulses, API tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest
from rest_framework.authtoken.admin import TokenAdmin
from rest_framework.authtoken.models import TokenProxy

from crawler.engine.models import Host, Pulse

# Django's own classes take no type parameters at run time.
if TYPE_CHECKING:
    RowAdmin = admin.ModelAdmin[Any]
    RowsInline = admin.TabularInline[Any, Any]
else:
    RowAdmin, RowsInline = admin.ModelAdmin, admin.TabularInline


class RecordAdmin(RowAdmin):
    """An admin of machine-written, read-only rows; big tables are not counted twice."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class NamedValuesFilter(admin.AllValuesFieldListFilter):
    """A filter by all values of a field, of which the empty one has a name that can be pressed."""

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Yield the choices, with the admin's word for what is empty in the place of no word."""
        for choice in super().choices(changelist):
            yield {**choice, "display": choice["display"] or self.empty_value_display}


@admin.register(Host)
class HostAdmin(RowAdmin):
    """An admin of hosts: which of them are in use, and their rate limits."""

    list_display = ("name", "spacing", "leased_until", "not_before", "robots_status", "robots_at")
    list_filter = (("lease", admin.EmptyFieldListFilter), ("not_before", admin.EmptyFieldListFilter))
    search_fields = ("name",)
    fields = (
        "name", "spacing", "not_before", "lease", "leased_until", "served", "robots_status", "robots_at",
        "robots_text",
    )  # fmt: skip
    readonly_fields = (
        "name", "lease", "leased_until", "served", "robots_status", "robots_at", "robots_text",
    )  # fmt: skip

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Host | None = None) -> bool:
        return False


@admin.register(Pulse)
class PulseAdmin(RecordAdmin):
    """An admin of the queues' heartbeats."""

    list_display = ("queue", "sent", "answered")


class QuietTokenAdmin(TokenAdmin):
    """An admin of API tokens that hides their keys in the list from onlookers."""

    list_display = ("user", "created")


# The import above has registered the library's own.
admin.site.unregister(TokenProxy)
admin.site.register(TokenProxy, QuietTokenAdmin)
