import crawler.pipeline.models
import crawler.web.validators
import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('pipeline', '0003_link_queries'),
    ]

    operations = [
        migrations.CreateModel(
            name='Stylesheet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=12), blank=True, default=list, help_text='Types of documents, such as html, xml or rss-2.0; empty: all.', size=None)),
                ('pattern', models.CharField(blank=True, help_text='A regular expression on the address; empty: every address.', max_length=500, validators=[crawler.web.validators.is_pattern])),
                ('grddl', models.CharField(blank=True, help_text='Its own address: then only for documents that name it as their transformation (GRDDL).', max_length=500)),
                ('content', models.TextField(help_text='The stylesheet. It reaches no file and no network.', validators=[crawler.pipeline.models.is_stylesheet])),
                ('enabled', models.BooleanField(default=True)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
    ]
