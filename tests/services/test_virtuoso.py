"""The mirror of the graph in Virtuoso, where Debian's package is installed."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from crawler.pipeline.sparql.mirror import Mirror
from crawler.pipeline.sparql.replica import Replica
from tests.crawler.pipeline.test_store import indexed

VIRTUOSO = shutil.which("virtuoso-t")
ODD = "http://odd.example/a%20b?x=1&y=2"
SETTINGS = """[Database]
DatabaseFile = virtuoso.db
ErrorLogFile = virtuoso.log
LockFile = virtuoso.lck
TransactionFile = virtuoso.trx
xa_persistent_file = virtuoso.pxa
[TempDatabase]
DatabaseFile = temporary.db
TransactionFile = temporary.trx
[Parameters]
ServerPort = {sql}
NumberOfBuffers = 2000
[HTTPServer]
ServerPort = {http}
ServerRoot = .
"""

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.services,
    pytest.mark.skipif(VIRTUOSO is None, reason="Virtuoso is not installed (virtuoso-opensource-7-bin)"),
]


@pytest.fixture
def virtuoso(tmp_path: Path) -> Iterator[str]:
    """The address of a Virtuoso of this test."""
    ports = []
    for _ in range(2):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            ports.append(listener.getsockname()[1])
    folder = tmp_path / "virtuoso"
    folder.mkdir()
    (folder / "virtuoso.ini").write_text(SETTINGS.format(sql=ports[0], http=ports[1]))
    command = [str(VIRTUOSO), "-f", "-c", "virtuoso.ini"]
    address = f"http://127.0.0.1:{ports[1]}"
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            for _ in range(600):
                try:
                    requests.get(f"{address}/sparql", {"query": "ASK {}"}, timeout=5).raise_for_status()
                    break
                except requests.RequestException:
                    time.sleep(0.2)
            yield address
        finally:
            server.kill()


def objects(address: str, graph: str) -> list[str]:
    query = f"SELECT ?o {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}"
    form = {"query": query, "format": "application/sparql-results+json"}
    rows = requests.get(f"{address}/sparql", form, timeout=30).json()["results"]["bindings"]
    return sorted(row["o"]["value"] for row in rows)


def test_virtuoso_follows_the_graph(virtuoso: str, settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    replica = Replica()
    mirror = Mirror(
        f"{virtuoso}/sparql-graph-crud-auth", "dba:dba", tmp_path / "mirror.json", replica.content
    )
    indexed('<http://s.example/> <http://p.example/> "hé „q“ \\" \\\\ \\n 日本"@de .', ODD)
    replica.follow()
    assert mirror.follow() == 1
    assert objects(virtuoso, ODD) == ['hé „q“ " \\ \n 日本']
    indexed('<http://s.example/> <http://p.example/> "2" .', ODD)
    replica.follow()
    assert mirror.follow() == 1
    assert objects(virtuoso, ODD) == ["2"]
    indexed("", ODD)
    replica.follow()
    assert mirror.follow() == 1
    assert objects(virtuoso, ODD) == []
