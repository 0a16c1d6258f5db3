"""What a page says of itself: title, author, time of publication, canonical address, declared language.

Read from Open Graph and other meta elements, schema.org in JSON-LD, HTML's own elements, in this order
of trust where several speak.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from lxml import html

from crawler.reading.addresses import absolute
from crawler.reading.dates import Dates
from crawler.reading.pages.dates import moment_in_url
from crawler.reading.pages.tree import read_text
from crawler.text.characters import one_line

_SEPARATOR = re.compile(r"\s+(?:[|•·»«–—:]|-|::|\|\||/)\s+")
_ARTICLES = re.compile(
    r"(?:[A-Za-z]*Article|BlogPosting|Report|[A-Za-z]*WebPage|LiveBlogPosting|Review|Recipe)"
)
_AUTHORS = ("author", "article:author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author")
_DATES = (
    "article:published_time", "og:published_time", "datepublished", "date", "dc.date", "dc.date.issued",
    "dcterms.created", "dcterms.issued", "pubdate", "publishdate", "publish-date", "parsely-pub-date",
    "sailthru.date", "citation_publication_date", "article.published",
)  # fmt: skip
_BYLINE = re.compile(
    r"(?:^|[\s_-])(?:byline|author(?:[_-]?name)?|p-author|post-author)(?:$|[\s_-])", re.IGNORECASE
)
_BY = re.compile(r"(?:written\s+by|by|von|par|por|door|di|da)[\s:]+", re.IGNORECASE)
_PARTS = re.compile(r"\s*[·•|,]\s*")
_MAX_JSON = 300_000
_MAX_NODES = 2_000
_MOST_MARKED = 50  # elements named as the author's that are looked into


@dataclass(frozen=True, slots=True)
class Metadata:
    """What was found; empty where the page says nothing. `language` is as declared."""

    title: str = ""
    author: str = ""
    published: float | None = None
    canonical_url: str = ""
    language: str = ""
    description: str = ""


def read_metadata(root: html.HtmlElement, url: str) -> Metadata:
    """The metadata of the page at `url` (which relative addresses are joined with)."""
    metas = _metas(root)
    linked = list(_linked_data(root))
    return Metadata(
        title=_title(root, metas),
        author=_author(root, metas, linked),
        published=_published(root, metas, linked, url),
        canonical_url=_canonical(root, metas, url),
        language=_language(root, metas),
        description=one_line(metas.get("og:description") or metas.get("description") or "", 2_000),
    )


def _metas(root: html.HtmlElement) -> dict[str, str]:
    """The first content of every meta element by lower-case name, property or itemprop."""
    found: dict[str, str] = {}
    for element in root.iter("meta"):
        content = (element.get("content") or "").strip()
        for attribute in ("property", "name", "itemprop", "http-equiv"):
            name = (element.get(attribute) or "").strip().lower()
            if name and content:
                found.setdefault(name, content)
    return found


def _linked_data(root: html.HtmlElement) -> Iterator[dict[str, Any]]:
    """schema.org nodes about articles in JSON-LD, articles before web pages; broken JSON is skipped."""
    nodes: list[dict[str, Any]] = []
    for script in root.iter("script"):
        text = script.text or ""
        if "ld+json" not in (script.get("type") or "").lower() or len(text) > _MAX_JSON:
            continue
        try:
            nodes += _nodes(json.loads(text.strip().rstrip(";"), strict=False))
        except (ValueError, RecursionError):
            continue
    yield from (n for n in nodes if _typed(n) and "WebPage" not in str(n.get("@type")))
    yield from (n for n in nodes if _typed(n) and "WebPage" in str(n.get("@type")))


def _nodes(data: Any) -> list[dict[str, Any]]:
    """All objects of a document in the places where publishers nest articles."""
    found: list[dict[str, Any]] = []
    queue = [data]
    while queue and len(found) < _MAX_NODES:
        value = queue.pop(0)
        if isinstance(value, list):
            queue += value[:200]
        elif isinstance(value, dict):
            found.append(value)
            queue += [value[key] for key in ("@graph", "mainEntity", "mainEntityOfPage") if key in value]
    return found


def _typed(node: dict[str, Any]) -> bool:
    """True for articles and pages."""
    kinds = node.get("@type")
    return any(
        isinstance(k, str) and _ARTICLES.fullmatch(k) for k in (kinds if isinstance(kinds, list) else [kinds])
    )


def _title(root: html.HtmlElement, metas: dict[str, str]) -> str:
    """og:title, else the title element, both without the site's name, else the first heading."""
    site = one_line(metas.get("og:site_name", ""), 200)
    headline = one_line(metas.get("og:title") or metas.get("twitter:title") or "", 500)
    full = next((t for e in islice(root.iter("title"), 20) if (t := one_line(read_text(e), 500))), "")
    headings = [t for e in islice(root.iter("h1"), 20) if (t := one_line(read_text(e), 500))]
    if headline:
        return _without_site(headline, site, headings)
    if full:
        return _without_site(full, site, headings)
    headings += [t for e in islice(root.iter("h2"), 1) if (t := one_line(read_text(e), 500))]
    return next(iter(headings), "")


def _without_site(title: str, site: str, headings: list[str]) -> str:
    """The title without the site's name, which stands before or behind a separator.

    Known when a heading of the page is one of the parts, when the site names itself, or else taken to be
    the part behind the last separator if what remains is the longer one.
    """
    parts = _SEPARATOR.split(title)
    if len(parts) == 1:
        return title
    heading = next((h for h in headings if h != site and _is_part(h, title)), "")
    if heading:
        return heading
    if site and site in (parts[0], parts[-1]):
        rest = title[len(site) :] if parts[0] == site else title[: -len(site)]
        return rest.strip(" \t|•·»«–—:-/")
    behind = list(_SEPARATOR.finditer(title))[-1]
    return title[: behind.start()] if behind.start() > len(title) - behind.end() else title


def _is_part(heading: str, title: str) -> bool:
    """True when a heading is the whole title or stands in it between separators."""
    before, found, behind = title.partition(heading)
    return bool(found) and all(not side or _SEPARATOR.search(side) for side in (before[-4:], behind[:4]))


def _author(root: html.HtmlElement, metas: dict[str, str], linked: list[dict[str, Any]]) -> str:
    """Names in JSON-LD, meta elements, rel=author, bylines."""
    found = next((name for node in linked if (name := _named(node.get("author")))), "")
    found = found or next((metas[k] for k in _AUTHORS if k in metas and not _is_address(metas[k])), "")
    if not found:
        links = (e for e in root.iter("a", "link") if "author" in (e.get("rel") or "")[:300].lower().split())
        found = next((t for e in islice(links, _MOST_MARKED) if (t := read_text(e)).strip()), "")
    return one_line(found or _byline(root), 200)


def _byline(root: html.HtmlElement) -> str:
    """The text of the first short element that is marked as the author's name."""
    marked = (e for e in root.iter("span", "a", "p", "div", "address", "cite") if _is_byline(e))
    for element in islice(marked, _MOST_MARKED):
        parts = _PARTS.split(one_line(read_text(element), 120))
        names = (_BY.sub("", p, count=1) for p in parts if not any(c.isdigit() for c in p))
        name = next((n for n in names if 2 < len(n) <= 80), "")
        if name:
            return name
    return ""


def _is_byline(element: html.HtmlElement) -> bool:
    """True when an element's names say that it holds the author's."""
    marks = f"{element.get('itemprop') or ''} {element.get('class') or ''}"
    return marks != " " and _BYLINE.search(marks[:300]) is not None


def _is_address(text: str) -> bool:
    """True for addresses of profiles, which stand where names belong."""
    return text.lower().startswith(("http:", "https:", "/", "www."))


def _named(value: Any) -> str:
    """Names in a schema.org person, or several."""
    if isinstance(value, list):
        names = [_named(v) for v in value[:10] if not isinstance(v, list)]
        return ", ".join(dict.fromkeys(n for n in names if n))
    if isinstance(value, dict):
        value = value.get("name")
    return one_line(value, 200) if isinstance(value, str) and not _is_address(value) else ""


def _published(
    root: html.HtmlElement, metas: dict[str, str], linked: list[dict[str, Any]], url: str
) -> float | None:
    """Epoch seconds: JSON-LD, meta elements, time elements, the address."""
    texts = [str(n[k]) for n in linked for k in ("datePublished", "dateCreated") if isinstance(n.get(k), str)]
    texts += [metas[k] for k in _DATES if k in metas]
    times = [e for e in root.iter("time") if e.get("datetime")]
    times.sort(
        key=lambda e: not (e.get("pubdate") is not None or "publish" in (e.get("itemprop") or "").lower())
    )
    texts += [e.get("datetime") or "" for e in times[:5]]
    texts += [e.get("title") or e.text_content()[:100] for e in root.find_class("published")[:2]]
    read = Dates(most=20).epoch
    found = next((m for t in texts if (m := read(t)) is not None), None)
    return found if found is not None else moment_in_url(url)


def _canonical(root: html.HtmlElement, metas: dict[str, str], url: str) -> str:
    """link rel=canonical, else og:url, as an absolute http(s) address, "" when the page names none."""
    links = [
        e.get("href") or "" for e in root.iter("link") if "canonical" in (e.get("rel") or "").lower().split()
    ]
    found = (absolute(url, reference) for reference in (*links[:3], metas.get("og:url", "")))
    return next(filter(None, found), "")


def _language(root: html.HtmlElement, metas: dict[str, str]) -> str:
    """The declared language: html lang, xml:lang, Content-Language, og:locale."""
    attributes = (
        root.get("lang"),
        root.get("xml:lang"),
        root.get("{http://www.w3.org/XML/1998/namespace}lang"),
    )
    declared = next((a for a in attributes if a and a.strip()), "")
    return declared or metas.get("content-language") or metas.get("og:locale") or ""
