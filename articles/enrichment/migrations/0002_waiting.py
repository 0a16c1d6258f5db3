"""An enrichment waits for every article that comes, and again when its words or its feed's category change.

By triggers, so that no way of storing an article can miss it.
"""

from django.db import migrations

WAIT = """
CREATE FUNCTION enrichment_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO enrichment_enrichment (article_id, state, attempts, failure, versions, language, keywords, terms,
        category, category_source, confidence, summary, counted, trained, shingles, signature, bands, reason,
        similarity)
    SELECT id, 'waiting', 0, '', '', '', '[]', '{}', '', '', 0, '', '', FALSE, 0, '', '{}', '', 0 FROM added
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE FUNCTION enrichment_again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE enrichment_enrichment SET state = 'waiting', attempts = 0
    FROM now_is JOIN was ON was.id = now_is.id
    WHERE article_id = now_is.id
        AND (was.title, was.text, was.language) IS DISTINCT FROM (now_is.title, now_is.text, now_is.language);
    RETURN NULL;
END
$$;
CREATE FUNCTION enrichment_relabelled() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE enrichment_enrichment SET state = 'waiting', attempts = 0
    FROM articles_article WHERE articles_article.id = article_id AND articles_article.feed_id = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER enrichment_new AFTER INSERT ON articles_article
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION enrichment_new();
CREATE TRIGGER enrichment_again AFTER UPDATE ON articles_article
    REFERENCING OLD TABLE AS was NEW TABLE AS now_is FOR EACH STATEMENT EXECUTE FUNCTION enrichment_again();
CREATE TRIGGER enrichment_relabelled AFTER UPDATE OF category_id ON feeds_feed FOR EACH ROW
    WHEN (OLD.category_id IS DISTINCT FROM NEW.category_id) EXECUTE FUNCTION enrichment_relabelled();
INSERT INTO enrichment_enrichment (article_id, state, attempts, failure, versions, language, keywords, terms,
    category, category_source, confidence, summary, counted, trained, shingles, signature, bands, reason, similarity)
SELECT id, 'waiting', 0, '', '', '', '[]', '{}', '', '', 0, '', '', FALSE, 0, '', '{}', '', 0 FROM articles_article;
"""
FORGET = """
DROP TRIGGER enrichment_new ON articles_article;
DROP TRIGGER enrichment_again ON articles_article;
DROP TRIGGER enrichment_relabelled ON feeds_feed;
DROP FUNCTION enrichment_new();
DROP FUNCTION enrichment_again();
DROP FUNCTION enrichment_relabelled();
"""


class Migration(migrations.Migration):
    dependencies = [("enrichment", "0001_initial"), ("feeds", "0002_posting_population")]
    operations = [migrations.RunSQL(WAIT, FORGET)]
