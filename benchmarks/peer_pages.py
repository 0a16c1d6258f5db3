"""Suites of other programs' tests of structured data in pages that `benchmarks/peers.py` knows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyoxigraph

from benchmarks.peer_feeds import placed
from benchmarks.peer_suites import Case
from crawler.pipeline.transform.dispatch import transform
from crawler.pipeline.transform.graph import SourceDocument
from crawler.reading.detect import detect
from crawler.reading.json_ld import json_ld_of
from crawler.reading.pages.tree import page_tree, text_of

BASE = "http://www.example.com/index.html"


def extruct_json_ld(root: Path) -> Iterator[Case]:
    """The pages of extruct beside their JSON-LD: each block as a whole."""
    for file in sorted((root / "tests/samples").rglob("*.jsonld")):
        tree = page_tree(text_of(file.with_suffix(".html").read_bytes(), ""))
        ours = _flat([] if tree is None else json_ld_of(tree))
        theirs = _flat(json.loads(file.read_bytes()))
        yield Case(f"{file.stem} blocks", len(ours), len(theirs))
        for number, value in enumerate(theirs[: len(ours)]):
            yield Case(f"{file.stem} {number}", ours[number], value)


def extruct_microdata(root: Path) -> Iterator[Case]:
    """The pages of extruct beside their microdata: whether each value is in our graph of the page."""
    for file in sorted((root / "tests/samples/schema.org").glob("*.json")):
        page = file.with_suffix(".html")
        theirs = json.loads(file.read_bytes())
        if not page.exists() or not isinstance(theirs, list):
            continue
        told = _objects(page.read_bytes())
        for name, value in _values(theirs):
            text = " ".join(value.split())
            yield Case(f"{file.stem} {name} {text[:60]}", text in told or placed(text, BASE) in told, True)


def _flat(values: Any) -> list[Any]:
    """Return the objects in blocks, without the lists that some of them are."""
    if isinstance(values, dict):
        return _flat(values["items"]) if values.keys() == {"items"} else [values]
    return [one for value in values for one in _flat(value)] if isinstance(values, list) else []


def _objects(body: bytes) -> set[str]:
    """Return the values and addresses in the graph of a page."""
    source = SourceDocument(BASE, detect(body, "text/html", BASE).type, body, "text/html")
    triples = transform(source, rdfa=True).triples.encode()
    found = pyoxigraph.parse(triples, pyoxigraph.RdfFormat.N_TRIPLES)
    return {" ".join(str(getattr(one.object, "value", "")).split()) for one in found}


def _values(items: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield each property of microdata with its texts, also of the items within."""
    if isinstance(items, str):
        yield name, items
    elif isinstance(items, list):
        for item in items:
            yield from _values(item, name)
    elif isinstance(items, dict):
        for key, value in items.get("properties", {}).items():
            yield from _values(value, key)


SUITES: dict[str, tuple[str, Callable[[Path], Iterator[Case]]]] = {
    "extruct JSON-LD": ("tests/samples/schema.org", extruct_json_ld),
    "extruct microdata": ("tests/samples/schema.org", extruct_microdata),
}
