"""`makemessages`: gather the texts of pages and of reasons for translators."""

from __future__ import annotations

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    """Django's command, which also gathers the sentences of `Reason` (crawler.text.reasons)."""

    xgettext_options = [*makemessages.Command.xgettext_options, "--keyword=Reason"]
