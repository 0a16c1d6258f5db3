"""All tables of this app as version 0.1.0 had them; it stands for the migrations up to then."""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    initial = True

    # A database from before these were made one has them all.
    replaces = [("feeds", "0001_initial"), ("feeds", "0002_details"), ("feeds", "0003_words"), ("feeds", "0004_imports_and_removal")]

    dependencies = [("crawler", "0001_squashed"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Category",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                ("parent", models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name="children", to="feeds.category")),
            ],
            options={
                "verbose_name_plural": "categories",
                "ordering": ["name"],
                "constraints": [models.UniqueConstraint(fields=("parent", "name"), name="category_once", nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name="Feed",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.TextField(help_text="The address as it is fetched.")),
                ("canonical_url", models.TextField(editable=False, unique=True)),
                (
                    "status",
                    models.CharField(
                        choices=[("active", "active"), ("paused", "paused"), ("gone", "ended by its publisher")], default="active", max_length=10
                    ),
                ),
                (
                    "phase",
                    models.CharField(choices=[("training", "learning its rhythm"), ("normal", "rhythm known")], default="training", max_length=10),
                ),
                ("added", models.DateTimeField(db_default=Now(), editable=False)),
                ("title", models.TextField(blank=True)),
                ("site_url", models.TextField(blank=True, editable=False)),
                ("description", models.TextField(blank=True, editable=False)),
                ("language", models.CharField(blank=True, editable=False, max_length=20)),
                ("format", models.CharField(blank=True, editable=False, max_length=20)),
                ("hub", models.TextField(blank=True, editable=False)),
                ("ttl", models.FloatField(blank=True, editable=False, help_text="Seconds, from RSS ttl.", null=True)),
                ("update_period", models.FloatField(blank=True, editable=False, help_text="Seconds, from sy:*.", null=True)),
                ("skip_hours", ArrayField(base_field=models.PositiveSmallIntegerField(), blank=True, default=list, editable=False, size=None)),
                ("skip_days", ArrayField(base_field=models.PositiveSmallIntegerField(), blank=True, default=list, editable=False, size=None)),
                ("document_size", models.PositiveIntegerField(default=0, editable=False, help_text="Entries its document holds.")),
                ("etag", models.TextField(blank=True, editable=False)),
                ("last_modified", models.TextField(blank=True, editable=False)),
                ("body_hash", models.CharField(blank=True, editable=False, max_length=64)),
                ("fingerprints", models.BinaryField(default=b"")),
                ("last_attempt", models.DateTimeField(blank=True, editable=False, null=True)),
                ("last_success", models.DateTimeField(blank=True, editable=False, null=True)),
                ("last_new", models.DateTimeField(blank=True, editable=False, null=True)),
                ("unchanged_streak", models.PositiveIntegerField(default=0, editable=False)),
                ("failure_streak", models.PositiveIntegerField(default=0, editable=False)),
                ("failing_since", models.DateTimeField(blank=True, editable=False, null=True)),
                ("failure", models.CharField(blank=True, editable=False, max_length=40)),
                ("failure_detail", models.TextField(blank=True, editable=False)),
                ("training_since", models.DateTimeField(db_default=Now(), editable=False)),
                ("training_m", models.FloatField(default=4.0, editable=False)),
                ("training_t", models.FloatField(default=1.0, editable=False)),
                ("training_due", models.DateTimeField(db_default=Now(), editable=False)),
                ("not_before", models.DateTimeField(db_default=Now(), editable=False)),
                ("floor", models.CharField(blank=True, editable=False, help_text="Rule behind not_before.", max_length=20)),
                ("floor_detail", models.TextField(blank=True, editable=False)),
                ("selected_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("selected_because", models.TextField(blank=True, editable=False)),
                ("lease", models.UUIDField(blank=True, editable=False, null=True)),
                ("losses", models.PositiveSmallIntegerField(default=0, editable=False, help_text="Leases lost in a row.")),
                ("moved_to", models.TextField(blank=True, editable=False)),
                ("moved_count", models.PositiveSmallIntegerField(default=0, editable=False)),
                ("moved_since", models.DateTimeField(blank=True, editable=False, null=True)),
                ("subscribers", models.PositiveIntegerField(default=0, editable=False)),
                ("category", models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name="feeds", to="feeds.category")),
                ("host", models.ForeignKey(editable=False, on_delete=models.PROTECT, related_name="feeds", to="crawler.host")),
                ("icon", models.TextField(blank=True, editable=False, help_text="Address of a small square picture.")),
                ("image", models.TextField(blank=True, editable=False, help_text="Address of its logo or cover.")),
                ("removed", models.DateTimeField(blank=True, editable=False, help_text="Removed by a person; to be deleted soon.", null=True)),
                ("renamed", models.BooleanField(default=False, editable=False, help_text="People gave the title; the feed does not change it.")),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("lease__isnull", True), ("selected_at__isnull", True), ("status", "active")),
                        fields=["phase", "not_before"],
                        name="feed_due",
                    ),
                    models.Index(condition=models.Q(("selected_at__isnull", False)), fields=["host", "selected_at"], name="feed_selected"),
                    models.Index(condition=models.Q(("lease__isnull", False)), fields=["lease"], name="feed_lease"),
                    models.Index(condition=models.Q(("failure_streak__gt", 0)), fields=["failing_since"], name="feed_failing"),
                    models.Index(fields=["title"], name="feed_title"),
                    models.Index(fields=["last_success"], name="feed_last_success"),
                    models.Index(fields=["last_new"], name="feed_last_new"),
                    models.Index(condition=models.Q(("removed__isnull", False)), fields=["removed"], name="feed_removed"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("training_m__gte", 1), ("training_m__lte", 80)), name="feed_m_in_range"),
                    models.CheckConstraint(condition=models.Q(("training_t__gte", 1)), name="feed_t_in_range"),
                ],
            },
        ),
        migrations.CreateModel(
            name="PostingHistory",
            fields=[
                ("feed", models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name="history", serialize=False, to="feeds.feed")),
                ("hourly", models.BinaryField()),
                ("week_counts", models.BinaryField()),
                ("week_exposure", models.BinaryField()),
                ("days", models.FloatField(default=0.0)),
                ("levels", models.BinaryField(default=bytes(16))),
                ("rates", models.BinaryField(default=bytes(672))),
                ("updated", models.DateTimeField(help_text="The exposure reaches up to this time.")),
            ],
            options={
                "verbose_name_plural": "posting histories",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("hourly__octet_length", 96),
                            ("levels__octet_length", 16),
                            ("rates__octet_length", 672),
                            ("week_counts__octet_length", 672),
                            ("week_exposure__octet_length", 672),
                        ),
                        name="history_sizes",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PostingPlan",
            fields=[
                ("feed", models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name="plan", serialize=False, to="feeds.feed")),
                ("shape", models.BinaryField()),
            ],
            options={"constraints": [models.CheckConstraint(condition=models.Q(("shape__octet_length", 672)), name="plan_size")]},
        ),
        migrations.CreateModel(
            name="FeedAlias",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("canonical_url", models.TextField(unique=True)),
                ("feed", models.ForeignKey(on_delete=models.CASCADE, related_name="aliases", to="feeds.feed")),
            ],
            options={"verbose_name_plural": "feed aliases"},
        ),
        migrations.CreateModel(
            name="PostingPopulation",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("week_counts", models.BinaryField()),
                ("week_exposure", models.BinaryField()),
                ("prices", models.BinaryField(blank=True, default=b"")),
                ("updated", models.DateTimeField()),
                ("planned", models.DateTimeField(blank=True, help_text="When planning was last begun.", null=True)),
            ],
            options={"constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="one_population")]},
        ),
        migrations.CreateModel(
            name="Retrieval",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease", models.UUIDField(default=uuid.uuid4, editable=False)),
                ("at", models.DateTimeField()),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("new", "new articles"),
                            ("nothing-new", "changed, nothing new"),
                            ("same-body", "same bytes"),
                            ("not-modified", "304 not modified"),
                            ("failed", "failed"),
                        ],
                        max_length=12,
                    ),
                ),
                ("status", models.PositiveSmallIntegerField(default=0)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("detail", models.TextField(blank=True)),
                ("new", models.PositiveIntegerField(default=0)),
                ("edited", models.PositiveIntegerField(default=0)),
                ("bytes", models.PositiveIntegerField(default=0)),
                ("elapsed", models.FloatField(default=0, help_text="Seconds.")),
                ("conditional", models.BooleanField(default=False)),
                ("pushed", models.BooleanField(default=False, help_text="A hub sent it; nobody was asked.")),
                ("because", models.TextField(blank=True, help_text="Why the feed was selected.")),
                ("expected", models.FloatField(help_text="New articles the posting history predicted.", null=True)),
                ("m", models.FloatField(help_text="Training: M after this visit.", null=True)),
                ("t", models.FloatField(help_text="Training: T after this visit.", null=True)),
                ("toe", models.PositiveSmallIntegerField(help_text="Training: ToE after this visit, in ticks.", null=True)),
                ("feed", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="retrievals", to="feeds.feed")),
            ],
            options={
                "ordering": ["-at", "-id"],
                "indexes": [
                    models.Index(fields=["feed", "-at"], name="retrieval_feed"),
                    models.Index(fields=["-at"], name="retrieval_at"),
                    models.Index(condition=models.Q(("failure", ""), _negated=True), fields=["failure", "-at"], name="retrieval_failure"),
                ],
                "constraints": [models.UniqueConstraint(fields=("feed", "lease"), name="retrieval_once_a_lease")],
            },
        ),
        migrations.CreateModel(
            name="FeedImport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(blank=True, help_text="Of the file, where there was one.", max_length=200)),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
                ("follows", models.BooleanField(default=True)),
                ("user", models.ForeignKey(on_delete=models.CASCADE, related_name="feed_imports", to=settings.AUTH_USER_MODEL)),
            ],
            options={"ordering": ["-created"]},
        ),
        migrations.CreateModel(
            name="ImportLine",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField(help_text="The address as it was given.")),
                ("title", models.TextField(blank=True)),
                ("folder", models.TextField(blank=True)),
                ("outcome", models.CharField(choices=[("added", "added"), ("duplicate", "known already"), ("refused", "refused")], max_length=10)),
                ("message", models.TextField(blank=True)),
                ("feed", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to="feeds.feed")),
                ("source", models.ForeignKey(on_delete=models.CASCADE, related_name="lines", to="feeds.feedimport")),
            ],
            options={"ordering": ["id"]},
        ),
    ]
