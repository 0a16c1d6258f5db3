"""A site's history as a file, and the methods of visiting beside each other on it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from recrawl.methods.gated import ByLinksGated
from recrawl.methods.registry import METHODS, make_method
from recrawl.models import Site
from recrawl.own_history import NoHistoryError, own_history, packed
from recrawl.pages.method_sentences import SENTENCES
from recrawl.replay.budgeted import mean_spending, simulate
from recrawl.replay.history import History
from recrawl.replay.one_shot import one_shot

MAX_PAGE_WEEKS = 10_000
"""Longer histories are compared by a command: ten methods take some seconds on so many."""
MIN_WEEKS = 4


@require_safe
def history_file(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the site's history as `manage.py recrawl_replay` reads it; ?addresses=no leaves them out."""
    site = get_object_or_404(Site, pk=pk)
    try:
        history = own_history(site, anonymous=request.GET.get("addresses") == "no")
    except NoHistoryError as error:
        return render(request, "recrawl/methods.html", {"site": site, "trouble": str(error)}, status=404)
    headers = {"Content-Disposition": f'attachment; filename="site-{pk}.jsonl.gz"'}
    return HttpResponse(packed(history), content_type="application/gzip", headers=headers)


@require_safe
def methods(request: HttpRequest, pk: int) -> HttpResponse:
    """Compare all methods on the site's own history, week by week and as in the paper."""
    site = get_object_or_404(Site, pk=pk)
    context: dict[str, Any] = {"site": site}
    try:
        history = own_history(site)
    except NoHistoryError as error:
        return render(request, "recrawl/methods.html", context | {"trouble": str(error)})
    size = sum(map(len, history.weeks))
    context |= {"weeks": len(history.weeks), "is_short": len(history.weeks) < MIN_WEEKS}
    context["is_long"] = size > MAX_PAGE_WEEKS
    if not context["is_short"] and not context["is_long"]:
        context |= _compared(history)
    return render(request, "recrawl/methods.html", context)


def _compared(history: History) -> dict[str, Any]:
    """Return the rows of the comparison: each method with what it does and comes to."""
    budget = mean_spending(history, ByLinksGated())
    table = one_shot(history, list(METHODS.values()), [1])[1]
    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "sentence": SENTENCES[name],
            "weekly": simulate(history, make_method(name), budget),
            "one_shot": table[name].as_json(),
        }
        for name in METHODS
    ]
    return {"rows": rows, "budget": budget, "least": min(row["weekly"].staleness for row in rows)}
