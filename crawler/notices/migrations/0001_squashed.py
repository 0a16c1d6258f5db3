"""All tables of this app as version 0.1.0 had them; it stands for the migrations up to then."""

import uuid

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models
from django.db.models.functions import Now

from crawler.notices.models import target_kinds


class Migration(migrations.Migration):
    initial = True

    # A database from before these were made one has them all.
    replaces = [("notices", "0001_initial"), ("notices", "0002_hub"), ("notices", "0003_topic"), ("notices", "0004_hub_compared")]

    dependencies = [
        ("articles", "0001_squashed"),
        ("feeds", "0001_squashed"),
        ("recrawl", "0001_squashed"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Target",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=target_kinds,
                        max_length=8,
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("sealed", models.TextField(editable=False)),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
                ("failing_since", models.DateTimeField(editable=False, null=True)),
                ("failure", models.CharField(blank=True, editable=False, max_length=300)),
                ("last_sent", models.DateTimeField(editable=False, null=True)),
                ("user", models.ForeignKey(on_delete=models.CASCADE, related_name="targets", to=settings.AUTH_USER_MODEL)),
            ],
            options={"ordering": ["id"]},
        ),
        migrations.CreateModel(
            name="Rule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(blank=True, max_length=200)),
                (
                    "when",
                    models.CharField(
                        choices=[
                            ("article", "an article comes"),
                            ("story", "several feeds tell the same story"),
                            ("page", "a watched page changes"),
                            ("feed", "a feed cannot be read, or can again"),
                            ("crawl", "a crawl ends"),
                            ("disk", "the disk is nearly full"),
                        ],
                        default="article",
                        max_length=8,
                    ),
                ),
                ("folder", models.CharField(blank=True, max_length=400)),
                ("query", models.CharField(blank=True, max_length=300)),
                ("feeds_at_least", models.PositiveSmallIntegerField(default=3, validators=[MinValueValidator(2), MaxValueValidator(100)])),
                ("lines_at_least", models.PositiveIntegerField(default=1, validators=[MaxValueValidator(100000)])),
                ("words", models.CharField(blank=True, max_length=300)),
                ("without_words", models.CharField(blank=True, max_length=300)),
                ("once_a_story", models.BooleanField(default=True)),
                (
                    "pace",
                    models.CharField(choices=[("now", "at once"), ("daily", "once a day"), ("weekly", "once a week")], default="now", max_length=6),
                ),
                ("hour", models.PositiveSmallIntegerField(default=8, validators=[MaxValueValidator(23)])),
                ("weekday", models.PositiveSmallIntegerField(default=0, validators=[MaxValueValidator(6)])),
                ("most_an_hour", models.PositiveSmallIntegerField(default=10, validators=[MinValueValidator(1), MaxValueValidator(1000)])),
                ("quiet_from", models.PositiveSmallIntegerField(blank=True, null=True, validators=[MaxValueValidator(23)])),
                ("quiet_until", models.PositiveSmallIntegerField(blank=True, null=True, validators=[MaxValueValidator(23)])),
                ("title_template", models.CharField(blank=True, max_length=200)),
                ("text_template", models.TextField(blank=True, max_length=2000)),
                ("paused", models.BooleanField(default=False)),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
                ("looked", models.DateTimeField(editable=False, help_text="Up to when what happened was looked at.")),
                ("digested", models.DateTimeField(editable=False, help_text="The last digest's time.", null=True)),
                ("feed", models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name="+", to="feeds.feed")),
                ("page", models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name="+", to="recrawl.watchedpage")),
                ("site", models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name="+", to="recrawl.site")),
                ("user", models.ForeignKey(on_delete=models.CASCADE, related_name="rules", to=settings.AUTH_USER_MODEL)),
                ("topic", models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name="+", to="articles.topic")),
                ("targets", models.ManyToManyField(blank=True, related_name="rules", to="notices.target")),
            ],
            options={"ordering": ["id"], "indexes": [models.Index(condition=models.Q(("paused", False)), fields=["looked"], name="rule_active")]},
        ),
        migrations.CreateModel(
            name="Notification",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("target_name", models.CharField(max_length=100)),
                ("key", models.CharField(max_length=120)),
                ("title", models.CharField(max_length=300)),
                ("text", models.TextField()),
                ("html", models.TextField(blank=True)),
                ("facts", models.JSONField(default=dict, help_text="What programs get: kind, url, source and more.")),
                ("created", models.DateTimeField(db_default=Now())),
                ("due", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waits"), ("sending", "is being sent"), ("sent", "sent"), ("failed", "given up")],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("leased_until", models.DateTimeField(null=True)),
                ("sent", models.DateTimeField(null=True)),
                ("failure", models.CharField(blank=True, max_length=300)),
                ("user", models.ForeignKey(on_delete=models.CASCADE, related_name="notifications", to=settings.AUTH_USER_MODEL)),
                ("rule", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="messages", to="notices.rule")),
                ("target", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="messages", to="notices.target")),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(condition=models.Q(("state__in", ["waiting", "sending"])), fields=["due"], name="message_open"),
                    models.Index(fields=["user", "-id"], name="message_of_user"),
                ],
                "constraints": [models.UniqueConstraint(fields=("target", "key"), name="message_once")],
            },
        ),
        migrations.CreateModel(
            name="Notice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=80)),
                ("at", models.DateTimeField()),
                ("title", models.CharField(max_length=300)),
                ("text", models.TextField(blank=True)),
                ("url", models.TextField(blank=True, help_text="Of what it is about, on the web.")),
                ("path", models.CharField(blank=True, help_text="Of the page that shows it here.", max_length=300)),
                ("source", models.CharField(blank=True, max_length=300)),
                ("image", models.TextField(blank=True)),
                ("story", models.BigIntegerField(null=True)),
                (
                    "held",
                    models.CharField(
                        blank=True, choices=[("", "no"), ("limit", "too many within an hour"), ("story", "its story was told already")], max_length=8
                    ),
                ),
                ("told", models.DateTimeField(help_text="When messages about it were written.", null=True)),
                ("rule", models.ForeignKey(on_delete=models.CASCADE, related_name="notices", to="notices.rule")),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(condition=models.Q(("held", ""), ("told__isnull", True)), fields=["rule", "at"], name="notice_untold")],
                "constraints": [models.UniqueConstraint(fields=("rule", "key"), name="notice_once")],
            },
        ),
        migrations.CreateModel(
            name="HubClient",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("topic", models.CharField(help_text="The feed's address, as the program asked for it.", max_length=500)),
                ("callback", models.TextField()),
                ("key", models.UUIDField(editable=False, help_text="Digest of topic and callback.", unique=True)),
                ("sealed_secret", models.TextField(blank=True, editable=False)),
                ("until", models.DateTimeField(null=True)),
                (
                    "wanted",
                    models.CharField(
                        blank=True, choices=[("", "nothing"), ("subscribe", "subscribe"), ("unsubscribe", "unsubscribe")], max_length=11
                    ),
                ),
                ("wanted_secret", models.TextField(blank=True, editable=False)),
                ("wanted_seconds", models.PositiveIntegerField(default=0)),
                ("stamp", models.BinaryField(default=b"", help_text="State of the feed when it was last looked at.")),
                ("pushed", models.CharField(blank=True, help_text="Digest of the document last pushed.", max_length=40)),
                ("due", models.DateTimeField(help_text="When the next request is sent; NULL without one.", null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("leased_until", models.DateTimeField(null=True)),
                ("last_pushed", models.DateTimeField(null=True)),
                ("failure", models.CharField(blank=True, max_length=300)),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
                ("personal_feed", models.ForeignKey(on_delete=models.CASCADE, related_name="hub_clients", to="articles.personalfeed")),
                ("compared_at", models.DateTimeField(help_text="When the feed was last compared with what it was sent.", null=True)),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(condition=models.Q(("due__isnull", False)), fields=["due"], name="hub_client_due"),
                    models.Index(fields=["topic"], name="hub_client_topic"),
                ],
            },
        ),
    ]
