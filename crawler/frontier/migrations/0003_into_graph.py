from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('frontier', '0002_queue'),
    ]

    operations = [
        migrations.AddField(
            model_name='crawl',
            name='into_graph',
            field=models.BooleanField(default=False, help_text='Feeds and data too, and all of it through the pipeline: its graph names the next URLs.'),
        ),
    ]
