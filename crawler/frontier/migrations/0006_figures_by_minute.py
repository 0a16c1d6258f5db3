"""Figures by minute, and the best order known by default."""

from django.db import migrations, models

ORDERS = [
    ("link-score", "link-score"),
    ("breadth-first", "breadth-first"),
    ("opic", "opic"),
    ("host-round-robin", "host-round-robin"),
]


class Migration(migrations.Migration):
    """Rows that are there are of half an hour."""

    dependencies = [("frontier", "0005_one_row_for_each_url")]

    operations = [
        migrations.AddField("crawlbucket", "minutes", models.PositiveSmallIntegerField(default=30)),
        migrations.AlterField("crawlbucket", "minutes", models.PositiveSmallIntegerField(default=1)),
        migrations.AlterField(
            "crawl", "strategy", models.CharField(choices=ORDERS, default="opic", max_length=20)
        ),
    ]
