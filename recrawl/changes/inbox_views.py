"""The inbox of changes: a list with the change beside it, seen and unseen for each person, and exports."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from articles.exporting.answers import export_page
from articles.reader.lists import day_name
from crawler.text.cells import guarded
from crawler.web.pages import wants_part
from crawler.web.permissions import person_of
from crawler.web.undo import offer, register
from recrawl.changes.describing import ExcerptPiece, counts, diff_rows, excerpt, sentence
from recrawl.changes.exporting import change_rows as exported_changes
from recrawl.changes.seen import (
    is_seen,
    mark_all_seen,
    mark_seen,
    marks_of,
    newest_change,
    restore_marks,
    unseen_changes,
    watched_tree,
)
from recrawl.changes.site_sentences import first_words
from recrawl.comparing.differences import Difference
from recrawl.comparing.visual import size_of
from recrawl.models import ALIKE, Change, ChangeQuerySet, SeenChanges, Site, WatchedPage

PAGE_SIZE = 30
MAX_EXPORTED = 50_000
MAX_EARLIER, MAX_ALIKE = 8, 50


@dataclass(frozen=True, slots=True)
class ChangeList:
    """The list that an address asks for: unseen changes or all, of one site or every, from a key on."""

    show: str = "unseen"
    site: int | None = None
    before: int | None = None

    @classmethod
    def from_parameters(cls, parameters: Any) -> ChangeList:
        """Read a list from a query; senseless values are as left out."""
        show = "all" if parameters.get("show") == "all" else "unseen"
        return cls(show, _number(parameters.get("site")), _number(parameters.get("before")))

    def query(self, **changed: object) -> str:
        """Return the query of the list, with a leading question mark if it is not empty."""
        values: dict[str, Any] = {"show": self.show, "site": self.site, "before": self.before} | changed
        usual = {"show": "unseen", "site": None, "before": None}
        changed_values = {name: value for name, value in values.items() if value != usual[name]}
        return f"?{urlencode(changed_values)}" if changed_values else ""

    @property
    def suffix(self) -> str:
        """Return the query without the place in the list."""
        return self.query(before=None)

    def every_change(self, marks: SeenChanges) -> ChangeQuerySet:
        """Return the changes of the list, the newest first."""
        rows = unseen_changes(marks) if self.show == "unseen" else Change.objects.counting()
        if self.site is not None:
            rows = rows.filter(site=self.site)
        return rows.order_by("-id")

    def changes(self, marks: SeenChanges) -> ChangeQuerySet:
        """Return the changes of the list from its key on, the newest first, of those that are alike one."""
        rows = self.every_change(marks).one_of_each()
        if self.before is not None:
            rows = rows.filter(id__lt=self.before)
        return rows.order_by("-id")


@dataclass(slots=True)
class ChangeRow:
    """A change as a list shows it, for all that are alike; `alike` is the number of the others."""

    change: Change
    words: str
    is_seen: bool
    is_open: bool = False
    alike: int = 0
    pieces: list[ExcerptPiece] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """The id of the row in a page."""
        return f"c{self.change.pk}"

    @property
    def path(self) -> str:
        return reverse("change", args=[self.change.pk])


@dataclass(slots=True)
class ChangeDay:
    """The changes of one day."""

    name: str
    date: date
    rows: list[ChangeRow] = field(default_factory=list)


@require_safe
def inbox(request: HttpRequest) -> HttpResponse:
    """Show the changes of watched sites with room for one beside them; for htmx the list or its next rows."""
    chosen = ChangeList.from_parameters(request.GET)
    marks = marks_of(person_of(request))
    context = _list(chosen, marks)
    part = request.headers.get("HX-Target", "") if wants_part(request) else ""
    if part.startswith("rest"):
        return _varying(render(request, "recrawl/inbox/_rows.html", context))
    return _varying(render(request, "recrawl/inbox/inbox.html", context | _side(marks)))


@require_safe
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a change beside the list it was opened from, and mark it as seen; for htmx the change alone."""
    row = get_object_or_404(Change.objects.with_pages().select_related("site", "visit", "before"), pk=pk)
    chosen = ChangeList.from_parameters(request.GET)
    is_prefetch = "prefetch" in request.headers.get("Sec-Purpose", "")
    person = person_of(request)
    marks = marks_of(person) if is_prefetch else mark_seen(person, _keys(row))
    context = _change(row, chosen, marks, request)
    if wants_part(request):
        context |= _side(marks)
        return _varying(render(request, "recrawl/inbox/_change_answer.html", context))
    context |= _list(chosen, marks, opened=row) | _side(marks)
    return _varying(render(request, "recrawl/inbox/inbox.html", context))


@require_POST
def mark(request: HttpRequest, pk: int, word: str) -> HttpResponse:
    """Mark a change as seen or unseen; for htmx answers with its row."""
    if word not in {"seen", "unseen"}:
        raise Http404(f"there is no button {word!r}")
    row = get_object_or_404(Change.objects.with_pages().select_related("site"), pk=pk)
    marks = mark_seen(person_of(request), _keys(row), seen=word == "seen")
    chosen = ChangeList.from_parameters(request.GET)
    if not wants_part(request):
        return HttpResponseRedirect(_way_back(request, row.site_id) or reverse("sites") + chosen.query())
    opened = pk if request.GET.get("open") else None
    context = {"row": change_rows([row], marks, opened)[0], "list": chosen} | _side(marks)
    return render(request, "recrawl/inbox/_mark_answer.html", context)


@require_POST
def mark_all(request: HttpRequest) -> HttpResponse:
    """Mark all changes of the list as seen, and offer to undo it."""
    chosen = ChangeList.from_parameters(request.GET)
    person = person_of(request)
    number, before = mark_all_seen(person, chosen.site, _number(request.POST.get("newest")))
    message = ngettext("%(number)d change marked as seen.", "%(number)d changes marked as seen.", number)
    offer(request, message % {"number": number}, "seen-changes", before)
    return HttpResponseRedirect(_way_back(request, chosen.site) or reverse("sites") + chosen.suffix)


def _way_back(request: HttpRequest, site: int | None) -> str:
    """Return the address of the site's page for a form that stands on it. Returns "" for other forms."""
    return reverse("site", args=[site]) if site is not None and request.POST.get("from") == "site" else ""


@register("seen-changes")
def _undo_seen(user: User, data: Any) -> str:
    up_to, unseen, seen = data
    restore_marks(user, (int(up_to), list(unseen), list(seen)))
    return ngettext("They are unseen again.", "They are unseen again.", 2)


@require_safe
def export(request: HttpRequest, kind: str) -> StreamingHttpResponse:
    """Return the changes of the list as CSV or JSON, the newest first, at most MAX_EXPORTED."""
    chosen = ChangeList.from_parameters({"show": "all", **request.GET.dict()})
    marks = marks_of(person_of(request))
    rows = chosen.every_change(marks).with_pages().select_related("site")[:MAX_EXPORTED]
    writers = {"csv": ("text/csv; charset=utf-8", _csv), "json": ("application/json", _json)}
    if kind not in writers:
        raise Http404(f"there is no export as {kind!r}")
    content_type, write = writers[kind]
    response = StreamingHttpResponse(write(rows.iterator(chunk_size=200)), content_type=content_type)
    response.headers["Content-Disposition"] = f'attachment; filename="changes.{kind}"'
    return response


@require_safe
def take_along(request: HttpRequest) -> HttpResponseBase:
    """Return all changes of the list as a file, in the format that `as` names."""
    chosen = ChangeList.from_parameters(request.GET)
    listed = chosen.every_change(marks_of(person_of(request)))
    return export_page(request, lambda form: exported_changes(listed), _("Changes"))


EXPORTED = (
    "id", "at", "site", "url", "title", "kind", "words", "added", "removed", "lines_added", "lines_removed",
)  # fmt: skip


def _exported(row: Change) -> dict[str, Any]:
    gain = Difference.unpacked(bytes(row.difference))
    values = (
        row.pk, row.at.isoformat(), str(row.site), row.page.url, row.title, row.kind, sentence(row, gain),
        row.added, row.removed, gain.lines_added, gain.lines_removed,
    )  # fmt: skip
    return dict(zip(EXPORTED, values, strict=True))


def _json(rows: Iterator[Change]) -> Iterator[str]:
    yield "["
    for number, row in enumerate(rows):
        yield ("," if number else "") + "\n" + json.dumps(_exported(row), ensure_ascii=False)
    yield "\n]\n"


class _Echo:
    """A file that returns what is written to it."""

    def write(self, text: str) -> str:
        return text


def _csv(rows: Iterator[Change]) -> Iterator[str]:
    writer: Any = csv.writer(_Echo())
    yield writer.writerow(EXPORTED)
    for row in rows:
        yield writer.writerow(_cell(value) for value in _exported(row).values())


def _cell(value: Any) -> Any:
    """Return a value as a spreadsheet shows it: no text is taken for a formula (OWASP, CSV injection)."""
    text = "\n".join(value) if isinstance(value, list) else value
    return guarded(text) if isinstance(text, str) else text


def _list(chosen: ChangeList, marks: SeenChanges, opened: Change | None = None) -> dict[str, Any]:
    """Return the rows of a list by day. The opened change stays in the list of unseen ones."""
    rows = list(chosen.changes(marks).with_pages().select_related("site")[: PAGE_SIZE + 1])
    older = rows[PAGE_SIZE - 1].pk if len(rows) > PAGE_SIZE else None
    rows = rows[:PAGE_SIZE]
    if opened is not None and opened.pk not in {row.pk for row in rows} and chosen.before is None:
        rows = sorted([opened, *rows], key=lambda row: -row.pk)
    days: list[ChangeDay] = []
    today = timezone.localdate(datetime.now(UTC))
    for row in change_rows(rows, marks, opened.pk if opened else None):
        day = timezone.localdate(row.change.at)
        if not days or days[-1].date != day:
            days.append(ChangeDay(day_name(day, today), day))
        days[-1].rows.append(row)
    return {
        "list": chosen,
        "days": days,
        "older": reverse("sites") + chosen.query(before=older) if older else "",
        "older_key": older,
        "newest": newest_change(),
        "site": Site.objects.light().filter(pk=chosen.site).first() if chosen.site else None,
    }


def change_rows(changes: list[Change], marks: SeenChanges, opened: int | None = None) -> list[ChangeRow]:
    """Return changes as a list shows them: in words, seen or not, with the number of those that are alike."""
    rows = []
    counted = Change.objects.counting().filter(visit__in={row.visit_id for row in changes}).order_by()
    groups = counted.exclude(summary="").values_list(*ALIKE).annotate(number=Count("id")).filter(number__gt=1)
    numbers = {tuple(group): number for *group, number in groups}
    for row in changes:
        gain = Difference.unpacked(bytes(row.difference))
        key = (row.visit_id, row.kind, row.summary, row.added, row.removed)
        alike = numbers.get(key, 1) - 1
        pieces = excerpt(gain) if row.kind == Change.Kind.EDITED else []
        is_old, is_open = is_seen(marks, row.pk), row.pk == opened
        rows.append(ChangeRow(row, sentence(row, gain), is_old, is_open, alike, pieces))
    return rows


def _keys(row: Change) -> list[int]:
    """Return the keys of a change and of those that are alike."""
    return [row.pk, *Change.objects.counting().alike(row).values_list("pk", flat=True)]


def _side(marks: SeenChanges) -> dict[str, Any]:
    """Return the watched sites with the numbers of their unseen changes."""
    following = Site.objects.light().filter(state=Site.State.WATCHED, next_visit__isnull=False)
    next_site = following.order_by("next_visit").first()
    return {
        "changes_tree": True,
        **watched_tree(marks),
        "next_site": next_site,
        "next_words": first_words(next_site, datetime.now(UTC)) if next_site else "",
        "page_count": WatchedPage.objects.live().count(),
    }


def _change(row: Change, chosen: ChangeList, marks: SeenChanges, request: HttpRequest) -> dict[str, Any]:
    gain = Difference.unpacked(bytes(row.difference))
    neighbours = ChangeList(chosen.show, chosen.site).changes(marks).exclude(pk__in=_keys(row)).order_by()
    newer = neighbours.filter(id__gt=row.pk).order_by("id").values_list("id", flat=True).first()
    older = neighbours.filter(id__lt=row.pk).order_by("-id").values_list("id", flat=True).first()
    earlier = row.page.history.exclude(pk=row.pk).filter(Q(id__lt=row.pk))
    checks = row.page.all_checks.filter(at__lt=row.at).exclude(outcome="failed").order_by("-id")
    alike = Change.objects.counting().alike(row)
    reason = row.visit.checks.filter(page=row.page_id).values_list("reason", flat=True).first()
    return {
        "change": row,
        "row": change_rows([row], marks, row.pk)[0],
        "hunks": diff_rows(gain),
        "difference": gain,
        "words": sentence(row, gain),
        "count_words": counts(gain) if gain.added + gain.removed > 2 else "",
        "alike": alike.with_pages().defer("difference").order_by("-id")[:MAX_ALIKE],
        "pictures": _pictures(row),
        "looked_before": checks.values_list("at", flat=True).first() or row.page.first_seen,
        "reason": reason or "",
        "as_one": request.GET.get("as") == "one",
        "list": chosen,
        "previous": reverse("change", args=[newer]) + chosen.suffix if newer else "",
        "next": reverse("change", args=[older]) + chosen.suffix if older else "",
        "earlier": earlier.defer("difference").order_by("-id")[:MAX_EARLIER],
        "versions": row.page.versions.aggregate(count=Count("id"))["count"],
        "month": row.page.history.counting().filter(at__gt=row.at - timedelta(days=30)).count(),
    }


def _pictures(row: Change) -> list[dict[str, Any]]:
    """Return the screenshots before a change and now, with their sizes in pixels; none if one is missing.

    The page's present picture stands for the one after the change only while no later change replaced it.
    """
    page = WatchedPage.objects.only("look", "picture").get(pk=row.page_id)
    before = row.before
    later = row.page.versions.filter(pk__gt=before.pk).order_by("id").first() if before is not None else None
    if before is None or before.picture_id is None or not page.look:
        return []
    columns, rows = size_of(bytes(page.look))
    names = (_("Before"), _("After"))
    after = [row.page.site_id, row.page_id]
    paths = (
        reverse("version-picture", args=[*after, before.pk]),
        reverse("version-picture", args=[*after, later.pk]) if later else reverse("page-picture", args=after),
    )
    return [
        {"name": name, "path": path, "width": columns, "height": rows}
        for name, path in zip(names, paths, strict=True)
    ]


def _varying(response: HttpResponse) -> HttpResponse:
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def _number(text: Any) -> int | None:
    is_number = isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) <= 15
    return int(text) if is_number else None
