"""The person to whom an article belongs, where its feed does."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("articles", "0001_squashed"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.AddField(
            model_name="article",
            name="owner",
            field=models.ForeignKey(
                db_index=False,
                help_text="As of its feed.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="page",
            name="owner",
            field=models.ForeignKey(
                db_index=False,
                help_text="With whose logins it was fetched; it is no other person's page.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddIndex(
            model_name="article",
            index=models.Index(condition=models.Q(("owner__isnull", False)), fields=["owner"], name="article_owner"),
        ),
    ]
