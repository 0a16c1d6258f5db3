"""The program that drives a browser, `python -m crawler.fetching.browser.program`: a job in, an answer out.

It runs Chromium through Playwright. Both are JSON, on standard input and output. A page that keeps its
scripts busy can block the program for ever; the parent ends it (`crawler.fetching.browser.look`).
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Callable
from typing import Any

import msgspec
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    Playwright,
    Request,
    Response,
    sync_playwright,
)

from crawler.failures import Failure, FetchError, of_response
from crawler.fetching.browser.jobs import (
    BOX,
    MAX_HEIGHT,
    MAX_HTML_LENGTH,
    MAX_NAVIGATIONS,
    MAX_WIDTH,
    USER,
    BrowserAnswer,
    BrowserJob,
)
from crawler.fetching.browser.steps import Step
from crawler.isolation import lifeline, memory

LOAD_SHARE, QUIET_SECONDS, STEP_SECONDS, SCREENSHOT_SECONDS = 0.5, 5.0, 10.0, 10.0
_RESERVED_SECONDS = 3.0
"""Time kept for reading the page and for the end of the browser."""
_READING_ATTEMPTS = 20
_SCROLLS, _SCROLL_PAUSE_SECONDS = 10, 0.2

ARGUMENTS = (
    # QUIC is UDP and would pass by the proxy.
    "--disable-quic",
    # WebRTC would open UDP sockets of its own and tell the page inner addresses.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    # No name is resolved in the browser: the proxy looks it up and checks the address that it dials.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    # By default Chromium asks loopback without the proxy, where services of the machine listen.
    "--proxy-bypass-list=<-loopback>",
    "--dns-prefetch-disable",
    "--no-pings",
    "--deny-permission-prompts",
    "--disable-domain-reliability",
    "--disable-gpu",
    "--disable-notifications",
    "--disable-speech-api",
    # Keeps a page's heap far below the parent's limit, which ends the whole look.
    "--js-flags=--max-old-space-size=256",
    "--renderer-process-limit=2",
    "--disk-cache-size=1048576",
)
"""Switches that keep all traffic in the proxy; those of Playwright stop background networking."""

# The first match counts: ERR_CONNECTION stands below its more exact kinds, and Timeout is last.
_NETWORK_FAILURES = (
    (r"ERR_NAME_NOT_RESOLVED|ERR_NAME_RESOLUTION", Failure.DNS),
    (r"ERR_CERT|ERR_SSL|ERR_BAD_SSL", Failure.TLS),
    (r"ERR_TOO_MANY_REDIRECTS|ERR_INVALID_REDIRECT|ERR_UNSAFE_REDIRECT", Failure.REDIRECT),
    (r"ERR_EMPTY_RESPONSE|ERR_CONNECTION_(?:CLOSED|RESET|ABORTED)", Failure.RESET),
    (r"ERR_TUNNEL|ERR_CONNECTION|ERR_ADDRESS|ERR_INTERNET|ERR_PROXY", Failure.UNREACHABLE),
    (r"ERR_(?:UNKNOWN|DISALLOWED)_URL_SCHEME", Failure.BAD_SCHEME),
    (r"ERR_UNSAFE_PORT", Failure.BLOCKED_PORT),
    (r"ERR_CONTENT_DECODING", Failure.DECODING),
    (r"ERR_CONTENT_LENGTH|ERR_INCOMPLETE", Failure.TRUNCATED),
    (r"ERR_ABORTED|Download is starting", Failure.UNSUPPORTED_TYPE),
    (r"[Cc]rashed|has been closed|ERR_INSUFFICIENT_RESOURCES|ERR_OUT_OF_MEMORY", Failure.TOO_COSTLY),
    (r"Timeout", Failure.TIMEOUT),
)
_NOTE_BOXES = f"""() => {{
  for (const element of [...document.querySelectorAll("body *")].slice(0, 8000)) {{
    const box = element.getBoundingClientRect();
    if (box.width < 4 || box.height < 4) continue;
    const numbers = [box.left + scrollX, box.top + scrollY, box.width, box.height];
    element.setAttribute("{BOX}", numbers.map(Math.round).join(","));
  }}
}}"""
_LEADS_ON = "the page leads on again and again"


class PageVisit:
    """One page in a browser, from its address to what is shown after the steps."""

    def __init__(self, context: BrowserContext, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._load_seconds = seconds * LOAD_SHARE
        self.status = 0
        self.requested_url = ""
        self.navigations = 0
        self._is_complete = False
        self._page: Page = context.new_page()
        # Nobody looks at windows that a page opens, and each of them takes memory.
        context.on("page", self._close_window)
        self._page.on("request", self._note_request)
        self._page.on("response", self._note_status)
        self._page.set_default_timeout(STEP_SECONDS * 1000)
        self._session = context.new_cdp_session(self._page)
        self._session.on("Fetch.requestPaused", self._continue_document)
        # Each document waits for `_continue_document`: a page that leads on in a loop outran the count.
        self._session.send("Fetch.enable", {"patterns": [{"resourceType": "Document"}]})

    def open(self, url: str) -> None:
        """Open the page and wait until it has loaded, or as long as is allowed. Raises Error, FetchError."""
        until = time.monotonic() + self._load_seconds
        # Not "load": a page whose pictures hang is shown as far as it came, with is_complete false.
        self._page.goto(url, wait_until="commit", timeout=self._load_seconds * 1000)
        self._is_complete = self._wait("load", until - time.monotonic())
        if self._is_complete:
            self.settle()

    def settle(self) -> None:
        """Wait until the network is quiet, for some seconds at most."""
        self._wait("networkidle", min(QUIET_SECONDS, self._remaining() / 3))

    def perform(self, step: Step) -> None:
        """Perform a step. Raises Error."""
        timeout = max(min(STEP_SECONDS, self._remaining()), 0.1) * 1000
        match step.do:
            case "click":
                self._page.locator(step.at).first.click(timeout=timeout)
                self.settle()
            case "type":
                self._page.locator(step.at).first.fill(step.text, timeout=timeout)
            case "wait":
                self._page.wait_for_timeout(max(min(step.seconds, self._remaining()), 0) * 1000)
            case "wait-for":
                self._page.locator(step.at).first.wait_for(timeout=max(self._remaining(), 0.1) * 1000)
            case "scroll":
                for _ in range(_SCROLLS):
                    self._page.mouse.wheel(0, MAX_HEIGHT / _SCROLLS)
                    self._page.wait_for_timeout(_SCROLL_PAUSE_SECONDS * 1000)
                self.settle()

    def answer(self) -> BrowserAnswer:
        """Return what the page shows now. Raises Error, FetchError."""
        html = self._html()
        if self.navigations > MAX_NAVIGATIONS:
            raise FetchError(Failure.REDIRECT, _LEADS_ON)
        # After a failed navigation the page is Chromium's own error page, with an HTML that looks like a
        # success.
        if self._page.url.startswith("chrome-error:"):
            raise FetchError(Failure.UNREACHABLE, f"the page led to {self.requested_url[:200]}")
        return BrowserAnswer(
            url=self._page.url,
            status=self.status,
            title=self._page.title()[:1000],
            html=html[:MAX_HTML_LENGTH],
            screenshot=self._screenshot(),
            is_complete=self._is_complete,
        )

    def note_boxes(self) -> None:
        """Note in each element of the page where it is. Raises Error."""
        self._page.evaluate(_NOTE_BOXES)

    def _html(self) -> str:
        """Return the page's HTML between two navigations. Raises Error, FetchError."""
        html: str | None = None
        for _ in range(_READING_ATTEMPTS):
            try:
                html = self._page.content()
            # A page that navigates while it is read has no content for a moment; the next attempt has it.
            except Error as error:
                if "navigating" not in error.message:
                    raise
                html = None
            if html:  # a document has no elements yet when a navigation begins
                return html
            self._page.wait_for_timeout(50)
        if html is None:
            raise FetchError(Failure.REDIRECT, _LEADS_ON)
        return html

    def _screenshot(self) -> bytes:
        timeout = max(min(SCREENSHOT_SECONDS, self._remaining()), 0.5) * 1000
        try:
            return self._page.screenshot(
                full_page=True,
                clip={"x": 0, "y": 0, "width": MAX_WIDTH, "height": MAX_HEIGHT},
                timeout=timeout,
                animations="disabled",
            )
        # A page without its picture is still read: very long pages exceed the time for it.
        except Error:
            return b""

    def _wait(self, state: str, seconds: float) -> bool:
        """Wait for a state of loading. Returns False when it did not come."""
        try:
            self._page.wait_for_load_state(
                "load" if state == "load" else "networkidle", timeout=max(seconds, 0.1) * 1000
            )
        except Error as error:
            if "Timeout" not in error.message:
                raise
            return False
        return True

    def _remaining(self) -> float:
        return self._until - time.monotonic()

    def _close_window(self, window: Page) -> None:
        with contextlib.suppress(Error):
            window.close()

    def _note_request(self, request: Request) -> None:
        with contextlib.suppress(Error):
            if request.is_navigation_request() and request.frame == self._page.main_frame:
                self.requested_url = request.url
                self.navigations += 1
                if self.navigations > MAX_NAVIGATIONS:
                    self._page.close()

    def _continue_document(self, paused: dict[str, Any]) -> None:
        """Continue a paused request for a document, or let it fail if the page has navigated too often.

        Chromium waits for this, so that a page cannot navigate faster than its navigations are counted.
        """
        with contextlib.suppress(Error):
            request = {"requestId": paused["requestId"]}
            if self.navigations > MAX_NAVIGATIONS:
                self._session.send("Fetch.failRequest", {**request, "errorReason": "Aborted"})
            else:
                self._session.send("Fetch.continueRequest", request)

    def _note_status(self, response: Response) -> None:
        with contextlib.suppress(Error):
            if response.request.is_navigation_request() and response.frame == self._page.main_frame:
                self.status = response.status


def run(job: BrowserJob) -> BrowserAnswer:
    """Run a job in a new browser. Never raises for a page's faults: the answer names them."""
    until = time.monotonic() + job.seconds - _RESERVED_SECONDS
    with sync_playwright() as playwright:
        chromium = _launch(playwright, job)
        context = chromium.new_context(
            user_agent=job.user_agent,
            viewport={"width": MAX_WIDTH, "height": 800},
            accept_downloads=False,
            # A service worker's requests raise no events of the page, and it outlives the page.
            service_workers="block",
            permissions=[],
        )
        visit = PageVisit(context, max(until - time.monotonic(), 1.0))
        try:
            return _visit(visit, job)
        except FetchError as error:
            kind, detail = error.kind, error.detail
        except Error as error:
            kind, detail = failure_of(error.message), _first_line(error)
            if visit.navigations > MAX_NAVIGATIONS:
                kind, detail = Failure.REDIRECT, _LEADS_ON
            if "ERR_HTTP_RESPONSE_CODE_FAILURE" in error.message:  # an error without a body
                kind = of_response(visit.status, retry_after=False, challenged=False)
        return BrowserAnswer(url=visit.requested_url, status=visit.status, failure=kind, detail=detail)


def _visit(visit: PageVisit, job: BrowserJob) -> BrowserAnswer:
    visit.open(job.url)
    for number, step in enumerate(job.steps, start=1):
        try:
            visit.perform(step)
        except Error as error:
            if (kind := failure_of(error.message)) is Failure.TOO_COSTLY:
                raise FetchError(kind, _first_line(error)) from error
            raise FetchError(Failure.STEP, f"step {number} ({step.do}): {_first_line(error)}") from error
    if job.boxes:
        with contextlib.suppress(Error):
            visit.note_boxes()
    return visit.answer()


def failure_of(message: str) -> Failure:
    """Return the failure that a message of Playwright's means."""
    for pattern, failure in _NETWORK_FAILURES:
        if re.search(pattern, message):
            return failure
    return Failure.PROTOCOL


def _launch(playwright: Playwright, job: BrowserJob) -> Browser:
    """Start Chromium in its own sandbox. Without it where root or a container's walls forbid it."""

    def launch(*, sandboxed: bool) -> Browser:
        return playwright.chromium.launch(
            executable_path=job.executable,
            headless=True,
            chromium_sandbox=sandboxed,
            args=list(ARGUMENTS),
            # pop-ups are blocked, and fewer bytes are copied to shared memory's slower replacement
            ignore_default_args=["--disable-popup-blocking", "--disable-dev-shm-usage"],
            proxy={"server": job.proxy, "username": USER, "password": job.secret},
            timeout=max(job.seconds, 1.0) * 1000,
            env={**os.environ, "TMPDIR": job.sockets} if job.sockets else None,
        )

    if os.geteuid() == 0:
        return launch(sandboxed=False)
    try:
        return launch(sandboxed=True)
    except Error as error:
        if "sandbox" not in error.message:
            raise
        return launch(sandboxed=False)


def _first_line(error: Error) -> str:
    return error.message.partition("\n")[0][:300]


def _serve(decode: Callable[[bytes], BrowserJob]) -> None:
    """Answer the job on standard input, and end at once: the parent removes the browser's files."""
    lifeline.die_with_parent()
    memory.offer_to_kernel("reader")
    os.nice(5)
    job = decode(sys.stdin.buffer.read())
    try:
        browser_answer = run(job)
    except Error as error:
        # Chromium's reason stands among many lines of its log, not in Playwright's first line.
        words = [line.partition("[err] ")[2] for line in error.message.splitlines()]
        reason = next((line for line in words if "FATAL" in line or "No usable" in line), _first_line(error))
        browser_answer = BrowserAnswer(failure=Failure.NO_BROWSER, detail=f"it did not start: {reason[:300]}")
    sys.stdout.buffer.write(msgspec.json.encode(browser_answer))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    _serve(msgspec.json.Decoder(BrowserJob).decode)
