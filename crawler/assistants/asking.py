"""The tool that asks the graph: ready questions in words, or SPARQL that only reads."""

from __future__ import annotations

import json
from typing import Annotated

from django.urls import reverse
from msgspec import Meta

from crawler.accounts.assistants.callers import Caller
from crawler.assistants.calls import ToolRefused, attempt, call, sentence_of
from crawler.assistants.tools import MAX_ANSWER_CHARACTERS, Arguments, Tool, ToolAnswer
from crawler.assistants.words import NOTICE, cleaned
from crawler.pipeline.graph_views import query_of_question
from crawler.pipeline.sparql.questions import QUESTIONS, recognised

MAX_ROWS = 200
CELL_CHARACTERS = 500
RESULTS = "application/sparql-results+json, application/n-triples;q=0.5"


class AskGraphArguments(Arguments):
    """Arguments of `ask_graph`."""

    question: Annotated[
        str,
        Meta(
            description="One of the ready questions, with a name or site in the place of {word}. Empty: the"
            " list of them.",
            max_length=300,
        ),
    ] = ""
    sparql: Annotated[
        str, Meta(description="Or a SPARQL 1.1 query (SELECT, ASK, CONSTRUCT).", max_length=20_000)
    ] = ""


def ask_graph(caller: Caller, arguments: AskGraphArguments) -> ToolAnswer:
    """ApiAnswer a ready question or a query from the graph, at most `MAX_ROWS` rows."""
    if arguments.sparql.strip():
        return _answer(caller, arguments.sparql)
    if not arguments.question.strip():
        rows = call(caller, "/api/graph/questions/").data
        phrases = [str(question.phrase or question.text) for question in QUESTIONS.values()]
        return ToolAnswer({"questions": phrases, "examples_of_sparql": [row["query"] for row in rows[:3]]})
    match = recognised(arguments.question)
    if match is None:
        raise ToolRefused(
            "That is none of the ready questions. Call ask_graph without arguments for their list, or give a"
            " query in SPARQL."
        )
    question, word = match
    return _answer(caller, query_of_question(question, word))


def _answer(caller: Caller, query: str) -> ToolAnswer:
    reply = attempt(caller, reverse("sparql"), {"query": query}, accept=RESULTS)
    if reply.status >= 400:
        raise ToolRefused(sentence_of(reply))
    about = {"about_quoted": NOTICE, "query": query, "as_of": reply.headers.get("Freshet-Snapshot", "")}
    if "json" not in reply.headers.get("Content-Type", ""):
        triples = reply.data.splitlines()
        lines = [cleaned(line)[: 2 * CELL_CHARACTERS] for line in triples[:MAX_ROWS]]
        return ToolAnswer(about | {"quoted": {"triples": lines}, "number_of_triples": len(triples)})
    results = json.loads(reply.data)
    if "boolean" in results:
        return ToolAnswer(about | {"answer": results["boolean"]})
    rows = results["results"]["bindings"]
    shown_rows, size = [], 0
    for row in rows[:MAX_ROWS]:
        cells = {name: cleaned(str(cell["value"]))[:CELL_CHARACTERS] for name, cell in row.items()}
        size += sum(map(len, cells.values()))
        if size > MAX_ANSWER_CHARACTERS // 2:
            break
        shown_rows.append(cells)
    data = {"columns": results["head"]["vars"], "number_of_rows": len(rows), "quoted": {"rows": shown_rows}}
    return ToolAnswer(about | data)


TOOLS = (
    Tool(
        "ask_graph", "Ask the graph",
        "Ask the graph of everything read: who writes, who links to whom; ready questions or SPARQL.",
        AskGraphArguments, ask_graph,
    ),
)  # fmt: skip
