"""The page on which watches are brought along from another program."""

from __future__ import annotations

from typing import BinaryIO, cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from crawler.web.permissions import needs, person_of
from crawler.web.roles import EDITOR
from crawler.web.sentences import translated
from recrawl.importing.changedetection import BackupError
from recrawl.importing.watches import import_watches


@needs(EDITOR)
@require_http_methods(["GET", "HEAD", "POST"])
def import_page(request: HttpRequest) -> HttpResponse:
    """Show the form for a backup or a list of addresses, or what came of it."""
    if request.method != "POST":
        return render(request, "recrawl/import.html")
    file = request.FILES.get("file")
    if file is None:
        return render(request, "recrawl/import.html", {"error": _("No file was chosen.")}, status=422)
    try:
        imported = import_watches(cast(BinaryIO, file), person_of(request))
    except BackupError as error:
        return render(request, "recrawl/import.html", {"error": translated(str(error))}, status=422)
    return render(request, "recrawl/import.html", {"imported": imported})
