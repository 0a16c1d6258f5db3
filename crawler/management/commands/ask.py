"""`manage.py ask`: ask the graph in SPARQL, or one of the questions that have names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from crawler.pipeline.prefixes import with_prefixes
from crawler.pipeline.sparql.questions import QUESTIONS
from crawler.pipeline.sparql.replica import snapshot
from crawler.pipeline.sparql.run import QueryError, ask

FORMATS = {
    "tsv": ["text/tab-separated-values", "application/n-triples"],
    "csv": ["text/csv", "application/n-triples"],
    "json": ["application/sparql-results+json", "application/ld+json"],
    "xml": ["application/sparql-results+xml", "application/rdf+xml"],
}


class Command(BaseCommand):
    """Answer a named question, or a query of one's own, from the newest snapshot of the graph."""

    help = "Ask the graph: a question by its name, or a SPARQL query. Without either, list the questions."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("question", nargs="?", choices=sorted(QUESTIONS), metavar="question")
        parser.add_argument("--query", help="SPARQL instead of a question")
        parser.add_argument("--file", type=Path, help="a file with SPARQL; - reads standard input")
        parser.add_argument(
            "--format", choices=sorted(FORMATS), default="tsv", help="of rows; tsv if not said"
        )

    def handle(self, **options: Any) -> None:
        query = self._query(options)
        if not query:
            for question in QUESTIONS.values():
                self.stdout.write(f"{question.slug:<12} {question.text}")
            return
        newest = snapshot()
        if newest is None:
            raise CommandError("there is nothing to ask yet: the process sparql_replica has made no snapshot")
        try:
            query_answer = ask(newest[0], with_prefixes(query), FORMATS[options["format"]])
        except QueryError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(query_answer.body.decode(), ending="")
        if query_answer.cut:
            self.stderr.write(
                "There are more rows than one answer may have: narrow the query, or set a LIMIT."
            )

    def _query(self, options: dict[str, Any]) -> str:
        """Return the query that the options name. Returns an empty text for none. Raises CommandError."""
        if options["file"] is not None:
            try:
                is_input = str(options["file"]) == "-"
                return sys.stdin.read() if is_input else str(options["file"].read_text())
            except (OSError, UnicodeError) as error:
                raise CommandError(f"the query cannot be read: {error}") from error
        if options["query"]:
            return str(options["query"])
        return QUESTIONS[options["question"]].query if options["question"] else ""
