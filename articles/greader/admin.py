"""App passwords and logins of readers in the admin, read-only; their owners revoke them."""

from __future__ import annotations

from django.contrib import admin

from articles.greader.models import AppPassword, ReaderLogin
from crawler.web.admin import RecordAdmin


@admin.register(AppPassword)
class AppPasswordAdmin(RecordAdmin):
    """Admin of app passwords, without their digests."""

    list_display = ("name", "subscriber", "created", "last_used")
    list_select_related = ("subscriber__user",)
    exclude = ("digest",)


@admin.register(ReaderLogin)
class ReaderLoginAdmin(RecordAdmin):
    """Admin of the logins of readers."""

    list_display = ("app", "subscriber", "app_password", "created", "last_used", "revoked")
    list_select_related = ("subscriber__user", "app_password")
    exclude = ("digest", "account_password")
