"""Enrichments, stories and the classifier in the admin."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from articles.enrichment.models import Classifier, Enrichment, Story
from articles.enrichment.stories import take_apart
from crawler.web.admin import RecordAdmin


@admin.register(Enrichment)
class EnrichmentAdmin(RecordAdmin):
    """Admin of enrichments, with an action to make them anew."""

    list_display = ("article", "state", "language", "category", "category_source", "story", "reason", "at")
    list_filter = ("state", "category_source", "reason")
    list_select_related = ("article", "story")
    search_fields = ("terms",)
    search_help_text = "A keyword."
    exclude = ("signature", "bands")
    actions = ("again",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Enrichment]:
        rows: QuerySet[Enrichment] = super().get_queryset(request)
        return rows.defer("signature", "bands", "article__search", "article__text", "article__content")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Enrichment], search_term: str
    ) -> tuple[QuerySet[Enrichment], bool]:
        word = search_term.strip().casefold().replace("\0", "")
        return (queryset.filter(terms__contains=[word]) if word else queryset), False

    @admin.action(description="Make anew")
    def again(self, request: HttpRequest, rows: QuerySet[Enrichment]) -> None:
        count = rows.update(state=Enrichment.State.WAITING, attempts=0)
        self.message_user(request, f"{count} wait and will be made anew.")


@admin.register(Story)
class StoryAdmin(RecordAdmin):
    """Admin of stories. Taking one apart deletes no article."""

    list_display = ("id", "size", "created")
    actions = ("apart",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Story]:
        rows: QuerySet[Story] = super().get_queryset(request)
        return rows.annotate(members_count=Count("members"))

    @admin.display(ordering="members_count")
    def size(self, story: Story) -> int:
        return int(getattr(story, "members_count", 0))

    @admin.action(description="Take apart")
    def apart(self, request: HttpRequest, stories: QuerySet[Story]) -> None:
        count = sum(take_apart(story) for story in Story.objects.filter(pk__in=stories.values("pk")))
        self.message_user(request, f"{count} articles stand alone now.")


@admin.register(Classifier)
class ClassifierAdmin(RecordAdmin):
    """Admin of the category classifier's classes and examples."""

    list_display = ("version", "classes", "examples", "changed")
    exclude = ("weights",)
