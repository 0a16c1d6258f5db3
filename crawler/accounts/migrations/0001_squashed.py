"""All tables of this app as version 0.1.0 had them; it stands for the migrations up to then."""

from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    initial = True

    # A database from before these were made one has them all.
    replaces = [("accounts", "0001_initial"), ("accounts", "0002_choices")]

    dependencies = [("feeds", "0001_squashed"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Account",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=models.CASCADE, primary_key=True, related_name="account", serialize=False, to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("has_printed_password", models.BooleanField(default=False, help_text="Its password was made by the machine and shown once.")),
                ("delete_after", models.DateTimeField(editable=False, null=True)),
                ("language", models.CharField(blank=True, help_text="Empty: as the browser asks for.", max_length=10)),
                ("zone", models.CharField(blank=True, help_text="Empty: the browser's time zone.", max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("reader", "reads, follows feeds and has feeds of their own"),
                            ("editor", "also adds, changes and removes feeds and sites for all"),
                            ("operator", "also uses the tools and changes settings"),
                            ("owner", "also gives roles and opens the administration"),
                        ],
                        default="reader",
                        max_length=8,
                    ),
                ),
                ("max_uses", models.PositiveSmallIntegerField(default=1)),
                ("uses", models.PositiveSmallIntegerField(default=0, editable=False)),
                ("expires", models.DateTimeField()),
                ("created", models.DateTimeField(db_default=Now(), editable=False)),
                ("revoked", models.DateTimeField(editable=False, null=True)),
                (
                    "folder",
                    models.ForeignKey(
                        blank=True,
                        help_text="Feeds of this folder are followed from the start.",
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="+",
                        to="feeds.category",
                    ),
                ),
                ("made_by", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="invitations", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [models.CheckConstraint(condition=models.Q(("uses__lte", models.F("max_uses"))), name="invitation_uses_at_most")],
            },
        ),
    ]
