"""Hub subscriptions in the admin, to read and to request again."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from crawler.web.admin import RecordAdmin
from feeds.websub.models import HubSubscription
from feeds.websub.subscriptions import ask_again


@admin.register(HubSubscription)
class HubSubscriptionAdmin(RecordAdmin):
    """Admin of subscriptions at hubs, with their expiry."""

    list_display = ("feed", "hub", "state", "expires", "last_push", "pushes", "rejected", "detail")
    list_filter = ("state",)
    list_select_related = ("feed",)
    search_fields = ("hub", "topic", "feed__title")
    exclude = ("secret", "token", "lease")
    actions = ("ask_hubs_again",)

    @admin.action(description="Ask the hub again")
    def ask_hubs_again(self, request: HttpRequest, subscriptions: QuerySet[HubSubscription]) -> None:
        """Request the subscriptions again at the next tick."""
        self.message_user(request, f"{ask_again(subscriptions)} will be asked for at the next tick.")
