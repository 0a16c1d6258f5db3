"""Newsletters: addresses, mailboxes, what was found, and what is to be confirmed."""

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import feeds.mail.models
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("feeds", "0003_sources"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="MailAddress",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(default=feeds.mail.models.new_key, editable=False, max_length=40, unique=True)),
                ("name", models.CharField(blank=True, help_text="What it is for.", max_length=100)),
                ("created", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("last_message", models.DateTimeField(editable=False, null=True)),
                ("hour", models.DateTimeField(editable=False, help_text="The hour in which `taken` came.", null=True)),
                ("taken", models.PositiveIntegerField(default=0, editable=False)),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="mail_addresses", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "verbose_name_plural": "mail addresses",
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Mailbox",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("host", models.CharField(max_length=253)),
                ("port", models.PositiveIntegerField(default=993, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(65535)])),
                (
                    "security",
                    models.CharField(
                        choices=[("tls", "encrypted (TLS)"), ("starttls", "encrypted after a greeting (STARTTLS)"), ("none", "not encrypted, on this machine only")], default="tls", max_length=8
                    ),
                ),
                ("login", models.CharField(max_length=200)),
                ("sign_in", models.CharField(choices=[("password", "password"), ("token", "OAuth token")], default="password", max_length=8)),
                ("sealed", models.TextField(editable=False)),
                ("folder", models.CharField(default="INBOX", max_length=200)),
                ("created", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("uid_validity", models.BigIntegerField(default=0, editable=False)),
                ("last_uid", models.BigIntegerField(default=0, editable=False, help_text="0: the last days are read again.")),
                ("counted_uid", models.BigIntegerField(default=0, editable=False, help_text="Up to this message all were counted for what is offered.")),
                ("last_look", models.DateTimeField(editable=False, null=True)),
                ("next_look", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("failing_since", models.DateTimeField(editable=False, null=True)),
                ("failure", models.CharField(blank=True, editable=False, max_length=300)),
                ("unread", models.PositiveIntegerField(default=0, editable=False, help_text="Messages left out as faulty.")),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="mailboxes", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "verbose_name_plural": "mailboxes",
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Newsletter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("source", models.UUIDField(editable=False, help_text="Digest of what identifies it over its issues.")),
                ("source_key", models.TextField(editable=False)),
                ("state", models.CharField(choices=[("offered", "found in a mailbox"), ("followed", "followed"), ("refused", "not wanted")], default="offered", max_length=8)),
                ("name", models.CharField(blank=True, max_length=300)),
                ("sender", models.CharField(blank=True, max_length=320)),
                ("messages", models.PositiveIntegerField(default=0)),
                ("subjects", django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, help_text="The newest three.", size=None)),
                ("last_message", models.DateTimeField(null=True)),
                ("unsubscribe_url", models.TextField(blank=True)),
                ("unsubscribe_one_click", models.BooleanField(default=False)),
                ("unsubscribe_mail", models.TextField(blank=True)),
                ("unsubscribed", models.DateTimeField(null=True)),
                ("authentication", models.CharField(blank=True, max_length=8)),
                ("authenticated_domain", models.TextField(blank=True)),
                ("feed", models.OneToOneField(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="newsletter", to="feeds.feed")),
                ("mailbox", models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="newsletters", to="mail.mailbox")),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="newsletters", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ["-last_message", "id"],
            },
        ),
        migrations.CreateModel(
            name="SubscriptionRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("message", models.UUIDField(editable=False, help_text="Digest of the Message-ID.")),
                ("source", models.UUIDField(editable=False)),
                ("name", models.CharField(blank=True, max_length=300)),
                ("sender", models.CharField(blank=True, max_length=320)),
                ("subject", models.TextField(blank=True)),
                ("confirm_url", models.TextField()),
                ("authentication", models.CharField(blank=True, max_length=8)),
                ("authenticated_domain", models.TextField(blank=True)),
                ("received", models.DateTimeField()),
                ("done", models.DateTimeField(null=True)),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="subscription_requests", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ["-received", "-id"],
            },
        ),
        migrations.AddIndex(
            model_name="mailbox",
            index=models.Index(fields=["next_look"], name="mailbox_due"),
        ),
        migrations.AddConstraint(
            model_name="mailbox",
            constraint=models.UniqueConstraint(fields=("user", "host", "login", "folder"), name="mailbox_once"),
        ),
        migrations.AddConstraint(
            model_name="newsletter",
            constraint=models.UniqueConstraint(fields=("user", "source"), name="newsletter_once"),
        ),
        migrations.AddIndex(
            model_name="subscriptionrequest",
            index=models.Index(condition=models.Q(("done__isnull", True)), fields=["user"], name="subscription_request_open"),
        ),
        migrations.AddConstraint(
            model_name="subscriptionrequest",
            constraint=models.UniqueConstraint(fields=("user", "message"), name="subscription_request_once"),
        ),
    ]
