"""The pages of the graph: questions with answers, things with who says what of them, and SPARQL."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from crawler.pipeline.answers import json_ld, sentence, table_of
from crawler.pipeline.export import ExportError, export_response
from crawler.pipeline.facts import addresses_in, facts_of, predicate_words
from crawler.pipeline.forms import SavedQueryForm
from crawler.pipeline.graph_search import entity, search, term_of
from crawler.pipeline.models import Document, SavedQuery
from crawler.pipeline.names import hosts_named, names_of, page_about
from crawler.pipeline.prefixes import with_prefixes
from crawler.pipeline.sparql.questions import (
    AUTHOR,
    QUESTIONS,
    SITE,
    Question,
    bare_address,
    linking_to,
    recognised,
    written_by,
)
from crawler.pipeline.sparql.replica import lag, set_aside, snapshot, trouble
from crawler.pipeline.sparql.run import MAX_QUERY_CHARACTERS, SECONDS, QueryAnswer, QueryError, ask
from crawler.pipeline.terms import Kind, Term
from crawler.web import undo
from crawler.web.filters import search_problem
from crawler.web.permissions import person_of
from crawler.web.roles import OPERATOR, is_at_least

JSON_RESULTS, TURTLE, CSV = "application/sparql-results+json", "text/turtle", "text/csv"
MAX_SHOWN = 500
MAX_KEPT = 6_000
"""Characters of a query that is shown again after it could not be saved: it stands in the address."""
MAX_WORD = 300
MAX_RAW = 150
"""Statements of a thing that are listed for experts; files have all."""


@require_safe
def graph(request: HttpRequest) -> HttpResponse:
    """Answer a question in words, or search the graph for words; without any, list the ready questions."""
    words = request.GET.get("q", "")
    match = recognised(words)
    if match is not None:
        question, word = match
        address = reverse("graph-question", args=[question.slug])
        return redirect(f"{address}?{urlencode({'word': word})}" if word else address)
    problem = search_problem(words)
    hits = [] if problem else search(words)
    names = names_of(
        {term.value for hit in hits for term in (hit.quad.subject, hit.quad.context) if term.kind == Kind.IRI}
    )
    newest = snapshot()
    context: dict[str, Any] = {
        "words": words,
        "problem": problem,
        "hits": [
            {
                "thing": names.get(hit.quad.subject.value),
                "page": page_about(hit.quad.subject.n3()),
                "what": predicate_words(hit.quad.predicate.value),
                "term": hit.quad.object,
                "who": names.get(hit.quad.context.value),
            }
            for hit in hits
        ],
        "place": bare_address(words),
        "questions": QUESTIONS.values(),
        "queries": SavedQuery.objects.defer("query"),
        "state": newest[1] if newest else None,
    }
    return render(request, "pipeline/graph.html", context)


@require_safe
def entity_page(request: HttpRequest) -> HttpResponse:
    """Show what is said of a thing with who says it, and where it is named."""
    name = request.GET.get("iri", "")[:4096]
    try:
        thing = entity(term_of(name)) if name else None
    except ValueError as error:
        raise Http404(str(error)) from error
    if thing is None:
        raise Http404("the graph has never heard of it")
    names = names_of(addresses_in(thing))
    context = {
        "entity": thing,
        "name": names.get(thing.term.value),
        "facts": facts_of(thing, names),
        "sources": len(
            {document.context for document in thing.said if document.context.value != "urn:crawl:meta"}
        ),
        "statements": sum(len(document.quads) for document in thing.said),
        "raw": [(document, quad) for document in thing.said for quad in document.quads][:MAX_RAW],
        "named": [
            {
                "subject": names.get(quad.subject.value),
                "page": page_about(quad.subject.n3()),
                "what": predicate_words(quad.predicate.value),
                "who": names.get(quad.context.value),
            }
            for quad in thing.named
        ],
        "document": Document.objects.filter(url=name).defer("triples").first(),
    }
    return render(request, "pipeline/entity.html", context)


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
    """Answer one of the questions, about the word in ?word= where it takes one; ?as= gives a file."""
    if slug not in QUESTIONS:
        raise Http404("there is no such question")
    question, newest = QUESTIONS[slug], snapshot()
    word = " ".join(request.GET.get("word", "")[:MAX_WORD].replace("\0", "").split())
    began = time.perf_counter()
    result = _answered(question, word, newest[0]) if newest else _Answer(question.query)
    if request.GET.get("as") == "csv" and newest and result.names:
        file = ask(newest[0], result.query, [CSV], rows=MAX_SHOWN)
        return _as_file(HttpResponse(file.body, content_type="text/csv; charset=utf-8"), f"{slug}.csv")
    if request.GET.get("as") == "jsonld" and newest and result.names:
        linked = JsonResponse(json_ld(result.names, result.rows), content_type="application/ld+json")
        return _as_file(linked, f"{slug}.jsonld")
    table = table_of(result.names, result.rows)
    context: dict[str, Any] = {
        "question": question,
        "word": result.word,
        "title": question.about_word(result.word) if result.word else question.title,
        "state": newest[1] if newest else None,
        "table": table,
        "sentence": sentence(slug, table, result.word),
        "query": result.query,
        "trouble": result.trouble,
        "milliseconds": max(1, round(1000 * (time.perf_counter() - began))),
        "questions": QUESTIONS.values(),
    }
    return render(request, "pipeline/question.html", context)


@dataclass(slots=True)
class _Answer:
    """The query of a question, the word that it is about, and its answer or why there is none."""

    query: str
    word: str = ""
    names: list[str] = field(default_factory=list)
    rows: list[list[Term | None]] = field(default_factory=list)
    trouble: str = ""


def _answered(question: Question, word: str, path: Path) -> _Answer:
    """Ask a question. Without a word it is asked about what the answer to its own query begins with."""
    if not question.about or not word:
        to_begin_with = QUESTIONS["linked"] if question.about == SITE else question
        result = _asked(path, to_begin_with.query)
        first = result.rows[0][0] if result.rows else None
        if not question.about or first is None:
            return result if not question.about else _Answer(question.query, trouble=result.trouble)
        word = bare_address(first.value).partition("/")[0] if question.about == SITE else first.value
    result = _asked(path, query_of_question(question, word))
    result.word = word
    return result


def query_of_question(question: Question, word: str) -> str:
    """Return the query of a question about a word; without one, or where it takes none, its own."""
    if not question.about or not word:
        return question.query
    if question.about == AUTHOR:
        return written_by(word)
    place = bare_address(word)
    return linking_to([place] if place else hosts_named(word))


def _asked(path: Path, query: str) -> _Answer:
    try:
        result = _table(ask(path, query, [JSON_RESULTS], rows=MAX_SHOWN))
    except QueryError as error:
        return _Answer(query, trouble=str(error))
    return _Answer(query, names=result["names"], rows=result["table"])


def _as_file(response: HttpResponse, name: str) -> HttpResponse:
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


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
        raise PermissionDenied(_("Only its author or an operator may delete this query."))
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
