"""Feeds, categories and retrievals as the API shows and takes them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, cast

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from crawler.engine.models import SiteLogin
from crawler.fetching.http.logins import MAX_VALUE
from crawler.reading.lines import SelectorFault
from crawler.reading.parts import MAX_PART_CHARACTERS
from crawler.reading.sources.kinds import FEED, FETCHED
from crawler.text.characters import storable
from crawler.web.fields import MAX_TEXT, ReasonCodeField, RowSerializer, TextField
from feeds.adding.add import MAX_LENGTH
from feeds.adding.discovery import FoundFeed
from feeds.categories import Path, all_paths, category_at, path_of, subtree
from feeds.models import Category, Feed, Retrieval
from feeds.rules import PARTS, checked_rules
from feeds.visiting.explain import NextVisit, next_visits
from feeds.websub.models import HubSubscription


class CategorySerializer(RowSerializer[Category]):
    """A folder of feeds; `path` names it with its parents."""

    path = serializers.SerializerMethodField(help_text='Such as "News/Tech".')

    class Meta:
        model = Category
        fields = ["id", "name", "parent", "path"]

    def get_path(self, category: Category) -> str:
        return "/".join(self._paths.get(category.pk, category.path))

    def validate_parent(self, parent: Category | None) -> Category | None:
        if parent is not None and self.instance is not None and parent.pk in subtree(self.instance.pk):
            raise serializers.ValidationError("A category cannot be inside itself.")
        return parent

    @cached_property
    def _paths(self) -> dict[int, Path]:
        return all_paths()


@extend_schema_field({"type": "string", "maxLength": MAX_TEXT})
class CategoryPathField(serializers.Field[Category | None, str | None, str | None, Any]):
    """A category by its path, "News/Tech"; made where missing. The empty path is no category."""

    def to_internal_value(self, data: object) -> Category | None:
        if not isinstance(data, str):
            raise serializers.ValidationError('A path such as "News/Tech" is wanted.')
        if len(data) > MAX_TEXT:
            raise serializers.ValidationError(f"A path has at most {MAX_TEXT} characters.")
        return category_at(path_of(data))

    def to_representation(self, value: Category | None) -> str | None:
        return "/".join(value.path) if value else None


class HubSubscriptionSerializer(serializers.ModelSerializer[HubSubscription]):
    """A feed's subscription at its WebSub hub."""

    class Meta:
        model = HubSubscription
        fields = ["hub", "topic", "state", "expires", "last_push", "pushes", "rejected", "detail"]
        read_only_fields = fields


class FeedList(serializers.ListSerializer[Any]):
    """Plans the visits of a whole page at once."""

    def to_representation(self, data: Any) -> list[Any]:
        feeds = list(data)
        cast(FeedSerializer, self.child).plan(feeds)
        return super().to_representation(feeds)


class FeedSerializer(serializers.ModelSerializer[Feed]):
    """A feed with its next visit.

    `phase` is the status if the feed is not active (paused, gone), else the phase (training, normal).
    `next_retrieval` and `reason` say when the next visit is, and why then.
    """

    phase = serializers.SerializerMethodField()
    next_retrieval = serializers.SerializerMethodField()
    reason = serializers.SerializerMethodField()
    category = serializers.SerializerMethodField(help_text='Path such as "News/Tech".')
    category_id = serializers.IntegerField(read_only=True, allow_null=True)
    host = serializers.CharField(source="host.name", read_only=True)
    websub = HubSubscriptionSerializer(
        source="hub_subscription", read_only=True, allow_null=True, default=None
    )

    class Meta:
        model = Feed
        list_serializer_class = FeedList
        fields = [
            "id", "kind", "url", "title", "phase", "next_retrieval", "reason", "status", "category",
            "category_id", "canonical_url", "host", "site_url", "description", "language", "format", "icon",
            "image", "added", "last_attempt", "last_success", "last_new", "not_before", "failure",
            "failure_detail",
            "failure_streak", "failing_since", "document_size", "subscribers", "websub", "rules", "proposed",
        ]  # fmt: skip
        read_only_fields = fields

    def plan(self, feeds: Sequence[Feed]) -> None:
        """Work out the next visits of these feeds, in a few queries for all."""
        self._visits = next_visits(feeds, datetime.now(UTC))

    @extend_schema_field(serializers.ChoiceField(["training", "normal", "paused", "gone"]))
    def get_phase(self, feed: Feed) -> str:
        return feed.phase if feed.status == Feed.Status.ACTIVE else feed.status

    def get_next_retrieval(self, feed: Feed) -> datetime | None:
        return self._visit(feed).at

    def get_reason(self, feed: Feed) -> str:
        return self._visit(feed).reason

    def get_category(self, feed: Feed) -> str | None:
        return "/".join(self._paths[feed.category_id]) if feed.category_id else None

    def _visit(self, feed: Feed) -> NextVisit:
        if feed.pk not in getattr(self, "_visits", {}):
            self.plan([feed])
        return self._visits[feed.pk]

    @cached_property
    def _paths(self) -> dict[int, Path]:
        return all_paths()


RULES_HELP = (
    "For a page CSS selectors, or XPath after `xpath:`; for JSON jq, or JSONPath after `jsonpath:`. `entry` "
    "chooses the articles, the others a part of each; what has no rule is looked for."
)


@extend_schema_field(
    {
        "type": "object",
        "properties": {part: {"type": "string", "maxLength": MAX_PART_CHARACTERS} for part in PARTS},
        "additionalProperties": False,
    }
)
class RulesField(serializers.Field[dict[str, str], Any, dict[str, str], Any]):
    """Rules for the entries of a page or of JSON, an object of expressions."""

    def to_internal_value(self, data: object) -> dict[str, str]:
        if not isinstance(data, dict) or not all(isinstance(value, str) for value in data.values()):
            raise serializers.ValidationError("An object of expressions is wanted.")
        return {str(part): storable(value) for part, value in data.items()}

    def to_representation(self, value: dict[str, str]) -> dict[str, str]:
        return dict(value)


class NewLoginSerializer(serializers.Serializer[Any]):
    """A login for the address of a feed; it is never shown again."""

    kind = serializers.ChoiceField(SiteLogin.Kind.choices)
    name = TextField(max_length=200, required=False, allow_blank=True, help_text="Of the user or the header.")
    secret = serializers.CharField(max_length=MAX_VALUE, trim_whitespace=False)


class NewFeedSerializer(serializers.Serializer[Any]):
    """A feed to add: its own address or its site's."""

    # Whatever is wrong with an address is said by add_feed, which names it.
    url = TextField(max_length=10 * MAX_LENGTH, help_text="Address of a feed or of a site.")
    category = CategoryPathField(required=False, help_text='Path such as "News/Tech"; made where missing.')
    kind = serializers.ChoiceField(
        FETCHED,
        required=False,
        help_text="What stands at the address; by default a feed.",
    )
    rules = RulesField(required=False, help_text=RULES_HELP)
    login = NewLoginSerializer(required=False, write_only=True, help_text="What its server asks for.")
    shared = serializers.BooleanField(
        default=False, help_text="With a login: everybody here may read it, not only who gave it."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        try:
            attrs["rules"] = checked_rules(attrs.get("kind", FEED), attrs.get("rules", {}))
        except SelectorFault as fault:
            raise serializers.ValidationError({"rules": [str(fault)]}) from fault
        return attrs


class FeedChangeSerializer(RowSerializer[Feed]):
    """The fields of a feed that people may change. A new `url` is visited at once; the old is an alias."""

    url = TextField(max_length=10 * MAX_LENGTH, required=False)
    status = serializers.ChoiceField(
        [(s.value, s.label) for s in (Feed.Status.ACTIVE, Feed.Status.PAUSED)], required=False
    )
    category = CategoryPathField(
        required=False, allow_null=True, help_text='Path such as "News/Tech"; "" for none.'
    )

    rules = RulesField(required=False, help_text=RULES_HELP)

    class Meta:
        model = Feed
        fields = ["url", "title", "status", "category", "rules"]


class ScheduleSerializer(serializers.Serializer[Any]):
    """The next visit of a feed, and the numbers behind it."""

    next_retrieval = serializers.DateTimeField(allow_null=True, source="at")
    reason = serializers.CharField()
    expected = serializers.FloatField(help_text="New articles expected by now.")
    age = serializers.FloatField(help_text="Seconds since the last successful retrieval.")
    audience = serializers.FloatField(help_text="Factor for the feed's subscribers.")
    floor = serializers.CharField(help_text="The rule that holds the visit back; empty: none does.")
    position = serializers.IntegerField(allow_null=True, help_text="Place in the order of visits.")
    not_before = serializers.DateTimeField()
    training = serializers.DictField(
        child=serializers.FloatField(), allow_null=True, help_text="M and T of the training phase."
    )


class HistorySerializer(serializers.Serializer[Any]):
    """The learned posting rates of a feed, UTC; hours of the week begin on Monday at 0."""

    hourly = serializers.ListField(
        child=serializers.FloatField(), min_length=24, max_length=24, help_text="Articles per hour."
    )
    week_counts = serializers.ListField(
        child=serializers.FloatField(), min_length=168, max_length=168, help_text="Weighted articles."
    )
    week_exposure = serializers.ListField(
        child=serializers.FloatField(), min_length=168, max_length=168, help_text="Weighted hours watched."
    )
    forecast = serializers.ListField(
        child=serializers.FloatField(),
        min_length=168,
        max_length=168,
        help_text="Articles per hour, expected.",
    )
    threshold = serializers.ListField(
        child=serializers.FloatField(),
        allow_null=True,
        help_text=(
            "The plan: how many waiting articles make a visit worth it in each hour of the week, relative to "
            "an even plan. Null before the first one."
        ),
    )
    updated = serializers.DateTimeField(allow_null=True)


class SelectedSerializer(serializers.Serializer[Any]):
    """The result of a request to visit a feed now, with the reason of a refusal."""

    selected = serializers.BooleanField()
    message = serializers.CharField()


class ImportSerializer(serializers.Serializer[Any]):
    """The result of an OPML import."""

    added = serializers.IntegerField()
    duplicates = serializers.IntegerField()
    refused = serializers.ListField(
        child=serializers.DictField(child=serializers.CharField()), help_text="`url` and `message` of each."
    )


class RetrievalSerializer(serializers.ModelSerializer[Retrieval]):
    """One visit to a feed, as it went."""

    because_code = ReasonCodeField("because")

    class Meta:
        model = Retrieval
        fields = [
            "id", "feed", "at", "outcome", "status", "failure", "detail", "new", "edited", "bytes", "elapsed",
            "conditional", "pushed", "because", "because_code", "expected", "m", "t", "toe",
        ]  # fmt: skip
        read_only_fields = fields


class FoundFeedSerializer(serializers.Serializer[Any]):
    """A source behind an address; `kind` says what it is, `rules` which parts of a page are its articles."""

    kind = serializers.ChoiceField(FETCHED)
    url = serializers.CharField()
    title = serializers.CharField()
    format = serializers.CharField(source="read.format")
    language = serializers.CharField(source="read.language")
    description = serializers.CharField(source="read.description")
    whole_articles = serializers.BooleanField(source="read.is_whole")
    same_as = serializers.CharField(help_text="Title of the feed above with the same articles.")
    posts = serializers.SerializerMethodField()
    newest = serializers.SerializerMethodField(help_text="The first three of `entries`.")
    entries = serializers.SerializerMethodField(help_text="Up to five, with `all` each.")
    size = serializers.IntegerField(source="read.size", help_text="Entries that it shows now.")
    rules = RulesField(read_only=True, help_text=RULES_HELP)

    def get_posts(self, feed: FoundFeed) -> str:
        return feed.posts(self.context["now"])

    def get_newest(self, feed: FoundFeed) -> list[dict[str, Any]]:
        return self.get_entries(feed)[:3]

    def get_entries(self, feed: FoundFeed) -> list[dict[str, Any]]:
        return [{"title": title, "url": url, "published": at} for title, url, at in feed.newest]


class LookSerializer(serializers.Serializer[Any]):
    """The feeds behind an address, or the problem in a sentence."""

    address = serializers.CharField()
    problem = serializers.CharField()
    page = serializers.CharField(help_text="Title of the page, where the address is one.")
    feeds = FoundFeedSerializer(many=True)
