"""A page's directives for robots: robots meta elements, X-Robots-Tag, and rel on links. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from lxml import html

NOT_VOUCHED_FOR = {"nofollow", "ugc", "sponsored"}
"""Values of `rel` on links that are not followed: the page does not stand behind them."""

MAX_METAS, LONGEST = 500, 4096
_AGENT = re.compile(r"\s*([a-z][\w.-]*)\s*:\s*(.*)", re.IGNORECASE | re.DOTALL)
# Directives that have a value, which looks like the name of a robot before directives.
_VALUED = {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}


@dataclass(frozen=True, slots=True)
class RobotsDirectives:
    """A page's directives.

    `follow`: links may be followed; `index`: content shown; `archive`: content copied.
    """

    follow: bool = True
    index: bool = True
    archive: bool = True

    @property
    def copy(self) -> bool:
        """True when the page's content may be kept where others get it."""
        return self.index and self.archive


def directives_of(
    root: html.HtmlElement | None, headers: Mapping[str, str], product: str
) -> RobotsDirectives:
    """Read a page's directives for all robots and this product; the strictest count.

    https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag has the directives;
    `none` is noindex and nofollow. `unavailable_after` and what concerns results of a search are ignored.
    """
    names = {"robots", product.lower()}
    directives = set(_of_headers(headers.items(), names - {"robots"}))
    if root is not None:
        directives |= set(_of_metas(root, names))
    none = "none" in directives
    return RobotsDirectives(
        follow=not none and "nofollow" not in directives,
        index=not none and "noindex" not in directives,
        archive="noarchive" not in directives,
    )


def vouched_for(rel: str | None) -> bool:
    """Return whether a link with this `rel` is to be followed."""
    return not rel or NOT_VOUCHED_FOR.isdisjoint(rel[:LONGEST].lower().split())


def _of_metas(root: html.HtmlElement, names: set[str]) -> Iterator[str]:
    for element in islice(root.iter("meta"), MAX_METAS):
        is_robots = (element.get("name") or "").strip().lower() in names
        as_header = (element.get("http-equiv") or "").strip().lower()
        content = (element.get("content") or "")[:LONGEST]
        if is_robots or as_header == "robots":
            yield from _words(content)
        elif as_header == "x-robots-tag":
            yield from _of_headers([(as_header, content)], names - {"robots"})


def _of_headers(headers: Iterable[tuple[str, str]], products: set[str]) -> Iterator[str]:
    """Yield the directives of these headers for all robots or `products`.

    A name counts up to its header's end.
    """
    for name, value in headers:
        if name.lower() != "x-robots-tag":
            continue
        ours = True
        for part in value[:LONGEST].split(","):
            directive = part
            agent = _AGENT.match(part)
            if agent is not None and agent[1].lower() not in _VALUED:
                ours, directive = agent[1].lower() in {*products, "robots", "*"}, agent[2]
            if ours:
                yield from _words(directive)


def _words(text: str) -> Iterator[str]:
    yield from re.split(r"[\s,;]+", text.lower())
