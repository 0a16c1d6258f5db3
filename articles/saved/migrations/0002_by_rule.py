
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('saved', '0001_saved'),
    ]

    operations = [
        migrations.AlterField(
            model_name='savedpage',
            name='way',
            field=models.CharField(choices=[('address', 'by its address'), ('app', 'from an app'), ('article', 'from a feed'), ('mail', 'by mail'), ('api', 'by a program'), ('file', 'from a file'), ('rule', 'by a rule')], default='address', max_length=8),
        ),
    ]
