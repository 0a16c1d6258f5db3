from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("notices", "0003_edits"),
    ]

    operations = [
        migrations.AddField(
            model_name="rule",
            name="with_brief",
            field=models.BooleanField(
                db_default=False, default=False, help_text="Digests begin with a brief of the language model."
            ),
        ),
    ]
