"""The pages of the pipeline and of its graph."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Count, F, Sum
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from crawler.engine.wake import wake_controller
from crawler.pipeline.charts import progress, progress_chart
from crawler.pipeline.documents import resend
from crawler.pipeline.export import ExportError, export_response
from crawler.pipeline.extract import Extracted, extracted
from crawler.pipeline.forms import FilterForm, SavedQueryForm
from crawler.pipeline.graph_search import entity, search, term_of
from crawler.pipeline.index import context_of
from crawler.pipeline.models import (
    Document,
    LinkQuery,
    PhaseFigure,
    SavedQuery,
    UriFilter,
)
from crawler.pipeline.prefixes import with_prefixes
from crawler.pipeline.report import phases
from crawler.pipeline.sparql.questions import QUESTIONS
from crawler.pipeline.sparql.replica import lag, set_aside, snapshot, trouble
from crawler.pipeline.sparql.run import MAX_QUERY_CHARACTERS, SECONDS, QueryAnswer, QueryError, ask
from crawler.pipeline.terms import Kind, Term
from crawler.web import undo
from crawler.web.filters import search_problem
from crawler.web.pages import render_list, wants_part
from crawler.web.pagination import page_of
from crawler.web.permissions import needs, person_of
from crawler.web.roles import OPERATOR, is_at_least

JSON_RESULTS, TURTLE = "application/sparql-results+json", "text/turtle"
DRY_DOCUMENTS, MAX_SHOWN = 200, 500
HOUR = timedelta(hours=1)
MAX_KEPT = 6_000
"""Characters of a query that is shown again after it could not be saved: it stands in the address."""


@never_cache
@require_safe
def pipeline_page(request: HttpRequest) -> HttpResponse:
    """Show queues, speed and failures of each phase, beside the paper's; workers; dead letters by cause."""
    recent = PhaseFigure.objects.filter(minute__gte=datetime.now(UTC) - HOUR)
    workers = recent.values("phase", "worker").annotate(
        done=Sum("documents"), failed=Sum("failures"), took=Sum("seconds")
    )
    dead = Document.objects.filter(state=Document.State.DEAD).order_by().values("failed_phase", "failure")
    context: dict[str, Any] = {
        "phases": phases(),
        "workers": workers.filter(took__gt=0)
        .annotate(pace=F("done") / F("took"))
        .order_by("phase", "worker"),
        "dead": dead.annotate(count=Count("id")).order_by("-count"),
        "documents": Document.objects.count(),
        "progress": progress_chart(progress(datetime.now(UTC))),
    }
    part = "pipeline/_phases.html" if wants_part(request) else "pipeline/pipeline.html"
    return render(request, part, context)


@require_safe
def document_list(request: HttpRequest) -> HttpResponse:
    """Show documents by state, type and cause."""
    documents = Document.objects.defer("triples").order_by("-id")
    for name in ("state", "type", "failed_phase", "failure", "source"):
        if request.GET.get(name):
            documents = documents.filter(**{name: request.GET[name]})
    context = {"page": page_of(request, documents), "states": Document.State.choices}
    return render_list(request, "pipeline/documents.html", "pipeline/_documents.html", context)


@needs(OPERATOR)
@require_POST
def send_again(request: HttpRequest) -> HttpResponse:
    """Send dead letters through again, of one cause or all."""
    dead = Document.objects.all()
    for name in ("failed_phase", "failure"):
        if request.POST.get(name):
            dead = dead.filter(**{name: request.POST[name]})
    messages.success(request, _("%(dead)s sent again.") % {"dead": resend(dead)})
    wake_controller()
    return redirect("pipeline")


@require_safe
def links(request: HttpRequest) -> HttpResponse:
    """Show the queries and filters of extract; with ?dry= also what they would find now."""
    return _links(request, FilterForm())


@needs(OPERATOR)
@require_POST
def change_links(request: HttpRequest) -> HttpResponse:
    """Switch a query or a filter on or off, add a filter, or delete one."""
    action, key = request.POST.get("action", ""), request.POST.get("id", "")
    number = int(key) if key.isdecimal() and len(key) < 10 else 0
    if action == "add":
        form = FilterForm(request.POST)
        if not form.is_valid():
            return _links(request, form, status=422)
        UriFilter.objects.create(
            pattern=form.cleaned_data["pattern"],
            allow=form.cleaned_data["allow"],
            position=UriFilter.objects.count(),
        )
    elif action == "switch-query":
        _switch(get_object_or_404(LinkQuery, pk=number))
    elif action == "switch-filter":
        _switch(get_object_or_404(UriFilter, pk=number))
    elif action == "delete-filter":
        UriFilter.objects.filter(pk=number).delete()
    return redirect("pipeline-links")


def _switch(rule: LinkQuery | UriFilter) -> None:
    rule.enabled = not rule.enabled
    rule.save(update_fields=["enabled"])


def _links(request: HttpRequest, form: FilterForm, status: int = 200) -> HttpResponse:
    queries, filters = list(LinkQuery.objects.all()), list(UriFilter.objects.all())
    context: dict[str, Any] = {"queries": queries, "filters": filters, "form": form}
    if request.GET.get("dry"):
        context |= _dry_run(queries, filters)
    return render(request, "pipeline/links.html", context, status=status)


def _dry_run(queries: list[LinkQuery], filters: list[UriFilter]) -> dict[str, Any]:
    """Extract addresses from the newest documents by the enabled rules, without queueing any."""
    newest = list(Document.objects.filter(state=Document.State.DONE).order_by("-changed")[:DRY_DOCUMENTS])
    result: Extracted = extracted(
        {row.pk: context_of(row).key() for row in newest},
        [row for row in queries if row.enabled],
        [row for row in filters if row.enabled],
    )
    weights: dict[str, float] = {}
    for urls in result.found.values():
        for url, weight in urls.items():
            weights[url] = max(weight, weights.get(url, 0.0))
    best = sorted(weights.items(), key=lambda row: (-row[1], row[0]))
    return {
        "dry": len(newest),
        "found": len(weights),
        "denied": result.denied,
        "sample": best[:50],
        "query_hits": result.queries,
        "filter_hits": result.filters,
    }


@require_safe
def graph(request: HttpRequest) -> HttpResponse:
    """Search the graph for words."""
    words = request.GET.get("q", "")
    problem = search_problem(words)
    hits = [] if problem else search(words)
    return render(request, "pipeline/graph.html", {"words": words, "hits": hits, "problem": problem})


@require_safe
def entity_page(request: HttpRequest) -> HttpResponse:
    """Show the statements about a thing by document, and where it is named."""
    name = request.GET.get("iri", "")[:4096]
    try:
        thing = entity(term_of(name)) if name else None
    except ValueError as error:
        raise Http404(str(error)) from error
    if thing is None:
        raise Http404("the graph has never heard of it")
    document = Document.objects.filter(url=name).defer("triples").first()
    return render(request, "pipeline/entity.html", {"entity": thing, "document": document})


@require_safe
def export(request: HttpRequest, form: str) -> StreamingHttpResponse:
    """Return graphs as a file, by ?url=, ?host=, ?feed= or ?day=."""
    try:
        return export_response(request.GET, form)
    except ExportError as error:
        raise Http404(str(error)) from error


@require_safe
def query_page(request: HttpRequest) -> HttpResponse:
    """Run a SPARQL query and show the result as a table, with examples."""
    example = QUESTIONS.get(request.GET.get("example", ""))
    number = request.GET.get("saved", "")
    saved = get_object_or_404(SavedQuery, pk=int(number)) if re.fullmatch("[0-9]{1,9}", number) else None
    query = with_prefixes(
        request.GET.get("query") or (saved.query if saved else "") or (example.query if example else "")
    )
    newest = snapshot()
    context: dict[str, Any] = {
        "is_query_run": bool(query),
        "query": query or QUESTIONS["authors"].query,
        "questions": QUESTIONS.values(),
        "saved": saved if saved and saved.query == query else None,
        "may_delete": saved is not None and _may_delete(request, saved),
        "queries": SavedQuery.objects.select_related("author").defer("query"),
        "max_characters": MAX_QUERY_CHARACTERS,
        "state": newest[1] if newest else None,
        "lag": lag(newest[1]) if newest else None,
        "seconds": SECONDS,
        "rows": MAX_SHOWN,
        "set_aside": set_aside(),
        "unwell": trouble(datetime.now(UTC)),
    }
    if query and newest:
        try:
            context |= _table(ask(newest[0], query, [JSON_RESULTS, TURTLE], rows=MAX_SHOWN))
        except QueryError as error:
            context["trouble"] = str(error)
    return render(request, "pipeline/query.html", context)


@require_safe
def question_list(request: HttpRequest) -> HttpResponse:
    """Show the questions with pages of their own, by the readers they are meant for."""
    return render(request, "pipeline/questions.html", {"questions": QUESTIONS.values()})


@never_cache
@require_safe
def question_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Answer one of the questions, with its query and the time that the answer took."""
    if slug not in QUESTIONS:
        raise Http404("there is no such question")
    question, newest = QUESTIONS[slug], snapshot()
    context: dict[str, Any] = {"question": question, "state": newest[1] if newest else None}
    if newest:
        began = time.perf_counter()
        try:
            context |= _table(ask(newest[0], question.query, [JSON_RESULTS], rows=MAX_SHOWN))
        except QueryError as error:
            context["trouble"] = str(error)
        context["milliseconds"] = max(1, round(1000 * (time.perf_counter() - began)))
    return render(request, "pipeline/question.html", context)


@require_POST
def save_query(request: HttpRequest) -> HttpResponse:
    """Keep a query under a name, for everybody who may ask the graph."""
    form = SavedQueryForm(request.POST)
    if not form.is_valid():
        problem = " ".join(str(error) for errors in form.errors.values() for error in errors)
        messages.error(request, _("The query is not saved. %(problem)s") % {"problem": problem})
        query = request.POST.get("query", "").replace("\0", "")
        return redirect(f"{reverse('graph-query')}?{urlencode({'query': query[:MAX_KEPT]})}")
    form.instance.author = person_of(request)
    saved = form.save()
    messages.success(request, _("“%(name)s” is saved. Everybody here finds it.") % {"name": saved.name})
    return redirect(saved)


@require_POST
def delete_query(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a saved query: its author or an operator may, and undo it."""
    saved = get_object_or_404(SavedQuery, pk=pk)
    if not _may_delete(request, saved):
        raise PermissionDenied("only its author or an operator may delete this query")
    saved.delete()
    data = {"name": saved.name, "query": saved.query, "author": saved.author_id}
    undo.offer(request, _("“%(name)s” is deleted.") % {"name": saved.name}, "query.delete", data)
    return redirect("graph-query")


@undo.register("query.delete")
def _undo_deleting(user: Any, data: Any) -> str:
    author = User.objects.filter(pk=data["author"]).first()
    SavedQuery.objects.get_or_create(name=data["name"], defaults={"query": data["query"], "author": author})
    return _("The query is back.")


def _may_delete(request: HttpRequest, saved: SavedQuery) -> bool:
    return saved.author_id == request.user.pk or is_at_least(request.user, OPERATOR)


def _table(result: QueryAnswer) -> dict[str, Any]:
    """Return columns and rows of terms, the text of a graph, or a boolean."""
    if result.type != JSON_RESULTS:
        return {"text": result.body.decode(), "cut": result.cut}
    content = json.loads(result.body)
    if "boolean" in content:
        return {"text": "yes" if content["boolean"] else "no", "cut": False}
    names = content["head"]["vars"]
    rows = [[_shown(row.get(name)) for name in names] for row in content["results"]["bindings"]]
    return {"names": names, "table": rows, "cut": result.cut}


def _shown(value: dict[str, str] | None) -> Term | None:
    if value is None:
        return None
    kind = {"uri": Kind.IRI, "bnode": Kind.BLANK}.get(value["type"], Kind.LITERAL)
    return Term(kind, value["value"], value.get("xml:lang", ""), value.get("datatype", ""))
