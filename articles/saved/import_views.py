"""Pages about files of saved pages from other programs."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from articles.personal.following import subscriber_of
from articles.personal.views import account_page
from articles.saved.calls import MAX_FILE, SavedFileError
from articles.saved.taking import begin_import, failed_pages, imports_of, listed_imports, try_failed_again
from articles.saved.tasks import take_saved
from crawler.web.limits import LimitReached
from crawler.web.pagination import page_of
from crawler.web.settings_tabs import TABS
from feeds.phrases import cause_of

FAILED_SHOWN = 50
PROBLEMS_SHOWN = 50


@require_http_methods(["GET", "HEAD", "POST"])
def imports(request: HttpRequest) -> HttpResponse:
    """Take a file of saved pages (POST), or return the list of files for the page that renews it."""
    subscriber = subscriber_of(request.user)
    if request.method != "POST":
        if "HX-Request" not in request.headers:
            return redirect(f"{reverse('me-account')}#saved-pages")
        return render(request, "saved/_imports.html", listed_imports(subscriber))
    file: UploadedFile[Any] | None = request.FILES.get("file")
    if file is None:
        return account_page(request, subscriber, file_error=_("No file was chosen."), status=422)
    try:
        row = begin_import(subscriber, file.name or "", file.read(MAX_FILE + 1))
    except (SavedFileError, LimitReached) as error:
        return account_page(request, subscriber, file_error=str(error), status=422)
    take_saved.delay(row.pk)
    return redirect("saved-import", row.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def one_import(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how far a file is, and what could not be read; ask for that again (POST)."""
    row = get_object_or_404(imports_of(subscriber_of(request.user)), pk=pk)
    if request.method == "POST":
        count = try_failed_again(row)
        words = ngettext(
            "Freshet asks for %(count)d page again.", "Freshet asks for %(count)d pages again.", count
        )
        messages.success(request, words % {"count": count})
        return redirect("saved-import", row.pk)
    page = page_of(request, failed_pages(row), size=FAILED_SHOWN)
    for failed in page:
        stored = failed.article.page
        failed.reason = cause_of(stored.failure) if stored else ""
    problem_limit = len(row.problems) if request.GET.get("problems") == "all" else PROBLEMS_SHOWN
    context = {"import": row, "page": page, "problems": row.problems[:problem_limit], "tab": TABS["data"]}
    template = "saved/_import.html" if "HX-Request" in request.headers else "saved/import.html"
    return render(request, template, context)
