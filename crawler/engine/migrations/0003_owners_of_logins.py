"""Logins that are used for the feeds of one person alone, and those that are tokens."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("crawler", "0002_squashed"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.AddField(
            model_name="sitelogin",
            name="owner",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                help_text="For whose feeds alone it is used; empty: for everybody's.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="sitelogin",
            name="kind",
            field=models.CharField(
                choices=[("basic", "name and password"), ("bearer", "token"), ("header", "header"), ("cookie", "cookie")], max_length=10
            ),
        ),
        migrations.AlterField(
            model_name="sitelogin", name="url", field=models.TextField(help_text="Canonical; the login is sent to it and to all below it.")
        ),
        migrations.AddConstraint(
            model_name="sitelogin", constraint=models.UniqueConstraint(fields=("url", "owner"), name="login_once", nulls_distinct=False)
        ),
    ]
