"""`manage.py crawl_strategies GRAPH`: compare all crawl strategies on one recorded link graph."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from crawler.frontier.charts import courses_chart
from crawler.frontier.evaluation.comparison import compare
from crawler.frontier.graph import GraphError, LinkGraph, read_site_history
from crawler.frontier.models import Crawl
from crawler.frontier.own_graph import crawled_graph
from crawler.web.charts import standalone

SHARES = (0.25, 0.5, 0.75, 0.9)


class Command(BaseCommand):
    """A command that prints how many pages each strategy fetches to reach shares of the graph's PageRank."""

    help = "Compare crawl strategies on a recorded site (JSON lines, gzipped) or on the links of a crawl."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("graph", nargs="?", type=Path, metavar="GRAPH.jsonl.gz")
        parser.add_argument("--crawl", type=int, metavar="N", help="the graph that crawl N recorded")
        parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the courses")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, graph: Path | None, crawl: int | None, **options: Any) -> None:
        try:
            link_graph = self._graph(graph, crawl)
            courses = compare(link_graph)
            if options["svg"]:
                options["svg"].write_text(standalone(courses_chart(courses)))
        except GraphError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error
        if options["json"]:
            figures = {
                "graph": link_graph.name,
                "pages": len(link_graph),
                "strategies": [asdict(c) for c in courses],
            }
            self.stdout.write(json.dumps(figures))
            return
        self.stdout.write(
            f"{link_graph.name}: {len(link_graph)} pages, {sum(map(len, link_graph.links))} links"
        )
        heads = "".join(f"{f'pages for {share:.0%}':>15}" for share in SHARES)
        self.stdout.write(f"{'strategy':18}{'mean share':>11}{heads}{'reached':>9}")
        for course in courses:
            cells = "".join(f"{course.pages_for(share) or '-':>15}" for share in SHARES)
            self.stdout.write(f"{course.strategy:18}{course.area:11.3f}{cells}{course.reached:9}")

    def _graph(self, path: Path | None, crawl: int | None) -> LinkGraph:
        if path is not None and crawl is None:
            return read_site_history(path)
        if path is not None or crawl is None:
            raise CommandError("give a file, or --crawl N")
        row = Crawl.objects.filter(pk=crawl).first()
        if row is None:
            raise CommandError(f"there is no crawl {crawl}")
        return crawled_graph(row)
