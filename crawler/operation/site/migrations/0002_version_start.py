import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("site", "0001_room")]

    operations = [
        migrations.CreateModel(
            name="VersionStart",
            fields=[
                ("version", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("since", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "is_first",
                    models.BooleanField(
                        default=False, help_text="Nothing ran here before: nothing is news."
                    ),
                ),
            ],
        )
    ]
