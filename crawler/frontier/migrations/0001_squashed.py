"""All tables of this app as version 0.1.0 had them; it stands for the migrations up to then."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    initial = True

    # A database from before these were made one has them all.
    replaces = [
        ("frontier", "0001_crawls"),
        ("frontier", "0002_queue"),
        ("frontier", "0003_into_graph"),
        ("frontier", "0004_watched_sites"),
        ("frontier", "0005_losses"),
        ("frontier", "0001_initial"),
        ("frontier", "0002_redirects_and_requests"),
        ("frontier", "0003_one_queue"),
        ("frontier", "0004_scope_of_crawls"),
    ]

    dependencies = [("crawler", "0001_squashed"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Body",
            fields=[
                ("digest", models.UUIDField(help_text="BLAKE2b of the bytes, 128 bits.", primary_key=True, serialize=False)),
                ("content", models.BinaryField(help_text="zlib of the bytes.")),
                ("size", models.PositiveIntegerField()),
            ],
            options={"verbose_name_plural": "bodies"},
        ),
        migrations.CreateModel(
            name="Crawl",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seeds", ArrayField(base_field=models.TextField(), size=None)),
                ("strategy", models.CharField(default="link-score", max_length=20)),
                (
                    "scope",
                    ArrayField(
                        base_field=models.TextField(),
                        blank=True,
                        default=list,
                        help_text="Regular expressions; a URL must match one of them. Empty: the start addresses' hosts.",
                        size=None,
                    ),
                ),
                (
                    "max_pages",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Pages to crawl; empty: no limit.",
                        null=True,
                        validators=[MinValueValidator(1), MaxValueValidator(100000000.0)],
                    ),
                ),
                (
                    "max_wait",
                    models.FloatField(
                        default=30.0,
                        help_text="Minutes after which a URL that still waits is dropped.",
                        validators=[MinValueValidator(0.1), MaxValueValidator(1000000.0)],
                    ),
                ),
                (
                    "max_minutes",
                    models.FloatField(
                        blank=True, help_text="Time; empty: no limit.", null=True, validators=[MinValueValidator(0.1), MaxValueValidator(1000000.0)]
                    ),
                ),
                (
                    "max_bytes",
                    models.BigIntegerField(
                        blank=True,
                        help_text="Bytes received; empty: no limit.",
                        null=True,
                        validators=[MinValueValidator(1), MaxValueValidator(1000000000000000.0)],
                    ),
                ),
                (
                    "max_depth",
                    models.PositiveSmallIntegerField(
                        blank=True, help_text="Links from a seed; empty: 100.", null=True, validators=[MinValueValidator(0), MaxValueValidator(1000)]
                    ),
                ),
                (
                    "max_hosts",
                    models.PositiveIntegerField(
                        blank=True, help_text="Hosts; empty: no limit.", null=True, validators=[MinValueValidator(1), MaxValueValidator(10000000.0)]
                    ),
                ),
                ("inter_weight", models.FloatField(default=0.66, validators=[MinValueValidator(0), MaxValueValidator(1)])),
                ("intra_weight", models.FloatField(default=0.33, validators=[MinValueValidator(0), MaxValueValidator(1)])),
                ("sitemaps", models.BooleanField(default=False, help_text="Also what the sites' sitemaps name.")),
                ("keep_bodies", models.BooleanField(default=True, help_text="Keep what was fetched, once by content.")),
                (
                    "into_graph",
                    models.BooleanField(
                        default=False, help_text="Feeds and data too, and all of it through the pipeline: its graph names the next URLs."
                    ),
                ),
                (
                    "selectors",
                    ArrayField(
                        base_field=models.TextField(),
                        blank=True,
                        editable=False,
                        help_text="Set where a site is mapped: the text of pages is read, what these match is marked.",
                        null=True,
                        size=None,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("running", "running"), ("paused", "stopped, can be resumed"), ("done", "done"), ("cancelled", "cancelled")],
                        default="running",
                        editable=False,
                        max_length=10,
                    ),
                ),
                ("reason", models.TextField(blank=True, editable=False, help_text="Why it ended or stopped.")),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
                ("paused", models.DateTimeField(editable=False, null=True)),
                ("finished", models.DateTimeField(editable=False, null=True)),
                ("running_for", models.FloatField(default=0.0, editable=False, help_text="Seconds, up to the last pause.")),
                ("resumed", models.DateTimeField(db_default=Now(), editable=False)),
                ("crawled", models.PositiveIntegerField(default=0, editable=False)),
                ("dropped", models.PositiveIntegerField(default=0, editable=False, help_text="By the time control.")),
                ("duplicates", models.PositiveIntegerField(default=0, editable=False)),
                ("bytes", models.BigIntegerField(default=0, editable=False)),
                ("refused", models.JSONField(default=dict, editable=False, help_text="URLs not queued, by budget.")),
                (
                    "started_by",
                    models.ForeignKey(editable=False, null=True, on_delete=models.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
                (
                    "requests",
                    models.PositiveIntegerField(db_default=0, editable=False, help_text="Redirects, failures and repeated attempts included."),
                ),
                (
                    "anywhere",
                    models.BooleanField(default=False, help_text="Without a scope: follow links to other hosts, too, through the whole web."),
                ),
            ],
            options={"ordering": ["-id"], "indexes": [models.Index(condition=models.Q(("state", "running")), fields=["id"], name="crawl_running")]},
        ),
        migrations.CreateModel(
            name="CrawlUrl",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.TextField()),
                ("key", models.UUIDField()),
                ("parent", models.BigIntegerField(help_text="The page that first linked to it.", null=True)),
                ("depth", models.PositiveSmallIntegerField(default=0)),
                (
                    "link",
                    models.CharField(
                        choices=[("seed", "a seed"), ("inter", "from another registrable domain"), ("intra", "from its own registrable domain")],
                        max_length=5,
                    ),
                ),
                ("score", models.FloatField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "waiting, or out with a terminal"),
                            ("crawled", "crawled"),
                            ("moved", "led elsewhere"),
                            ("failed", "not crawled"),
                            ("dropped", "waited too long"),
                        ],
                        default="queued",
                        max_length=8,
                    ),
                ),
                ("queued", models.DateTimeField()),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("waited", models.FloatField(help_text="Seconds in the queue.", null=True)),
                ("fetched", models.DateTimeField(null=True)),
                ("status", models.PositiveSmallIntegerField(default=0)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("detail", models.TextField(blank=True)),
                ("elapsed", models.FloatField(help_text="Seconds.", null=True)),
                ("size", models.PositiveIntegerField(help_text="Bytes of the body.", null=True)),
                ("content_type", models.CharField(blank=True, max_length=200)),
                ("headers", models.JSONField(default=list, help_text="As received.")),
                ("title", models.TextField(blank=True)),
                ("inter", models.PositiveIntegerField(help_text="Its links to other registrable domains.", null=True)),
                ("intra", models.PositiveIntegerField(null=True)),
                ("out", ArrayField(base_field=models.UUIDField(), default=list, help_text="Keys of the URLs that it links to.", size=None)),
                (
                    "body",
                    models.ForeignKey(
                        db_constraint=False, db_index=False, null=True, on_delete=models.PROTECT, related_name="urls", to="frontier.body"
                    ),
                ),
                ("crawl", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="urls", to="frontier.crawl")),
                ("host", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="crawler.host")),
                ("hops", models.PositiveSmallIntegerField(default=0, help_text="Redirects in a row that led to it.")),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(fields=["crawl", "state", "id"], name="crawl_state")],
                "constraints": [models.UniqueConstraint(fields=("crawl", "key"), name="crawl_url_once")],
            },
        ),
        migrations.CreateModel(
            name="CrawlBucket",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("start", models.DateTimeField()),
                ("crawled", models.PositiveIntegerField(default=0)),
                ("dropped", models.PositiveIntegerField(default=0)),
                ("duplicates", models.PositiveIntegerField(default=0)),
                (
                    "figures",
                    models.JSONField(default=dict, help_text="By name: [number, sum, least, most] of waiting, parent, size, queue, inter, intra."),
                ),
                ("crawl", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="buckets", to="frontier.crawl")),
            ],
            options={"ordering": ["start"], "constraints": [models.UniqueConstraint(fields=("crawl", "start"), name="crawl_bucket_once")]},
        ),
        migrations.CreateModel(
            name="CrawlHost",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("domain", models.TextField()),
                ("admitted", models.PositiveIntegerField(default=0, help_text="URLs ever queued.")),
                ("best", models.FloatField(help_text="Score of the first waiting URL; null: none waits.", null=True)),
                ("head", models.BigIntegerField(null=True)),
                ("ready", models.DateTimeField(db_default=Now(), help_text="When its first waiting URL may go out.")),
                ("served", models.DateTimeField(null=True)),
                ("crawl", models.ForeignKey(on_delete=models.CASCADE, related_name="hosts", to="frontier.crawl")),
                ("host", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="crawler.host")),
            ],
            options={
                "indexes": [
                    models.Index(
                        models.F("crawl"),
                        models.OrderBy(models.F("best"), descending=True),
                        models.F("head"),
                        condition=models.Q(("best__isnull", False)),
                        name="crawl_host_best",
                    ),
                    models.Index(
                        models.F("crawl"),
                        models.OrderBy(models.F("served"), nulls_first=True),
                        models.F("head"),
                        condition=models.Q(("best__isnull", False)),
                        name="crawl_host_turn",
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("crawl", "host"), name="crawl_host_once")],
            },
        ),
        migrations.CreateModel(
            name="CrawlPattern",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.UUIDField()),
                ("pattern", models.TextField()),
                ("admitted", models.PositiveIntegerField(default=0)),
                ("crawl", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="patterns", to="frontier.crawl")),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("crawl", "key"), name="crawl_pattern_once")]},
        ),
        migrations.CreateModel(
            name="QueuedUrl",
            fields=[
                ("lease", models.UUIDField(blank=True, editable=False, null=True)),
                (
                    "page",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=models.DO_NOTHING,
                        primary_key=True,
                        related_name="place",
                        serialize=False,
                        to="frontier.crawlurl",
                    ),
                ),
                ("url", models.TextField()),
                (
                    "link",
                    models.CharField(
                        choices=[("seed", "a seed"), ("inter", "from another registrable domain"), ("intra", "from its own registrable domain")],
                        max_length=5,
                    ),
                ),
                ("score", models.FloatField()),
                ("queued", models.DateTimeField()),
                ("not_before", models.DateTimeField()),
                ("attempts", models.PositiveSmallIntegerField(default=0, help_text="The one that is out included.")),
                ("losses", models.PositiveSmallIntegerField(db_default=0, editable=False, help_text="Leases lost in a row.")),
                ("waited", models.FloatField(help_text="Seconds in the queue, once it is out.", null=True)),
                (
                    "crawl",
                    models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.CASCADE, related_name="queue", to="frontier.crawl"),
                ),
                ("host", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="crawler.host")),
            ],
            options={
                "indexes": [
                    models.Index(
                        models.F("crawl"),
                        models.F("host"),
                        models.OrderBy(models.F("score"), descending=True),
                        models.F("page"),
                        condition=models.Q(("lease__isnull", True)),
                        name="crawl_queue",
                    ),
                    models.Index(condition=models.Q(("lease__isnull", True)), fields=["crawl", "queued"], name="crawl_waiting"),
                    models.Index(condition=models.Q(("lease__isnull", False)), fields=["lease"], name="crawl_lease"),
                    models.Index(condition=models.Q(("lease__isnull", False)), fields=["crawl"], name="crawl_out"),
                ]
            },
        ),
    ]
