"""The page More settings: what operators can choose beyond the other pages, and where each value is from."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from crawler.web.more_settings import SettingSection, sections_for
from crawler.web.operator_settings import RefusedLineError, changes_in, keep
from crawler.web.pages import wants_part
from crawler.web.permissions import needs, person_of
from crawler.web.roles import OPERATOR
from crawler.web.setting_lines import SettingLine, answer_kept, answer_refused
from crawler.web.settings_tabs import TABS

VIEW = "settings-more"


@never_cache
@needs(OPERATOR)
@require_http_methods(["GET", "HEAD", "POST"])
def more(request: HttpRequest) -> HttpResponse:
    """Show or set what no other page of Settings has."""
    sections = sections_for(person_of(request))
    if request.method != "POST":
        return _page(request, sections)
    lines = [each for _section, rows in sections for each in rows]
    if "reset" in request.POST:
        name = request.POST["reset"]
        keep(request, {each.name: None for each in lines if each.name == name and each.is_chosen})
        return redirect(VIEW)
    # A switch that is off sends nothing, so the form names the lines that it shows.
    shown_names = set(request.POST.getlist("shown"))
    try:
        changes = changes_in(request, [each for each in lines if each.name in shown_names])
    except RefusedLineError as error:
        if wants_part(request):
            return answer_refused(request, error.name, str(error))
        for each in lines:
            if each.name == error.name:
                each.value, each.error = request.POST.get(each.name, ""), str(error)
        return _page(request, sections, status=422)
    keep(request, changes)
    return answer_kept(request, VIEW)


def _page(
    request: HttpRequest, sections: Sequence[tuple[SettingSection, list[SettingLine]]], status: int = 200
) -> HttpResponse:
    rows = [each for _section, lines in sections for each in lines]
    context = {
        "tab": TABS["more"],
        "kept_at_once": True,
        "sections": sections,
        "chosen_here": sum(each.is_chosen for each in rows),
        # After a change the page's lines say anew where their values are from.
        "renewed": ",".join(f"#o-{each.name}" for each in rows if each.origin),
        "fixed": sum(bool(each.fixed_by) for each in rows),
    }
    return render(request, "settings/more.html", context, status=status)
