"""All tables of this app as version 0.1.0 had them; it stands for the migrations up to then."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import migrations, models
from django.db.models.functions import Now

# An enrichment waits for every article that comes, and again when its words or its feed's category change:
# by triggers, so that no way of storing an article can miss it.
WAIT = """
CREATE FUNCTION enrichment_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO enrichment_enrichment (article_id, state, attempts, failure, versions, language, keywords, terms,
        category, category_source, confidence, summary, counted, trained, shingles, signature, bands, reason,
        similarity)
    SELECT id, 'waiting', 0, '', '', '', '[]', '{}', '', '', 0, '', '', FALSE, 0, '', '{}', '', 0 FROM added
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE FUNCTION enrichment_again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE enrichment_enrichment SET state = 'waiting', attempts = 0
    FROM now_is JOIN was ON was.id = now_is.id
    WHERE article_id = now_is.id AND (was.title, was.text, was.language, was.categories)
        IS DISTINCT FROM (now_is.title, now_is.text, now_is.language, now_is.categories);
    RETURN NULL;
END
$$;
CREATE FUNCTION enrichment_relabelled() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE enrichment_enrichment SET state = 'waiting', attempts = 0
    FROM articles_article WHERE articles_article.id = article_id AND articles_article.feed_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER enrichment_new AFTER INSERT ON articles_article
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION enrichment_new();
CREATE TRIGGER enrichment_again AFTER UPDATE ON articles_article
    REFERENCING OLD TABLE AS was NEW TABLE AS now_is FOR EACH STATEMENT EXECUTE FUNCTION enrichment_again();
CREATE TRIGGER enrichment_relabelled AFTER UPDATE OF category_id ON feeds_feed FOR EACH ROW
    WHEN (OLD.category_id IS DISTINCT FROM NEW.category_id) EXECUTE FUNCTION enrichment_relabelled();
"""
FORGET = """
DROP TRIGGER enrichment_new ON articles_article;
DROP TRIGGER enrichment_again ON articles_article;
DROP TRIGGER enrichment_relabelled ON feeds_feed;
DROP FUNCTION enrichment_new();
DROP FUNCTION enrichment_again();
DROP FUNCTION enrichment_relabelled();
"""


class Migration(migrations.Migration):
    initial = True

    # A database from before these were made one has them all.
    replaces = [("enrichment", "0001_initial"), ("enrichment", "0002_topics")]

    dependencies = [("articles", "0001_squashed")]

    operations = [
        migrations.CreateModel(
            name="Classifier",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.CharField(max_length=8)),
                ("classes", ArrayField(base_field=models.CharField(max_length=200), default=list, size=None)),
                ("examples", ArrayField(base_field=models.PositiveIntegerField(), default=list, help_text="Articles by class.", size=None)),
                ("weights", models.BinaryField(default=b"")),
                ("changed", models.DateTimeField(auto_now=True)),
            ],
        ),
        migrations.CreateModel(
            name="Story",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
            ],
            options={"verbose_name_plural": "stories"},
        ),
        migrations.CreateModel(
            name="TermCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("language", models.CharField(max_length=8)),
                ("term", models.CharField(max_length=64)),
                ("documents", models.PositiveIntegerField(default=0)),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("language", "term"), name="term_once")]},
        ),
        migrations.CreateModel(
            name="Enrichment",
            fields=[
                (
                    "article",
                    models.OneToOneField(
                        on_delete=models.CASCADE, primary_key=True, related_name="enrichment", serialize=False, to="articles.article"
                    ),
                ),
                (
                    "state",
                    models.CharField(choices=[("waiting", "waiting"), ("done", "done"), ("failed", "failed")], default="waiting", max_length=8),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("failure", models.TextField(blank=True)),
                ("versions", models.CharField(blank=True, help_text="Of the components that made this.", max_length=80)),
                ("language", models.CharField(blank=True, max_length=20)),
                ("keywords", models.JSONField(blank=True, default=list)),
                ("terms", ArrayField(base_field=models.TextField(), blank=True, default=list, help_text="The keywords, for search.", size=None)),
                ("category", models.CharField(blank=True, max_length=200)),
                (
                    "category_source",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "none"),
                            ("tags", "the article's own tags"),
                            ("feed", "the feed's category"),
                            ("learned", "learned from labelled articles"),
                        ],
                        max_length=8,
                    ),
                ),
                ("confidence", models.FloatField(default=0.0, help_text="Of a learned category, from 0 to 1.")),
                ("summary", models.TextField(blank=True, help_text="Three sentences of the text.")),
                ("counted", models.CharField(blank=True, help_text="Version of the words counted once.", max_length=8)),
                ("trained", models.BooleanField(default=False, help_text="The classifier has learned from it.")),
                ("address", models.UUIDField(blank=True, editable=False, help_text="Of its page, canonical.", null=True)),
                ("shingles", models.PositiveIntegerField(default=0)),
                ("signature", models.BinaryField(default=b"", help_text="MinHash of the text's shingles.")),
                ("bands", ArrayField(base_field=models.BigIntegerField(), blank=True, default=list, size=None)),
                (
                    "reason",
                    models.CharField(
                        blank=True,
                        choices=[("", "alone"), ("address", "same canonical address"), ("text", "same text"), ("apart", "taken apart by a person")],
                        max_length=8,
                    ),
                ),
                ("similarity", models.FloatField(default=0.0, help_text="With the member it joined by, from 0 to 1.")),
                ("at", models.DateTimeField(blank=True, null=True)),
                ("story", models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name="members", to="enrichment.story")),
                (
                    "category_reason",
                    models.CharField(blank=True, db_default="", help_text="The article's tag that means the category.", max_length=200),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "waiting")), fields=["attempts", "-article"], name="enrichment_waiting"),
                    models.Index(condition=models.Q(("state", "failed")), fields=["state"], name="enrichment_failed"),
                    models.Index(fields=["versions"], name="enrichment_versions"),
                    models.Index(fields=["category", "-article"], name="enrichment_category"),
                    models.Index(condition=models.Q(("address__isnull", False)), fields=["address"], name="enrichment_address"),
                    GinIndex(fields=["bands"], name="enrichment_bands"),
                    GinIndex(fields=["terms"], name="enrichment_terms"),
                ]
            },
        ),
        migrations.RunSQL(WAIT, FORGET),
    ]
