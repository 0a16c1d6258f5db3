"""The replica: a store of Oxigraph on disk that follows the log of graph changes, and its snapshots.

One process writes (`manage.py sparql_replica`); web servers open snapshots, which never change. All of it
can be thrown away: without its files it is built again from PostgreSQL. A stored quad that no RDF can hold is
left out, a graph that cannot be taken over at all is set aside under its name, and the rest goes on.
"""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyoxigraph
from django.conf import settings
from django.db import DataError, connection

from crawler.pipeline.models import GraphChange
from crawler.pipeline.store import META, read_terms
from crawler.pipeline.terms import Node, node

AT_ONCE = 200
ALIVE, ASIDE = "alive.json", "aside.json"
MOST_ASIDE = 1_000
"""Graphs set aside whose names are kept."""

TELL_SECONDS = 30.0
"""Its sign of life is written no oftener, as long as it says the same."""

SILENT = timedelta(minutes=2)
"""A replica that lives tells so more often, even while it is built anew."""

KEPT = 2
"""Snapshots beside the newest: those that queries may still read."""

_OVERLAP = timedelta(minutes=10)
"""A change commits after its number was given: those of the last minutes are looked at once more."""


@dataclass(frozen=True, slots=True)
class State:
    """Which changes a snapshot holds: all up to `change`, seen at `at`; its quads."""

    change: int
    at: datetime
    quads: int


class Replica:
    """The writing side. A second one on the same directory fails with OSError: the first holds a lock."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory or home()
        self._directory.mkdir(parents=True, exist_ok=True)
        self._store = pyoxigraph.Store(str(self._directory / "live"))
        self._file = self._directory / "position.json"
        self._seen: dict[int, datetime] = {}
        self._trouble, self._tell_again = "", 0.0
        self._aside: dict[str, dict[str, str]] = _read(self._directory / ASIDE)

    def follow(self) -> int:
        """Take over what has changed and publish it; how many graphs changed."""
        self.tell()
        position = self._position()
        changes = self._changes(position)
        contexts = sorted({context for _, context in changes})
        for start in range(0, len(contexts), AT_ONCE):
            self._take(contexts[start : start + AT_ONCE])
            self.tell()
        if contexts or not (self._directory / "current").exists():
            self._publish(max([position, *(number for number, _ in changes)]))
        now = datetime.now(UTC)
        self._seen |= {number: now for number, _ in changes}
        self._seen = {number: at for number, at in self._seen.items() if now - at < 2 * _OVERLAP}
        return len(contexts)

    def tell(self, trouble: str = "") -> None:
        """Leave a sign of life, with what is wrong; at once where that changed, else now and then."""
        now = time.monotonic()
        if trouble == self._trouble and now < self._tell_again:
            return
        self._trouble, self._tell_again = trouble, now + TELL_SECONDS
        _write(self._directory / ALIVE, {"at": datetime.now(UTC).isoformat(), "trouble": trouble[:1000]})

    def _changes(self, position: int) -> list[tuple[int, int]]:
        """Numbers and contexts of changes that are not in the store yet."""
        late = datetime.now(UTC) - _OVERLAP
        rows = GraphChange.objects.filter(id__gt=position) | GraphChange.objects.filter(at__gte=late)
        found = rows.order_by("id").values_list("id", "context")
        return [(number, context) for number, context in found if number not in self._seen]

    def _take(self, contexts: list[int]) -> None:
        """Take these graphs over; where that fails one by one, so that a bad one costs no other."""
        try:
            wrong = self._renew(contexts)
            self._renew_origins(contexts)
        except (ValueError, TypeError, RuntimeError, DataError) as error:
            if len(contexts) > 1:
                for context in contexts:
                    self._take([context])
                return
            wrong = {contexts[0]: f"{type(error).__name__}: {error}"}
        if wrong or self._aside.keys() & set(map(str, contexts)):
            self._set_aside(contexts, wrong)

    def _set_aside(self, contexts: list[int], wrong: dict[int, str]) -> None:
        """Write down which of these graphs are missing or not whole, and why."""
        for context in contexts:
            self._aside.pop(str(context), None)
        names = dict(GraphChange.objects.filter(context__in=wrong).values_list("context", "url"))
        for context, reason in wrong.items():
            if len(self._aside) < MOST_ASIDE:
                self._aside[str(context)] = {"url": names.get(context, ""), "reason": reason[:300]}
        _write(self._directory / ASIDE, self._aside)

    def _renew(self, contexts: list[int]) -> dict[int, str]:
        """Make these graphs of the store what they are in PostgreSQL; what is wrong with some, by context."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT s, p, o, c FROM pipeline_quad WHERE c = ANY(%s)", [contexts])
            rows = cursor.fetchall()
        nodes = _nodes({key for row in rows for key in row} | set(contexts))
        named = {
            context for context, *_ in GraphChange.objects.filter(context__in=contexts).values_list("context")
        }
        wrong = {context: "its name is no IRI" for context in named if nodes.get(context) is None}
        for context in contexts:
            if nodes.get(context) is not None:
                self._store.remove_graph(nodes[context])
        missing: Counter[int] = Counter()
        self._store.extend(_quads(rows, nodes, missing))
        for context, count in missing.items():
            wrong.setdefault(context, f"{count} of its quads were left out: no RDF can hold them")
        return wrong

    def _renew_origins(self, contexts: list[int]) -> None:
        """What the graph of origins says of these graphs."""
        meta = META.key()
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT s, p, o, c FROM pipeline_quad WHERE c = %s AND s = ANY(%s)", [meta, contexts]
            )
            rows = cursor.fetchall()
        nodes = _nodes({key for row in rows for key in row} | set(contexts))
        for context in contexts:
            if nodes.get(context) is not None:
                found = self._store.quads_for_pattern(nodes[context], None, None, node(META))
                for quad in list(found):
                    self._store.remove(quad)
        self._store.extend(_quads(rows, nodes, Counter()))

    def _position(self) -> int:
        try:
            return int(json.loads(self._file.read_text())["change"])
        except (OSError, ValueError, KeyError):
            return 0

    def _publish(self, change: int) -> None:
        """A copy that never changes (hard links), made current in one step."""
        self._store.flush()
        name = f"snapshot-{datetime.now(UTC):%Y%m%d%H%M%S%f}"
        self._store.backup(str(self._directory / name))
        told = {"change": change, "at": datetime.now(UTC).isoformat(), "quads": len(self._store)}
        (self._directory / f"{name}.json").write_text(json.dumps(told))
        self._file.write_text(json.dumps(told))
        link = self._directory / "next"
        link.unlink(missing_ok=True)
        link.symlink_to(name)
        link.replace(self._directory / "current")
        for old in sorted(self._directory.glob("snapshot-*[0-9]"))[: -1 - KEPT]:
            shutil.rmtree(old, ignore_errors=True)
            old.with_suffix(".json").unlink(missing_ok=True)


def _nodes(keys: set[int]) -> dict[int, Node]:
    """The nodes of stored terms by their keys; None for those that no RDF can hold."""
    found: dict[int, Node] = {}
    for key, term in read_terms(keys).items():
        try:
            found[key] = node(term)
        except ValueError:
            found[key] = None
    return found


def _quads(
    rows: Iterable[tuple[int, int, int, int]], nodes: Mapping[int, Node], missing: Counter[int]
) -> Iterator[pyoxigraph.Quad]:
    """Quads of these keys; how many of each context are none is counted in `missing`."""
    for row in rows:
        s, p, o, c = (nodes.get(key) for key in row)
        try:
            quad = pyoxigraph.Quad(s, p, o, c)  # type: ignore[arg-type]
        except TypeError:  # one of them is None, or a literal where none may stand
            missing[row[3]] += 1
            continue
        if c is None:  # which Oxigraph takes for its default graph
            missing[row[3]] += 1
        else:
            yield quad


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, content: object) -> None:
    """Whole or not at all, for readers beside it."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content))
    new.replace(path)


def home() -> Path:
    """Where the replica lives."""
    return Path(settings.DATA_DIR) / "sparql"


def snapshot() -> tuple[Path, State] | None:
    """The newest snapshot and what it holds; None where there is none."""
    try:
        path = (home() / "current").resolve(strict=True)
        told = json.loads(path.with_suffix(".json").read_text())
        return path, State(int(told["change"]), datetime.fromisoformat(told["at"]), int(told["quads"]))
    except (OSError, ValueError, KeyError):
        return None


def lag(state: State) -> int:
    """How many changes of graphs the snapshot does not hold yet."""
    return GraphChange.objects.filter(id__gt=state.change).count()


def behind() -> int:
    """How many changes of graphs SPARQL does not see on this machine; 0 where no replica has ever run."""
    newest = snapshot()
    return lag(newest[1]) if newest else 0


def set_aside() -> list[tuple[str, str]]:
    """The graphs that are missing in the replica or not whole there: addresses and reasons."""
    return [(one["url"], one["reason"]) for one in _read(home() / ASIDE).values()]


def trouble(now: datetime) -> str:
    """What is wrong with the replica of this machine; empty where nothing is, or none has ever run."""
    try:
        told = _read(home() / ALIVE)
        if not told:
            return ""
        at = datetime.fromisoformat(told["at"])
        if now - at > SILENT:
            return f"the replica for SPARQL has given no sign of life since {at:%Y-%m-%d %H:%M:%S} UTC"
        return str(told.get("trouble", ""))
    except (ValueError, KeyError, TypeError) as error:
        return f"the replica's sign of life cannot be read: {error}"
