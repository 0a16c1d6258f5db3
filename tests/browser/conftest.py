"""Headless Chromium against a live server with the invented deployment of `tests.demo`."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect
from pytest_django import DjangoDbBlocker
from pytest_django.live_server_helper import LiveServer

from tests.demo import seed

CHROMIUM = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
HERE = Path(__file__).parent
PATIENCE_SECONDS = 20
"""How long something may take to appear: four browsers on two processors need more than Playwright's five."""

expect.set_options(timeout=PATIENCE_SECONDS * 1000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark this directory's tests, and skip them where there is no browser to drive."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason="no chromium found: apt-get install chromium"))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The distribution's Chromium; without its sandbox, which needs privileges that containers lack."""
    return {**browser_type_launch_args, "executable_path": CHROMIUM, "args": ["--no-sandbox"]}


@dataclass
class Visitor:
    """A page of somebody who is signed in, and what the browser complained of."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)

    def goto(self, path: str) -> Page:
        """Open a path and wait until its charts are there."""
        self.page.goto(f"{self.address}{path}")
        expect(self.page.locator("[data-chart]:not([data-chart-state])")).to_have_count(0)
        return self.page

    def listen(self) -> None:
        """Collect errors of the console and of scripts."""
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(f"{message.text} ({message.location.get('url')})")


@pytest.fixture(scope="package")
def demo(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """The address of a server with the invented deployment; the tests of this package share it."""
    with django_db_blocker.unblock():
        seed(datetime.now(UTC))
        server = LiveServer("127.0.0.1")
        try:
            yield server.url
        finally:
            server.stop()
            call_command("flush", interactive=False, verbosity=0)
            # Those of this fixture's context are not the ones that pytest-django closes.
            connections.close_all()


@pytest.fixture
def transactional_db(demo: str, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """In place of pytest-django's, which empties the database after every test: here it is shared."""
    with django_db_blocker.unblock():
        yield


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for what no page shows."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


@contextmanager
def signed_in(demo: str, browser: Browser, name: str = "keeper") -> Iterator[BrowserContext]:
    """A browser of somebody who is signed in, by default of who may change feeds."""
    client = Client()
    client.force_login(User.objects.get(username=name))
    # Without motion, so that nothing is looked at while its colours change.
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, color_scheme="light", reduced_motion="reduce"
    )
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": demo}])
    yield context
    context.close()


@pytest.fixture
def keeper(demo: str, transactional_db: None, browser: Browser) -> Iterator[Visitor]:
    """A visitor who may change feeds."""
    with signed_in(demo, browser) as context:
        visitor = Visitor(context.new_page(), demo)
        visitor.listen()
        yield visitor


@pytest.fixture(scope="package")
def shared_context(
    demo: str, browser: Browser, django_db_blocker: DjangoDbBlocker
) -> Iterator[BrowserContext]:
    with django_db_blocker.unblock(), signed_in(demo, browser) as context:
        yield context


@pytest.fixture
def reader(demo: str, transactional_db: None, shared_context: BrowserContext) -> Iterator[Visitor]:
    """A visitor who only looks, with the style and scripts that the tests before have loaded."""
    visitor = Visitor(shared_context.new_page(), demo)
    visitor.listen()
    yield visitor
    visitor.page.close()
