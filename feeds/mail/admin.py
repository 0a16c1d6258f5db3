"""Newsletters in the admin, to read; no secret is shown."""

from __future__ import annotations

from django.contrib import admin

from crawler.web.admin import RecordAdmin
from feeds.mail.models import MailAddress, Mailbox, Newsletter, SubscriptionRequest


@admin.register(MailAddress)
class MailAddressAdmin(RecordAdmin):
    """Admin of people's addresses; their keys, which let messages in, are not shown."""

    list_display = ("name", "user", "created", "last_message")
    list_select_related = ("user",)
    exclude = ("key",)


@admin.register(Mailbox)
class MailboxAdmin(RecordAdmin):
    """Admin of mailboxes, with what is wrong with them."""

    list_display = ("user", "host", "last_look", "next_look", "failing_since", "failure")
    list_select_related = ("user",)
    search_fields = ("host",)
    exclude = ("sealed",)


@admin.register(Newsletter)
class NewsletterAdmin(RecordAdmin):
    """Admin of newsletters: whose, and what was decided. Their subjects are the person's own."""

    list_display = ("name", "user", "state", "messages", "last_message")
    list_filter = ("state",)
    list_select_related = ("user",)
    exclude = ("subjects", "unsubscribe_url", "unsubscribe_mail")


@admin.register(SubscriptionRequest)
class SubscriptionRequestAdmin(RecordAdmin):
    """Admin of requests to confirm a subscription, without the links that would."""

    list_display = ("name", "user", "received", "done")
    list_select_related = ("user",)
    exclude = ("confirm_url", "subject")
