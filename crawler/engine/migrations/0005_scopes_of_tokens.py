from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("crawler", "0004_choices_and_tokens")]

    operations = [
        migrations.AddField(
            model_name="apitoken",
            name="scope",
            field=models.CharField(
                choices=[("read", "read"), ("mark", "mark"), ("manage", "manage")], default="read", max_length=6
            ),
        ),
        migrations.RunSQL(
            "UPDATE crawler_apitoken SET scope = 'manage' WHERE may_write",
            "UPDATE crawler_apitoken SET may_write = scope <> 'read'",
        ),
        migrations.RemoveField(model_name="apitoken", name="may_write"),
    ]
