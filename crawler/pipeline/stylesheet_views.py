"""The page of stylesheets: tried on a document, kept, switched, deleted, and used on what was read."""

from __future__ import annotations

import re
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from crawler.engine.wake import wake_controller
from crawler.isolation.calls import ProgramError
from crawler.pipeline.forms import StylesheetForm
from crawler.pipeline.models import Stylesheet
from crawler.pipeline.stylesheet_trials import document_for, read_again, tried
from crawler.web import undo
from crawler.web.permissions import needs
from crawler.web.roles import OPERATOR

MAX_SHOWN = 200
FIELDS = ("name", "types", "pattern", "enabled", "grddl", "content")


@require_safe
def stylesheet_list(request: HttpRequest) -> HttpResponse:
    """Show all stylesheets, and a form for a new one or, with ?edit=, for one of them."""
    return _page(request, StylesheetForm(instance=_numbered(request.GET.get("edit", ""))))


@needs(OPERATOR)
@require_POST
def try_stylesheet(request: HttpRequest) -> HttpResponse:
    """Show the statements that a stylesheet would add; nothing is kept."""
    form = _form(request)
    if not form.is_valid():
        return _page(request, form, status=422)
    values = form.cleaned_data
    document = document_for(values["types"], values["pattern"], values["document"])
    if document is None:
        form.add_error("document", _("No document here fits. Name one that was read already."))
        return _page(request, form, status=422)
    context: dict[str, Any] = {"document": document}
    try:
        triples = tried(values["content"], document)
        context |= {"triples": triples[:MAX_SHOWN], "count": len(triples)}
    except ProgramError as error:
        context["trouble"] = error.detail or error.kind
    return _page(request, form, **context)


@needs(OPERATOR)
@require_POST
def keep_stylesheet(request: HttpRequest) -> HttpResponse:
    """Keep a new stylesheet, or a changed one."""
    form = _form(request)
    if not form.is_valid():
        return _page(request, form, status=422)
    sheet = form.save()
    messages.success(request, _("“%(name)s” is used for what is read from now on.") % {"name": sheet.name})
    return redirect("pipeline-stylesheets")


@needs(OPERATOR)
@require_POST
def change_stylesheet(request: HttpRequest, pk: int) -> HttpResponse:
    """Switch a stylesheet on or off, delete it, or use it on what was read already."""
    sheet, action = get_object_or_404(Stylesheet, pk=pk), request.POST.get("action", "")
    if action == "switch":
        sheet.enabled = not sheet.enabled
        sheet.save(update_fields=["enabled"])
    elif action == "delete":
        sheet.delete()
        data = {name: getattr(sheet, name) for name in FIELDS}
        undo.offer(request, _("“%(name)s” is deleted.") % {"name": sheet.name}, "stylesheet.delete", data)
    elif action == "again":
        count = read_again(sheet)
        message = ngettext("%(count)s document is read again.", "%(count)s documents are read again.", count)
        messages.success(request, message % {"count": count})
        wake_controller()
    return redirect("pipeline-stylesheets")


@undo.register("stylesheet.delete")
def _undo_deleting(user: Any, data: Any) -> str:
    Stylesheet.objects.get_or_create(name=data["name"], defaults=data)
    return _("The stylesheet is back.")


def _form(request: HttpRequest) -> StylesheetForm:
    """Return the submitted form, bound to the stylesheet that it changes, if any."""
    return StylesheetForm(request.POST, instance=_numbered(request.POST.get("id", "")))


def _numbered(text: str) -> Stylesheet | None:
    """Return the stylesheet of this number, None for an empty text. Raises Http404."""
    if not text:
        return None
    number = int(text) if re.fullmatch("[0-9]{1,9}", text) else 0
    return get_object_or_404(Stylesheet, pk=number)


def _page(request: HttpRequest, form: StylesheetForm, status: int = 200, **context: Any) -> HttpResponse:
    context |= {"form": form, "sheets": Stylesheet.objects.defer("content")}
    return render(request, "pipeline/stylesheets.html", context, status=status)
