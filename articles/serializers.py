"""Articles, subscribers, subscriptions and personal feeds as the API shows and takes them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from articles.models import Article, PersonalFeed, Subscriber, Subscription, Topic
from articles.personal.following import folder_named
from articles.personal.selection import MAX_KEYWORDS, addresses
from crawler.web.fields import RowSerializer, TextField
from feeds.adding import MAX_LENGTH
from feeds.models import Feed


class ArticleSerializer(serializers.ModelSerializer[Article]):
    """An article without its text. `identity` is the guid or id as the feed gave it, else URL, else title."""

    class Meta:
        model = Article
        fields = [
            "id", "feed", "identity", "url", "title", "published", "fetched", "language", "author",
            "category", "text_length",
        ]  # fmt: skip
        read_only_fields = fields


class AttachmentSerializer(serializers.Serializer[Any]):
    """A media file that an article carries."""

    url = serializers.CharField()
    type = serializers.CharField()
    length = serializers.IntegerField(help_text="Bytes; 0 when not known.")


class ArticleDetailSerializer(ArticleSerializer):
    """An article with everything known of it. `summary` and `content` are sanitised HTML."""

    enclosures = AttachmentSerializer(many=True, read_only=True)
    page_failure = serializers.CharField(
        source="page.failure",
        default="",
        read_only=True,
        help_text="Why its page could not be had, last time.",
    )
    page_failure_detail = serializers.CharField(source="page.failure_detail", default="", read_only=True)

    class Meta(ArticleSerializer.Meta):
        fields = [
            *ArticleSerializer.Meta.fields,
            "categories", "dating", "delay", "summary", "content", "text", "enclosures", "revision",
            "updated", "page_failure", "page_failure_detail",
        ]  # fmt: skip
        read_only_fields = fields


class SubscriberSerializer(serializers.ModelSerializer[Subscriber]):
    """A person who follows feeds."""

    username = serializers.CharField(source="user.username", read_only=True)
    subscription_count = serializers.IntegerField(read_only=True)

    class Meta:
        model = Subscriber
        fields = ["id", "username", "created", "subscription_count"]
        read_only_fields = fields


class SubscriptionSerializer(RowSerializer[Subscription]):
    """A feed that the subscriber follows, in a folder such as "News/Technology"."""

    url = serializers.CharField(source="feed.url", read_only=True)

    class Meta:
        model = Subscription
        fields = ["id", "feed", "url", "folder", "title", "created"]
        read_only_fields = ["id", "feed", "url", "created"]

    def validate_folder(self, folder: str) -> str:
        return folder_named(folder)


class TopicSerializer(RowSerializer[Topic]):
    """A keyword, category or site that the subscriber follows."""

    class Meta:
        model = Topic
        fields = ["id", "kind", "value", "created"]
        read_only_fields = ["id", "created"]


class NewSubscriptionSerializer(serializers.Serializer[Any]):
    """A feed to follow: the id of one that is here, or the address of any (it is added then)."""

    feed = serializers.PrimaryKeyRelatedField(queryset=Feed.objects.all(), required=False)
    url = TextField(max_length=10 * MAX_LENGTH, required=False)
    folder = TextField(max_length=400, required=False, allow_blank=True)
    title = TextField(max_length=400, required=False, allow_blank=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("feed" in attrs) == ("url" in attrs):
            raise serializers.ValidationError("Either `feed` or `url` is wanted.")
        return attrs


class AddressesSerializer(serializers.Serializer[Any]):
    """Where a personal feed is served, by format."""

    rss = serializers.URLField()
    atom = serializers.URLField()
    json = serializers.URLField()


class KeywordsField(serializers.ListField):
    """Words and phrases."""

    def __init__(self, **named: Any) -> None:
        super().__init__(child=TextField(max_length=200), max_length=MAX_KEYWORDS, required=False, **named)


class PersonalFeedSerializer(RowSerializer[PersonalFeed]):
    """A feed made for its subscriber. `urls` is null while its address is revoked."""

    categories = KeywordsField(help_text="One of these categories; empty: any.")
    include = KeywordsField(help_text="At least one of these words or phrases; empty: any article.")
    exclude = KeywordsField(help_text="None of these words or phrases.")
    urls = serializers.SerializerMethodField()

    class Meta:
        model = PersonalFeed
        fields = [
            "id", "name", "folder", "include", "exclude", "categories", "order", "body", "changed", "urls",
        ]  # fmt: skip
        read_only_fields = ["id", "changed", "urls"]

    def validate_folder(self, folder: str) -> str:
        return folder_named(folder)

    def validate_name(self, name: str) -> str:
        """Names are unique among the subscriber's own feeds, whom the request tells."""
        same = PersonalFeed.objects.filter(subscriber__user=self.context["request"].user, name=name)
        if (same.exclude(pk=self.instance.pk) if self.instance else same).exists():
            raise serializers.ValidationError("You have a personal feed of this name already.")
        return name

    @extend_schema_field(AddressesSerializer(allow_null=True))
    def get_urls(self, personal_feed: PersonalFeed) -> dict[str, str] | None:
        return addresses(personal_feed, self.context["request"]) or None
