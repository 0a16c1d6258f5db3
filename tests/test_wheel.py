"""The wheel: complete, with no top-level folder but its packages, and working outside a clone."""

from __future__ import annotations

import contextlib
import functools
import gzip
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crawler.postgresql import place

ROOT = Path(__file__).parents[1]
PACKAGES = ("crawler", "feeds", "articles", "recrawl")


@pytest.fixture(scope="module")
def installed() -> Iterator[Path]:
    """A folder with the contents of a new wheel, as pip would unpack it, which every user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="freshet-wheel-"))
    folder.chmod(0o755)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "dist"],
        cwd=ROOT, check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    (wheel,) = (folder / "dist").glob("freshet-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    (folder / "freshet").write_text("from crawler.operation.command_line import main\n\nmain()\n")
    yield folder / "site"
    shutil.rmtree(folder)


def _environment(installed: Path, **environment: str) -> dict[str, str]:
    basics = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    home = str(installed.parent)
    return {**basics, "PYTHONPATH": str(installed), "HOME": home, "PYTHONSAFEPATH": "1", **environment}


def _freshet(installed: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, installed.parent / "freshet", *arguments],
        cwd=installed.parent, capture_output=True, text=True, timeout=120, check=False,
        env=_environment(installed, **environment),
    )  # fmt: skip


def test_the_wheel_has_every_file_of_the_packages(installed: Path) -> None:
    tops = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert tops == set(PACKAGES)
    for source, target in [(name, name) for name in PACKAGES] + [
        ("templates", "crawler/templates"),
        ("locale", "crawler/locale"),
    ]:
        for path in (ROOT / source).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert (installed / target / path.relative_to(ROOT / source)).is_file(), path


def test_the_version_is_that_of_the_tag(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "README.md", "requirements", *PACKAGES, "templates", "locale"):
        (tmp_path / name).symlink_to(ROOT / name)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@a.example", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "a"], ["tag", "v7.8.9"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    named = subprocess.run(
        [sys.executable, "-m", "hatchling", "version"],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert named.stdout.split() == ["7.8.9"]


def test_every_requirement_is_named(installed: Path) -> None:
    (metadata,) = installed.glob("*.dist-info/METADATA")
    named = metadata.read_text()
    lines = (ROOT / "requirements" / "base.in").read_text().splitlines()
    for requirement in lines:
        if not requirement.startswith("#"):
            name = requirement.partition("~")[0].partition("[")[0]
            assert f"Requires-Dist: {name}".lower() in named.lower(), requirement
    (scripts,) = installed.glob("*.dist-info/entry_points.txt")
    assert "freshet = crawler.operation.command_line:main" in scripts.read_text()


def test_an_installation_keeps_its_data_where_desktops_keep_it(installed: Path, tmp_path: Path) -> None:
    program = "from django.conf import settings; print(settings.DATA_DIR, settings.SHARED_DIR)"
    ended = _freshet(installed, "shell", "--no-imports", "-c", program, DATABASE_URL="none",
                     XDG_DATA_HOME=str(tmp_path))  # fmt: skip
    data, shared = ended.stdout.split()
    assert data == str(place.installed_data_dir(str(tmp_path)))
    assert shared == str(installed / "crawler")


def test_an_installation_finds_its_templates_and_translations(installed: Path, tmp_path: Path) -> None:
    program = (
        "from django.template.loader import get_template; from django.utils import translation;"
        "print(get_template('frame.html').origin.name);"
        "translation.activate('de'); print(translation.gettext('Search'))"
    )
    ended = _freshet(installed, "shell", "--no-imports", "-c", program, DATABASE_URL="none",
                     DATA_DIR=str(tmp_path))  # fmt: skip
    assert ended.stdout.split() == [str(installed / "crawler" / "templates" / "frame.html"), "Suche"], (
        ended.stderr
    )


def test_a_command_without_a_database_says_how_to_start(installed: Path, tmp_path: Path) -> None:
    ended = _freshet(installed, "export_opml", DATA_DIR=str(tmp_path))
    assert ended.returncode == 1
    assert "start Freshet (freshet run)" in ended.stderr


@pytest.fixture
def feed(tmp_path: Path) -> Iterator[str]:
    """The address of a feed on a local server."""
    (tmp_path / "feed.xml").write_text(
        "<rss version='2.0'><channel><title>T</title><item><title>First words</title><guid>1</guid></item>"
        "</channel></rss>"
    )
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/feed.xml"
        server.shutdown()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_an_installation_reads_a_feed_ends_and_comes_back_elsewhere(installed: Path, feed: str) -> None:
    port = _free_port()
    environment = {
        "XDG_DATA_HOME": str(installed.parent / "data"), "PORT": str(port),
        "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
    }  # fmt: skip
    log = installed.parent / "run.log"
    with log.open("wb") as output:
        running = subprocess.Popen(
            [sys.executable, installed.parent / "freshet", "run"],
            cwd=installed.parent, env=_environment(installed, **environment), stdout=output, stderr=output,
        )  # fmt: skip
    try:
        _wait(lambda: "ready:" in log.read_text() or running.poll() is not None, 240, log)
        assert _freshet(installed, "add_feeds", feed, **environment).returncode == 0
        token = _freshet(installed, "api_token", "admin", **environment).stdout.split()[-1]
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/api/articles/", headers={"Authorization": f"Token {token}"}
        )
        _wait(lambda: b"First words" in urllib.request.urlopen(request, timeout=10).read(), 60, log)
        while_running = _freshet(installed, "backup", str(installed.parent / "running.backup"), **environment)
        assert while_running.returncode == 0, while_running.stderr
    finally:
        running.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(30)
        running.kill()
    assert "all ended" in log.read_text()
    # What was ended is backed up, restored elsewhere, and compared.
    backups = [installed.parent / name for name in ("running.backup", "here.backup", "there.backup")]
    assert _freshet(installed, "backup", str(backups[1]), **environment).returncode == 0
    elsewhere = {**environment, "XDG_DATA_HOME": str(installed.parent / "elsewhere")}
    restored = _freshet(installed, "restore", str(backups[1]), **elsewhere)
    assert "restored" in restored.stdout, restored.stderr
    assert _freshet(installed, "backup", str(backups[2]), **elsewhere).returncode == 0
    running, here, there = (gzip.decompress(path.read_bytes()).split(b"\n", 1) for path in backups)
    assert here[1] == there[1]
    assert b"First words" in running[1]
    keys = [json.loads(header)["files"]["secret_key"] for header, _ in (here, there)]
    assert keys[0] == keys[1]


def _wait(is_done: Callable[[], bool], max_seconds: float, log: Path) -> None:
    ends = time.monotonic() + max_seconds
    while not is_done():
        assert time.monotonic() < ends, log.read_text()
        time.sleep(0.3)
