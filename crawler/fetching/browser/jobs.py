"""Jobs of the browser program, and its answers, as they travel between it and its parent. Pure."""

from __future__ import annotations

from crawler.fetching.browser.steps import Step
from crawler.text.records import Record

USER = "browser"
"""Name under which the browser gives the proxy its secret."""
MAX_HTML_LENGTH = 5 * 1024 * 1024
MAX_WIDTH, MAX_HEIGHT = 1280, 10_000
BOX = "data-freshet-box"
"""The attribute that says where an element is: left, top, width and height in pixels."""
MAX_NAVIGATIONS = 20
"""Pages that one may lead to by itself: as many as browsers follow redirects."""


class BrowserJob(Record, frozen=True):
    """The page to open and the steps to perform there, with the proxy and the seconds allowed in all.

    `sockets` is the directory of the browser's sockets. With `boxes` each element of the HTML says in an
    attribute where it is.
    """

    url: str
    executable: str
    proxy: str
    secret: str
    user_agent: str
    seconds: float
    steps: tuple[Step, ...] = ()
    sockets: str = ""
    boxes: bool = False


class BrowserAnswer(Record, frozen=True):
    """A page as the browser shows it, or a failure's name with its detail.

    `screenshot` is a PNG, empty if none could be taken. `is_complete` says that loading ended.
    """

    url: str = ""
    status: int = 0
    title: str = ""
    html: str = ""
    screenshot: bytes = b""
    is_complete: bool = False
    failure: str = ""
    detail: str = ""
