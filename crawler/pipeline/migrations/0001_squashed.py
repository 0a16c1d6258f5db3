"""All tables of this app as version 0.1.0 had them; it stands for the migrations up to then."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import URLValidator
from django.db import migrations, models
from django.db.models.functions import Now

import crawler.pipeline.models
import crawler.web.validators

# The graph: terms under the hash of what they are, and quads in six orders, parted by their context.
PARTS = 4

GRAPH = (
    """
CREATE TABLE pipeline_term (
    id bigint PRIMARY KEY,
    mark integer NOT NULL,
    kind smallint NOT NULL,
    lang text NOT NULL,
    datatype text NOT NULL,
    value text NOT NULL,
    words tsvector GENERATED ALWAYS AS (
        CASE WHEN kind = 2 AND datatype = '' THEN search_words(lang, 'english', left(value, 20000)) END
    ) STORED
);
CREATE INDEX pipeline_term_words ON pipeline_term USING gin (words) WHERE words IS NOT NULL;
CREATE TABLE pipeline_quad (
    s bigint NOT NULL, p bigint NOT NULL, o bigint NOT NULL, c bigint NOT NULL
) PARTITION BY HASH (c);
"""
    + "".join(
        f"CREATE TABLE pipeline_quad_{part} PARTITION OF pipeline_quad FOR VALUES WITH (MODULUS {PARTS}, REMAINDER {part});\n"
        for part in range(PARTS)
    )
    + """
CREATE UNIQUE INDEX pipeline_quad_spoc ON pipeline_quad (s, p, o, c);
CREATE INDEX pipeline_quad_pocs ON pipeline_quad (p, o, c, s);
CREATE INDEX pipeline_quad_ocsp ON pipeline_quad (o, c, s, p);
CREATE INDEX pipeline_quad_cspo ON pipeline_quad (c, s, p, o);
CREATE INDEX pipeline_quad_cpo ON pipeline_quad (c, p, o, s);
CREATE INDEX pipeline_quad_osp ON pipeline_quad (o, s, p, c);
"""
)

# What extract looks for at first: sources of structured data before the links of pages.
XHV = "http://www.w3.org/1999/xhtml/vocab#"
SIOC = "http://rdfs.org/sioc/ns#"
SCHEMA = "http://schema.org/"
FOAF = "http://xmlns.com/foaf/0.1/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
RSS = "http://purl.org/rss/1.0/"

QUERIES = [
    ("Feeds and data", 0.9, [RDFS + "seeAlso", RDFS + "isDefinedBy", SIOC + "feed", FOAF + "weblog"]),
    (
        "Data sets",
        0.8,
        [
            "http://rdfs.org/ns/void#dataDump",
            "http://www.w3.org/ns/dcat#downloadURL",
            "http://www.w3.org/ns/dcat#accessURL",
            "http://www.w3.org/ns/ldp#contains",
        ],
    ),
    ("Items of feeds", 0.7, [RSS + "link", RSS + "items", SIOC + "container_of", SIOC + "has_reply"]),
    (
        "Pages that belong together",
        0.6,
        [
            XHV + "next",
            XHV + "prev",
            XHV + "alternate",
            SCHEMA + "url",
            SCHEMA + "mainEntityOfPage",
            SCHEMA + "hasPart",
            SCHEMA + "relatedLink",
            "https://www.w3.org/ns/activitystreams#next",
            "http://www.w3.org/ns/hydra/core#next",
        ],
    ),
    ("People and things elsewhere", 0.5, [FOAF + "homepage", SCHEMA + "sameAs", OWL + "sameAs", OWL + "imports"]),
    ("Links of pages", 0.3, [SIOC + "links_to"]),
]


def add_link_queries(apps, schema_editor):
    """Add the queries that there are at first."""
    query = apps.get_model("pipeline", "LinkQuery")
    for name, weight, predicates in QUERIES:
        # A crawl queues the links of pages itself; here they are for those who want only what a graph says.
        values = {"weight": weight, "predicates": predicates, "enabled": name != "Links of pages"}
        query.objects.get_or_create(name=name, defaults=values)


class Migration(migrations.Migration):
    initial = True

    # A database from before these were made one has them all.
    replaces = [
        ("pipeline", "0001_documents"),
        ("pipeline", "0002_quads"),
        ("pipeline", "0003_link_queries"),
        ("pipeline", "0004_stylesheets"),
        ("pipeline", "0005_http_transformers"),
        ("pipeline", "0001_initial"),
        ("pipeline", "0002_alter_document_page"),
        ("pipeline", "0003_types_with_trig"),
        ("pipeline", "0004_words_without_accents"),
        ("pipeline", "0005_saved_queries"),
    ]

    dependencies = [
        ("articles", "0001_squashed"),  # makes the function search_words
        ("crawler", "0001_squashed"),
        ("frontier", "0001_squashed"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="HttpTransformer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, unique=True)),
                (
                    "types",
                    ArrayField(
                        base_field=models.CharField(max_length=12),
                        blank=True,
                        default=list,
                        help_text="Types of documents, such as html, xml or rss-2.0; empty: all.",
                        size=None,
                    ),
                ),
                (
                    "pattern",
                    models.CharField(
                        blank=True,
                        help_text="A regular expression on the address; empty: every address.",
                        max_length=500,
                        validators=[crawler.web.validators.is_pattern],
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                (
                    "address",
                    models.URLField(
                        help_text="Documents are sent there as they came, their own address in Content-Location. It answers within 5 s in N-Triples, N-Quads, Turtle, RDF/XML or JSON-LD, or with 204 for nothing.",
                        max_length=500,
                        validators=[URLValidator(schemes=["http", "https"])],
                    ),
                ),
            ],
            options={"verbose_name": "HTTP transformer", "ordering": ["name"]},
        ),
        migrations.CreateModel(
            name="LinkQuery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, unique=True)),
                ("predicates", ArrayField(base_field=models.TextField(), help_text="IRIs of predicates whose objects are followed.", size=None)),
                ("weight", models.FloatField(default=0.5, help_text="From 0 to 1: the score in a crawl's queue.")),
                ("enabled", models.BooleanField(default=True)),
                ("hits", models.BigIntegerField(default=0, editable=False)),
            ],
            options={"verbose_name_plural": "link queries", "ordering": ["-weight", "name"]},
        ),
        migrations.CreateModel(
            name="Stylesheet",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, unique=True)),
                (
                    "types",
                    ArrayField(
                        base_field=models.CharField(max_length=12),
                        blank=True,
                        default=list,
                        help_text="Types of documents, such as html, xml or rss-2.0; empty: all.",
                        size=None,
                    ),
                ),
                (
                    "pattern",
                    models.CharField(
                        blank=True,
                        help_text="A regular expression on the address; empty: every address.",
                        max_length=500,
                        validators=[crawler.web.validators.is_pattern],
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                (
                    "grddl",
                    models.CharField(
                        blank=True, help_text="Its own address: then only for documents that name it as their transformation (GRDDL).", max_length=500
                    ),
                ),
                (
                    "content",
                    models.TextField(
                        help_text="The stylesheet. It reaches no file and no network.", validators=[crawler.pipeline.models.is_stylesheet]
                    ),
                ),
            ],
            options={"ordering": ["name"]},
        ),
        migrations.CreateModel(
            name="UriFilter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "pattern",
                    models.CharField(
                        help_text="A regular expression, looked for in the address.", max_length=500, validators=[crawler.web.validators.is_pattern]
                    ),
                ),
                ("allow", models.BooleanField(default=False)),
                ("position", models.PositiveSmallIntegerField(default=0)),
                ("enabled", models.BooleanField(default=True)),
                ("hits", models.BigIntegerField(default=0, editable=False)),
            ],
            options={"ordering": ["position", "id"]},
        ),
        migrations.CreateModel(
            name="GraphChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("context", models.BigIntegerField(help_text="Key of the graph's name.")),
                ("url", models.TextField()),
                ("version", models.PositiveIntegerField()),
                ("at", models.DateTimeField(db_default=Now())),
                ("added", models.PositiveIntegerField()),
                ("removed", models.PositiveIntegerField()),
            ],
            options={"ordering": ["-id"], "indexes": [models.Index(fields=["context", "-id"], name="graph_change_context")]},
        ),
        migrations.CreateModel(
            name="PhaseFigure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("phase", models.CharField(max_length=9)),
                ("worker", models.CharField(max_length=100)),
                ("minute", models.DateTimeField()),
                ("documents", models.PositiveIntegerField(default=0)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("seconds", models.FloatField(default=0.0, help_text="Of work, not of waiting.")),
            ],
            options={
                "indexes": [models.Index(fields=["minute"], name="phase_figure_minute")],
                "constraints": [models.UniqueConstraint(fields=("phase", "worker", "minute"), name="phase_figure_once")],
            },
        ),
        migrations.CreateModel(
            name="Document",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.TextField()),
                ("key", models.UUIDField(editable=False, unique=True)),
                (
                    "source",
                    models.CharField(
                        choices=[("crawl", "a crawl"), ("address", "an address given by hand"), ("feed", "a feed"), ("article", "an article's page")],
                        max_length=7,
                    ),
                ),
                ("depth", models.PositiveSmallIntegerField(default=0)),
                ("content_type", models.CharField(blank=True, max_length=200)),
                ("status", models.PositiveSmallIntegerField(default=200)),
                ("etag", models.TextField(blank=True)),
                ("last_modified", models.TextField(blank=True)),
                ("fetched", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("fetched", "waits for detect"),
                            ("detected", "waits for transform"),
                            ("transformed", "waits for index"),
                            ("indexed", "waits for extract"),
                            ("done", "through"),
                            ("dead", "dead letter"),
                        ],
                        default="fetched",
                        max_length=11,
                    ),
                ),
                ("type", models.CharField(blank=True, max_length=12)),
                ("reason", models.TextField(blank=True)),
                ("sha256", models.CharField(blank=True, max_length=64)),
                ("transformer", models.CharField(blank=True, max_length=100)),
                ("notes", ArrayField(base_field=models.TextField(), blank=True, default=list, size=None)),
                ("triples", models.BinaryField(default=b"", help_text="zlib of N-Triples, until they are indexed.")),
                ("quads", models.PositiveIntegerField(default=0)),
                ("version", models.PositiveIntegerField(default=0, help_text="How often its graph has changed.")),
                ("links", models.PositiveIntegerField(default=0, help_text="URLs that extract took from its graph.")),
                ("failed_phase", models.CharField(blank=True, max_length=9)),
                ("failure", models.CharField(blank=True, max_length=20)),
                ("detail", models.TextField(blank=True)),
                ("losses", models.PositiveSmallIntegerField(db_column="attempts", default=0, editable=False, help_text="Leases lost in a row.")),
                ("lease", models.UUIDField(blank=True, editable=False, null=True)),
                ("leased_until", models.DateTimeField(null=True)),
                ("changed", models.DateTimeField(db_default=Now())),
                ("body", models.ForeignKey(db_constraint=False, null=True, on_delete=models.PROTECT, related_name="documents", to="frontier.body")),
                ("crawl", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="documents", to="frontier.crawl")),
                ("host", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="crawler.host")),
                ("page", models.BigIntegerField(db_column="page_id", db_index=True, help_text="Key of the article's page that it is.", null=True)),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("lease__isnull", True), models.Q(("state__in", ["done", "dead"]), _negated=True)),
                        fields=["state", "losses", "id"],
                        name="document_waiting",
                    ),
                    models.Index(condition=models.Q(("lease__isnull", False)), fields=["lease"], name="document_lease"),
                    models.Index(fields=["state", "-id"], name="document_state"),
                    models.Index(condition=models.Q(("state", "dead")), fields=["failed_phase", "failure"], name="document_dead"),
                    models.Index(fields=["fetched"], name="document_fetched"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SavedQuery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200, unique=True)),
                ("query", models.TextField(max_length=100000)),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
                ("author", models.ForeignKey(editable=False, null=True, on_delete=models.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={"verbose_name_plural": "saved queries", "ordering": ["name"]},
        ),
        migrations.RunSQL(GRAPH, "DROP TABLE pipeline_quad; DROP TABLE pipeline_term;"),
        migrations.RunPython(add_link_queries, migrations.RunPython.noop),
    ]
