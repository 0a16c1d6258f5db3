"""All tables of this app as version 0.1.0 had them; it stands for the migrations up to then."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import migrations, models
from django.db.models.functions import Now

import articles.models
import articles.search
from crawler.database.words import CREATE_SEARCH_WORDS

# Feed.subscribers is counted by the database, so that no way of changing a subscription can miss it.
COUNT = """
CREATE FUNCTION articles_count_subscriber() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE feeds_feed SET subscribers = greatest(subscribers - 1, 0) WHERE id = OLD.feed_id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        UPDATE feeds_feed SET subscribers = subscribers + 1 WHERE id = NEW.feed_id;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_subscriber AFTER INSERT OR DELETE OR UPDATE OF feed_id ON articles_subscription
    FOR EACH ROW EXECUTE FUNCTION articles_count_subscriber();
"""
FORGET = """
DROP TRIGGER count_subscriber ON articles_subscription;
DROP FUNCTION articles_count_subscriber();
"""


class Migration(migrations.Migration):
    initial = True

    # A database from before these were made one has them all.
    replaces = [
        ("articles", "0001_initial"),
        ("articles", "0002_page_content"),
        ("articles", "0003_details"),
        ("articles", "0004_search_feeds"),
        ("articles", "0005_carried_marks"),
        ("articles", "0006_labels"),
        ("articles", "0007_words_without_accents"),
        ("articles", "0008_tags_index"),
    ]

    dependencies = [("crawler", "0001_squashed"), ("feeds", "0001_squashed"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.RunSQL(CREATE_SEARCH_WORDS, migrations.RunSQL.noop),
        migrations.CreateModel(
            name="FeedVersion",
            fields=[
                ("feed", models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name="version", serialize=False, to="feeds.feed")),
                ("version", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Page",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.TextField()),
                ("url_key", models.UUIDField(editable=False, unique=True)),
                (
                    "status",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("stored", "stored"), ("refused", "refused by robots.txt"), ("failed", "given up")],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("lease", models.UUIDField(blank=True, editable=False, null=True)),
                ("not_before", models.DateTimeField(db_default=Now())),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("losses", models.PositiveSmallIntegerField(default=0, editable=False, help_text="Leases lost in a row.")),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("failure_detail", models.TextField(blank=True)),
                ("fetched", models.DateTimeField(blank=True, null=True)),
                ("html", models.BinaryField(default=b"", help_text="zlib of the body as received.")),
                ("content_type", models.CharField(blank=True, max_length=200)),
                ("reading", models.CharField(default="1", help_text="Version of what read it (articles.messages).", max_length=8)),
                ("title", models.TextField(blank=True)),
                ("text", models.TextField(blank=True)),
                ("language", models.CharField(blank=True, max_length=20)),
                ("author", models.TextField(blank=True)),
                ("published", models.DateTimeField(blank=True, null=True)),
                ("canonical_url", models.TextField(blank=True)),
                ("host", models.ForeignKey(on_delete=models.PROTECT, related_name="pages", to="crawler.host")),
                ("content", models.TextField(blank=True, help_text="Sanitised HTML of the main content.")),
                ("image", models.TextField(blank=True, help_text="Address of the picture that the page names for previews.")),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("lease__isnull", True), ("status", "waiting")), fields=["host", "id"], name="page_waiting"),
                    models.Index(condition=models.Q(("lease__isnull", False)), fields=["lease"], name="page_lease"),
                    models.Index(condition=models.Q(("failure", ""), _negated=True), fields=["failure"], name="page_failure"),
                    models.Index(fields=["fetched"], name="page_fetched"),
                    models.Index(condition=models.Q(("status", "stored")), fields=["reading", "-id"], name="page_reading"),
                ]
            },
        ),
        migrations.CreateModel(
            name="Article",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("identity", models.TextField()),
                ("identity_key", models.UUIDField(editable=False)),
                ("url", models.TextField(blank=True)),
                ("title", models.TextField(blank=True)),
                ("author", models.TextField(blank=True)),
                ("category", models.TextField(blank=True)),
                ("categories", ArrayField(base_field=models.TextField(), blank=True, default=list, size=None)),
                ("language", models.CharField(blank=True, max_length=20)),
                ("published", models.DateTimeField(help_text="When it appeared, as far as known.")),
                (
                    "dating",
                    models.CharField(
                        choices=[
                            ("feed", "the feed's date"),
                            ("page", "the page's date"),
                            ("fetched", "the time of retrieval (no usable date given)"),
                        ],
                        max_length=10,
                    ),
                ),
                ("fetched", models.DateTimeField()),
                ("delay", models.FloatField(help_text="Seconds from publication to retrieval, where both are sure.", null=True)),
                ("summary", models.TextField(blank=True, help_text="Sanitised HTML from the feed.")),
                ("content", models.TextField(blank=True, help_text="Sanitised HTML from the feed.")),
                ("text", models.TextField(blank=True)),
                ("text_length", models.PositiveIntegerField(default=0)),
                ("enclosures", models.JSONField(blank=True, default=list)),
                ("revision", models.PositiveSmallIntegerField(default=0, help_text="How often the feed rewrote the entry.")),
                ("updated", models.DateTimeField(db_default=Now(), help_text="When this row last changed.")),
                ("feed", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="articles", to="feeds.feed")),
                ("page", models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name="articles", to="articles.page")),
                ("image", models.TextField(blank=True, help_text="Address of the picture that stands for it in lists.")),
                (
                    "details",
                    models.JSONField(blank=True, default=dict, help_text="The rest of what the feed says of it (crawler.reading.documents)."),
                ),
                (
                    "search",
                    models.GeneratedField(
                        db_persist=True,
                        expression=articles.search.ArticleVector(models.F("language"), models.F("title"), models.F("author"), models.F("text")),
                        output_field=SearchVectorField(),
                    ),
                ),
            ],
            options={
                "ordering": ["-published", "-id"],
                "indexes": [
                    models.Index(fields=["-published", "-id"], name="article_newest"),
                    models.Index(fields=["feed", "-published", "-id"], name="article_feed_newest"),
                    models.Index(fields=["feed", "id"], name="article_feed_id"),
                    models.Index(fields=["-fetched"], name="article_fetched"),
                    models.Index(fields=["language", "-published"], name="article_language"),
                    models.Index(fields=["category", "-published"], name="article_category"),
                    GinIndex(fields=["search"], name="article_search"),
                    GinIndex(fields=["categories"], name="article_tags"),
                ],
                "constraints": [models.UniqueConstraint(fields=("feed", "identity_key"), name="article_once_a_feed")],
            },
        ),
        migrations.CreateModel(
            name="Subscriber",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
                ("user", models.OneToOneField(on_delete=models.CASCADE, related_name="subscriber", to=settings.AUTH_USER_MODEL)),
                (
                    "folders",
                    ArrayField(
                        base_field=models.CharField(max_length=400),
                        blank=True,
                        default=list,
                        help_text="Folders that stay when no feed is in them.",
                        size=None,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PersonalFeed",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                ("folder", models.CharField(blank=True, help_text="Only this folder and those inside it.", max_length=400)),
                ("include", ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, size=None)),
                ("exclude", ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, size=None)),
                ("categories", ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, size=None)),
                ("body", models.CharField(choices=[("full", "full text"), ("summary", "summary")], default="full", max_length=10)),
                ("order", models.CharField(choices=[("newest", "newest first"), ("interest", "by interest")], default="newest", max_length=10)),
                ("changed", models.DateTimeField(auto_now=True)),
                ("subscriber", models.ForeignKey(on_delete=models.CASCADE, related_name="personal_feeds", to="articles.subscriber")),
                ("query", models.CharField(blank=True, help_text="A search over all articles, in place of those followed.", max_length=300)),
            ],
            options={"ordering": ["name"], "constraints": [models.UniqueConstraint(fields=("subscriber", "name"), name="personal_feed_name")]},
        ),
        migrations.CreateModel(
            name="PersonalFeedToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token", models.CharField(default=articles.models.new_token, editable=False, max_length=64, unique=True)),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
                ("revoked", models.DateTimeField(blank=True, null=True)),
                ("last_read", models.DateTimeField(blank=True, editable=False, null=True)),
                ("personal_feed", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="tokens", to="articles.personalfeed")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("revoked__isnull", True)), fields=("personal_feed",), name="one_valid_token")
                ]
            },
        ),
        migrations.CreateModel(
            name="PersonalPage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=8)),
                ("number", models.PositiveIntegerField()),
                ("stamp", models.BinaryField()),
                ("digest", models.CharField(help_text="Of the document's bytes; the strong validator.", max_length=32)),
                ("changed", models.DateTimeField()),
                ("personal_feed", models.ForeignKey(on_delete=models.CASCADE, related_name="pages", to="articles.personalfeed")),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("personal_feed", "kind", "number"), name="personal_page_once")]},
        ),
        migrations.CreateModel(
            name="Mark",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("read", models.DateTimeField(blank=True, null=True)),
                ("starred", models.DateTimeField(blank=True, null=True)),
                ("article", models.ForeignKey(on_delete=models.CASCADE, related_name="marks", to="articles.article")),
                ("subscriber", models.ForeignKey(on_delete=models.CASCADE, related_name="marks", to="articles.subscriber")),
                (
                    "labels",
                    ArrayField(
                        base_field=models.CharField(max_length=100),
                        blank=True,
                        db_default=models.Value([], ArrayField(base_field=models.CharField(max_length=100), size=None)),
                        default=list,
                        help_text="The subscriber's own words for it, sorted.",
                        size=None,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("starred__isnull", False)), fields=["subscriber", "-starred"], name="mark_starred"),
                    models.Index(condition=models.Q(("labels", []), _negated=True), fields=["subscriber", "article"], name="mark_labelled"),
                ],
                "constraints": [models.UniqueConstraint(fields=("subscriber", "article"), name="mark_once")],
            },
        ),
        migrations.CreateModel(
            name="Subscription",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("folder", models.CharField(blank=True, help_text="Folders within folders with / between.", max_length=400)),
                ("title", models.CharField(blank=True, help_text="The subscriber's own name for the feed.", max_length=400)),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
                ("feed", models.ForeignKey(on_delete=models.CASCADE, related_name="subscriptions", to="feeds.feed")),
                ("subscriber", models.ForeignKey(on_delete=models.CASCADE, related_name="subscriptions", to="articles.subscriber")),
            ],
            options={"ordering": ["folder", "id"], "constraints": [models.UniqueConstraint(fields=("subscriber", "feed"), name="subscription_once")]},
        ),
        migrations.CreateModel(
            name="Topic",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("keyword", "keyword"), ("category", "category"), ("site", "site")], max_length=8)),
                ("value", models.CharField(help_text="The word or phrase, the category, or the host name.", max_length=200)),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
                ("subscriber", models.ForeignKey(on_delete=models.CASCADE, related_name="topics", to="articles.subscriber")),
            ],
            options={
                "ordering": ["kind", "value"],
                "constraints": [models.UniqueConstraint(fields=("subscriber", "kind", "value"), name="topic_once")],
            },
        ),
        migrations.CreateModel(
            name="CarriedMark",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("identity_key", models.UUIDField()),
                ("read", models.DateTimeField(null=True)),
                ("starred", models.DateTimeField(null=True)),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
                ("feed", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="feeds.feed")),
                ("subscriber", models.ForeignKey(on_delete=models.CASCADE, related_name="carried_marks", to="articles.subscriber")),
                (
                    "labels",
                    ArrayField(
                        base_field=models.CharField(max_length=100),
                        db_default=models.Value([], ArrayField(base_field=models.CharField(max_length=100), size=None)),
                        default=list,
                        size=None,
                    ),
                ),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("subscriber", "feed", "identity_key"), name="carried_mark_once")]},
        ),
        migrations.RunSQL(COUNT, FORGET),
    ]
