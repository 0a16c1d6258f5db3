"""The admin's name, and the engine's rows in it: hosts, ticks, pulses, API tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest
from rest_framework.authtoken.admin import TokenAdmin
from rest_framework.authtoken.models import TokenProxy

from crawler.engine.models import Host, Pulse, Tick

# Django's own classes take no type parameters at run time.
if TYPE_CHECKING:
    RowAdmin = admin.ModelAdmin[Any]
    RowsInline = admin.TabularInline[Any, Any]
else:
    RowAdmin, RowsInline = admin.ModelAdmin, admin.TabularInline

admin.site.site_header = admin.site.site_title = "Freshet"
admin.site.index_title = "Administration"


class RecordAdmin(RowAdmin):
    """Rows that the machine writes and people only read; big tables are not counted twice."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Host)
class HostAdmin(RowAdmin):
    """Hosts: who is being asked now, and how fast it may be asked."""

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


@admin.register(Tick)
class TickAdmin(RecordAdmin):
    """What each tick took."""

    list_display = (
        "started", "finished", "policy", "training", "ranked", "candidates", "budget", "carried", "swept",
    )  # fmt: skip
    list_filter = ("policy",)


@admin.register(Pulse)
class PulseAdmin(RecordAdmin):
    """Signs of life of the queues."""

    list_display = ("queue", "sent", "answered")


class QuietTokenAdmin(TokenAdmin):
    """API tokens without their keys in the list: whoever looks over a shoulder must not learn them."""

    list_display = ("user", "created")


# The import above has registered the library's own.
admin.site.unregister(TokenProxy)
admin.site.register(TokenProxy, QuietTokenAdmin)
