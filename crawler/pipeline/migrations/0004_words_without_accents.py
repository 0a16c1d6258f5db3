from django.db import migrations

from crawler.database.words import CREATE_SEARCH_WORDS

NEW_WORDS = """
ALTER TABLE pipeline_term DROP COLUMN words;
ALTER TABLE pipeline_term ADD COLUMN words tsvector GENERATED ALWAYS AS (
    CASE WHEN kind = 2 AND datatype = '' THEN search_words(lang, 'english', left(value, 20000)) END
) STORED;
CREATE INDEX pipeline_term_words ON pipeline_term USING gin (words) WHERE words IS NOT NULL;
"""


class Migration(migrations.Migration):
    """Stem the words of texts by their language, and drop their accents. Texts without a language: English."""

    dependencies = [("pipeline", "0003_types_with_trig")]
    operations = [
        migrations.RunSQL(CREATE_SEARCH_WORDS, migrations.RunSQL.noop),
        migrations.RunSQL(NEW_WORDS, migrations.RunSQL.noop),
    ]
