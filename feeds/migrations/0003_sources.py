"""Kinds of sources that are no feeds, with the rules that choose their entries."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("feeds", "0002_squashed"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.AddField(
            model_name="feed",
            name="kind",
            field=models.CharField(default="feed", help_text="What stands at the address: feed, sitemap, page, json; or mail.", max_length=10),
        ),
        migrations.AddField(
            model_name="feed",
            name="owner",
            field=models.ForeignKey(
                blank=True,
                help_text="Whose it is alone, such as a newsletter's or one behind a login; empty: everybody's.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="own_feeds",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="feed",
            name="proposed",
            field=models.JSONField(blank=True, default=dict, editable=False, help_text="Rules for a list that was found anew."),
        ),
        migrations.AddField(
            model_name="feed",
            name="rules",
            field=models.JSONField(blank=True, default=dict, help_text="Which parts of a page are its articles."),
        ),
        migrations.AddField(model_name="importline", name="kind", field=models.CharField(default="feed", max_length=10)),
        migrations.AddField(model_name="importline", name="rules", field=models.JSONField(blank=True, default=dict)),
        migrations.AddField(model_name="importline", name="is_own", field=models.BooleanField(default=False)),
    ]
