"""All tables of this app as version 0.1.0 had them; it stands for the migrations up to then."""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models
from django.db.models.functions import Now

import crawler.web.validators
import recrawl.models


class Migration(migrations.Migration):
    initial = True

    # A database from before these were made one has them all.
    replaces = [
        ("recrawl", "0001_watched_sites"),
        ("recrawl", "0002_losses"),
        ("recrawl", "0001_initial"),
        ("recrawl", "0002_redirects_and_requests"),
        ("recrawl", "0003_added_by"),
        ("recrawl", "0004_lists_parts_versions"),
    ]

    dependencies = [("crawler", "0001_squashed"), ("frontier", "0001_squashed"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Site",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.TextField(help_text="Its top page; pages below its directory are watched.")),
                ("title", models.TextField(blank=True)),
                ("method", models.CharField(default="adaptive", max_length=20)),
                (
                    "every",
                    models.FloatField(
                        default=7.0,
                        help_text="Days from one visit to the next.",
                        validators=[MinValueValidator(0.041666666666666664), MaxValueValidator(366)],
                    ),
                ),
                (
                    "budget",
                    models.FloatField(
                        default=0.25,
                        help_text="Pages fetched in a visit, as a share of all; what is left over is saved up.",
                        validators=[MinValueValidator(0.001), MaxValueValidator(1.0)],
                    ),
                ),
                (
                    "max_pages",
                    models.PositiveIntegerField(
                        default=1000, help_text="Pages known at most.", validators=[MinValueValidator(1), MaxValueValidator(100000)]
                    ),
                ),
                (
                    "ignore_selectors",
                    ArrayField(
                        base_field=models.TextField(validators=[recrawl.models.is_selector]),
                        blank=True,
                        default=list,
                        help_text="CSS selectors of what does not count in a page.",
                        size=None,
                    ),
                ),
                (
                    "ignore_patterns",
                    ArrayField(
                        base_field=models.TextField(validators=[crawler.web.validators.is_pattern]),
                        blank=True,
                        default=list,
                        help_text="Regular expressions of lines of text that do not count.",
                        size=None,
                    ),
                ),
                (
                    "minimum_change",
                    models.PositiveIntegerField(default=0, help_text="Characters that must have come or gone before a change is reported."),
                ),
                ("key", models.CharField(default=recrawl.models.new_key, editable=False, max_length=40, unique=True)),
                (
                    "former",
                    ArrayField(
                        base_field=models.TextField(), default=list, editable=False, help_text="Addresses that led to the present one.", size=None
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("mapping", "being mapped"), ("watched", "watched"), ("paused", "paused"), ("failed", "could not be mapped")],
                        default="mapping",
                        editable=False,
                        max_length=8,
                    ),
                ),
                ("trouble", models.TextField(blank=True, editable=False, help_text="What went wrong, in words.")),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
                ("next_visit", models.DateTimeField(editable=False, null=True)),
                ("visited", models.PositiveIntegerField(default=0, editable=False, help_text="Visits begun.")),
                ("saved", models.FloatField(default=0.0, editable=False, help_text="Fetches saved up.")),
                ("template", ArrayField(base_field=models.BigIntegerField(), default=list, editable=False, size=None)),
                ("memory", models.BinaryField(default=bytes)),
                ("crawl", models.ForeignKey(editable=False, null=True, on_delete=models.SET_NULL, related_name="mapped_sites", to="frontier.crawl")),
                ("host", models.ForeignKey(editable=False, on_delete=models.PROTECT, related_name="sites", to="crawler.host")),
                ("added_by", models.ForeignKey(editable=False, null=True, on_delete=models.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("browser", models.BooleanField(default=False, help_text="Open pages in a browser: for those that are empty without JavaScript.")),
                (
                    "compared",
                    models.CharField(
                        choices=[
                            ("text", "the text"),
                            ("markup", "the markup, with links and pictures"),
                            ("data", "the data that the page states for programs"),
                        ],
                        default="text",
                        help_text="The aspect of a page that is compared.",
                        max_length=6,
                    ),
                ),
                (
                    "direction",
                    models.CharField(
                        choices=[("any", "every change"), ("added", "only if something is added"), ("removed", "only if something is removed")],
                        default="any",
                        help_text="The direction of the changes that are reported.",
                        max_length=7,
                    ),
                ),
                (
                    "keep_copies",
                    models.BooleanField(default=False, help_text="Keep the bytes of each version as well, to be saved as an archive (WARC)."),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("site", "a site or a section of one"), ("pages", "chosen pages")], default="site", editable=False, max_length=5
                    ),
                ),
                (
                    "minimum_percent",
                    models.FloatField(
                        default=0.0,
                        help_text="Percent of the text that must have changed before a change is reported.",
                        validators=[MinValueValidator(0), MaxValueValidator(100)],
                    ),
                ),
                ("number", models.FloatField(default=0.0, help_text="The number of that rule.")),
                (
                    "number_rule",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "any number"),
                            ("above", "is above"),
                            ("below", "is below"),
                            ("percent", "has changed by at least so many percent"),
                        ],
                        default="",
                        help_text="A rule for the page's price, or else for the first number in its text.",
                        max_length=7,
                    ),
                ),
                (
                    "parts",
                    ArrayField(
                        base_field=models.TextField(validators=[recrawl.models.is_part]),
                        blank=True,
                        default=list,
                        help_text="The parts of a page that count, all of it without any: css:SELECTOR, xpath:EXPRESSION, jsonpath:EXPRESSION or jq:EXPRESSION.",
                        size=None,
                    ),
                ),
                (
                    "steps",
                    models.JSONField(
                        blank=True, default=list, help_text="Steps in the browser before the page is read.", validators=[recrawl.models.is_steps]
                    ),
                ),
                (
                    "trigger_patterns",
                    ArrayField(
                        base_field=models.TextField(validators=[crawler.web.validators.is_pattern]),
                        blank=True,
                        default=list,
                        help_text="Regular expressions: a change is reported only if one matches a line that changed.",
                        size=None,
                    ),
                ),
                (
                    "visual_ignored",
                    ArrayField(
                        base_field=models.CharField(max_length=40, validators=[recrawl.models.is_region]),
                        blank=True,
                        default=list,
                        help_text="Regions of the picture that do not count: left,top,width,height in pixels.",
                        size=None,
                    ),
                ),
                (
                    "visual_percent",
                    models.FloatField(
                        default=0.0,
                        help_text="Percent of the picture that must look different for a report without a change of text; 0: never.",
                        validators=[MinValueValidator(0), MaxValueValidator(100)],
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(condition=models.Q(("state", "watched")), fields=["next_visit"], name="site_due"),
                    models.Index(fields=["url"], name="site_url"),
                ],
                "constraints": [models.UniqueConstraint(condition=models.Q(("kind", "site")), fields=("url",), name="site_url_once")],
            },
        ),
        migrations.CreateModel(
            name="Source",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.TextField()),
                ("key", models.BigIntegerField()),
                ("kind", models.CharField(choices=[("sitemap", "sitemap"), ("feed", "feed")], max_length=7)),
                ("usable", models.BooleanField(default=True)),
                ("told", models.TextField(blank=True, help_text="What its index last said of its time.")),
                ("read_as", models.TextField(blank=True, help_text="What the index said when it was last read.")),
                ("read", models.DateTimeField(null=True)),
                ("etag", models.TextField(blank=True)),
                ("last_modified", models.TextField(blank=True)),
                ("body_hash", models.TextField(blank=True)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("site", models.ForeignKey(on_delete=models.CASCADE, related_name="sources", to="recrawl.site")),
            ],
            options={"ordering": ["id"], "constraints": [models.UniqueConstraint(fields=("site", "key"), name="site_source_once")]},
        ),
        migrations.CreateModel(
            name="Visit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("method", models.CharField(max_length=20)),
                ("started", models.DateTimeField()),
                ("finished", models.DateTimeField(null=True)),
                ("pages", models.PositiveIntegerField(default=0, help_text="Pages known when it began.")),
                ("weekly", models.FloatField(help_text="Fetches that one visit's budget gives.")),
                ("budget", models.PositiveIntegerField(help_text="Fetches it may make, what was saved included.")),
                ("rounds", models.PositiveIntegerField(default=0)),
                ("fetched", models.PositiveIntegerField(default=0, help_text="Known pages that were asked for.")),
                ("changed", models.PositiveIntegerField(default=0)),
                ("found", models.PositiveIntegerField(default=0, help_text="New pages.")),
                ("vanished", models.PositiveIntegerField(default=0)),
                ("failed", models.PositiveIntegerField(default=0)),
                ("requests", models.PositiveIntegerField(default=0)),
                ("conditional", models.PositiveIntegerField(default=0, help_text="Requests that named a validator.")),
                ("not_modified", models.PositiveIntegerField(default=0, help_text="Answered with 304.")),
                ("bytes", models.BigIntegerField(default=0)),
                ("whole", models.BigIntegerField(default=0, help_text="Bytes that all known pages would have been.")),
                ("missed", models.FloatField(help_text="Changes of this visit that it is thought to have missed.", null=True)),
                ("stale", models.FloatField(help_text="Share of copies thought to be out of date after it.", null=True)),
                ("site", models.ForeignKey(on_delete=models.CASCADE, related_name="visits", to="recrawl.site")),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(condition=models.Q(("finished__isnull", True)), fields=["site"], name="visit_open")],
                "constraints": [models.UniqueConstraint(fields=("site", "number"), name="visit_once")],
            },
        ),
        migrations.CreateModel(
            name="WatchedPage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.TextField()),
                ("key", models.BigIntegerField(help_text="Digest of the URL.")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("found", "found, not fetched yet"),
                            ("live", "there"),
                            ("gone", "gone"),
                            ("moved", "leads elsewhere"),
                            ("failed", "cannot be read"),
                        ],
                        default="found",
                        max_length=6,
                    ),
                ),
                ("title", models.TextField(blank=True)),
                ("first_seen", models.DateTimeField(db_default=Now())),
                ("fetched", models.DateTimeField(help_text="When it was last had.", null=True)),
                ("fetched_in", models.PositiveIntegerField(default=0, help_text="Number of the visit that did.")),
                ("checks", models.PositiveIntegerField(default=0, help_text="Fetches after the first.")),
                ("changes", models.PositiveIntegerField(default=0)),
                ("changed", models.DateTimeField(help_text="When a change was last found.", null=True)),
                ("status", models.PositiveSmallIntegerField(default=0)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("size", models.PositiveIntegerField(default=0, help_text="Bytes of the body.")),
                ("etag", models.TextField(blank=True)),
                ("last_modified", models.TextField(blank=True)),
                ("raw", models.UUIDField(help_text="Checksum of the body: BLAKE2b, 128 bits.", null=True)),
                ("content", models.UUIDField(help_text="Checksum of the text that counts.", null=True)),
                ("lines", models.BinaryField(default=bytes, help_text="Its text as marked lines, under zlib.")),
                ("selectors", models.UUIDField(help_text="Digest of the selectors that the lines were read with.", null=True)),
                (
                    "links",
                    ArrayField(
                        base_field=models.BigIntegerField(), default=list, help_text="Keys of the URLs of the site that it links to.", size=None
                    ),
                ),
                ("leads_to", models.TextField(blank=True, help_text="The URL that it leads to, where it has moved.")),
                ("site", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="pages", to="recrawl.site")),
                ("availability", models.CharField(blank=True, help_text="As schema.org names it.", max_length=40)),
                (
                    "body",
                    models.ForeignKey(help_text="Its bytes, where kept.", null=True, on_delete=models.SET_NULL, related_name="+", to="frontier.body"),
                ),
                ("currency", models.CharField(blank=True, max_length=8)),
                ("headers", models.JSONField(default=list, help_text="As received, where the bytes are kept.")),
                ("look", models.BinaryField(default=bytes, help_text="Grid of the screenshot (`recrawl.comparing.visual`).")),
                (
                    "picture",
                    models.ForeignKey(help_text="Its screenshot, WebP.", null=True, on_delete=models.SET_NULL, related_name="+", to="frontier.body"),
                ),
                ("price", models.FloatField(help_text="The price that it states.", null=True)),
            ],
            options={
                "verbose_name": "page",
                "db_table": "recrawl_page",
                "ordering": ["id"],
                "constraints": [models.UniqueConstraint(fields=("site", "key"), name="site_page_once")],
            },
        ),
        migrations.CreateModel(
            name="Wanted",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.CharField(max_length=200)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("not_before", models.DateTimeField()),
                ("lease", models.UUIDField(blank=True, editable=False, null=True)),
                ("losses", models.PositiveSmallIntegerField(default=0, editable=False, help_text="Leases lost in a row.")),
                ("host", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="crawler.host")),
                ("source", models.ForeignKey(null=True, on_delete=models.CASCADE, related_name="+", to="recrawl.source")),
                ("visit", models.ForeignKey(on_delete=models.CASCADE, related_name="wanted", to="recrawl.visit")),
                ("page", models.ForeignKey(null=True, on_delete=models.CASCADE, related_name="+", to="recrawl.watchedpage")),
                ("hops", models.PositiveSmallIntegerField(default=0, help_text="Redirects in a row that led to it.")),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(condition=models.Q(("lease__isnull", True)), fields=["host", "id"], name="wanted_waiting"),
                    models.Index(condition=models.Q(("lease__isnull", False)), fields=["lease"], name="wanted_leased"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("page__isnull", True), ("source__isnull", False)),
                            models.Q(("page__isnull", False), ("source__isnull", True)),
                            _connector="OR",
                        ),
                        name="wanted_one",
                    ),
                    models.UniqueConstraint(fields=("visit", "page"), name="wanted_page_once"),
                    models.UniqueConstraint(fields=("visit", "source"), name="wanted_source_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Check",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_index=True)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("same", "as stored"),
                            ("minor", "changed in what does not count"),
                            ("changed", "changed"),
                            ("new", "new"),
                            ("gone", "gone"),
                            ("moved", "leads elsewhere"),
                            ("failed", "could not be had"),
                        ],
                        max_length=7,
                    ),
                ),
                ("age", models.FloatField(default=0.0, help_text="Visits since the page was last had.")),
                ("days", models.FloatField(default=0.0, help_text="The same in days.")),
                ("reason", models.CharField(max_length=200)),
                ("status", models.PositiveSmallIntegerField(default=0)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("conditional", models.BooleanField(default=False)),
                ("requests", models.PositiveSmallIntegerField(default=1)),
                ("bytes", models.PositiveIntegerField(default=0)),
                ("raw", models.UUIDField(null=True)),
                ("visit", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="checks", to="recrawl.visit")),
                ("page", models.ForeignKey(on_delete=models.CASCADE, related_name="all_checks", to="recrawl.watchedpage")),
            ],
            options={"ordering": ["-id"], "constraints": [models.UniqueConstraint(fields=("visit", "page"), name="check_once")]},
        ),
        migrations.CreateModel(
            name="Announcement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("stamp", models.TextField(blank=True)),
                ("since", models.PositiveIntegerField(default=0, help_text="Number of the visit; 0: as it was found.")),
                ("source", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="announcements", to="recrawl.source")),
                ("page", models.ForeignKey(on_delete=models.CASCADE, related_name="announcements", to="recrawl.watchedpage")),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("source", "page"), name="announcement_once")]},
        ),
        migrations.CreateModel(
            name="SeenChanges",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=models.CASCADE, primary_key=True, related_name="seen_changes", serialize=False, to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("up_to", models.BigIntegerField(default=0, help_text="Primary key of a change.")),
                ("unseen", ArrayField(base_field=models.BigIntegerField(), default=list, help_text="Keys up to it, not seen yet.", size=None)),
                ("seen", ArrayField(base_field=models.BigIntegerField(), default=list, help_text="Keys after it, seen.", size=None)),
            ],
        ),
        migrations.CreateModel(
            name="StatedOffer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("price", models.FloatField(null=True)),
                ("currency", models.CharField(blank=True, max_length=8)),
                ("availability", models.CharField(blank=True, max_length=40)),
                ("page", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="offers", to="recrawl.watchedpage")),
            ],
            options={"ordering": ["id"], "indexes": [models.Index(fields=["page", "at"], name="offer_series")]},
        ),
        migrations.CreateModel(
            name="Version",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField(help_text="When it was last had.")),
                ("until", models.DateTimeField(db_index=True, help_text="When the next one was had.")),
                ("title", models.TextField(blank=True)),
                ("status", models.PositiveSmallIntegerField(default=0)),
                ("lines", models.BinaryField(default=bytes, help_text="Its text as marked lines, under zlib.")),
                ("raw", models.UUIDField(null=True)),
                ("headers", models.JSONField(default=list)),
                ("body", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to="frontier.body")),
                ("page", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="versions", to="recrawl.watchedpage")),
                ("picture", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to="frontier.body")),
            ],
            options={"ordering": ["id"], "indexes": [models.Index(fields=["page", "id"], name="page_versions")]},
        ),
        migrations.CreateModel(
            name="Change",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_index=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("edited", "changed"),
                            ("new", "new"),
                            ("gone", "gone"),
                            ("moved", "leads elsewhere"),
                            ("back", "back again"),
                            ("template", "changed with the rest of the site"),
                            ("unmet", "changed, but not as you asked"),
                        ],
                        max_length=8,
                    ),
                ),
                ("title", models.TextField(blank=True)),
                ("summary", models.TextField(blank=True)),
                ("added", models.PositiveIntegerField(default=0, help_text="Lines.")),
                ("removed", models.PositiveIntegerField(default=0, help_text="Lines.")),
                ("difference", models.BinaryField(default=bytes, help_text="Hunks of lines, under zlib.")),
                ("raw", models.UUIDField(help_text="Checksum of the body after it.", null=True)),
                ("uid", models.UUIDField(default=uuid.uuid4, editable=False, help_text="Its name in feeds.")),
                ("site", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="changes", to="recrawl.site")),
                ("visit", models.ForeignKey(on_delete=models.CASCADE, related_name="changes", to="recrawl.visit")),
                ("page", models.ForeignKey(on_delete=models.CASCADE, related_name="history", to="recrawl.watchedpage")),
                ("areas", models.JSONField(default=list, help_text="Boxes around what does: left, top, width, height.")),
                ("visual", models.FloatField(help_text="Percent of the picture that looks different.", null=True)),
                (
                    "before",
                    models.ForeignKey(
                        help_text="The version it replaced.", null=True, on_delete=models.SET_NULL, related_name="+", to="recrawl.version"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(models.F("site"), models.OrderBy(models.F("id"), descending=True), name="site_changes")],
                "constraints": [models.UniqueConstraint(fields=("visit", "page"), name="change_once")],
            },
        ),
    ]
