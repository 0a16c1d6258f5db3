"""All tables of this app as version 0.1.0 had them; it stands for the migrations up to then."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models
from django.db.models.functions import Now

import feeds.laboratory.models


class Migration(migrations.Migration):
    initial = True

    # A database from before these were made one has them all.
    replaces = [("laboratory", "0001_experiments"), ("laboratory", "0001_initial")]

    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Experiment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(editable=False, help_text="The trace's name.", max_length=200)),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("sample", "the built-in trace (invented)"),
                            ("history", "what this deployment's feeds posted"),
                            ("upload", "a file of posting times"),
                        ],
                        default="sample",
                        max_length=10,
                    ),
                ),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
                ("policies", ArrayField(base_field=models.CharField(max_length=30), default=feeds.laboratory.models.all_policies, size=None)),
                (
                    "budget",
                    models.FloatField(
                        default=0.15, help_text="Retrievals per feed and hour.", validators=[MinValueValidator(0.001), MaxValueValidator(6)]
                    ),
                ),
                ("curve", models.BooleanField(default=True, help_text="Also at a quarter, half, twice and four times this budget.")),
                (
                    "train_days",
                    models.FloatField(
                        blank=True,
                        help_text="Learned from and not measured; empty: a third of the trace, at most 28.",
                        null=True,
                        validators=[MinValueValidator(0), MaxValueValidator(365)],
                    ),
                ),
                (
                    "tick",
                    models.PositiveIntegerField(
                        default=600, help_text="Seconds between two ticks.", validators=[MinValueValidator(60), MaxValueValidator(86400)]
                    ),
                ),
                (
                    "window",
                    models.PositiveIntegerField(
                        default=0, help_text="Entries that a document holds; 0: all.", validators=[MinValueValidator(0), MaxValueValidator(10000)]
                    ),
                ),
                (
                    "beta",
                    models.FloatField(
                        blank=True,
                        help_text="freshness ranks by n × age^beta instead of its plan.",
                        null=True,
                        validators=[MinValueValidator(0), MaxValueValidator(20.0)],
                    ),
                ),
                (
                    "audience",
                    models.BooleanField(default=False, help_text="Weigh the subscribers of this deployment's feeds (its own history only)."),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "running"), ("done", "done"), ("stopped", "stopped")], default="open", editable=False, max_length=10
                    ),
                ),
                ("feeds", models.PositiveIntegerField(editable=False, null=True)),
                ("articles", models.PositiveIntegerField(editable=False, null=True)),
                ("days", models.FloatField(editable=False, null=True)),
                ("flat_optimum", models.FloatField(editable=False, null=True)),
                ("trace", models.BinaryField(default=b"")),
                ("subscribers", ArrayField(base_field=models.FloatField(), editable=False, null=True, size=None)),
                ("claim", models.UUIDField(editable=False, null=True)),
                ("heard", models.DateTimeField(editable=False, help_text="Last sign of the replay that runs.", null=True)),
                ("share", models.FloatField(default=0.0, editable=False, help_text="How much of that replay is done.")),
                ("attempts", models.PositiveSmallIntegerField(default=0, editable=False)),
                ("finished", models.DateTimeField(editable=False, null=True)),
                (
                    "started_by",
                    models.ForeignKey(editable=False, null=True, on_delete=models.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={"ordering": ["-id"], "indexes": [models.Index(condition=models.Q(("state", "open")), fields=["heard"], name="experiment_open")]},
        ),
        migrations.CreateModel(
            name="Outcome",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("policy", models.CharField(max_length=30)),
                ("budget", models.FloatField()),
                ("metrics", models.JSONField(null=True)),
                ("error", models.TextField(blank=True)),
                ("spent", models.FloatField(help_text="Retrievals made, per feed and hour.", null=True)),
                ("pending_by_hour", ArrayField(base_field=models.FloatField(), default=list, help_text="24 means, UTC.", size=None)),
                ("delays", ArrayField(base_field=models.FloatField(), default=list, help_text="Percentiles 1 to 99, minutes.", size=None)),
                ("seconds", models.FloatField(default=0.0, help_text="What the replay took.")),
                ("experiment", models.ForeignKey(on_delete=models.CASCADE, related_name="outcomes", to="laboratory.experiment")),
            ],
            options={"ordering": ["id"], "constraints": [models.UniqueConstraint(fields=("experiment", "policy", "budget"), name="outcome_once")]},
        ),
    ]
