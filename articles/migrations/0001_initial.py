import articles.models
import articles.search
import crawler.database.words
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


# Feed.subscribers is counted by the database, so that no way of changing a subscription can miss it.
COUNT = """
CREATE FUNCTION articles_count_subscriber() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE feeds_feed SET subscribers = greatest(subscribers - 1, 0) WHERE id = OLD.feed_id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        UPDATE feeds_feed SET subscribers = subscribers + 1 WHERE id = NEW.feed_id;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_subscriber AFTER INSERT OR DELETE OR UPDATE OF feed_id ON articles_subscription
    FOR EACH ROW EXECUTE FUNCTION articles_count_subscriber();
"""
FORGET = """
DROP TRIGGER count_subscriber ON articles_subscription;
DROP FUNCTION articles_count_subscriber();
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('crawler', '0001_initial'),
        ('feeds', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL(crawler.database.words.CREATE_SEARCH_WORDS, migrations.RunSQL.noop),
        migrations.CreateModel(
            name='FeedVersion',
            fields=[
                ('feed', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='version', serialize=False, to='feeds.feed')),
                ('version', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='PersonalFeed',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200)),
                ('folder', models.CharField(blank=True, help_text='Only this folder and those inside it.', max_length=400)),
                ('include', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, size=None)),
                ('exclude', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, size=None)),
                ('categories', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, default=list, size=None)),
                ('body', models.CharField(choices=[('full', 'full text'), ('summary', 'summary')], default='full', max_length=10)),
                ('order', models.CharField(choices=[('newest', 'newest first'), ('interest', 'by interest')], default='newest', max_length=10)),
                ('changed', models.DateTimeField(auto_now=True)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Page',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.TextField()),
                ('url_key', models.UUIDField(editable=False, unique=True)),
                ('status', models.CharField(choices=[('waiting', 'waiting'), ('stored', 'stored'), ('refused', 'refused by robots.txt'), ('failed', 'given up')], default='waiting', max_length=10)),
                ('lease', models.UUIDField(blank=True, editable=False, null=True)),
                ('not_before', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('losses', models.PositiveSmallIntegerField(default=0, editable=False, help_text='Leases lost in a row.')),
                ('failure', models.CharField(blank=True, max_length=40)),
                ('failure_detail', models.TextField(blank=True)),
                ('fetched', models.DateTimeField(blank=True, null=True)),
                ('html', models.BinaryField(default=b'', help_text='zlib of the body as received.')),
                ('content_type', models.CharField(blank=True, max_length=200)),
                ('reading', models.CharField(default='1', help_text='Version of what read it (articles.messages).', max_length=8)),
                ('title', models.TextField(blank=True)),
                ('text', models.TextField(blank=True)),
                ('language', models.CharField(blank=True, max_length=20)),
                ('author', models.TextField(blank=True)),
                ('published', models.DateTimeField(blank=True, null=True)),
                ('canonical_url', models.TextField(blank=True)),
                ('host', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pages', to='crawler.host')),
            ],
        ),
        migrations.CreateModel(
            name='Article',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('identity', models.TextField()),
                ('identity_key', models.UUIDField(editable=False)),
                ('url', models.TextField(blank=True)),
                ('title', models.TextField(blank=True)),
                ('author', models.TextField(blank=True)),
                ('category', models.TextField(blank=True)),
                ('categories', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, default=list, size=None)),
                ('language', models.CharField(blank=True, max_length=20)),
                ('published', models.DateTimeField(help_text='When it appeared, as far as known.')),
                ('dating', models.CharField(choices=[('feed', "the feed's date"), ('page', "the page's date"), ('fetched', 'the time of retrieval (no usable date given)')], max_length=10)),
                ('fetched', models.DateTimeField()),
                ('delay', models.FloatField(help_text='Seconds from publication to retrieval, where both are sure.', null=True)),
                ('summary', models.TextField(blank=True, help_text='Sanitised HTML from the feed.')),
                ('content', models.TextField(blank=True, help_text='Sanitised HTML from the feed.')),
                ('text', models.TextField(blank=True)),
                ('text_length', models.PositiveIntegerField(default=0)),
                ('enclosures', models.JSONField(blank=True, default=list)),
                ('revision', models.PositiveSmallIntegerField(default=0, help_text='How often the feed rewrote the entry.')),
                ('updated', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), help_text='When this row last changed.')),
                ('search', models.GeneratedField(db_persist=True, expression=articles.search.ArticleVector(models.F('language'), models.F('title'), models.F('author'), models.F('text')), output_field=django.contrib.postgres.search.SearchVectorField())),
                ('feed', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='articles', to='feeds.feed')),
                ('page', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='articles', to='articles.page')),
            ],
            options={
                'ordering': ['-published', '-id'],
            },
        ),
        migrations.CreateModel(
            name='PersonalFeedToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(default=articles.models.new_token, editable=False, max_length=64, unique=True)),
                ('created', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('revoked', models.DateTimeField(blank=True, null=True)),
                ('last_read', models.DateTimeField(blank=True, editable=False, null=True)),
                ('personal_feed', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='tokens', to='articles.personalfeed')),
            ],
        ),
        migrations.CreateModel(
            name='PersonalPage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=8)),
                ('number', models.PositiveIntegerField()),
                ('stamp', models.BinaryField()),
                ('digest', models.CharField(help_text="Of the document's bytes; the strong validator.", max_length=32)),
                ('changed', models.DateTimeField()),
                ('personal_feed', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pages', to='articles.personalfeed')),
            ],
        ),
        migrations.CreateModel(
            name='Subscriber',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='subscriber', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AddField(
            model_name='personalfeed',
            name='subscriber',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='personal_feeds', to='articles.subscriber'),
        ),
        migrations.CreateModel(
            name='Mark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('read', models.DateTimeField(blank=True, null=True)),
                ('starred', models.DateTimeField(blank=True, null=True)),
                ('article', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='marks', to='articles.article')),
                ('subscriber', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='marks', to='articles.subscriber')),
            ],
        ),
        migrations.CreateModel(
            name='Subscription',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('folder', models.CharField(blank=True, help_text='Folders within folders with / between.', max_length=400)),
                ('title', models.CharField(blank=True, help_text="The subscriber's own name for the feed.", max_length=400)),
                ('created', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('feed', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='subscriptions', to='feeds.feed')),
                ('subscriber', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='subscriptions', to='articles.subscriber')),
            ],
            options={
                'ordering': ['folder', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Topic',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('keyword', 'keyword'), ('category', 'category'), ('site', 'site')], max_length=8)),
                ('value', models.CharField(help_text='The word or phrase, the category, or the host name.', max_length=200)),
                ('created', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('subscriber', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='topics', to='articles.subscriber')),
            ],
            options={
                'ordering': ['kind', 'value'],
            },
        ),
        migrations.AddIndex(
            model_name='page',
            index=models.Index(condition=models.Q(('lease__isnull', True), ('status', 'waiting')), fields=['host', 'id'], name='page_waiting'),
        ),
        migrations.AddIndex(
            model_name='page',
            index=models.Index(condition=models.Q(('lease__isnull', False)), fields=['lease'], name='page_lease'),
        ),
        migrations.AddIndex(
            model_name='page',
            index=models.Index(condition=models.Q(('failure', ''), _negated=True), fields=['failure'], name='page_failure'),
        ),
        migrations.AddIndex(
            model_name='page',
            index=models.Index(fields=['fetched'], name='page_fetched'),
        ),
        migrations.AddIndex(
            model_name='page',
            index=models.Index(condition=models.Q(('status', 'stored')), fields=['reading', '-id'], name='page_reading'),
        ),
        migrations.AddIndex(
            model_name='article',
            index=models.Index(fields=['-published', '-id'], name='article_newest'),
        ),
        migrations.AddIndex(
            model_name='article',
            index=models.Index(fields=['feed', '-published', '-id'], name='article_feed_newest'),
        ),
        migrations.AddIndex(
            model_name='article',
            index=models.Index(fields=['feed', 'id'], name='article_feed_id'),
        ),
        migrations.AddIndex(
            model_name='article',
            index=models.Index(fields=['-fetched'], name='article_fetched'),
        ),
        migrations.AddIndex(
            model_name='article',
            index=models.Index(fields=['language', '-published'], name='article_language'),
        ),
        migrations.AddIndex(
            model_name='article',
            index=models.Index(fields=['category', '-published'], name='article_category'),
        ),
        migrations.AddIndex(
            model_name='article',
            index=django.contrib.postgres.indexes.GinIndex(fields=['search'], name='article_search'),
        ),
        migrations.AddConstraint(
            model_name='article',
            constraint=models.UniqueConstraint(fields=('feed', 'identity_key'), name='article_once_a_feed'),
        ),
        migrations.AddConstraint(
            model_name='personalfeedtoken',
            constraint=models.UniqueConstraint(condition=models.Q(('revoked__isnull', True)), fields=('personal_feed',), name='one_valid_token'),
        ),
        migrations.AddConstraint(
            model_name='personalpage',
            constraint=models.UniqueConstraint(fields=('personal_feed', 'kind', 'number'), name='personal_page_once'),
        ),
        migrations.AddConstraint(
            model_name='personalfeed',
            constraint=models.UniqueConstraint(fields=('subscriber', 'name'), name='personal_feed_name'),
        ),
        migrations.AddIndex(
            model_name='mark',
            index=models.Index(condition=models.Q(('starred__isnull', False)), fields=['subscriber', '-starred'], name='mark_starred'),
        ),
        migrations.AddConstraint(
            model_name='mark',
            constraint=models.UniqueConstraint(fields=('subscriber', 'article'), name='mark_once'),
        ),
        migrations.AddConstraint(
            model_name='subscription',
            constraint=models.UniqueConstraint(fields=('subscriber', 'feed'), name='subscription_once'),
        ),
        migrations.AddConstraint(
            model_name='topic',
            constraint=models.UniqueConstraint(fields=('subscriber', 'kind', 'value'), name='topic_once'),
        ),
        migrations.RunSQL(COUNT, FORGET),
    ]
