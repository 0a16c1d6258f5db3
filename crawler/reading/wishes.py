"""What a page asks of robots: robots meta elements, X-Robots-Tag, and rel on links. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from lxml import html

NOT_VOUCHED_FOR = {"nofollow", "ugc", "sponsored"}
"""Values of `rel` on links that are not followed: the page does not stand behind them."""

MOST_METAS, LONGEST = 500, 4096
_AGENT = re.compile(r"\s*([a-z][\w.-]*)\s*:\s*(.*)", re.IGNORECASE | re.DOTALL)
# Directives that have a value, which looks like the name of a robot before directives.
_VALUED = {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}


@dataclass(frozen=True, slots=True)
class Wishes:
    """`follow`: its links may be followed. `index`: its content may be shown; `archive`: and copied."""

    follow: bool = True
    index: bool = True
    archive: bool = True

    @property
    def copy(self) -> bool:
        """Whether its content may be kept where others get it."""
        return self.index and self.archive


def wishes_of(root: html.HtmlElement | None, headers: Mapping[str, str], product: str) -> Wishes:
    """What a page and its headers ask of all robots, and of this product; the strictest word counts.

    https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag has the directives;
    `none` is noindex and nofollow. `unavailable_after` and what concerns results of a search are ignored.
    """
    names = {"robots", product.lower()}
    said = set(_of_headers(headers.items(), names - {"robots"}))
    if root is not None:
        said |= set(_of_metas(root, names))
    none = "none" in said
    return Wishes(
        follow=not none and "nofollow" not in said,
        index=not none and "noindex" not in said,
        archive="noarchive" not in said,
    )


def vouched_for(rel: str | None) -> bool:
    """Whether a link with this `rel` is to be followed."""
    return not rel or NOT_VOUCHED_FOR.isdisjoint(rel[:LONGEST].lower().split())


def _of_metas(root: html.HtmlElement, names: set[str]) -> Iterator[str]:
    for element in islice(root.iter("meta"), MOST_METAS):
        named = (element.get("name") or "").strip().lower() in names
        as_header = (element.get("http-equiv") or "").strip().lower()
        content = (element.get("content") or "")[:LONGEST]
        if named or as_header == "robots":
            yield from _words(content)
        elif as_header == "x-robots-tag":
            yield from _of_headers([(as_header, content)], names - {"robots"})


def _of_headers(headers: Iterable[tuple[str, str]], products: set[str]) -> Iterator[str]:
    """Directives of every such header for all robots or these; a name counts up to its header's end."""
    for name, value in headers:
        if name.lower() != "x-robots-tag":
            continue
        ours = True
        for part in value[:LONGEST].split(","):
            said = part
            agent = _AGENT.match(part)
            if agent is not None and agent[1].lower() not in _VALUED:
                ours, said = agent[1].lower() in {*products, "robots", "*"}, agent[2]
            if ours:
                yield from _words(said)


def _words(text: str) -> Iterator[str]:
    yield from re.split(r"[\s,;]+", text.lower())
