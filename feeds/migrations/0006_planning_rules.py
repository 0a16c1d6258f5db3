"""The operator's rules of planning, and the learned rates as arrays that SQL reads."""

import django.core.validators
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

    dependencies = [
        ('feeds', '0005_second_opinions'),
    ]

    operations = [
        migrations.RunSQL(RATES, "DROP VIEW feeds_posting_rates; DROP FUNCTION feeds_floats(bytea)"),
        migrations.CreateModel(
            name='PlanningRules',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ('policy', models.CharField(blank=True, choices=[('freshness', 'for the least waiting news'), ('advarss', 'advaRSS: most expected articles first'), ('round-robin', 'round robin: each in its turn'), ('advarss-training', 'advaRSS: always in training')], default='', max_length=30, verbose_name='Order of the visits')),
                ('budget', models.FloatField(blank=True, help_text='On average over all feeds: busy ones get more, quiet ones fewer.', null=True, validators=[django.core.validators.MinValueValidator(0.001), django.core.validators.MaxValueValidator(60)], verbose_name='Visits per feed and hour')),
                ('audience_weight', models.FloatField(blank=True, help_text="Each subscriber raises a feed's rank by this share; 0 counts none.", null=True, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(100)], verbose_name='Weight of a subscriber (c)')),
                ('training_max_ticks', models.PositiveSmallIntegerField(blank=True, help_text='advaRSS knows no such limit but 80; a lower one finds news sooner.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(80)], verbose_name='Longest wait in training, in ticks')),
                ('changed', models.DateTimeField(auto_now=True)),
            ],
            options={
                'verbose_name': 'planning rules',
                'verbose_name_plural': 'planning rules',
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='one_row_of_planning_rules')],
            },
        ),
    ]
