"""Changes of tables between version 0.1.0 and the next one, put together."""

from django.db import migrations, models


class Migration(migrations.Migration):
    # A database from before these were made one has them all.
    replaces = [("laboratory", "0002_planning_rules")]

    dependencies = [("laboratory", "0001_squashed")]

    operations = [
        migrations.AddField(
            model_name="experiment",
            name="audience_weight",
            field=models.FloatField(editable=False, help_text="c of a trial of planning rules; empty: that in force.", null=True),
        )
    ]
