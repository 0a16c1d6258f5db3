"""Articles, subscribers, subscriptions and personal feeds as the API shows and takes them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema_field
from msgspec import structs
from rest_framework import serializers

from articles.body import audio_of, body_of, images_of, lead_image, media_of, reading_seconds, text_of
from articles.models import Article, PersonalFeed, Subscriber, Subscription, Topic
from articles.personal.following import folder_named
from articles.personal.selection import MAX_KEYWORDS, addresses
from crawler.web.fields import RowSerializer, TextField
from crawler.web.filters import search_problem
from crawler.web.pictures.addresses import icon_address
from crawler.web.syndication.item import stored_details
from feeds.adding.add import MAX_LENGTH
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


class MediaSerializer(AttachmentSerializer):
    """A media file with all that the feed says of it."""

    medium = serializers.CharField(help_text='"image", "audio", "video", "document" or "".')
    title = serializers.CharField()
    duration = serializers.IntegerField(help_text="Seconds; 0 when not known.")
    width = serializers.IntegerField(help_text="Pixels; 0 when not known.")
    height = serializers.IntegerField(help_text="Pixels; 0 when not known.")


class FileLinkSerializer(serializers.Serializer[Any]):
    """A file about an article: a transcript, or the chapters of an episode."""

    url = serializers.CharField()
    type = serializers.CharField()
    language = serializers.CharField()


class TermSerializer(serializers.Serializer[Any]):
    """A category with its scheme."""

    term = serializers.CharField()
    scheme = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]


class DetailsSerializer(serializers.Serializer[Any]):
    """The rest of what a feed says of an article; empty, 0 or null if it does not say."""

    image = serializers.CharField()
    image_width = serializers.IntegerField(help_text="Pixels.")
    image_height = serializers.IntegerField(help_text="Pixels.")
    updated = serializers.CharField(help_text="When the publisher last changed it, ISO 8601.")
    duration = serializers.IntegerField(help_text="Seconds of an episode.")
    episode = serializers.CharField()
    season = serializers.CharField()
    episode_type = serializers.CharField(help_text='"full", "trailer", "bonus" or "".')
    explicit = serializers.BooleanField(allow_null=True)
    transcripts = FileLinkSerializer(many=True)
    chapters = FileLinkSerializer(allow_null=True)
    comments = serializers.CharField(help_text="Address of the comments.")
    comment_count = serializers.IntegerField(allow_null=True)
    comments_feed = serializers.CharField()
    source_title = serializers.CharField(help_text="The feed it was taken from.")
    source_url = serializers.CharField()
    via = serializers.ListField(child=serializers.CharField())
    related = serializers.ListField(child=serializers.CharField())
    contributors = serializers.ListField(child=serializers.CharField())
    terms = TermSerializer(many=True)
    rights = serializers.CharField()
    latitude = serializers.FloatField(allow_null=True)
    longitude = serializers.FloatField(allow_null=True)


class ImageSerializer(serializers.Serializer[Any]):
    """A picture in an article's body."""

    url = serializers.CharField()
    alt = serializers.CharField()
    width = serializers.IntegerField(help_text="Pixels; 0 when not known.")
    height = serializers.IntegerField(help_text="Pixels; 0 when not known.")


class ArticleDetailSerializer(ArticleSerializer):
    """An article with everything known of it. `summary` and `content` are sanitised HTML."""

    enclosures = AttachmentSerializer(many=True, read_only=True)
    page_failure = serializers.CharField(
        source="page.failure",
        default="",
        read_only=True,
        help_text="Why fetching its page failed last time.",
    )
    page_failure_detail = serializers.CharField(source="page.failure_detail", default="", read_only=True)
    content_html = serializers.SerializerMethodField(help_text="The body as it is shown, sanitised HTML.")
    content_from = serializers.SerializerMethodField(help_text='"feed" or "page"; "" without a body.')
    page_html = serializers.SerializerMethodField(help_text='From its page; "" where there is none.')
    feed_html = serializers.SerializerMethodField(help_text='From its feed; "" where there is none.')
    lead_image = serializers.SerializerMethodField(help_text='The picture that stands for it, or "".')
    images = serializers.SerializerMethodField(help_text="Pictures of the body that is shown.")
    media = serializers.SerializerMethodField(help_text="All files that the feed attaches.")
    audio = serializers.SerializerMethodField(help_text="The first file to listen to, or null.")
    feed_icon = serializers.SerializerMethodField(help_text="Address of the feed's icon, here.")
    details = serializers.SerializerMethodField(help_text="The rest of what the feed says of it.")
    reading_seconds = serializers.SerializerMethodField(help_text="For an average reader.")

    class Meta(ArticleSerializer.Meta):
        fields = [
            *ArticleSerializer.Meta.fields,
            "categories", "dating", "delay", "summary", "content", "text", "enclosures", "revision",
            "updated", "page_failure", "page_failure_detail", "content_html", "content_from", "page_html",
            "feed_html", "lead_image", "images", "media", "audio", "feed_icon", "details", "reading_seconds",
        ]  # fmt: skip
        read_only_fields = fields

    def to_representation(self, instance: Article) -> dict[str, Any]:
        self._body = body_of(instance)
        return dict(super().to_representation(instance))

    def get_content_html(self, _: Article) -> str:
        return self._body.shown

    @extend_schema_field({"type": "string", "enum": ["feed", "page", ""]})
    def get_content_from(self, _: Article) -> str:
        return self._body.source

    def get_page_html(self, _: Article) -> str:
        return self._body.page

    def get_feed_html(self, _: Article) -> str:
        return self._body.feed

    def get_lead_image(self, article: Article) -> str:
        return lead_image(article, self._body.shown)

    @extend_schema_field(ImageSerializer(many=True))
    def get_images(self, _: Article) -> list[dict[str, Any]]:
        return [asdict(image) for image in images_of(self._body.shown)]

    @extend_schema_field(MediaSerializer(many=True))
    def get_media(self, article: Article) -> list[dict[str, Any]]:
        return media_of(article)

    @extend_schema_field(MediaSerializer(allow_null=True))
    def get_audio(self, article: Article) -> dict[str, Any] | None:
        return audio_of(article)

    def get_feed_icon(self, article: Article) -> str:
        request = self.context.get("request")
        address = icon_address(article.feed_id)
        return request.build_absolute_uri(address) if request else address

    @extend_schema_field(DetailsSerializer)
    def get_details(self, article: Article) -> dict[str, Any]:
        details = structs.asdict(stored_details(article.details))
        lists = ("transcripts", "terms")
        files = {name: [structs.asdict(row) for row in details[name]] for name in lists}
        chapters = details["chapters"] and structs.asdict(details["chapters"])
        return details | files | {"chapters": chapters}

    def get_reading_seconds(self, _: Article) -> int:
        return reading_seconds(text_of(self._body.shown))


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

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=TextField(max_length=200), max_length=MAX_KEYWORDS, required=False, **kwargs)


class PersonalFeedSerializer(RowSerializer[PersonalFeed]):
    """A feed made for its subscriber. `urls` is null while its address is revoked."""

    categories = KeywordsField(help_text="One of these categories; empty: any.")
    include = KeywordsField(help_text="At least one of these words or phrases; empty: any article.")
    exclude = KeywordsField(help_text="None of these words or phrases.")
    urls = serializers.SerializerMethodField()

    class Meta:
        model = PersonalFeed
        fields = [
            "id", "name", "folder", "query", "include", "exclude", "categories", "order", "body", "changed",
            "urls",
        ]  # fmt: skip
        read_only_fields = ["id", "changed", "urls"]

    def validate_folder(self, folder: str) -> str:
        return folder_named(folder)

    def validate_query(self, query: str) -> str:
        if problem := search_problem(query):
            raise serializers.ValidationError(problem)
        return query

    def validate_name(self, name: str) -> str:
        """Require a name that is unique among the personal feeds of the requesting user."""
        same = PersonalFeed.objects.filter(subscriber__user=self.context["request"].user, name=name)
        if (same.exclude(pk=self.instance.pk) if self.instance else same).exists():
            raise serializers.ValidationError("You have a personal feed of this name already.")
        return name

    @extend_schema_field(AddressesSerializer(allow_null=True))
    def get_urls(self, personal_feed: PersonalFeed) -> dict[str, str] | None:
        return addresses(personal_feed, self.context["request"]) or None
