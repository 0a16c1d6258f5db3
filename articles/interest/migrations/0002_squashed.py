"""Changes of tables between version 0.1.0 and the next one, put together."""

from django.db import migrations, models


class Migration(migrations.Migration):
    # A database from before these were made one has them all.
    replaces = [("interest", "0002_crowd")]

    dependencies = [("interest", "0001_squashed")]

    operations = [
        migrations.CreateModel(
            name="CrowdState",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("packed", models.BinaryField(default=b"")),
                ("event", models.BigIntegerField(default=0, help_text="The newest event that it was learned from.")),
                ("lists", models.PositiveIntegerField(default=0, help_text="Opened lists that the weights come from.")),
                ("changed", models.DateTimeField()),
            ],
        )
    ]
