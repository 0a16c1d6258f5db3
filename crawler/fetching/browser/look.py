"""Looks at pages through a browser: its proxy, its process with all descendants, its files and its limits.

Where root runs Freshet, Chromium refuses its own sandbox: then it runs without it, as root without
capabilities, behind Landlock alone.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import msgspec
from django.conf import settings

from crawler.failures import Failure, FetchError
from crawler.fetching.browser.jobs import BrowserAnswer, BrowserJob
from crawler.fetching.browser.proxy import BYTES, DEFAULT_LIMITS, GuardedProxy, ProxyLimits
from crawler.fetching.browser.steps import Step
from crawler.fetching.http import urls
from crawler.isolation import confine, memory, walls
from crawler.text.records import Record

SECONDS = 45.0
MEMORY_BYTES = memory.share(1 / 2, 700, 2000)
MAX_ANSWER_BYTES = 64 * 1024 * 1024
_POLL_SECONDS, _END_SECONDS = 0.25, 3.0
_NAMES = ("chromium", "chromium-browser", "google-chrome")
FILES = tuple(Path(name) for name in ("/etc/chromium", "/etc/chromium.d", "/etc/fonts"))
"""The files that a browser reads beside programs and libraries."""
# One browser at a time: each takes up to MEMORY_BYTES beside PostgreSQL and the workers.
_one_browser = threading.Lock()
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LookJob:
    """A page to look at, the steps to perform there first, and the seconds and bytes allowed in all.

    With `boxes` the HTML says where each element is (`crawler.fetching.browser.jobs.BOX`).
    """

    url: str
    steps: tuple[Step, ...] = ()
    seconds: float = SECONDS
    limits: ProxyLimits = DEFAULT_LIMITS
    boxes: bool = False


class BrowserLook(Record, frozen=True):
    """A page as a browser shows it after the steps.

    `screenshot` is a PNG of at most 1280 x 10,000 pixels, empty if none could be taken. `is_complete` says
    that loading ended; `exceeded` names the limit that cut the connections. `requests` and `bytes` are the
    proxy's, `blocked` counts connections that the address guard refused.
    """

    url: str
    status: int
    title: str = ""
    html: str = ""
    screenshot: bytes = b""
    is_complete: bool = True
    exceeded: str = ""
    requests: int = 0
    bytes: int = 0
    blocked: int = 0


def missing() -> str:
    """Return a sentence that says why there is no browser, empty if there is one."""
    if importlib.util.find_spec("playwright") is None:
        return "Playwright is not installed: pip install playwright."
    if not _executable():
        return "No Chromium was found: install the package chromium, or set CHROMIUM to its path."
    return ""


def look(job: LookJob) -> BrowserLook:
    """Open a page in a separate browser and return what it shows. Raises FetchError."""
    started = time.monotonic()
    try:
        url = urls.canonical_url(job.url)
    except urls.BadUrl as error:
        raise FetchError(error.kind, str(error)) from error
    if reason := missing():
        raise FetchError(Failure.NO_BROWSER, reason)
    # Half of the time is kept for the look itself: a browser begun at the deadline would only fail later.
    if not _one_browser.acquire(timeout=job.seconds / 2):
        raise FetchError(Failure.BUSY, "another page is in the browser")
    proxy = GuardedProxy([str(network) for network in settings.FETCH_ALLOWED_NETWORKS], job.limits)
    try:
        with proxy:
            return _look(url, job, proxy)
    except FetchError as error:
        error.url, error.bytes, error.elapsed = url, proxy.bytes, time.monotonic() - started
        raise
    finally:
        _one_browser.release()


def _look(url: str, job: LookJob, proxy: GuardedProxy) -> BrowserLook:
    with _directory_of_sockets() as sockets:
        browser_job = BrowserJob(
            url=url,
            executable=_executable(),
            proxy=proxy.url,
            secret=proxy.secret,
            user_agent=settings.FETCH_USER_AGENT,
            seconds=job.seconds,
            steps=job.steps,
            sockets=sockets,
            boxes=job.boxes,
        )
        encoded = _run(msgspec.json.encode(browser_job), job.seconds)
    try:
        browser_answer = msgspec.json.decode(encoded, type=BrowserAnswer)
    except msgspec.MsgspecError as error:
        raise FetchError(Failure.TOO_COSTLY, "the browser ended without an answer") from error
    # The proxy knows why a host was refused; Chromium itself only reports a failed tunnel.
    if refusal := proxy.refusals.get(_place(browser_answer.url or url)):
        raise FetchError(refusal.kind, refusal.detail)
    if browser_answer.failure:
        raise _failure(browser_answer, proxy)
    # Scripts can lead to about:, data: or blob: after the address was checked.
    if not browser_answer.url.startswith(("http://", "https://")):
        raise FetchError(Failure.BAD_SCHEME, f"the page led to {browser_answer.url[:200]}")
    return BrowserLook(
        url=browser_answer.url,
        status=browser_answer.status,
        title=browser_answer.title,
        html=browser_answer.html,
        screenshot=browser_answer.screenshot,
        is_complete=browser_answer.is_complete,
        exceeded=proxy.exceeded,
        requests=proxy.requests,
        bytes=proxy.bytes,
        blocked=proxy.blocked,
    )


@contextlib.contextmanager
def _directory_of_sockets() -> Iterator[str]:
    """Yield a directory with a short path: Chromium does not start where its sockets' paths are long."""
    # A path of a Unix socket holds 108 bytes; DATA_DIR or TMPDIR may already be longer.
    shared = confine.SHARED_MEMORY if os.path.isdir(confine.SHARED_MEMORY) else None
    with tempfile.TemporaryDirectory(prefix="freshet-", dir=shared) as path:
        yield path


def _failure(browser_answer: BrowserAnswer, proxy: GuardedProxy) -> FetchError:
    """Return the failure of an answer without a page."""
    # The limit comes first: closed connections look like network failures to the browser.
    if proxy.exceeded:
        kind = Failure.TOO_LARGE if proxy.exceeded == BYTES else Failure.TOO_COSTLY
        return FetchError(kind, f"the browser's limit of {proxy.exceeded} was reached")
    try:
        kind = Failure(browser_answer.failure)
    except ValueError:
        return FetchError(Failure.TOO_COSTLY, "the browser answered with an unknown failure")
    if kind == Failure.NO_BROWSER:
        log.warning("no page can be opened in a browser: %s", browser_answer.detail)
    return FetchError(kind, browser_answer.detail, status=browser_answer.status)


def _run(job: bytes, seconds: float) -> bytes:
    """Run the browser program with a job. Returns its answer; nothing of it is left. Raises FetchError."""
    until = time.monotonic() + seconds
    directory = Path(tempfile.mkdtemp(prefix="freshet-browser-"))
    try:
        with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out:
            source.write(job)
            source.seek(0)
            process = _start(directory, source, out)
            tree = ProcessTree(process.pid, str(directory))
            try:
                _watch(process, tree, out, until)
            finally:
                tree.kill()
                process.wait()
            out.seek(0)
            return out.read(MAX_ANSWER_BYTES)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _watch(process: subprocess.Popen[bytes], tree: ProcessTree, out: IO[bytes], until: float) -> None:
    """Wait for the end of the program. Raises FetchError when it exceeds a limit."""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_SECONDS)
            return
        if time.monotonic() > until:
            raise FetchError(Failure.TOO_SLOW, "the page kept the browser busy for too long")
        # Summed over the tree: Chromium spreads one page over several processes, so a limit for each does not
        # bound it.
        if tree.memory() > MEMORY_BYTES:
            raise FetchError(Failure.TOO_COSTLY, "the page takes more memory than is allowed")
        if os.fstat(out.fileno()).st_size > MAX_ANSWER_BYTES:
            raise FetchError(Failure.TOO_LARGE, "the browser's answer is too large")


def _start(directory: Path, source: IO[bytes], out: IO[bytes]) -> subprocess.Popen[bytes]:
    write = [directory, Path(confine.SHARED_MEMORY)]
    if os.geteuid() != 0:
        write.append(Path("/proc"))  # Chromium's sandbox maps users there
    read = [settings.BASE_DIR, *FILES]
    program = [sys.executable, "-m", "crawler.fetching.browser.program"]
    place = {name: str(directory) for name in ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    return subprocess.Popen(  # noqa: S603 - our own program
        confine.command(program, hide=settings.DATA_DIR, read=read, write=write),
        stdin=source,
        stdout=out,
        stderr=subprocess.DEVNULL,
        cwd=settings.BASE_DIR,
        env=walls.environment() | place,
        # Leads its own session, so that the whole group can be killed with the program.
        start_new_session=True,
    )


class ProcessTree:
    """A process with all its descendants, which may have sessions of their own; read from /proc.

    `directory` is one whose path only they have on their command lines. By it are found those that detached
    themselves at once, as Chromium's crash handlers do.
    """

    def __init__(self, root: int, directory: str) -> None:
        self._root = root
        self._directory = f"{directory}/".encode()
        self._seen: dict[int, str] = {}

    def members(self) -> list[int]:
        """Return the living processes of the tree, with orphans that were seen in it before."""
        parents: dict[int, int] = {}
        starts: dict[int, str] = {}
        for pid, fields in _processes():
            if fields[0] != "Z":
                parents[pid], starts[pid] = int(fields[1]), fields[19]
        # A pid alone may have been given to another program meanwhile; with the start time it is the same
        # process.
        members = {pid for pid, start in self._seen.items() if starts.get(pid) == start} | {self._root}
        while added := {pid for pid, parent in parents.items() if parent in members} - members:
            members |= added
        self._seen |= {pid: starts[pid] for pid in members if pid in starts}
        return [pid for pid in members if pid in starts]

    def memory(self) -> int:
        """Return the bytes of memory that the tree takes, shared ones divided by their users."""
        return sum(_memory_of(pid) for pid in self.members())

    def kill(self) -> None:
        """Kill the tree: stopped first, so that nothing starts anew while its processes end."""
        with contextlib.suppress(OSError):
            os.kill(self._root, signal.SIGSTOP)
        until = time.monotonic() + _END_SECONDS
        while (members := self.members() + self._detached()) and time.monotonic() < until:
            # Children die first: once the root is gone, their parent is another process and they are not
            # found by it.
            descendants = [pid for pid in members if pid != self._root] or members
            for pid in descendants:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        with contextlib.suppress(OSError):
            os.killpg(self._root, signal.SIGKILL)

    def _detached(self) -> list[int]:
        pids = []
        for line in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if self._directory in line.read_bytes():
                    pids.append(int(line.parent.name))
        return pids


def _processes() -> Iterator[tuple[int, list[str]]]:
    """Yield each process with the fields of its status from the state on (proc(5))."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name in brackets may itself hold blanks and brackets; the fields begin behind the last one.
            yield int(entry.parent.name), entry.read_text("utf-8", "replace").rpartition(")")[2].split()


# Pss divides shared pages by their users; resident sizes would count Chromium's libraries once a process.
def _memory_of(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _place(url: str) -> str:
    """Return host and port of an address as the proxy notes them."""
    with contextlib.suppress(urls.BadUrl):
        scheme, _, place = urls.origin(url).partition("://")
        has_port = place.rpartition(":")[2].isdecimal()
        host, port = (place.rsplit(":", 1)) if has_port else (place, {"http": "80"}.get(scheme, "443"))
        return f"{host.strip('[]')}:{port}"
    return ""


def _executable() -> str:
    """Return the path of the browser, empty if there is none."""
    chosen = getattr(settings, "CHROMIUM", "") or os.environ.get("CHROMIUM", "")
    if chosen:
        return shutil.which(chosen) or ""
    return next((path for name in _NAMES if (path := shutil.which(name))), "")
