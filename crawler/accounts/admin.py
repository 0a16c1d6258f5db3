"""Invitations in the admin: who made them, for what, and how often they were used; never their links."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from crawler.accounts.models import Invitation
from crawler.web.admin import RecordAdmin


@admin.register(Invitation)
class InvitationAdmin(RecordAdmin):
    """An admin of invitations, which may be revoked."""

    list_display = (
        "__str__",
        "made_by",
        "role",
        "folder",
        "uses",
        "max_uses",
        "created",
        "expires",
        "revoked",
    )
    list_filter = ("role", ("revoked", admin.EmptyFieldListFilter))
    list_select_related = ("made_by", "folder__parent__parent")
    search_fields = ("made_by__username",)
    fields = ("made_by", "role", "folder", "uses", "max_uses", "created", "expires", "revoked")
    readonly_fields = fields
    actions = ("revoke",)

    @admin.action(description="Revoke")
    def revoke(self, request: HttpRequest, invitations: QuerySet[Invitation]) -> None:
        count = invitations.filter(revoked__isnull=True).update(revoked=datetime.now(UTC))
        self.message_user(request, f"{count} invitations were revoked.")
