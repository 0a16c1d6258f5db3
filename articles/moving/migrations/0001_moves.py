
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('articles', '0004_marks_of_rules'),
    ]

    operations = [
        migrations.CreateModel(
            name='Move',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('greader', "Google Reader's interface"), ('miniflux', 'Miniflux'), ('fever', 'Fever'), ('file', 'a file')], max_length=8)),
                ('url', models.CharField(blank=True, help_text="Of the other server, or the file's name.", max_length=2000)),
                ('login', models.CharField(blank=True, max_length=200)),
                ('sealed', models.TextField(blank=True, editable=False)),
                ('is_rehearsal', models.BooleanField(db_default=False, default=False)),
                ('state', models.CharField(choices=[('reading', 'is read'), ('storing', 'is stored'), ('done', 'done'), ('failed', 'failed'), ('stopped', 'stopped')], default='reading', max_length=8)),
                ('cursor', models.TextField(blank=True, editable=False)),
                ('parts_read', models.PositiveIntegerField(default=0, editable=False)),
                ('about', models.IntegerField(default=-1, help_text='Articles that there may be, -1 if nobody knows.')),
                ('feeds', models.JSONField(default=dict, editable=False, help_text='Keys of feeds here by their addresses.')),
                ('counts', models.JSONField(default=dict, help_text='What came, by kind.')),
                ('left_out', models.JSONField(default=list, help_text='What cannot come, in words.')),
                ('failure', models.CharField(blank=True, max_length=300)),
                ('attempts', models.PositiveSmallIntegerField(default=0, editable=False)),
                ('not_before', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('created', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('ended', models.DateTimeField(editable=False, null=True)),
                ('subscriber', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='moves', to='articles.subscriber')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='MovePart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('content', models.BinaryField()),
                ('number', models.PositiveIntegerField(default=0, help_text='Items in it.')),
                ('move', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='moving.move')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.AddIndex(
            model_name='move',
            index=models.Index(condition=models.Q(('state__in', ['reading', 'storing'])), fields=['not_before'], name='move_open'),
        ),
    ]
