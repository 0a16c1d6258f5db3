"""Changes of tables between version 0.1.0 and the next one, put together."""

from django.db import migrations, models
from django.db.models.functions import Now

# Each URL in the queue takes its place along; one that has none is dropped.
COPY = """
    UPDATE frontier_crawlurl AS url SET lease = place.lease, losses = place.losses, queued = place.queued,
        not_before = place.not_before, attempts = place.attempts, waited = place.waited
    FROM frontier_queuedurl AS place WHERE place.page_id = url.id AND url.state = 'queued'
"""
DROP_UNPLACED = """
    UPDATE frontier_crawlurl SET state = 'dropped' WHERE state = 'queued'
        AND NOT EXISTS (SELECT FROM frontier_queuedurl WHERE page_id = id)
"""


class Migration(migrations.Migration):
    # A database from before these were made one has them all.
    replaces = [
        ("frontier", "0005_one_row_for_each_url"),
        ("frontier", "0006_figures_by_minute"),
        ("frontier", "0007_led_by_a_query"),
        ("frontier", "0008_known_rank"),
    ]

    dependencies = [("frontier", "0001_squashed")]

    operations = [
        migrations.AddField(model_name="crawlurl", name="lease", field=models.UUIDField(blank=True, editable=False, null=True)),
        migrations.AddField(
            model_name="crawlurl",
            name="losses",
            field=models.PositiveSmallIntegerField(db_default=0, editable=False, help_text="Leases lost in a row."),
        ),
        migrations.AddField(
            model_name="crawlurl", name="not_before", field=models.DateTimeField(db_default=Now(), help_text="When it may be tried, while it waits.")
        ),
        migrations.AlterField(
            model_name="crawlurl", name="not_before", field=models.DateTimeField(help_text="When it may be tried, while it waits.")
        ),
        migrations.AlterField(
            model_name="crawlurl", name="attempts", field=models.PositiveSmallIntegerField(default=0, help_text="The one that is out included.")
        ),
        migrations.AlterField(
            model_name="crawlurl", name="waited", field=models.FloatField(help_text="Seconds in the queue, once it is out.", null=True)
        ),
        migrations.RunSQL(COPY, migrations.RunSQL.noop),
        migrations.RunSQL(DROP_UNPLACED, migrations.RunSQL.noop),
        migrations.DeleteModel(name="QueuedUrl"),
        migrations.AddIndex(
            model_name="crawlurl",
            index=models.Index(
                models.F("crawl"),
                models.F("host"),
                models.F("attempts"),
                models.OrderBy(models.F("score"), descending=True),
                models.F("id"),
                condition=models.Q(("lease__isnull", True), ("state", "queued")),
                name="crawl_queue",
            ),
        ),
        migrations.AddIndex(
            model_name="crawlurl",
            index=models.Index(condition=models.Q(("lease__isnull", True), ("state", "queued")), fields=["crawl", "queued"], name="crawl_waiting"),
        ),
        migrations.AddIndex(
            model_name="crawlurl", index=models.Index(condition=models.Q(("lease__isnull", False)), fields=["lease"], name="crawl_lease")
        ),
        migrations.AddIndex(
            model_name="crawlurl", index=models.Index(condition=models.Q(("lease__isnull", False)), fields=["crawl"], name="crawl_out")
        ),
        migrations.AddField(model_name="crawlbucket", name="minutes", field=models.PositiveSmallIntegerField(default=30)),
        migrations.AlterField(model_name="crawlbucket", name="minutes", field=models.PositiveSmallIntegerField(default=1)),
        migrations.AlterField(model_name="crawl", name="strategy", field=models.CharField(default="opic", max_length=20)),
        migrations.AddField(
            model_name="crawl",
            name="link_query",
            field=models.TextField(
                blank=True,
                default="",
                help_text="SPARQL or N3QL that names ?address, asked of the graph while the crawl runs. Empty: what the pipeline's queries find.",
                max_length=20000,
            ),
        ),
        migrations.AddField(
            model_name="crawl",
            name="ranked_again",
            field=models.PositiveIntegerField(default=0, editable=False, help_text="Crawled pages at which the known links are ranked again."),
        ),
        migrations.AddField(model_name="crawlhost", name="crawled", field=models.PositiveIntegerField(db_default=0, help_text="Pages crawled.")),
        migrations.AlterField(model_name="crawl", name="strategy", field=models.CharField(default="known-rank", max_length=20)),
    ]
