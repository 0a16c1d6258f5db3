"""Changes of tables between version 0.1.0 and the next one, put together."""

from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    # A database from before these were made one has them all.
    replaces = [("crawler", "0003_logins")]

    dependencies = [("crawler", "0001_squashed")]

    operations = [
        migrations.CreateModel(
            name="SiteLogin",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.TextField(help_text="Canonical; the login is sent to it and to all below it.", unique=True)),
                ("kind", models.CharField(choices=[("basic", "name and password"), ("header", "header"), ("cookie", "cookie")], max_length=10)),
                ("sealed", models.TextField(editable=False, help_text="The encrypted header.")),
                ("given", models.DateTimeField(db_default=Now(), editable=False)),
                ("host", models.ForeignKey(editable=False, on_delete=models.CASCADE, related_name="logins", to="crawler.host")),
            ],
            options={"ordering": ["url"]},
        )
    ]
