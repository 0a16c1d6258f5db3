"""Notifications in the admin: rules and targets of all people, without addresses; no messages."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from crawler.notices.models import Rule, Target
from crawler.web.admin import RecordAdmin


@admin.register(Rule)
class RuleAdmin(RecordAdmin):
    """An admin of rules. People change their own on their page; operators may pause and resume them."""

    list_display = ("__str__", "user", "when", "feed", "site", "pace", "paused", "looked")
    list_filter = ("when", "pace", "paused")
    list_select_related = ("user", "feed", "site")
    search_fields = ("name", "user__username")
    actions = ("pause", "resume")

    @admin.action(description="Pause")
    def pause(self, request: HttpRequest, rules: QuerySet[Rule]) -> None:
        self.message_user(request, f"{rules.filter(paused=False).update(paused=True)} rules were paused.")

    @admin.action(description="Resume")
    def resume(self, request: HttpRequest, rules: QuerySet[Rule]) -> None:
        # What happened meanwhile is not told: nobody wants a week of it at once.
        count = rules.filter(paused=True).update(paused=False, looked=datetime.now(UTC))
        self.message_user(request, f"{count} rules go on.")


@admin.register(Target)
class TargetAdmin(RecordAdmin):
    """An admin of targets, whose addresses are nobody's business but their owners'."""

    list_display = ("name", "user", "kind", "last_sent", "failing_since", "failure")
    list_filter = ("kind", ("failing_since", admin.EmptyFieldListFilter))
    list_select_related = ("user",)
    search_fields = ("name", "user__username", "failure")
    fields = ("name", "user", "kind", "created", "last_sent", "failing_since", "failure")
    readonly_fields = fields
