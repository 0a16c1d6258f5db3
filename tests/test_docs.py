"""Every command of the documentation is run as it is written, on a small site of the test's own."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command, get_commands, load_command_class
from django.core.management.base import CommandError

from benchmarks.interest import Size, as_lines, simulated_log
from crawler.celery import app
from crawler.frontier.models import Crawl
from crawler.pipeline.sparql.replica import Replica
from tests.factories import make_article, make_feed, make_user
from tests.recrawl.test_replay import changed, written
from tests.servers import Reply, WebServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("terminal_on_loopback")]

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
OURS = {name for name, app in get_commands().items() if str(app).split(".")[0] in
        {"crawler", "feeds", "articles", "recrawl"}}  # fmt: skip
DJANGO = {"migrate", "collectstatic", "createsuperuser"}
NEEDS_MORE = {"run", "web", "restore", "upgrade_database"}
"""Commands that run until they are ended, or want an empty database: tests/test_packaging.py and
tests/crawler/operation start them."""
MAKE = {"run", "test", "dist", "install", "lint", "docs", "test-browser", "messages"}

_LINE = re.compile(
    r"^    (?:(?:[A-Z_]+=\S+ )*)(?:python |\.venv/bin/python )?(?:manage\.py |freshet )?(.+)$", re.MULTILINE
)
_RSS = (
    '<rss version="2.0"><channel><title>Harbour</title><link>{0}/</link><item><title>Wall</title>'
    "<link>{0}/wall</link><pubDate>Mon, 02 Nov 2026 06:30:00 GMT</pubDate></item></channel></rss>"
)
_HTML = (
    '<!DOCTYPE html><html lang="en"><head><title>{1}</title>'
    '<link rel="alternate" type="application/rss+xml" href="{0}/feed.xml"></head><body><h1>{1}</h1>'
    "<p>A long enough text about the harbour and its wall, which nobody has repaired for years.</p>"
    '<a href="{0}/wall">wall</a><a href="{0}/">home</a></body></html>'
)


def commands_in(page: Path) -> list[str]:
    """The lines of a page's indented blocks that call a command of ours, in order."""
    found = []
    for match in _LINE.finditer(page.read_text()):
        line = match[0].strip()
        explicit = re.match(
            r"(?:[A-Z_]+=\S+ )*(?:(?:python |\.venv/bin/python )?manage\.py|freshet) (\S+)", line
        )
        bare = line.split(" ", 1)[0]
        if explicit or (page.name == "first-steps.md" and bare in OURS):
            found.append(line)
    return found


WITH_COMMANDS = [page for page in PAGES if commands_in(page)]


_LIST = "<html><body><ul class='news'>{}</ul></body></html>".format(
    "".join(
        f"<li><span class='when'>2026-03-0{n}</span> <a href='/news/{n}'>What the council did in week {n}</a>"
        for n in range(1, 6)
    )
)


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer() as web:
        page = "text/html; charset=utf-8"
        rss = Reply(body=_RSS.format(web.origin).encode(), headers={"Content-Type": "application/rss+xml"})
        web.replies |= {
            "/": Reply(body=_HTML.format(web.origin, "Harbour").encode(), headers={"Content-Type": page}),
            "/wall": Reply(body=_HTML.format(web.origin, "Wall").encode(), headers={"Content-Type": page}),
            "/feed.xml": rss,
            "/news/": Reply(body=_LIST.encode(), headers={"Content-Type": page}),
        }
        yield web


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: WebServer, settings: Any) -> Path:
    """A working folder with the files that the documentation names."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "long enough, and not common")
    settings.STATIC_ROOT = tmp_path / "static"
    posts = "".join(f"f{n % 5},{1_767_571_200 + 5_000 * n}\n" for n in range(600))
    trace = gzip.compress(f"feed,published\n{posts}".encode())
    for name in ("TRACE", "publishers", "communities"):
        (folder / f"{name}.csv.gz").write_bytes(trace)
    weeks = [changed(n, "top", "a") if n % 2 == 0 else {} for n in range(1, 12)]
    for name in ("SITE", "HISTORY"):
        written(folder / f"{name}.jsonl.gz", weeks)
    (folder / "EVENTS.jsonl").write_bytes(as_lines(simulated_log(1, Size(1, 6), kinds=("mixed",))))
    (folder / "subscriptions.opml").write_text(
        f'<opml><body><outline text="F"><outline xmlUrl="{site.origin}/feed.xml"/></outline></body></opml>'
    )
    (folder / "backup.zip").write_text(f"{site.origin}/wall\n")
    (folder / "freshet").mkdir()
    (folder / "FILE").write_text("SELECT ?t { ?page dct:title ?t }")
    return folder


def arguments_of(line: str, site: WebServer, folder: Path) -> tuple[list[str], str]:
    """The words of a command line without comment and optional parts, and the file that it writes to."""
    line = re.sub(r"\s#.*", "", line)
    while "[" in line:
        line = re.sub(r"\[[^\[\]]*\]", "", line)
    line = re.sub(r"https://(?:www\.)?example\.(?:org|net)", site.origin, line)
    line = line.replace(r"https://example\.org", re.escape(site.origin)).replace(" ...", "")
    if newest := Crawl.objects.first():
        line = re.sub(r"(--crawl|export_warc) 1\b", rf"\1 {newest.pk}", line)
    line = line.replace("/var/backups", str(folder)).replace(" URL", f" {site.origin}/")
    words = shlex.split(line)
    while words and (re.fullmatch(r"[A-Z_]+=\S*", words[0]) or words[0] in {"python", ".venv/bin/python"}):
        words.pop(0)
    if words[0] in {"manage.py", "freshet"}:
        words.pop(0)
    target = ""
    if ">" in words:
        target = words[words.index(">") + 1]
        words = words[: words.index(">")]
    if words[-2:-1] == ["--to"]:
        words[-1] = str(folder / "report")
    return words, target


@pytest.mark.parametrize("document", WITH_COMMANDS, ids=lambda document: document.name)
def test_commands_of_a_page_do_what_they_say(document: Path, site: WebServer, folder: Path) -> None:
    make_user("mara")
    make_user("admin")
    if document.name not in {"first-steps.md", "crawling.md", "pipeline.md"}:
        call_command("crawl", f"{site.origin}/", max_pages=5, stdout=io.StringIO())
    feed = make_feed(f"{site.origin}/other.xml", added=datetime.now(UTC) - timedelta(days=3))
    make_article(feed, published=datetime.now(UTC) - timedelta(hours=5))
    Replica().follow()
    for line in commands_in(document):
        words, target = arguments_of(line, site, folder)
        name, *arguments = words
        assert name in OURS | DJANGO, line
        if name in NEEDS_MORE:
            load_command_class(get_commands()[name], name).create_parser("freshet", name).parse_args(
                arguments
            )
            continue
        if name == "createsuperuser":
            arguments = ["--noinput", "--username", "root", "--email", "root@example.org"]
        if name == "sparql_replica":
            arguments = ["--once"]
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            try:
                call_command(name, *arguments)
            except SystemExit as ended:
                assert ended.code in {None, 0, 1} | ({2} if name == "doctor" else set()), (
                    line,
                    errors.getvalue(),
                )
                assert name in {"doctor", "add_feeds"} or not ended.code, (line, errors.getvalue())
            except CommandError as error:
                pytest.fail(f"{line}: {error}")
        if target:
            (folder / target).write_text(out.getvalue())
    assert User.objects.exists()


def test_targets_of_make_that_pages_name_exist() -> None:
    rules = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        name
        for page in PAGES
        for name in re.findall(r"(?m)^    (?:[A-Z]+=\S+ |TESTS=\"[^\"]*\" )*make ([a-z-]+)", page.read_text())
    }
    assert named, "none is named"
    assert named <= rules


def test_workers_of_other_machines_serve_every_queue_and_no_other() -> None:
    """What README starts on many machines takes every kind of task."""
    text = (ROOT / "README.md").read_text()
    served = {
        queue
        for queues in re.findall(r"celery -A crawler worker .*?-Q (\S+)", text)
        for queue in queues.split(",")
    }
    routes = {route["queue"] for route in app.conf.task_routes.values() if isinstance(route, dict)}
    assert routes
    assert routes <= served
    for line in re.findall(r"(?m)^    ((?:DATABASE_URL=none )?celery -A crawler .*?)(?:\s+#.*)?$", text):
        words = [word for word in shlex.split(line) if "=" not in word]
        options = [sys.executable, "-m", *words[:4], "--help"]
        environment = os.environ | {"DATABASE_URL": "none"}
        done = subprocess.run(options, capture_output=True, env=environment, cwd=ROOT, check=False)
        assert done.returncode == 0, line
