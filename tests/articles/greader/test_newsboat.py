"""A real reader against a real server: newsboat signs in, reads and marks; and reads a personal feed.

Skipped where newsboat is not installed (apt-get install newsboat). From 2.24 on it knows FreshRSS; those
before, Debian 12's among them, speak the same API as FeedHQ's, with items as Atom.
"""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.handlers.base import BaseHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse

from articles.greader.access import create_app_password
from articles.greader.models import ReaderLogin
from articles.models import Mark
from articles.personal.selection import address_token
from tests.factories import make_article, make_feed, make_personal_feed, make_subscriber

NEWSBOAT = shutil.which("newsboat")
PATIENCE = 40.0  # seconds, for machines that are busy

pytestmark = [
    pytest.mark.skipif(NEWSBOAT is None, reason="no newsboat found: apt-get install newsboat"),
    pytest.mark.django_db(transaction=True),
]


class Newsboat:
    """newsboat with a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.cache = home / "cache.db"
        (home / "urls").write_text("")
        self.settings("auto-reload no", "download-retries 1", "show-read-feeds yes", "show-read-articles yes")

    def settings(self, *lines: str) -> None:
        """Append to the configuration."""
        with (self.home / "config").open("a") as config:
            config.write("".join(f"{line}\n" for line in lines))

    def command(self, *more: str) -> list[str]:
        files = {"-C": "config", "-u": "urls", "-c": "cache.db"}
        own = (part for option, name in files.items() for part in (option, str(self.home / name)))
        return [str(NEWSBOAT), *own, *more]

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "HOME": str(self.home), "TERM": "xterm", "LC_ALL": "C.UTF-8", "LINES": "40"}

    def reload(self) -> None:
        """Fetch everything once and end."""
        command = self.command("-x", "reload")
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What newsboat itself has stored."""
        with sqlite3.connect(self.cache) as cache:
            return cache.execute(query).fetchall()


class Screen:
    """newsboat on a terminal: keys go in, and what was ever shown can be looked for."""

    def __init__(self, newsboat: Newsboat) -> None:
        self.shown = ""
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.execve(str(NEWSBOAT), newsboat.command("-q"), newsboat.environment)

    def press(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def wait_for(self, words: str) -> None:
        """Until the words are shown; then what was shown is forgotten."""
        until = time.monotonic() + PATIENCE
        while words not in self.shown:
            assert time.monotonic() < until, f"{words!r} is not in {self.shown!r}"
            self._read()
        self.shown = ""

    def close(self) -> None:
        """Leave, by force if need be."""
        for _ in range(5):
            try:
                self.press("q")
            except OSError:
                break
            self._read()
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                break
        else:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
        os.close(self._terminal)

    def _read(self) -> None:
        ready, _, _ = select.select([self._terminal], [], [], 0.3)
        if ready:
            try:
                read = os.read(self._terminal, 65_536).decode(errors="replace")
            except OSError:  # the program has ended
                return
            # Without what moves the cursor and sets colours.
            self.shown += re.sub(r"\x1b(\[[0-9;?]*[a-zA-Z]|[()][A-Z0-9]|[=>])", "", read)


@pytest.fixture
def newsboat(tmp_path: Path) -> Newsboat:
    return Newsboat(tmp_path)


@pytest.fixture
def ann(newsboat: Newsboat, live_server: Any) -> Any:
    """A subscriber with a feed of two articles, one of them read; newsboat knows her app password."""
    subscriber = make_subscriber("ann", make_feed(title="River news"), folder="News")
    feed = subscriber.subscriptions.get().feed
    now = datetime.now(UTC)
    body = {"content": "<p>Water stood <b>high</b>.</p>", "text": "Water stood high."}
    make_article(feed, title="The flood came", author="Ada", **body)
    old = make_article(feed, title="Dry season", published=now - timedelta(days=1))
    Mark.objects.create(subscriber=subscriber, article=old, read=now)
    make_article(make_feed(title="Not followed"))
    password = create_app_password(subscriber, "newsboat")
    api, base = ("freshrss", "/api/greader.php") if _version() >= (2, 24) else ("feedhq", "")
    newsboat.settings(
        f'urls-source "{api}"',
        f'{api}-url "{live_server.url}{base}"',
        f'{api}-login "ann"',
        f'{api}-password "{password}"',
        f'{api}-flag-star "s"',
        f"{api}-show-special-feeds no",
    )
    return subscriber


@pytest.fixture
def screen(newsboat: Newsboat, ann: Any) -> Iterator[Screen]:
    newsboat.reload()
    screen = Screen(newsboat)
    yield screen
    screen.close()


def test_it_lists_subscriptions_and_reads_items(newsboat, ann):
    newsboat.reload()
    (login,) = ReaderLogin.objects.all()
    assert login.app.startswith("newsboat")
    assert login.app_password.name == "newsboat"
    stored = newsboat.rows("SELECT title, author, content, unread FROM rss_item ORDER BY pubDate DESC")
    assert [(title, unread) for title, _, _, unread in stored] == [("The flood came", 1), ("Dry season", 0)]
    assert stored[0][1] == "Ada"
    assert "<b>high</b>" in stored[0][2]
    (url,) = newsboat.rows("SELECT rssurl FROM rss_feed")
    assert f"feed%2F{ann.subscriptions.get().feed_id}" in url[0]


def test_what_is_read_and_starred_there_is_read_and_starred_here(ann, screen):
    screen.wait_for("River news")
    screen.press("\r")
    screen.wait_for("The flood came")
    screen.press("\r")
    screen.wait_for("Water stood")
    screen.press("q")
    mark = _marked(ann, read__isnull=False)
    assert mark.starred is None
    screen.press("\x05")  # ^E edits the flags
    screen.wait_for("Flags")
    screen.press("s\r")
    _marked(ann, starred__isnull=False)


def test_a_wrong_password_gets_in_nowhere(newsboat, ann):
    ann.app_passwords.all().delete()
    done = subprocess.run(
        newsboat.command("-x", "reload"),
        env=newsboat.environment,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert b"uthentication failed" in done.stdout + done.stderr
    assert not ReaderLogin.objects.exists()


def test_it_reads_a_personal_feed_and_then_gets_304(newsboat, live_server, monkeypatch):
    subscriber = make_subscriber("ann", make_feed(title="River news"))
    make_article(subscriber.subscriptions.get().feed, title="The flood came", text="Water stood high.")
    personal_feed = make_personal_feed(subscriber, name="My rivers")
    path = reverse("personal-feed", args=[address_token(personal_feed), "rss"])
    (newsboat.home / "urls").write_text(f"{live_server.url}{path}\n")
    statuses = _statuses(monkeypatch)
    newsboat.reload()
    assert newsboat.rows("SELECT title FROM rss_feed") == [("My rivers",)]
    assert newsboat.rows("SELECT title, unread FROM rss_item") == [("The flood came", 1)]
    # 2.21 keeps validators only of a feed that it has stored before: from its second visit on.
    for _ in range(2):
        newsboat.reload()
    assert statuses[-1] == 304
    assert len(statuses) == 3
    assert len(newsboat.rows("SELECT id FROM rss_item")) == 1


def _statuses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The status of every answer of the server from now on."""
    statuses: list[int] = []
    get_response = BaseHandler.get_response

    def noted(handler: BaseHandler, request: HttpRequest) -> HttpResponseBase:
        response = get_response(handler, request)
        statuses.append(response.status_code)
        return response

    monkeypatch.setattr(BaseHandler, "get_response", noted)
    return statuses


def _version() -> tuple[int, ...]:
    said = subprocess.run([str(NEWSBOAT), "-v"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"(\d+)\.(\d+)", said)
    assert match, said
    return int(match[1]), int(match[2])


def _marked(subscriber: Any, **what: bool) -> Mark:
    """The mark on the flood's article, waited for: newsboat tells the server in its own time."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = Mark.objects.filter(subscriber=subscriber, article__title="The flood came", **what).first()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"no mark with {what}")
