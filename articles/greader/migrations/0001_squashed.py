"""All tables of this app as version 0.1.0 had them; it stands for the migrations up to then."""

from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    initial = True

    # A database from before these were made one has them all.
    replaces = [("greader", "0001_initial"), ("greader", "0002_fever")]

    dependencies = [("articles", "0001_squashed")]

    operations = [
        migrations.CreateModel(
            name="AppPassword",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
                ("last_used", models.DateTimeField(blank=True, editable=False, null=True)),
                ("subscriber", models.ForeignKey(on_delete=models.CASCADE, related_name="app_passwords", to="articles.subscriber")),
                (
                    "fever",
                    models.CharField(blank=True, db_index=True, editable=False, help_text="Digest of the key of the Fever API.", max_length=64),
                ),
            ],
            options={"ordering": ["name", "id"]},
        ),
        migrations.CreateModel(
            name="ReaderLogin",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                (
                    "account_password",
                    models.CharField(
                        blank=True,
                        editable=False,
                        help_text="Django's session hash where the account's own password was given: a new password ends it.",
                        max_length=128,
                    ),
                ),
                ("app", models.CharField(blank=True, help_text="What the reader calls itself.", max_length=100)),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
                ("last_used", models.DateTimeField(blank=True, editable=False, null=True)),
                ("revoked", models.DateTimeField(blank=True, null=True)),
                ("app_password", models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name="logins", to="greader.apppassword")),
                ("subscriber", models.ForeignKey(on_delete=models.CASCADE, related_name="reader_logins", to="articles.subscriber")),
            ],
            options={"ordering": ["-id"]},
        ),
    ]
