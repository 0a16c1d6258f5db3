import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crawler', '0003_deployment'),
        ('frontier', '0001_crawls'),
    ]

    operations = [
        migrations.CreateModel(
            name='Leased',
            fields=[
                ('page', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='%(class)s', serialize=False, to='frontier.crawlurl')),
                ('crawl', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='%(class)s', to='frontier.crawl')),
                ('host', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='crawler.host')),
                ('url', models.TextField()),
                ('link', models.CharField(choices=[('seed', 'a seed'), ('inter', 'from another registrable domain'), ('intra', 'from its own registrable domain')], max_length=5)),
                ('score', models.FloatField()),
                ('queued', models.DateTimeField()),
                ('not_before', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('lease', models.UUIDField()),
                ('waited', models.FloatField(help_text='Seconds in the queue.')),
            ],
        ),
        migrations.CreateModel(
            name='Waiting',
            fields=[
                ('page', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='%(class)s', serialize=False, to='frontier.crawlurl')),
                ('crawl', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='%(class)s', to='frontier.crawl')),
                ('host', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='crawler.host')),
                ('url', models.TextField()),
                ('link', models.CharField(choices=[('seed', 'a seed'), ('inter', 'from another registrable domain'), ('intra', 'from its own registrable domain')], max_length=5)),
                ('score', models.FloatField()),
                ('queued', models.DateTimeField()),
                ('not_before', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
            ],
        ),
        # What was out comes back: the lease of its host ends by itself.
        migrations.RunSQL(
            """
            INSERT INTO frontier_waiting
                (page_id, crawl_id, host_id, url, link, score, queued, not_before, attempts)
            SELECT id, crawl_id, host_id, url, link, score, queued, not_before, attempts
            FROM frontier_crawlurl WHERE state IN ('queued', 'leased')
            """,
            migrations.RunSQL.noop,
        ),
        migrations.RunSQL(
            "UPDATE frontier_crawlurl SET state = 'queued' WHERE state = 'leased'", migrations.RunSQL.noop
        ),
        migrations.RemoveIndex(
            model_name='crawlurl',
            name='crawl_queue',
        ),
        migrations.RemoveIndex(
            model_name='crawlurl',
            name='crawl_waiting',
        ),
        migrations.RemoveIndex(
            model_name='crawlurl',
            name='crawl_lease',
        ),
        migrations.RemoveField(
            model_name='crawlurl',
            name='lease',
        ),
        migrations.RemoveField(
            model_name='crawlurl',
            name='not_before',
        ),
        migrations.AlterField(
            model_name='crawlurl',
            name='state',
            field=models.CharField(choices=[('queued', 'waiting, or out with a terminal'), ('crawled', 'crawled'), ('moved', 'led elsewhere'), ('failed', 'not crawled'), ('dropped', 'waited too long')], default='queued', max_length=8),
        ),
        migrations.AddIndex(
            model_name='leased',
            index=models.Index(fields=['lease'], name='crawl_lease'),
        ),
        migrations.AddIndex(
            model_name='leased',
            index=models.Index(fields=['crawl'], name='crawl_out'),
        ),
        migrations.AddIndex(
            model_name='waiting',
            index=models.Index(models.F('crawl'), models.F('host'), models.OrderBy(models.F('score'), descending=True), models.F('page'), name='crawl_queue'),
        ),
        migrations.AddIndex(
            model_name='waiting',
            index=models.Index(fields=['crawl', 'queued'], name='crawl_waiting'),
        ),
    ]
