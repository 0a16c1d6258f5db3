"""Feeds in the admin: bulk addition, pausing, visits on demand, categories, failures, and the visit log."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from crawler.engine.wake import wake_controller
from crawler.text.characters import MAX_INDEXED_CHARACTERS
from crawler.text.reasons import Reason
from crawler.web.admin import NamedValuesFilter, RecordAdmin, RowAdmin, RowsInline
from feeds.adding.add import Added
from feeds.adding.opml import OpmlError
from feeds.categories import subtree
from feeds.models import (
    Category,
    Feed,
    FeedAlias,
    PlanningRules,
    PostingHistory,
    PostingPlan,
    Retrieval,
    Tick,
)
from feeds.pages.charts import clock, sparkline, weekly_bars
from feeds.pages.filters import folder_choices, used_values
from feeds.pages.forms import AddFeedsForm
from feeds.pages.planning_views import RulesForm
from feeds.pausing import pause, resume
from feeds.visiting.explain import next_visits
from feeds.visiting.posting import floats
from feeds.visiting.selection import retrieve_now

MAX_REFUSALS_SHOWN = 20


class FailureFilter(admin.SimpleListFilter):
    """A list filter by the failure of the last visit."""

    title = "failure"
    parameter_name = "failing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("any", "any"), ("none", "none"), *used_values()["failure"]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Feed]) -> QuerySet[Feed]:
        value = self.value()
        if value == "any":
            return queryset.exclude(failure="")
        return queryset.filter(failure="" if value == "none" else value) if value else queryset


class CategoryFilter(admin.SimpleListFilter):
    """A list filter by category, including its subcategories."""

    title = "category"
    parameter_name = "in"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return folder_choices()

    def queryset(self, request: HttpRequest, queryset: QuerySet[Feed]) -> QuerySet[Feed]:
        value = self.value() or ""
        is_key = value.isascii() and value.isdecimal() and len(value) < 19
        return queryset.filter(category__in=subtree(int(value))) if is_key else queryset


class CategoryForm(forms.ModelForm):  # type: ignore[type-arg]
    """A category form that rejects cycles."""

    def clean_parent(self) -> Category | None:
        parent: Category | None = self.cleaned_data["parent"]
        if parent is not None and self.instance.pk and parent.pk in subtree(self.instance.pk):
            raise forms.ValidationError("A category cannot be inside itself.")
        return parent


@admin.register(Category)
class CategoryAdmin(RowAdmin):
    """Admin of categories, the folders of feeds."""

    form = CategoryForm
    list_display = ("name", "parent")
    list_select_related = ("parent",)
    search_fields = ("name",)


class AliasInline(RowsInline):
    """Other addresses of a feed."""

    model = FeedAlias
    extra = 0
    can_delete = False
    readonly_fields = ("canonical_url",)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class MoveForm(forms.Form):
    """The category that feeds are moved to."""

    category = forms.ModelChoiceField(
        Category.objects.select_related("parent"), required=False, empty_label="(no category)"
    )


class FeedForm(forms.ModelForm):  # type: ignore[type-arg]
    """A feed form that limits titles to the length that their index holds."""

    title = forms.CharField(required=False, max_length=MAX_INDEXED_CHARACTERS)


@admin.register(Feed)
class FeedAdmin(RowAdmin):
    """Admin of feeds. They are added in bulk: addresses by the line, or an OPML file."""

    form = FeedForm
    list_display = (
        "__str__", "kind", "category_name", "status", "phase", "last_success", "last_new", "failure",
        "not_before", "subscribers",
    )  # fmt: skip
    list_filter = (
        "kind",
        "status",
        "phase",
        FailureFilter,
        CategoryFilter,
        ("language", NamedValuesFilter),
        ("format", NamedValuesFilter),
    )
    list_select_related = ("category",)
    search_fields = ("title", "url", "site_url")
    actions = ("pause_feeds", "resume_feeds", "retrieve_feeds", "move_feeds")
    inlines = (AliasInline,)
    autocomplete_fields = ("category",)
    fields = (
        "url", "kind", "rules", "owner", "title", "category", "status", "schedule", "visits", "phase",
        "failure", "failure_detail", "failing_since", "failure_streak", "last_attempt", "last_success",
        "last_new", "not_before", "floor_detail", "training_m", "training_t", "document_size", "subscribers",
        "format", "language", "site_url", "description", "added",
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Feed]:
        return super().get_queryset(request).defer("fingerprints")

    def get_readonly_fields(self, request: HttpRequest, obj: Feed | None = None) -> list[str]:
        return [str(name) for name in self.fields or () if name not in {"title", "category", "status"}]

    @admin.display(description="category", ordering="category__name")
    def category_name(self, feed: Feed) -> str:
        return feed.category.name if feed.category else ""

    @admin.display(description="next visit")
    def schedule(self, feed: Feed) -> str:
        visit = next_visits([feed], datetime.now(UTC))[feed.pk]
        return f"{visit.at:%Y-%m-%d %H:%M:%S} UTC: {visit.reason}" if visit.at else visit.reason

    @admin.display(description="visits so far")
    def visits(self, feed: Feed) -> SafeString:
        url = reverse("admin:feeds_retrieval_changelist")
        return format_html('<a href="{}?feed__id__exact={}">Log of its visits</a>', url, feed.pk)

    @admin.action(description="Pause: no more visits", permissions=["change"])
    def pause_feeds(self, request: HttpRequest, feeds: QuerySet[Feed]) -> None:
        self.message_user(request, f"{pause(feeds)} feeds were paused.")

    @admin.action(description="Resume visits", permissions=["change"])
    def resume_feeds(self, request: HttpRequest, feeds: QuerySet[Feed]) -> None:
        self.message_user(request, f"{resume(feeds)} feeds are visited again.")

    @admin.action(description="Retrieve now", permissions=["change"])
    def retrieve_feeds(self, request: HttpRequest, feeds: QuerySet[Feed]) -> None:
        chosen, selected = feeds.count(), retrieve_now(feeds, Reason("asked for by {0}", request.user))
        wake_controller()
        remainder = f"; {chosen - selected} are paused, on their way, or were just visited" * (
            chosen > selected
        )
        self.message_user(request, f"{selected} feeds are visited now{remainder}.")

    @admin.action(description="Move to a category", permissions=["change"])
    def move_feeds(self, request: HttpRequest, feeds: QuerySet[Feed]) -> HttpResponse | None:
        form = MoveForm(request.POST if "move" in request.POST else None)
        if form.is_bound and form.is_valid():
            category = form.cleaned_data["category"]
            moved = feeds.update(category=category)
            self.message_user(request, f"{moved} feeds were moved to {category or 'no category'}.")
            return None
        chosen = request.POST.getlist("_selected_action")
        context = {
            **self.admin_site.each_context(request),
            "title": "Move feeds to a category",
            "opts": self.opts,
            "form": form,
            "chosen": chosen,
            "everything": request.POST.get("select_across", "0"),
            "count": feeds.count(),
        }
        return render(request, "admin/feeds/feed/move.html", context)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Add many feeds at once instead of filling one form of columns."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = AddFeedsForm(request.POST or None, request.FILES or None)
        if form.is_bound and form.is_valid():
            try:
                self._tell(request, form.add())
                return redirect("admin:feeds_feed_changelist")
            except OpmlError as error:
                form.add_error("opml", f"Nothing was added: {error}.")
        context = {
            **self.admin_site.each_context(request),
            "title": "Add feeds",
            "opts": self.opts,
            "form": form,
        }
        return render(request, "admin/feeds/feed/add.html", context)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """List feeds by name and their retrievals by number, because a feed may have a million articles."""
        feeds: list[Feed] = list(objs)
        retrievals = Retrieval.objects.filter(feed__in=feeds).count()
        names = [f"{feed} with its articles and subscriptions" for feed in feeds]
        return names, {"feeds": len(feeds), "retrievals": retrievals}, set(), []

    def _tell(self, request: HttpRequest, outcomes: Iterable[Added]) -> None:
        results = list(outcomes)
        added = sum(outcome.outcome == "added" for outcome in results)
        duplicates = sum(outcome.outcome == "duplicate" for outcome in results)
        refusals = [outcome.message for outcome in results if outcome.outcome == "refused"]
        counts = f"{added} feeds were added, {duplicates} were known already, {len(refusals)} were refused."
        self.message_user(request, counts, messages.SUCCESS if added else messages.WARNING)
        for message in refusals[:MAX_REFUSALS_SHOWN]:
            self.message_user(request, f"Refused: {message}", messages.ERROR)


@admin.register(Retrieval)
class RetrievalAdmin(RecordAdmin):
    """Admin of the log of visits."""

    list_display = (
        "at",
        "feed",
        "outcome",
        "status",
        "failure",
        "new",
        "edited",
        "bytes",
        "elapsed",
        "because",
    )
    list_filter = ("outcome", ("failure", admin.EmptyFieldListFilter))
    list_select_related = ("feed",)
    search_fields = ("failure", "detail")


@admin.register(Tick)
class TickAdmin(RecordAdmin):
    """The log of ticks."""

    list_display = (
        "started", "finished", "policy", "training", "ranked", "candidates", "budget", "carried", "swept",
    )  # fmt: skip
    list_filter = ("policy",)


def _linked(feed: Feed) -> SafeString:
    return format_html('<a href="{}">{}</a>', feed.get_absolute_url(), feed)


class RatesAdmin(RecordAdmin):
    """An admin of what was learned of each feed, with the link to its page."""

    list_select_related = ("feed",)
    search_fields = ("feed__title", "feed__url")
    ordering = ("-feed",)

    @admin.display(description="feed", ordering="feed__title")
    def feed_page(self, row: PostingHistory | PostingPlan) -> SafeString:
        return _linked(row.feed)


@admin.register(PostingHistory)
class PostingHistoryAdmin(RatesAdmin):
    """An admin of hourly rates: the 24 of advaRSS and the forecast for 168 hours of the week, UTC."""

    list_display = ("feed", "a_day", "by_hour", "busiest", "days", "updated", "feed_page")
    list_filter = ("feed__phase", "feed__status")
    fields = ("feed_page", "days", "updated", "a_day", "dial", "rates_by_hour", "week")
    readonly_fields = fields

    @admin.display(description="articles a day")
    def a_day(self, row: PostingHistory) -> str:
        return f"{sum(floats(row.hourly)):.2f}"

    @admin.display(description="by hour of day (UTC)")
    def by_hour(self, row: PostingHistory) -> SafeString:
        return sparkline(floats(row.hourly), "articles by hour of day, UTC")

    @admin.display(description="busiest hour")
    def busiest(self, row: PostingHistory) -> str:
        rates = floats(row.hourly)
        return f"{rates.index(max(rates)):02}:00"

    @admin.display(description="by hour of day (UTC)")
    def dial(self, row: PostingHistory) -> SafeString:
        return clock(floats(row.hourly), 0.0)

    @admin.display(description="articles per hour, from 0:00 UTC")
    def rates_by_hour(self, row: PostingHistory) -> str:
        return ", ".join(f"{rate:.3f}" for rate in floats(row.hourly))

    @admin.display(description="forecast by hour of the week")
    def week(self, row: PostingHistory) -> SafeString:
        return weekly_bars(floats(row.rates), "articles an hour, expected")


@admin.register(PostingPlan)
class PostingPlanAdmin(RatesAdmin):
    """An admin of plans: in which hours of the week a visit is worth less waiting news than usual."""

    list_display = ("feed", "by_hour", "feed_page")
    fields = ("feed_page", "week")
    readonly_fields = fields

    @admin.display(description="by hour of the week (UTC)")
    def by_hour(self, row: PostingPlan) -> SafeString:
        return sparkline(floats(row.shape), "articles that make a visit worth it, by hour of the week")

    @admin.display(description="articles that make a visit worth it (1: an even plan)")
    def week(self, row: PostingPlan) -> SafeString:
        return weekly_bars(floats(row.shape), "articles that make a visit worth it")


@admin.register(PlanningRules)
class PlanningRulesAdmin(RowAdmin):
    """An admin of the one row of rules by which visits are planned."""

    form = RulesForm
    list_display = (
        "__str__",
        "policy",
        "budget",
        "audience_weight",
        "active_only",
        "training_max_ticks",
        "changed",
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not PlanningRules.objects.exists()
