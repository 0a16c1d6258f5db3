"""Sites on loopback for a browser, and proof that it leaves neither processes nor files behind."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from crawler.failures import FetchError
from crawler.fetching.browser import look as looking
from crawler.fetching.browser.look import BrowserLook, LookJob, ProcessTree
from crawler.fetching.browser.steps import checked_steps

CHROMIUM = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
# What a page that ends may take where four browsers share two slow processors: 10 s were too few in CI.
SECONDS = 60.0
# What a page that does not end by itself gets.
SHORT_SECONDS, GRACE_SECONDS = 10.0, 10.0
NEEDS_BROWSER = ("test_look.py", "test_hostile.py")
Page = str | Callable[[BaseHTTPRequestHandler], None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that drive a browser, and skip them where there is none."""
    for item in items:
        if item.path.parent == Path(__file__).parent and item.path.name in NEEDS_BROWSER:
            item.add_marker(pytest.mark.browser)
            if CHROMIUM is None or importlib.util.find_spec("playwright") is None:
                item.add_marker(pytest.mark.skip(reason="no chromium found: apt-get install chromium"))


class Site:
    """A server with pages by path: HTML, or a function of the request's handler."""

    def __init__(self, host: str) -> None:
        self.pages: dict[str, Page] = {}
        self.paths: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            """Answers with the page of the path."""

            def do_GET(self) -> None:
                site.paths.append(self.path)
                page = site.pages.get(self.path.partition("?")[0])
                with contextlib.suppress(OSError):
                    if callable(page):
                        page(self)
                        return
                    body = (page or "").encode()
                    self.send_response(404 if page is None else 200)
                    self.send_header("Content-Type", "text/html; charset=utf-8")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer((host, 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://{host}:{self._server.server_port}"
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    """A site in the network that is allowed."""
    served = Site("127.0.0.1")
    yield served
    served.close()


@pytest.fixture
def private() -> Iterator[Site]:
    """A site in a network that is not allowed."""
    served = Site("127.0.0.2")
    served.pages["/"] = "<title>secret</title>"
    yield served
    served.close()


@pytest.fixture
def datagrams() -> Iterator[socket.socket]:
    """A UDP socket that a page may try to reach."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(0.1)
        yield sock


@pytest.fixture
def view(
    settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., BrowserLook | FetchError]]:
    """Look at an address: the result, or the failure. Fails when it is late or leaves something behind."""
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.1/32",)
    tmp_path_factory.getbasetemp()  # made where files go at its first use, which must not be the folder below
    files = Path(tempfile.mkdtemp(prefix="look-"))  # pytest's are too long for a socket's path
    files.chmod(0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(files))
    trees: list[ProcessTree] = []

    class Tree(ProcessTree):
        """A tree that is remembered."""

        def __init__(self, root: int, directory: str) -> None:
            super().__init__(root, directory)
            trees.append(self)

    monkeypatch.setattr(looking, "ProcessTree", Tree)

    def view(
        address: str, *steps: dict[str, object], seconds: float = SECONDS, **words: Any
    ) -> BrowserLook | FetchError:
        began = time.monotonic()
        result: BrowserLook | FetchError
        try:
            result = looking.look(LookJob(address, checked_steps(list(steps)), seconds, **words))
        except FetchError as error:
            result = error
        assert time.monotonic() - began < seconds + GRACE_SECONDS
        return result

    yield view
    assert [_name_of(pid) for tree in trees for pid in tree.members()] == []
    assert _users_of(str(files)) == []
    files.rmdir()


def _users_of(place: str) -> list[str]:
    """Return the names of processes that a path of this run is known to."""
    users = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
            if place.encode() in words and int(process.name) != os.getpid():
                users.append(_name_of(int(process.name)))
    return users


def _name_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()[:200]
    return str(pid)
