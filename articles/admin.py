"""Articles, pages, subscribers and personal feeds in the admin. Secret addresses are never shown."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from articles.models import Article, Page, PersonalFeed, PersonalFeedToken, Subscriber, Subscription, Topic
from crawler.web.admin import RecordAdmin, RowAdmin, RowsInline
from crawler.web.filters import search_problem


@admin.register(Article)
class ArticleAdmin(RecordAdmin):
    """Admin of articles, with full-text search."""

    list_display = ("title_or_identity", "feed", "published", "dating", "language", "category", "text_length")
    list_filter = ("dating",)
    list_select_related = ("feed",)
    search_fields = ("search",)
    search_help_text = 'Full text: words or "a phrase".'
    exclude = ("search",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Article]:
        return super().get_queryset(request).defer("search", "feed__fingerprints")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Article], search_term: str
    ) -> tuple[QuerySet[Article], bool]:
        words = search_term.replace("\0", "")
        if problem := search_problem(words):
            self.message_user(request, problem, messages.ERROR)
            return queryset.none(), False
        matches = Article.objects.search(words).values("pk")
        return (queryset.filter(pk__in=matches) if search_term.strip() else queryset), False

    @admin.display(description="title")
    def title_or_identity(self, article: Article) -> str:
        return str(article)[:120]


@admin.register(Page)
class PageAdmin(RecordAdmin):
    """Admin of article pages, with the failures of their downloads."""

    list_display = ("url", "status", "failure", "attempts", "fetched", "not_before")
    list_filter = ("status",)
    list_select_related = ("host",)
    search_fields = ("url", "failure")
    exclude = ("html",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Page]:
        return super().get_queryset(request).defer("html")


class SubscriptionInline(RowsInline):
    """The subscriptions of a subscriber."""

    model = Subscription
    extra = 0
    raw_id_fields = ("feed",)


@admin.register(Subscriber)
class SubscriberAdmin(RowAdmin):
    """Admin of subscribers, the people who follow feeds."""

    list_display = ("user", "created", "follows")
    list_select_related = ("user",)
    search_fields = ("user__username",)
    raw_id_fields = ("user",)
    inlines = (SubscriptionInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Subscriber]:
        subscribers: QuerySet[Subscriber] = super().get_queryset(request)
        return subscribers.annotate(following=Count("subscriptions"))

    @admin.display(ordering="following")
    def follows(self, subscriber: Subscriber) -> int:
        return int(getattr(subscriber, "following", 0))


@admin.register(PersonalFeed)
class PersonalFeedAdmin(RecordAdmin):
    """Admin of personal feeds. Their addresses are not shown, but can be revoked."""

    list_display = ("name", "subscriber", "folder", "body", "changed")
    list_select_related = ("subscriber__user",)
    search_fields = ("name", "subscriber__user__username")
    actions = ("revoke_addresses",)

    @admin.action(description="Revoke the addresses")
    def revoke_addresses(self, request: HttpRequest, personal_feeds: QuerySet[PersonalFeed]) -> None:
        valid = PersonalFeedToken.objects.filter(personal_feed__in=personal_feeds, revoked__isnull=True)
        self.message_user(request, f"{valid.update(revoked=datetime.now(UTC))} addresses were revoked.")


@admin.register(Topic)
class TopicAdmin(RecordAdmin):
    """Admin of followed topics."""

    list_display = ("value", "kind", "subscriber", "created")
    list_filter = ("kind",)
    list_select_related = ("subscriber__user",)
    search_fields = ("value", "subscriber__user__username")
