import django.db.models.functions.datetime
from django.db import migrations, models

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

    dependencies = [
        ('frontier', '0004_scope_of_crawls'),
    ]

    operations = [
        migrations.AddField(
            model_name='crawlurl',
            name='lease',
            field=models.UUIDField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name='crawlurl',
            name='losses',
            field=models.PositiveSmallIntegerField(db_default=0, editable=False, help_text='Leases lost in a row.'),
        ),
        migrations.AddField(
            model_name='crawlurl',
            name='not_before',
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), help_text='When it may be tried, while it waits.'),
        ),
        migrations.AlterField(
            model_name='crawlurl',
            name='not_before',
            field=models.DateTimeField(help_text='When it may be tried, while it waits.'),
        ),
        migrations.AlterField(
            model_name='crawlurl',
            name='attempts',
            field=models.PositiveSmallIntegerField(default=0, help_text='The one that is out included.'),
        ),
        migrations.AlterField(
            model_name='crawlurl',
            name='waited',
            field=models.FloatField(help_text='Seconds in the queue, once it is out.', null=True),
        ),
        migrations.RunSQL(COPY, migrations.RunSQL.noop),
        migrations.RunSQL(DROP_UNPLACED, migrations.RunSQL.noop),
        migrations.DeleteModel(
            name='QueuedUrl',
        ),
        migrations.AddIndex(
            model_name='crawlurl',
            index=models.Index(models.F('crawl'), models.F('host'), models.F('attempts'), models.OrderBy(models.F('score'), descending=True), models.F('id'), condition=models.Q(('lease__isnull', True), ('state', 'queued')), name='crawl_queue'),
        ),
        migrations.AddIndex(
            model_name='crawlurl',
            index=models.Index(condition=models.Q(('lease__isnull', True), ('state', 'queued')), fields=['crawl', 'queued'], name='crawl_waiting'),
        ),
        migrations.AddIndex(
            model_name='crawlurl',
            index=models.Index(condition=models.Q(('lease__isnull', False)), fields=['lease'], name='crawl_lease'),
        ),
        migrations.AddIndex(
            model_name='crawlurl',
            index=models.Index(condition=models.Q(('lease__isnull', False)), fields=['crawl'], name='crawl_out'),
        ),
    ]
