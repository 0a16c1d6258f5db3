from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_shared_cache")]

    operations = [
        migrations.AddField(
            "account",
            "news_seen",
            models.CharField(
                blank=True,
                editable=False,
                help_text="Version whose news were looked at or put away.",
                max_length=20,
            ),
        ),
    ]
