"""Changes of tables between version 0.1.0 and the next one, put together."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models

# The tables have little-endian float32 (IEEE 754), which a tick of a million feeds reads without copies.
RATES = """
CREATE FUNCTION feeds_floats(data bytea) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT array_agg(
        CASE WHEN exponent = 255 THEN 'NaN'
             WHEN exponent = 0 THEN sign * mantissa * power(2::float8, -149)
             ELSE sign * (1 + mantissa / 8388608.0::float8) * power(2::float8, exponent - 127)
        END::real ORDER BY place
    )
    FROM (
        SELECT place, 1 - 2 * (high >> 7) AS sign, ((high & 127) << 1) | (next >> 7) AS exponent,
               ((next & 127) << 16) | (get_byte(data, 4 * place + 1) << 8) | get_byte(data, 4 * place) AS mantissa
        FROM generate_series(0, octet_length(data) / 4 - 1) AS place,
             LATERAL (SELECT get_byte(data, 4 * place + 3) AS high, get_byte(data, 4 * place + 2) AS next) AS bytes
    ) AS bits
$$;
CREATE VIEW feeds_posting_rates AS
    SELECT history.feed_id, feeds_floats(history.hourly) AS hourly, feeds_floats(history.rates) AS weekly,
           feeds_floats(plan.shape) AS threshold
    FROM feeds_postinghistory AS history LEFT JOIN feeds_postingplan AS plan USING (feed_id);
"""


class Migration(migrations.Migration):
    # A database from before these were made one has them all.
    replaces = [("feeds", "0005_second_opinions"), ("feeds", "0006_planning_rules"), ("feeds", "0007_readers_and_priors")]

    dependencies = [("crawler", "0001_squashed"), ("feeds", "0001_squashed")]

    operations = [
        migrations.AddField(model_name="feed", name="opinion", field=models.JSONField(blank=True, default=list, editable=False)),
        migrations.AddField(model_name="feed", name="opinion_at", field=models.DateTimeField(blank=True, editable=False, null=True)),
        migrations.AddIndex(
            model_name="feed", index=models.Index(condition=models.Q(("opinion", []), _negated=True), fields=["opinion_at"], name="feed_disputed")
        ),
        migrations.RunSQL(RATES, "DROP VIEW feeds_posting_rates; DROP FUNCTION feeds_floats(bytea)"),
        migrations.AddField(
            model_name="feed",
            name="active_subscribers",
            field=models.PositiveIntegerField(default=0, editable=False, help_text="Those who read an article of it in the last 30 days."),
        ),
        migrations.CreateModel(
            name="PlanningRules",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ("policy", models.CharField(blank=True, default="", max_length=30, verbose_name="Order of the visits")),
                (
                    "budget",
                    models.FloatField(
                        blank=True,
                        help_text="On average over all feeds: busy ones get more, quiet ones fewer.",
                        null=True,
                        validators=[MinValueValidator(0.001), MaxValueValidator(60)],
                        verbose_name="Visits per feed and hour",
                    ),
                ),
                (
                    "audience_weight",
                    models.FloatField(
                        blank=True,
                        help_text="Each subscriber raises a feed's rank by this share; 0 counts none.",
                        null=True,
                        validators=[MinValueValidator(0), MaxValueValidator(100)],
                        verbose_name="Weight of a subscriber (c)",
                    ),
                ),
                (
                    "training_max_ticks",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="advaRSS knows no such limit but 80; a lower one finds news sooner.",
                        null=True,
                        validators=[MinValueValidator(1), MaxValueValidator(80)],
                        verbose_name="Longest wait in training, in ticks",
                    ),
                ),
                ("changed", models.DateTimeField(auto_now=True)),
                (
                    "active_only",
                    models.BooleanField(
                        default=False,
                        help_text="Only subscribers who read an article of the feed in the last 30 days weigh.",
                        verbose_name="Count only who reads",
                    ),
                ),
            ],
            options={
                "verbose_name": "planning rules",
                "verbose_name_plural": "planning rules",
                "constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="one_row_of_planning_rules")],
            },
        ),
        migrations.AddField(model_name="postingpopulation", name="prior", field=models.JSONField(blank=True, default=dict)),
    ]
