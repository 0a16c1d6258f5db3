"""All tables of this app as version 0.1.0 had them; it stands for the migrations up to then."""

import uuid

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    # A database from before these were made one has them all.
    replaces = [("crawler", "0001_initial"), ("crawler", "0002_host_turns")]

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Pulse",
            fields=[
                ("queue", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("sent", models.DateTimeField(null=True)),
                ("answered", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Tick",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("started", models.DateTimeField(unique=True)),
                ("finished", models.DateTimeField(blank=True, null=True)),
                ("policy", models.CharField(max_length=40)),
                ("swept", models.PositiveIntegerField(default=0, help_text="Leases that had expired.")),
                ("training", models.PositiveIntegerField(default=0, help_text="Training feeds taken, by ToE.")),
                ("ranked", models.PositiveIntegerField(default=0, help_text="Feeds taken by the policy's rank.")),
                ("candidates", models.PositiveIntegerField(default=0, help_text="Feeds the policy could choose from.")),
                ("budget", models.FloatField(default=0, help_text="Retrievals the budget allowed; the rest carries over.")),
                ("carried", models.FloatField(default=0, help_text="Retrievals left over for the next tick.")),
                ("cutoff", models.FloatField(blank=True, help_text="Key of the last feed taken, if any was left out.", null=True)),
            ],
            options={"ordering": ["-started"]},
        ),
        migrations.CreateModel(
            name="Attempts",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(help_text="Keyed hash of the kind of secret and the address.", max_length=64)),
                ("window", models.DateTimeField(help_text="When the window began.")),
                ("failures", models.PositiveIntegerField(default=1)),
            ],
            options={
                "verbose_name_plural": "attempts",
                "indexes": [models.Index(fields=["window"], name="attempts_window")],
                "constraints": [models.UniqueConstraint(fields=("key", "window"), name="attempts_once")],
            },
        ),
        migrations.CreateModel(
            name="Deployment",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("key", models.UUIDField(default=uuid.uuid4, editable=False)),
                (
                    "allowed_networks",
                    models.JSONField(editable=False, help_text="FETCH_ALLOWED_NETWORKS of the controller; null before it ran.", null=True),
                ),
            ],
            options={"constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="one_deployment")]},
        ),
        migrations.CreateModel(
            name="Host",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=253, unique=True)),
                (
                    "spacing",
                    models.FloatField(blank=True, help_text="Seconds between two requests, instead of FETCH_HOST_SPACING_SECONDS.", null=True),
                ),
                ("lease", models.UUIDField(blank=True, editable=False, null=True)),
                ("leased_until", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "served",
                    models.DateTimeField(
                        blank=True, editable=False, help_text="When it last got a lease; the longest waiting goes first.", null=True
                    ),
                ),
                ("not_before", models.DateTimeField(blank=True, help_text="The host asked for a pause: no request before this time.", null=True)),
                ("robots_origin", models.CharField(blank=True, editable=False, max_length=300)),
                ("robots_status", models.PositiveSmallIntegerField(blank=True, editable=False, null=True)),
                ("robots_text", models.TextField(blank=True, editable=False)),
                ("robots_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("robots_tried", models.DateTimeField(blank=True, editable=False, help_text="when robots.txt was last asked for in vain", null=True)),
                (
                    "turns",
                    models.PositiveSmallIntegerField(
                        default=0, editable=False, help_text="Batches until one for what has lost a lease, with the last of them; 0: nothing has."
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "indexes": [models.Index(condition=models.Q(("lease__isnull", False)), fields=["leased_until"], name="host_leased")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lease__isnull", True), ("leased_until__isnull", True)),
                            models.Q(("lease__isnull", False), ("leased_until__isnull", False)),
                            _connector="OR",
                        ),
                        name="host_lease_has_expiry",
                    )
                ],
            },
        ),
    ]
