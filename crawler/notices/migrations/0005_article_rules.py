
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0004_marks_of_rules'),
        ('feeds', '0003_sources'),
        ('notices', '0004_brief'),
        ('recrawl', '0001_squashed'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='RuleHit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('labels', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), default=list, help_text='Those that it did not have yet.', size=None)),
                ('undone', models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name='rule',
            name='acted',
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, help_text='Up to when enriched articles were asked for its deeds.'),
        ),
        migrations.AddField(
            model_name='rule',
            name='author',
            field=models.CharField(blank=True, help_text="Part of an author's name.", max_length=200),
        ),
        migrations.AddField(
            model_name='rule',
            name='changed',
            field=models.DateTimeField(auto_now=True, db_default=django.db.models.functions.datetime.Now()),
        ),
        migrations.AddField(
            model_name='rule',
            name='copies',
            field=models.BooleanField(db_default=False, default=False, help_text='Only what another feed has told before.'),
        ),
        migrations.AddField(
            model_name='rule',
            name='deeds',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('mute', 'mute it'), ('read', 'mark it read'), ('star', 'star it'), ('label', 'label it'), ('save', 'save it'), ('up', 'move it up')], max_length=8), blank=True, db_default=models.Value([], django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=8), size=None)), default=list, help_text='What is done to the article.', size=None),
        ),
        migrations.AddField(
            model_name='rule',
            name='expression',
            field=models.CharField(blank=True, help_text='A regular expression; its case counts with (?-i) alone.', max_length=1000),
        ),
        migrations.AddField(
            model_name='rule',
            name='labels',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), blank=True, db_default=models.Value([], django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), size=None)), default=list, help_text='Those that the article gets.', size=None),
        ),
        migrations.AddField(
            model_name='rule',
            name='language',
            field=models.CharField(blank=True, help_text='Such as de, which de-AT is, too.', max_length=20),
        ),
        migrations.AddField(
            model_name='rule',
            name='longer_than',
            field=models.PositiveIntegerField(blank=True, help_text='Words of the text.', null=True),
        ),
        migrations.AddField(
            model_name='rule',
            name='looked_in',
            field=models.CharField(blank=True, choices=[('', 'anywhere'), ('title', 'the title'), ('text', 'the text'), ('author', 'the author'), ('address', 'the address'), ('tag', 'the tags')], default='', help_text='Part of an article in which words and expressions are looked for.', max_length=8),
        ),
        migrations.AddField(
            model_name='rule',
            name='shorter_than',
            field=models.PositiveIntegerField(blank=True, help_text='Words of the text.', null=True),
        ),
        migrations.AddField(
            model_name='rule',
            name='tag',
            field=models.CharField(blank=True, help_text='A tag of the article, as a whole.', max_length=200),
        ),
        migrations.AddField(
            model_name='rule',
            name='without_expression',
            field=models.CharField(blank=True, max_length=1000),
        ),
        migrations.AddIndex(
            model_name='rule',
            index=models.Index(condition=models.Q(('deeds', []), _negated=True), fields=['user'], name='rule_acting'),
        ),
        migrations.AddField(
            model_name='rulehit',
            name='article',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='articles.article'),
        ),
        migrations.AddField(
            model_name='rulehit',
            name='rule',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='hits', to='notices.rule'),
        ),
        migrations.AddConstraint(
            model_name='rulehit',
            constraint=models.UniqueConstraint(fields=('rule', 'article'), name='rule_hit_once'),
        ),
    ]
