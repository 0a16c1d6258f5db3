"""Feed.subscribers is counted by the database, so that no way of changing a subscription can miss it."""

from django.db import migrations

COUNT = """
CREATE FUNCTION articles_count_subscriber() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE feeds_feed SET subscribers = greatest(subscribers - 1, 0) WHERE id = OLD.feed_id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        UPDATE feeds_feed SET subscribers = subscribers + 1 WHERE id = NEW.feed_id;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_subscriber AFTER INSERT OR DELETE OR UPDATE OF feed_id ON articles_subscription
    FOR EACH ROW EXECUTE FUNCTION articles_count_subscriber();
UPDATE feeds_feed SET subscribers = (
    SELECT count(*) FROM articles_subscription WHERE articles_subscription.feed_id = feeds_feed.id
);
"""
FORGET = """
DROP TRIGGER count_subscriber ON articles_subscription;
DROP FUNCTION articles_count_subscriber();
"""


class Migration(migrations.Migration):
    dependencies = [("articles", "0001_initial"), ("feeds", "0002_posting_population")]
    operations = [migrations.RunSQL(COUNT, FORGET)]
