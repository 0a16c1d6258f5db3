"""Make the table of Django's cache: what one web server puts there, such as a code of a sign-in, others find."""

from django.db import migrations


class Migration(migrations.Migration):
    """It is unlogged: what it holds may be lost, and lives for minutes."""

    dependencies = [("accounts", "0002_assistants")]

    operations = [
        migrations.RunSQL(
            """CREATE UNLOGGED TABLE IF NOT EXISTS shared_cache (
    cache_key varchar(255) PRIMARY KEY, value text NOT NULL, expires timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS shared_cache_expires ON shared_cache (expires);""",
            "DROP TABLE IF EXISTS shared_cache",
        )
    ]
