import django.db.models.deletion
import django.db.models.functions.datetime
import feeds.websub.models
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    # A database from before these were made one has them all.
    replaces = [("websub", "0001_subscriptions"), ("websub", "0002_losses")]

    dependencies = [("crawler", "0001_squashed"), ("feeds", "0001_squashed")]

    operations = [
        migrations.CreateModel(
            name="HubSubscription",
            fields=[
                (
                    "feed",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="hub_subscription",
                        serialize=False,
                        to="feeds.feed",
                    ),
                ),
                ("hub", models.TextField()),
                ("topic", models.TextField(help_text="The feed's address as the hub knows it.")),
                ("token", models.CharField(default=feeds.websub.models.new_token, max_length=64, unique=True)),
                ("secret", models.CharField(default=feeds.websub.models.new_secret, max_length=64)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("wanted", "to be asked for"),
                            ("asked", "asked for, not confirmed yet"),
                            ("active", "active"),
                            ("denied", "denied by the hub"),
                        ],
                        default="wanted",
                        max_length=10,
                    ),
                ),
                ("lease", models.UUIDField(blank=True, editable=False, null=True)),
                ("not_before", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), help_text="When the hub is asked next.")),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("losses", models.PositiveSmallIntegerField(default=0, editable=False, help_text="Leases lost in a row.")),
                ("asked", models.DateTimeField(null=True)),
                ("expires", models.DateTimeField(help_text="Until when the hub pushes.", null=True)),
                ("last_push", models.DateTimeField(null=True)),
                ("pushes", models.PositiveIntegerField(default=0)),
                ("rejected", models.PositiveIntegerField(default=0, help_text="Pushes without a valid signature.")),
                ("detail", models.TextField(blank=True, help_text="Why the last request failed, or was denied.")),
                ("host", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="hub_subscriptions", to="crawler.host")),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("lease__isnull", True)), fields=["host", "not_before"], name="hub_due"),
                    models.Index(condition=models.Q(("lease__isnull", False)), fields=["lease"], name="hub_lease"),
                ]
            },
        ),
        migrations.CreateModel(
            name="Push",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("body", models.BinaryField(help_text="zlib of the bytes.")),
                ("content_type", models.CharField(blank=True, max_length=200)),
                ("lease", models.UUIDField(blank=True, editable=False, null=True)),
                ("leased_until", models.DateTimeField(null=True)),
                ("losses", models.PositiveSmallIntegerField(default=0, editable=False, help_text="Leases lost in a row.")),
                ("feed", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="pushes", to="feeds.feed")),
            ],
            options={
                "verbose_name_plural": "pushes",
                "indexes": [models.Index(condition=models.Q(("lease__isnull", False)), fields=["lease"], name="push_lease")],
            },
        ),
    ]
