"""A terminal as it runs: a Celery worker of the queue `fetch` whose DATABASE_URL leads nowhere."""

from __future__ import annotations

import gzip
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from kombu import Connection

from crawler import environment
from crawler.messages import Assignment, Batch, Harvest, Report, decode, encode
from crawler.postgresql import broker
from crawler.postgresql.postgresql import PostgreSQL
from crawler.reading.documents import PageDocument, RetrievedFeed
from crawler.settings import BASE_DIR
from tests.crawler.postgresql.conftest import open_directory
from tests.crawler.terminals.conftest import batch
from tests.servers import Reply, WebServer, article, rss

MOST_MEMORY = 300 << 20  # a document is in the terminal and in its reader for a moment
MOST_SECONDS = 5
DEADLINE = 30


@dataclass
class Terminal:
    """The worker, and the two queues that it knows of the world."""

    process: subprocess.Popen[bytes]
    broker_url: str
    database_calls: list[Any]

    def serve(self, *batches: Batch, seconds: float = 60.0) -> list[Harvest]:
        """Send the batches as the controller does; all harvests that come back, in the batches' order."""
        options = environment.transport_options(self.broker_url, 600)
        with Celery("t", broker=self.broker_url, set_as_current=False) as app:
            app.conf.broker_transport_options = options
            encoded = [encode(one) for one in batches]
            app.send_task("crawler.terminals.tasks.fetch", [encoded], queue="fetch", ignore_result=True)
        reports: dict[str, Report] = {}
        until = time.monotonic() + seconds
        with Connection(self.broker_url, transport_options=options) as link:
            queue = link.SimpleQueue("store")
            while len(reports) < len(batches):
                try:  # the transport looks up four times a second
                    message = queue.get(timeout=1.0)
                except queue.Empty:
                    assert time.monotonic() < until, f"{len(reports)} of {len(batches)} reports came"
                    continue
                message.ack()
                for report in (decode(Report, text) for text in message.payload[0][0]):
                    reports[report.host] = report
        return [harvest for one in batches for harvest in reports[one.host].harvests]

    def readers(self) -> list[int]:
        """The processes that read its documents: children of its fork server."""
        return sorted(reader for server in _children(self.process.pid) for reader in _children(server))

    def processor_seconds(self) -> float:
        """The processor time so far of the worker, its fork server and their readers, ended ones too."""
        servers = _children(self.process.pid)
        return sum(_processor_seconds(pid) for pid in (self.process.pid, *servers, *self.readers()))

    def peak_memory(self) -> int:
        """Bytes; the largest resident size so far of the worker, and of its largest reader."""
        return _peak(self.process.pid) + max(_peak(pid) for pid in self.readers())


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in listed for child in file.read_text().split()]


def _peak(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) * 1024


def _processor_seconds(pid: int) -> float:
    spent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
    return sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    with open_directory() as directory, no_database() as (database_url, calls):
        server = PostgreSQL(directory, {"fsync": "off", "shared_buffers": "16MB"})
        server.start()
        url = server.credentials.broker_url
        broker.install(str(environment.transport_options(url, 1)["conn_string"]))
        known = {name: value for name, value in os.environ.items() if not name.startswith("FETCH_")}
        settings = {
            "DATABASE_URL": database_url,
            "CELERY_BROKER_URL": url,
            "DATA_DIR": str(tmp_path_factory.mktemp("terminal")),
            "SECRET_KEY": "terminal",
            "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
            "FETCH_HOST_SPACING_SECONDS": "0",
            "FETCH_DEADLINE_SECONDS": str(DEADLINE),
        }
        command = [sys.executable, "-m", "celery", "-A", "crawler", "worker", "-Q", "fetch"]
        command += ["--pool", "threads", "-c", "2", "-l", "ERROR"]
        with subprocess.Popen(command, env=known | settings, stdout=subprocess.DEVNULL) as process:
            try:
                yield Terminal(process, url, calls)
            finally:
                process.kill()
        server.stop()


@contextmanager
def no_database() -> Iterator[tuple[str, list[Any]]]:
    """The URL of a server that hangs up on everyone, and who called it."""
    calls: list[Any] = []

    def hang_up() -> None:
        while True:
            try:
                connection, caller = listener.accept()
            except OSError:
                return
            calls.append(caller)
            connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=hang_up, daemon=True).start()
        yield f"postgresql://nobody:nothing@127.0.0.1:{listener.getsockname()[1]}/none", calls
        listener.shutdown(socket.SHUT_RDWR)


def test_it_serves_assignments_and_never_calls_a_database(terminal: Terminal) -> None:
    with WebServer() as web:
        web.replies["/feed"] = Reply(rss(web.origin, range(3)))
        web.replies["/page1"] = Reply(article(1), headers={"Content-Type": "text/html"})
        feed, page, missing = terminal.serve(
            batch(
                Assignment("feed", 1, f"{web.origin}/feed"),
                Assignment("page", 2, f"{web.origin}/page1"),
                Assignment("feed", 3, f"{web.origin}/missing"),
            )
        )
    found = feed.brought(RetrievedFeed)
    assert found is not None and found.document is not None
    assert [entry.title for entry in found.document.entries] == ["Entry 0", "Entry 1", "Entry 2"]
    assert isinstance(page.payload, PageDocument)
    assert "the people of the town" in page.payload.text
    assert missing.failure == "http-404"
    assert terminal.database_calls == []


def channel(inside: bytes, head: bytes = b"") -> bytes:
    return b"<?xml version='1.0'?>" + head + b"<rss version='2.0'><channel>" + inside + b"</channel></rss>"


def laughs() -> bytes:
    entities = b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 10))
    return channel(b"<title>&l9;</title>", b"<!DOCTYPE rss [<!ENTITY l0 'lol'>" + entities + b"]>")


def quadratic_blowup() -> bytes:
    dtd = b"<!DOCTYPE rss [<!ENTITY a '" + b"a" * 100_000 + b"'>]>"
    return channel(b"<title>" + b"&a;" * 100_000 + b"</title>", dtd)


JSON_FEED = b'{"version":"https://jsonfeed.org/version/1","items":['
# What to send, and the failure to see; "" where the document, strange as it is, can be read in its bounds.
Hostile = dict[str, tuple[Callable[[], bytes], str]]
HOSTILE_FEEDS: Hostile = {
    "billion laughs": (laughs, "too-large"),
    "quadratic blowup": (quadratic_blowup, "not-a-feed"),
    "external entity": (
        lambda: channel(b"<title>&x;</title>", b"<!DOCTYPE rss [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>"),
        "",
    ),
    "deep": (lambda: channel(b"<a>" * 200_000), "too-deep"),
    "attributes": (
        lambda: channel(b"<item " + b" ".join(b"a%d=''" % n for n in range(500_000)) + b"/>"),
        "too-large",
    ),
    "text": (lambda: channel(b"<item><title>" + b"a" * 9_900_000 + b"</title></item>"), ""),
    "entries": (lambda: channel(b"<item><guid>1</guid><title>a</title></item>" * 200_000), "too-large"),
    "entries, not well-formed": (
        lambda: channel(b"<item><guid>1</guid><title>a & b</title></item>" * 80_000),
        "too-large",
    ),
    "empty elements": (lambda: channel(b"<i/>" * 2_400_000), "too-large"),
    "elements, as many as allowed": (lambda: channel(b"<item><guid>1</guid></item>" * 99_000), ""),
    "angle brackets": (lambda: channel(b"<" * 9_900_000), "malformed"),
    "unclosed, not well-formed": (lambda: channel(b"<a & >" * 800_000), "too-deep"),
    "CDATA sections": (lambda: channel(b"<title>" + b"<![CDATA[a]]>" * 700_000 + b"</title>"), ""),
    "references": (lambda: channel(b"<title>" + b"&#97;" * 1_900_000 + b"</title>"), ""),
    "markup": (
        lambda: channel(
            b"<item><guid>1</guid><description><![CDATA[" + b"<b>a" * 2_400_000 + b"]]></description></item>"
        ),
        "",
    ),
    "JSON, deep": (lambda: JSON_FEED + b"[" * 9_900_000, "too-large"),
    "JSON, deep, as large as allowed": (lambda: JSON_FEED + b"[" * 100_000, "too-deep"),
    "JSON items": (lambda: JSON_FEED + b'{"id":"1"},' * 890_000 + b"{}]}", "too-large"),
    "JSON keys": (
        lambda: JSON_FEED + b"{" + b",".join(b'"%d":1' % n for n in range(900_000)) + b"}]}",
        "too-large",
    ),
    "JSON strings": (lambda: JSON_FEED + b",".join(b'"%d"' % n for n in range(900_000)) + b"]}", "too-large"),
    "JSON text": (lambda: JSON_FEED + b'{"id":"1","content_html":"' + b"[,]" * 3_200_000 + b'"}]}', ""),
    "too large": (lambda: channel(b"<title>" + b"a" * (30 << 20) + b"</title>"), "too-large"),
    "zeros": (lambda: bytes(10_000_000), "not-a-feed"),
    "a page": (lambda: b"<!doctype html><html><body>" + b"<a href=feed>feed</a>" * 460_000, "not-a-feed"),
}
HOSTILE_PAGES: Hostile = {
    "deep": (lambda: b"<html><body>" + b"<div>" * 200_000 + b"words", ""),
    "paragraphs": (lambda: b"<html><body>" + b"<p>a b c" * 1_240_000, "too-large"),
    "ends of paragraphs": (lambda: b"<html><body>" + b"</p>" * 2_400_000, ""),
    "elements, as many as allowed": (lambda: b"<html><body>" + b"<p>words<b>words</b>" * 124_000, ""),
    "tables": (lambda: b"<html><body>" + b"<table><tr><td>" * 650_000, "too-large"),
    "one line": (lambda: b"<html><body><p>" + b"word " * 1_980_000, ""),
    "attributes": (lambda: b"<html><body " + b"a=b " * 2_470_000 + b">", "too-large"),
    "comments": (lambda: b"<html><body>" + b"<!---->" * 1_420_000, ""),
    "references": (lambda: b"<html><body><p>" + b"&amp;" * 1_980_000, ""),
    "JSON-LD": (
        lambda: b"<html><head><script type='application/ld+json'>" + b"[" * 9_900_000 + b"</script></head>",
        "",
    ),
    "too large": (lambda: b"<html><body>" + bytes(30 << 20), "too-large"),
    "zeros": (lambda: bytes(10_000_000), ""),
}


@pytest.mark.parametrize("kind", ["feed", "page"])
def test_hostile_documents_end_in_time_and_in_little_memory(terminal: Terminal, kind: Any) -> None:
    """Each as large as allowed, and compressed; its memory is what an ordinary one did not take.

    None ends its reader, which would take the memory that it had with it.
    """
    makers = HOSTILE_FEEDS if kind == "feed" else HOSTILE_PAGES
    headers = {"Content-Encoding": "gzip", "Content-Type": "text/html" if kind == "page" else "text/xml"}
    seen: dict[str, tuple[str, bool, bool]] = {}
    with WebServer() as web:
        web.replies["/feed"] = Reply(rss(web.origin, range(3)))
        web.replies["/page"] = Reply(article(1), headers={"Content-Type": "text/html"})
        terminal.serve(batch(*(Assignment(k, 1, f"{web.origin}/{k}") for k in ("feed", "page"))))
        before, readers = terminal.peak_memory(), terminal.readers()
        for name, (make, _) in makers.items():
            web.replies["/hostile"] = Reply(gzip.compress(make(), 1), headers=headers)
            spent = terminal.processor_seconds()
            (harvest,) = terminal.serve(batch(Assignment(kind, 1, f"{web.origin}/hostile")))
            grown = terminal.peak_memory() - before
            spent = terminal.processor_seconds() - spent
            seen[name] = (harvest.failure, spent < MOST_SECONDS, grown < MOST_MEMORY)
    assert seen == {name: (failure, True, True) for name, (_, failure) in makers.items()}
    assert set(readers) <= set(terminal.readers())


def test_the_command_celery_starts_one_without_any_database(tmp_path: Path) -> None:
    """Unlike `python -m celery`, it does not find the project's packages by itself."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    settings = {"DATABASE_URL": "none", "CELERY_BROKER_URL": "memory://", "SECRET_KEY": "x"}
    command = [str(Path(sys.executable).with_name("celery")), "-A", "crawler", "worker", "-Q", "fetch"]
    command += ["--pool", "threads", "-l", "INFO"]
    with subprocess.Popen(
        command,
        env=known | settings | {"DATA_DIR": str(tmp_path)},
        cwd=BASE_DIR,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if b"ready." in line:
                break
        process.kill()
    assert b"ready." in said[-1], b"".join(said).decode()
