
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0003_saved'),
    ]

    operations = [
        migrations.AddField(
            model_name='mark',
            name='muted',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='mark',
            name='raised',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name='mark',
            index=models.Index(condition=models.Q(('muted__isnull', False)), fields=['subscriber', 'article'], name='mark_muted'),
        ),
        migrations.AddIndex(
            model_name='mark',
            index=models.Index(condition=models.Q(('raised__isnull', False)), fields=['subscriber', 'article'], name='mark_raised'),
        ),
    ]
