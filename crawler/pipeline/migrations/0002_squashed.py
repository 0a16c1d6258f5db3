"""Changes of tables between version 0.1.0 and the next one, put together."""

from django.db import migrations, models


class Migration(migrations.Migration):
    # A database from before these were made one has them all.
    replaces = [("pipeline", "0006_wsdl"), ("pipeline", "0007_led_by_a_query"), ("pipeline", "0008_course_of_a_lead")]

    dependencies = [("frontier", "0002_squashed"), ("pipeline", "0001_squashed")]

    operations = [
        migrations.CreateModel(
            name="CrawlLead",
            fields=[
                (
                    "crawl",
                    models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name="lead", serialize=False, to="frontier.crawl"),
                ),
                ("query", models.UUIDField(help_text="Digest of the query as it was asked.", null=True)),
                ("change", models.BigIntegerField(default=-1, help_text="The last change of the graph that it saw.")),
                ("seen", models.DateTimeField(help_text="When the replica looked for changes.", null=True)),
                ("found", models.PositiveIntegerField(default=0, help_text="Addresses that it named.")),
                ("failure", models.TextField(blank=True, default="")),
                ("course", models.JSONField(default=list, help_text="[requests, addresses named] of each answer that was another than before.")),
            ],
        )
    ]
