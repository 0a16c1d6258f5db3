"""The command `import_saved`."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandError

from articles.management.account_file import AccountFileCommand
from articles.models import Subscriber
from articles.saved.calls import MAX_FILE, SavedFileError
from articles.saved.serializers import SavedImportSerializer
from articles.saved.taking import begin_import, imports_of, take_some
from crawler.web.limits import LimitReached


class Command(AccountFileCommand):
    help = "Save the pages in another program's FILE for NAME."
    file_help = "a file of Pocket, Instapaper, Wallabag, Omnivore, Raindrop, a browser or another program"
    requires_system_checks = ()

    def use_file(self, subscriber: Subscriber, file: Path) -> str:
        """Save all pages of the file. Returns their numbers."""
        try:
            with file.open("rb") as opened:
                row = begin_import(subscriber, file.name, opened.read(MAX_FILE + 1))
        except (SavedFileError, LimitReached) as error:
            raise CommandError(str(error)) from error
        while take_some(row.pk):
            pass
        row = imports_of(subscriber).get(pk=row.pk)
        figures = SavedImportSerializer(row).data
        lines = [
            f"{row.program}: {row.total} pages, {row.total - row.known} new, {row.known} saved before",
            f"{figures['stored']} have their text, {figures['waiting']} are still to be read",
            f"{row.problem_count} entries with a problem",
            *(f"  {each['line'] or '-'}: {each['text']}: {each['why']}" for each in row.problems[:20]),
        ]
        return "\n".join(lines)
