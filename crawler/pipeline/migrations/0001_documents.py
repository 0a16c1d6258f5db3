import crawler.web.validators
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('articles', '0002_count_subscribers'),
        ('crawler', '0003_deployment'),
        ('frontier', '0003_into_graph'),
    ]

    operations = [
        migrations.CreateModel(
            name='LinkQuery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('predicates', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), help_text='IRIs of predicates whose objects are followed.', size=None)),
                ('weight', models.FloatField(default=0.5, help_text="From 0 to 1: the score in a crawl's queue.")),
                ('enabled', models.BooleanField(default=True)),
                ('hits', models.BigIntegerField(default=0, editable=False)),
            ],
            options={
                'verbose_name_plural': 'link queries',
                'ordering': ['-weight', 'name'],
            },
        ),
        migrations.CreateModel(
            name='UriFilter',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pattern', models.CharField(help_text='A regular expression, looked for in the address.', max_length=500, validators=[crawler.web.validators.is_pattern])),
                ('allow', models.BooleanField(default=False)),
                ('position', models.PositiveSmallIntegerField(default=0)),
                ('enabled', models.BooleanField(default=True)),
                ('hits', models.BigIntegerField(default=0, editable=False)),
            ],
            options={
                'ordering': ['position', 'id'],
            },
        ),
        migrations.CreateModel(
            name='GraphChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('context', models.BigIntegerField(help_text="Key of the graph's name.")),
                ('url', models.TextField()),
                ('version', models.PositiveIntegerField()),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('added', models.PositiveIntegerField()),
                ('removed', models.PositiveIntegerField()),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['context', '-id'], name='graph_change_context')],
            },
        ),
        migrations.CreateModel(
            name='PhaseFigure',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('phase', models.CharField(max_length=9)),
                ('worker', models.CharField(max_length=100)),
                ('minute', models.DateTimeField()),
                ('documents', models.PositiveIntegerField(default=0)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('seconds', models.FloatField(default=0.0, help_text='Of work, not of waiting.')),
            ],
            options={
                'indexes': [models.Index(fields=['minute'], name='phase_figure_minute')],
                'constraints': [models.UniqueConstraint(fields=('phase', 'worker', 'minute'), name='phase_figure_once')],
            },
        ),
        migrations.CreateModel(
            name='Document',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.TextField()),
                ('key', models.UUIDField(editable=False, unique=True)),
                ('source', models.CharField(choices=[('crawl', 'a crawl'), ('address', 'an address given by hand'), ('feed', 'a feed'), ('article', "an article's page")], max_length=7)),
                ('depth', models.PositiveSmallIntegerField(default=0)),
                ('content_type', models.CharField(blank=True, max_length=200)),
                ('status', models.PositiveSmallIntegerField(default=200)),
                ('etag', models.TextField(blank=True)),
                ('last_modified', models.TextField(blank=True)),
                ('fetched', models.DateTimeField()),
                ('state', models.CharField(choices=[('fetched', 'waits for detect'), ('detected', 'waits for transform'), ('transformed', 'waits for index'), ('indexed', 'waits for extract'), ('done', 'through'), ('dead', 'dead letter')], default='fetched', max_length=11)),
                ('type', models.CharField(blank=True, max_length=12)),
                ('reason', models.TextField(blank=True)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('transformer', models.CharField(blank=True, max_length=100)),
                ('notes', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, default=list, size=None)),
                ('triples', models.BinaryField(default=b'', help_text='zlib of N-Triples, until they are indexed.')),
                ('quads', models.PositiveIntegerField(default=0)),
                ('version', models.PositiveIntegerField(default=0, help_text='How often its graph has changed.')),
                ('links', models.PositiveIntegerField(default=0, help_text='URLs that extract took from its graph.')),
                ('failed_phase', models.CharField(blank=True, max_length=9)),
                ('failure', models.CharField(blank=True, max_length=20)),
                ('detail', models.TextField(blank=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='Of the phase that it waits for.')),
                ('lease', models.UUIDField(null=True)),
                ('leased_until', models.DateTimeField(null=True)),
                ('changed', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('body', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='documents', to='frontier.body')),
                ('crawl', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='documents', to='frontier.crawl')),
                ('host', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='crawler.host')),
                ('page', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='articles.page')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(condition=models.Q(('lease__isnull', True), models.Q(('state__in', ['done', 'dead']), _negated=True)), fields=['state', 'attempts', 'id'], name='document_waiting'), models.Index(condition=models.Q(('lease__isnull', False)), fields=['lease'], name='document_lease'), models.Index(fields=['state', '-id'], name='document_state'), models.Index(condition=models.Q(('state', 'dead')), fields=['failed_phase', 'failure'], name='document_dead'), models.Index(fields=['fetched'], name='document_fetched')],
            },
        ),
    ]
