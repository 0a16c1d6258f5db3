"""Settings of operators on pages: the lines of a form, what of it is kept, and its undoing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from crawler import environment
from crawler.engine.chosen import (
    CHOOSABLE,
    ChoiceError,
    InForce,
    choose,
    chosen,
    chosen_by_hand,
    put_back,
)
from crawler.web import undo
from crawler.web.roles import OPERATOR, is_at_least
from crawler.web.setting_lines import SettingLine, answer_kept, answer_refused

MONTH, QUARTER, YEAR = 30, 90, 365
USUAL_DAYS = (7, MONTH, QUARTER, YEAR, 0)


class RefusedLineError(ChoiceError):
    """A value that was refused, with the name of its line."""

    def __init__(self, name: str, words: str) -> None:
        super().__init__(words)
        self.name = name


def line(name: str, label: str, kind: Any, **options: Any) -> SettingLine:
    """Return the line of a setting with its present value, and whether the environment has fixed it."""
    value = chosen(name)
    fixed_by = name if environment.is_given(name) else ""
    display_value = value if kind == "switch" else f"{value:g}" if isinstance(value, float) else str(value)
    return SettingLine(name, label, kind, display_value, fixed_by=fixed_by, **options)


def days_line(name: str, label: str, words: str = "") -> SettingLine:
    """Return the line of a number of days, chosen among the usual ones and the present one."""
    days = [*sorted({*USUAL_DAYS, chosen(name)} - {0}), 0]
    return line(name, label, "select", help=words, choices=[(str(each), days_words(each)) for each in days])


def days_words(days: int) -> str:
    """Write a number of days as people say it: "a year"; 0 is for ever."""
    usual = {0: _("for ever"), 7: _("a week"), MONTH: _("a month"), QUARTER: _("3 months"), YEAR: _("a year")}
    return usual.get(days) or ngettext("%(n)s day", "%(n)s days", days) % {"n": days}


def keep_posted(request: HttpRequest, lines: Sequence[SettingLine], view: str) -> HttpResponse:
    """Keep what a form changes of these lines, and offer to undo it. One value that is refused keeps none."""
    try:
        changes = changes_in(request, lines)
    except RefusedLineError as error:
        return answer_refused(request, error.name, str(error))
    keep(request, changes)
    return answer_kept(request, view)


def changes_in(request: HttpRequest, lines: Sequence[SettingLine]) -> dict[str, Any]:
    """Return what a form changes of these lines. Raises RefusedLineError for a value that cannot be."""
    changes: dict[str, Any] = {}
    for each in lines:
        if each.fixed_by or each.name not in CHOOSABLE:
            continue
        raw = each.name in request.POST if each.kind == "switch" else request.POST.get(each.name)
        if raw is None:
            continue
        try:
            value = CHOOSABLE[each.name].read(raw)
        except ChoiceError as error:
            raise RefusedLineError(each.name, str(error)) from None
        if value != chosen(each.name):
            changes[each.name] = value
    return changes


def keep(request: HttpRequest, changes: Mapping[str, Any]) -> None:
    """Keep these values, None for the default, and offer to undo it."""
    before = {name: chosen_by_hand(name) for name in changes}
    for name, value in changes.items():
        choose(name, value)
    if changes:
        undo.offer(
            request, _kept_words({CHOOSABLE[name].in_force for name in changes}), "operator-settings", before
        )


def _kept_words(in_force: set[InForce]) -> str:
    if InForce.RESTART in in_force:
        return _("Kept. It holds after a restart of Freshet.")
    if InForce.NEXT_ROUND in in_force:
        return _("Kept. It holds from the next round of visits.")
    return _("Kept. It holds at once.")


@undo.register("operator-settings")
def _restore(user: User, before: Mapping[str, Any]) -> str:
    """Take a change of settings back."""
    if is_at_least(user, OPERATOR):
        for name, stored in before.items():
            put_back(name, stored)
    return _("It is set as before.")
