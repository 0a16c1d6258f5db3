"""Traces: a collector gets the requests and tasks of a running product, linked over the terminals."""

from __future__ import annotations

import contextlib
import gzip
import logging
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from crawler.telemetry import traces
from tests.crawler.operation.test_run import free_port, running

FEED = (
    "<rss version='2.0'><channel><title>T</title><item><title>W</title><guid>1</guid></item></channel></rss>"
)


class Collector(ThreadingHTTPServer):
    """A collector that keeps the spans it gets."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), CollectorHandler)
        self.spans: list[Any] = []


class CollectorHandler(BaseHTTPRequestHandler):
    """Requests to the collector."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        assert isinstance(self.server, Collector)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in resource.scope_spans:
                self.server.spans.extend(scope.spans)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write no log."""


class FeedHandler(SimpleHTTPRequestHandler):
    """Requests to the feed."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/rss+xml")
        self.end_headers()
        self.wfile.write(FEED.encode())

    def log_message(self, *_: object) -> None:
        """Write no log."""


def serving(server: ThreadingHTTPServer) -> Iterator[str]:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def feed() -> Iterator[str]:
    for address in serving(ThreadingHTTPServer(("127.0.0.1", 0), FeedHandler)):
        yield f"{address}/feed.xml"


@pytest.fixture
def collector() -> Iterator[Collector]:
    server = Collector()
    for _ in serving(server):
        yield server


def spans_of_the_fetch(collector: Collector) -> dict[str, bytes]:
    """The trace of each span by name, of all traces with a fetch."""
    fetches = {span.trace_id for span in collector.spans if span.name.endswith("tasks.fetch")}
    return {span.name: span.trace_id for span in collector.spans if span.trace_id in fetches}


def test_a_trace_reaches_from_the_dispatch_over_the_terminal_to_the_storing(
    migrated_home: Path, collector: Collector, feed: str
) -> None:
    port = str(free_port())
    environment = {
        "PORT": port,
        "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
        "OTEL_BSP_SCHEDULE_DELAY": "200",
    }
    with running(migrated_home, **environment) as (_, _):
        with contextlib.suppress(urllib.error.HTTPError):  # nothing has been fetched yet
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5).close()
        added = subprocess.run(
            [sys.executable, "manage.py", "add_feeds", feed],
            env={"PATH": "/usr/bin:/bin", "DATA_DIR": str(migrated_home), **environment},
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        assert added.returncode == 0, added.stderr
        end = time.monotonic() + 30
        while time.monotonic() < end and not any("store" in name for name in spans_of_the_fetch(collector)):
            time.sleep(0.2)
    names = set(spans_of_the_fetch(collector))
    assert any(name.startswith("apply_async/") and name.endswith("tasks.fetch") for name in names), names
    assert any(name.startswith("run/") and "store" in name for name in names), {
        span.name for span in collector.spans
    }
    assert any(span.name == "GET healthz" for span in collector.spans)


def test_without_the_packages_it_says_so_and_goes_on(
    settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = "http://127.0.0.1:9"
    monkeypatch.setattr(traces, "PACKAGES", ("no_such_package.traces",))
    with caplog.at_level(logging.WARNING):
        traces.begin("web")
    assert "no_such_package.traces is not installed (freshet[traces])" in caplog.text


def test_without_a_collector_no_package_is_needed(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = ""
    monkeypatch.setattr(traces, "PACKAGES", ("no_such_package.traces",))
    assert traces.missing_packages() == []
    traces.begin("web")
