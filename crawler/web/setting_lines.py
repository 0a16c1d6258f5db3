"""Lines of Settings: a question, what is set now, and how it is answered (`settings/_line.html`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from crawler.web.pages import wants_part


@dataclass(slots=True)
class SettingLine:
    """A setting as a page shows it.

    `value` is a bool for a switch, else text. `fixed_by` names the variable of the environment that has set
    it, `origin` says where it is from and when a change holds, and `is_chosen` that an operator chose it.
    `is_look` is true for what the browser itself remembers, `off` is then what a switch that is off says.
    """

    name: str
    label: str
    kind: Literal["radio", "switch", "select", "number", "text"]
    value: Any
    help: str = ""
    choices: Sequence[tuple[str, Any]] = ()
    unit: str = ""
    least: str = "0"
    most: str = ""
    step: str = "any"
    link: str = ""
    link_words: str = ""
    fixed_by: str = ""
    origin: str = ""
    is_chosen: bool = False
    error: str = ""
    is_look: bool = False
    off: str = ""


def answer_kept(request: HttpRequest, view: str) -> HttpResponse:
    """Answer a form whose changes are kept: to htmx with the toast alone, else with the page again.

    The event "freshet:kept" makes the page's first sentence, which goes by what is set, renew itself.
    """
    if wants_part(request):
        response = render(request, "settings/_answer.html", {"oob": True})
        response["HX-Trigger"] = "freshet:kept"
        return response
    return redirect(view)


def answer_refused(request: HttpRequest, name: str, words: str) -> HttpResponse:
    """Answer a change that was refused, with a sentence below the line where it was made."""
    return render(request, "settings/_refused.html", {"name": name, "words": words})
