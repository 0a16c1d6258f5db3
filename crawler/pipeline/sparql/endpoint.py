"""The SPARQL 1.1 protocol (query operation) over the newest snapshot; read-only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyoxigraph
from django.http import HttpResponse, QueryDict
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser, FormParser
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from crawler.pipeline.sparql.child import GRAPHS, RESULTS
from crawler.pipeline.sparql.replica import lag, snapshot
from crawler.pipeline.sparql.run import MAX_ROWS, QueryError, QueryTooLong, QueryTurnedAway, ask

ENCODING = "utf-8"


class QueryParser(BaseParser):
    """A query as the body of a request."""

    media_type = "application/sparql-query"

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, str]:
        return {"query": stream.read().decode(ENCODING, "replace")}


class AnyAnswer(BaseContentNegotiation):
    """Content negotiation that accepts every format: `wanted` chooses one by the query's kind."""

    def select_parser(self, request: Request, parsers: Iterable[Any]) -> Any:
        kind = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == kind), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[Any], format_suffix: str | None = None
    ) -> tuple[Any, str]:
        first = next(iter(renderers))
        return first, first.media_type


class SparqlView(APIView):
    """Queries by GET, by POST of a form, and by POST of the query itself."""

    parser_classes = [QueryParser, FormParser]
    renderer_classes = [JSONRenderer]
    content_negotiation_class = AnyAnswer

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse | Response:
        """Answer ?query=, or describe the service when nothing is asked."""
        if not request.query_params:
            return _described(request)
        return _answered(request, request.query_params)

    @extend_schema(exclude=True)
    def post(self, request: Request) -> HttpResponse | Response:
        """Answer the query in the body."""
        content: Any = request.data
        if "update" in content:
            return Response({"error": "this endpoint only reads"}, status=403)
        parameters = content if isinstance(content, QueryDict) else request.query_params.copy()
        if "query" in content and parameters is not content:
            parameters["query"] = content["query"]
        return _answered(request, parameters)


# What clients call the media types that are known.
_SYNONYMS = {
    "application/json": "application/sparql-results+json",
    "application/xml": "application/sparql-results+xml",
    "text/xml": "application/sparql-results+xml",
    "application/x-turtle": "text/turtle",
    "text/plain": "application/n-triples",
}


def wanted(accept: str) -> list[str]:
    """Return the known media types of an Accept header, the most wanted first."""
    weighed = []
    for place, part in enumerate(accept.split(",")):
        name, *parameters = (word.strip().lower() for word in part.split(";"))
        quality = next((word[2:] for word in parameters if word.startswith("q=")), "1")
        try:
            weighed.append((-float(quality), place, _SYNONYMS.get(name, name)))
        except ValueError:
            continue
    supported = RESULTS.keys() | GRAPHS.keys()
    return [name for weight, _, name in sorted(weighed) if name in supported and weight < 0]


def _described(request: Request) -> HttpResponse:
    """Describe the service in its own vocabulary, in Turtle or another format of RDF."""
    text = DESCRIPTION.format(
        endpoint=request.build_absolute_uri(reverse("sparql")),
        formats=", ".join(f"<{_FORMATS}{name}>" for name in sorted(_FORMAT_NAMES)),
    )
    media = next(
        (name for name in wanted(request.headers.get("Accept", "")) if name in GRAPHS), "text/turtle"
    )
    if media == "text/turtle":
        return HttpResponse(text, content_type=f"{media}; charset={ENCODING}")
    triples = pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.TURTLE)
    body = pyoxigraph.serialize((quad.triple for quad in triples), format=GRAPHS[media])
    return HttpResponse(body, content_type=f"{media}; charset={ENCODING}")


_FORMATS = "http://www.w3.org/ns/formats/"
_FORMAT_NAMES = {
    "SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV", "Turtle",
    "N-Triples", "RDF_XML", "JSON-LD",
}  # fmt: skip
DESCRIPTION = """@prefix sd: <http://www.w3.org/ns/sparql-service-description#> .

<{endpoint}> a sd:Service ;
    sd:endpoint <{endpoint}> ;
    sd:supportedLanguage sd:SPARQL11Query ;
    sd:resultFormat {formats} ;
    sd:feature sd:UnionDefaultGraph ;
    sd:defaultDataset [ a sd:Dataset ; sd:defaultGraph [ a sd:Graph ] ] .
"""
"""SPARQL 1.1 Service Description. By default a query sees the union of all graphs."""


def _answered(request: Request, parameters: QueryDict) -> HttpResponse | Response:
    """Answer the protocol's parameters, from a form or else from the address."""
    query = str(parameters.get("query", ""))
    if not query.strip():
        return Response({"error": "send a query"}, status=400)
    newest = snapshot()
    if newest is None:
        return Response({"error": "there is no snapshot yet: is the replica running?"}, status=503)
    path, state = newest
    try:
        result = ask(
            path,
            query,
            wanted(request.headers.get("Accept", "")),
            default_graphs=parameters.getlist("default-graph-uri"),
            named_graphs=parameters.getlist("named-graph-uri"),
        )
    except QueryTooLong as error:
        return Response({"error": str(error)}, status=503)
    except QueryTurnedAway as error:
        return Response({"error": str(error)}, status=503, headers={"Retry-After": "10"})
    except QueryError as error:
        return Response({"error": str(error)}, status=400)
    response = HttpResponse(result.body, content_type=f"{result.type}; charset={ENCODING}")
    response.headers["Freshet-Snapshot"] = state.at.isoformat()
    response.headers["Freshet-Changes-Behind"] = str(lag(state))
    if result.cut:
        response.headers["Freshet-Cut-At-Rows"] = str(MAX_ROWS)
    return response
