"""All tables of this app as version 0.1.0 had them; it stands for the migrations up to then."""

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    # A database from before these were made one has them all.
    replaces = [("interest", "0001_initial")]

    dependencies = [("articles", "0001_squashed")]

    operations = [
        migrations.CreateModel(
            name="Interest",
            fields=[
                (
                    "subscriber",
                    models.OneToOneField(
                        on_delete=models.CASCADE, primary_key=True, related_name="interest", serialize=False, to="articles.subscriber"
                    ),
                ),
                ("version", models.PositiveSmallIntegerField(default=0)),
                ("weights", models.BinaryField(default=b"")),
                ("learned", models.PositiveIntegerField(default=0, help_text="Events that were learned from.")),
                ("forgotten", models.JSONField(blank=True, default=dict, help_text="Features that the subscriber had forgotten, and until when.")),
                ("changed", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("shown", "was shown"),
                            ("opened", "opened"),
                            ("more", "more like this"),
                            ("less", "less like this"),
                            ("hidden", "hidden"),
                            ("saved", "saved"),
                        ],
                        max_length=8,
                    ),
                ),
                ("at", models.DateTimeField()),
                ("undone", models.DateTimeField(blank=True, null=True)),
                ("article", models.ForeignKey(on_delete=models.CASCADE, related_name="events", to="articles.article")),
                ("subscriber", models.ForeignKey(on_delete=models.CASCADE, related_name="events", to="articles.subscriber")),
            ],
            options={
                "indexes": [
                    models.Index(fields=["subscriber", "id"], name="event_subscriber"),
                    models.Index(fields=["subscriber", "article"], name="event_article"),
                    models.Index(condition=models.Q(("kind", "shown"), _negated=True), fields=["subscriber", "id"], name="event_done"),
                ]
            },
        ),
    ]
