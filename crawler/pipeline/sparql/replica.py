"""The replica: a store of Oxigraph on disk that follows the log of graph changes, and its snapshots.

One process writes (`manage.py sparql_replica`); web servers open snapshots, which never change. All of it can
be thrown away: without its files it is built again from PostgreSQL.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyoxigraph
from django.conf import settings
from django.db import connection

from crawler.pipeline.models import GraphChange
from crawler.pipeline.oxigraph import node
from crawler.pipeline.store import META, read_terms

AT_ONCE = 200
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

    def follow(self) -> int:
        """Take over what has changed and publish it; how many graphs changed."""
        position = self._position()
        changes = self._changes(position)
        contexts = sorted({context for _, context in changes})
        for start in range(0, len(contexts), AT_ONCE):
            self._renew(contexts[start : start + AT_ONCE])
            self._renew_origins(contexts[start : start + AT_ONCE])
        if contexts or not (self._directory / "current").exists():
            self._publish(max([position, *(number for number, _ in changes)]))
        now = datetime.now(UTC)
        self._seen |= {number: now for number, _ in changes}
        self._seen = {number: at for number, at in self._seen.items() if now - at < 2 * _OVERLAP}
        return len(contexts)

    def _changes(self, position: int) -> list[tuple[int, int]]:
        """Numbers and contexts of changes that are not in the store yet."""
        late = datetime.now(UTC) - _OVERLAP
        rows = GraphChange.objects.filter(id__gt=position) | GraphChange.objects.filter(at__gte=late)
        found = rows.order_by("id").values_list("id", "context")
        return [(number, context) for number, context in found if number not in self._seen]

    def _renew(self, contexts: list[int]) -> None:
        """Make these graphs of the store what they are in PostgreSQL."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT s, p, o, c FROM pipeline_quad WHERE c = ANY(%s)", [contexts])
            rows = cursor.fetchall()
        terms = read_terms({key for row in rows for key in row} | set(contexts))
        nodes = {key: node(term) for key, term in terms.items()}
        for context in contexts:
            if context in nodes:
                self._store.remove_graph(nodes[context])
        self._store.extend(pyoxigraph.Quad(nodes[s], nodes[p], nodes[o], nodes[c]) for s, p, o, c in rows)

    def _renew_origins(self, contexts: list[int]) -> None:
        """What the graph of origins says of these graphs."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT s, p, o FROM pipeline_quad WHERE c = %s AND s = ANY(%s)", [META.key(), contexts]
            )
            rows = cursor.fetchall()
        terms = read_terms({key for row in rows for key in row} | set(contexts))
        nodes = {key: node(term) for key, term in terms.items()}
        meta = pyoxigraph.NamedNode(META.value)
        for context in contexts:
            if context in nodes:
                for quad in list(self._store.quads_for_pattern(nodes[context], None, None, meta)):
                    self._store.remove(quad)
        self._store.extend(pyoxigraph.Quad(nodes[s], nodes[p], nodes[o], meta) for s, p, o in rows)

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
