"""Orders to terminals about pages of crawls and of watched sites."""

from __future__ import annotations

from crawler.messages import Order
from crawler.text.records import Record


class PageOrder(Record, Order, frozen=True, tag=True):
    """The order to read a page.

    With `any_type`, types other than pages are accepted, too, with `binaries` also pictures and the like.
    With `selectors` a page is read for its text, and matching elements are marked as ignored; `parts` and
    `compared` say which of it (`crawler.reading.parts`); its bytes are sent back with `keeps_body`. `steps`
    are those of a browser, as JSON.
    """

    any_type: bool = False
    binaries: bool = False
    selectors: tuple[str, ...] | None = None
    parts: tuple[str, ...] = ()
    compared: str = "text"
    keeps_body: bool = False
    steps: str = ""
