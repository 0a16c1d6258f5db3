"""The outcomes of an experiment move into a column of its own, and what its workers kept goes."""

from django.db import migrations, models

import feeds.laboratory.models

COPY = """
    UPDATE laboratory_experiment AS experiment
    SET result = jsonb_build_object('sends', 1, 'outcomes', found.outcomes)
    FROM (
        SELECT experiment_id, jsonb_agg(to_jsonb(o) - 'id' - 'experiment_id' ORDER BY id) AS outcomes
        FROM laboratory_outcome AS o GROUP BY experiment_id
    ) AS found
    WHERE found.experiment_id = experiment.id;
    UPDATE laboratory_experiment SET finished = now() WHERE state <> 'open' AND finished IS NULL;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("laboratory", "0002_squashed"),
    ]

    operations = [
        migrations.AddField(
            model_name="experiment",
            name="result",
            field=models.JSONField(default=feeds.laboratory.models.no_outcomes, editable=False),
        ),
        migrations.RunSQL(COPY, migrations.RunSQL.noop),
        migrations.DeleteModel(name="Outcome"),
        migrations.RemoveIndex(model_name="experiment", name="experiment_open"),
        *(
            migrations.RemoveField(model_name="experiment", name=name)
            for name in ("state", "claim", "heard", "share", "attempts")
        ),
    ]
