"""The metadata of a page: title, author, time of publication, canonical address, declared language.

Read from Open Graph and other meta elements, schema.org in JSON-LD, HTML's own elements, in this order
of trust if several speak.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from lxml import html

from crawler.reading.addresses import absolute
from crawler.reading.dates import Dates
from crawler.reading.json_ld import is_json_ld, read_json_ld
from crawler.reading.pages.dates import moment_in_url
from crawler.reading.pages.structure import base_of
from crawler.reading.pages.tree import read_text
from crawler.text.bylines import plain_byline
from crawler.text.characters import one_line

_SEPARATOR = re.compile(r"\s+(?:[|•·»«–—:]|-|::|\|\||/)\s+")
_ARTICLES = re.compile(
    r"(?:[A-Za-z]*Article|BlogPosting|Report|[A-Za-z]*WebPage|LiveBlogPosting|Review|Recipe)"
)
# twitter:creator is missing on purpose: it is an account, and often the site's.
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
# Shops and search pages embed their whole state.
_MAX_JSON = 300_000
_MAX_NODES = 2_000
_MAX_MARKED = 50  # elements named as the author's that are looked into
_BYLINE_WORDS, _NAME_WORDS = 30, 8
"""Words of a byline at most, and of one that ends as a sentence does."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of a page; fields are empty if it has none. `language` is as declared."""

    title: str = ""
    author: str = ""
    published: float | None = None
    canonical_url: str = ""
    language: str = ""
    description: str = ""
    image: str = ""


def read_metadata(root: html.HtmlElement, url: str) -> Metadata:
    """Return the metadata of the page at `url`; relative addresses are joined with its base."""
    metas = _metas(root)
    # crawlee-python 1589: a page with a base element means that, also for its picture and its own address.
    base = base_of(root, url)
    linked = list(_linked_data(root))
    return Metadata(
        title=_title(root, metas),
        author=_author(root, metas, linked),
        published=_published(root, metas, linked, url),
        canonical_url=_canonical(root, metas, base),
        language=_language(root, metas),
        description=one_line(metas.get("og:description") or metas.get("description") or "", 2_000),
        image=_image(metas, base),
    )


def _image(metas: dict[str, str], base: str) -> str:
    """Return the address of the page's preview picture (Open Graph, else Twitter's), "" without one."""
    names = ("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src")
    address = next((metas[name] for name in names if metas.get(name)), "")
    return absolute(base, address) if address else ""


def _metas(root: html.HtmlElement) -> dict[str, str]:
    """Return the first content of every meta element by lower-case name, property or itemprop."""
    metas: dict[str, str] = {}
    for element in root.iter("meta"):
        # Engadget writes `value` (postlight/parser 552).
        content = (element.get("content") or element.get("value") or "").strip()
        for attribute in ("property", "name", "itemprop", "http-equiv"):
            name = (element.get(attribute) or "").strip().lower()
            if name and content:
                metas.setdefault(name, content)
    return metas


def _linked_data(root: html.HtmlElement) -> Iterator[dict[str, Any]]:
    """Yield schema.org nodes about articles in JSON-LD, before those of web pages. Broken JSON is skipped."""
    nodes: list[dict[str, Any]] = []
    # Publishers' articles come before the WebPage around them, whose date is the template's.
    for script in root.iter("script"):
        text = script.text or ""
        if not is_json_ld(script.get("type") or "") or len(text) > _MAX_JSON:
            continue
        try:
            nodes += _nodes(read_json_ld(text))
        except (ValueError, RecursionError):
            continue
    yield from (n for n in nodes if _typed(n) and "WebPage" not in str(n.get("@type")))
    yield from (n for n in nodes if _typed(n) and "WebPage" in str(n.get("@type")))


def _nodes(data: Any) -> list[dict[str, Any]]:
    """Return all objects of a document in the places where publishers nest articles."""
    nodes: list[dict[str, Any]] = []
    queue = [data]
    # An object that names itself would go on for ever otherwise; publishers nest two or three levels.
    while queue and len(nodes) < _MAX_NODES:
        value = queue.pop(0)
        if isinstance(value, list):
            queue += value[:200]
        elif isinstance(value, dict):
            nodes.append(value)
            queue += [value[key] for key in ("@graph", "mainEntity", "mainEntityOfPage") if key in value]
    return nodes


def _typed(node: dict[str, Any]) -> bool:
    """Return whether a node is an article or a page."""
    kinds = node.get("@type")
    return any(
        isinstance(k, str) and _ARTICLES.fullmatch(k) for k in (kinds if isinstance(kinds, list) else [kinds])
    )


def _title(root: html.HtmlElement, metas: dict[str, str]) -> str:
    """Return og:title, else the title element, both without the site's name, else the first heading."""
    site = one_line(metas.get("og:site_name", ""), 200)
    headline = one_line(metas.get("og:title") or metas.get("twitter:title") or "", 500)
    full = next((t for e in islice(root.iter("title"), 20) if (t := one_line(read_text(e), 500))), "")
    headings = [t for e in islice(root.iter("h1"), 20) if (t := one_line(read_text(e), 500))]
    # Notion's og:title advertises Notion on pages of its customers.
    parts = _SEPARATOR.split(headline)
    is_of_site = len(parts) > 1 and site in parts and full != site and not any(part in full for part in parts)
    if is_of_site and full in headings:
        return full
    if headline:
        return _without_site(headline, site, headings)
    if full:
        return _without_site(full, site, headings)
    headings += [t for e in islice(root.iter("h2"), 1) if (t := one_line(read_text(e), 500))]
    return next(iter(headings), "")


# Titles such as "Article | Site" fill lists with the site's name, which stands there anyway.
def _without_site(title: str, site: str, headings: list[str]) -> str:
    """Return the title without the site's name, which stands before or behind a separator.

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
        tail = title[len(site) :] if parts[0] == site else title[: -len(site)]
        return tail.strip(" \t|•·»«–—:-/")
    behind = list(_SEPARATOR.finditer(title))[-1]
    return title[: behind.start()] if behind.start() > len(title) - behind.end() else title


def _is_part(heading: str, title: str) -> bool:
    """Return whether a heading is the whole title or stands in it between separators."""
    before, separator, behind = title.partition(heading)
    return bool(separator) and all(not side or _SEPARATOR.search(side) for side in (before[-4:], behind[:4]))


def _author(root: html.HtmlElement, metas: dict[str, str], linked: list[dict[str, Any]]) -> str:
    """Return names from JSON-LD, meta elements, rel=author or bylines."""
    author = next((name for node in linked if (name := _named(node.get("author")))), "")
    # Facebook's profile addresses stand in article:author.
    author = author or next((metas[k] for k in _AUTHORS if k in metas and not _is_address(metas[k])), "")
    if not author:
        links = (e for e in root.iter("a", "link") if "author" in (e.get("rel") or "")[:300].lower().split())
        author = next((t for e in islice(links, _MAX_MARKED) if (t := read_text(e)).strip()), "")
    return one_line(plain_byline(author) or _byline(root), 200)


def _byline(root: html.HtmlElement) -> str:
    """Return the text of the first short element that is marked as the author's name."""
    marked = (e for e in root.iter("span", "a", "p", "div", "address", "cite") if _is_byline(e))
    for element in islice(marked, _MAX_MARKED):
        text = one_line(read_text(element), 400)
        words = len(text.split())
        # A box about the author has a class of the same name, and sentences in it.
        if words > _BYLINE_WORDS or (words > _NAME_WORDS and text.endswith((".", "!"))):
            continue
        # Dates and minutes to read share the byline.
        parts = _PARTS.split(text[:120].rstrip())
        names = (_BY.sub("", p, count=1) for p in parts if not any(c.isdigit() for c in p))
        name = next((n for n in names if 2 < len(n) <= 80), "")
        if name:
            return name
    return ""


def _is_byline(element: html.HtmlElement) -> bool:
    """Return whether an element's names say that it holds the author's name."""
    marks = f"{element.get('itemprop') or ''} {element.get('class') or ''}"
    return marks != " " and _BYLINE.search(marks[:300]) is not None


def _is_address(text: str) -> bool:
    """Return whether the text is a profile's address, which some pages put in place of a name."""
    return text.lower().startswith(("http:", "https:", "/", "www."))


def _named(value: Any) -> str:
    """Return the name of a schema.org person, or the names of several."""
    if isinstance(value, list):
        names = [_named(v) for v in value[:10] if not isinstance(v, list)]
        return ", ".join(dict.fromkeys(n for n in names if n))
    if isinstance(value, dict):
        value = value.get("name")
    return one_line(value, 200) if isinstance(value, str) and not _is_address(value) else ""


def _published(
    root: html.HtmlElement, metas: dict[str, str], linked: list[dict[str, Any]], url: str
) -> float | None:
    """Return epoch seconds from JSON-LD, meta elements, time elements or the address."""
    texts = [str(n[k]) for n in linked for k in ("datePublished", "dateCreated") if isinstance(n.get(k), str)]
    texts += [metas[k] for k in _DATES if k in metas]
    times = [e for e in root.iter("time") if e.get("datetime")]
    # Comments and related articles have time elements as well; those marked as publication come first.
    times.sort(
        key=lambda e: not (e.get("pubdate") is not None or "publish" in (e.get("itemprop") or "").lower())
    )
    texts += [e.get("datetime") or "" for e in times[:5]]
    texts += [e.get("title") or e.text_content()[:100] for e in root.find_class("published")[:2]]
    read = Dates(limit=20).epoch
    moment = next((m for t in texts if (m := read(t)) is not None), None)
    # The address last: it has no time of day, and some paths name the day of an event.
    return moment if moment is not None else moment_in_url(url)


def _canonical(root: html.HtmlElement, metas: dict[str, str], base: str) -> str:
    """Return link rel=canonical, else og:url, as an absolute http(s) address, "" without either.

    Only that of the head counts (RFC 6596): anybody may write one into a comment.
    """
    links = [
        e.get("href") or ""
        for e in root.iterfind("head//link")
        if "canonical" in (e.get("rel") or "").lower().split()
    ]
    candidates = (absolute(base, reference) for reference in (*links[:3], metas.get("og:url", "")))
    return next(filter(None, candidates), "")


def _language(root: html.HtmlElement, metas: dict[str, str]) -> str:
    """Return the declared language: html lang, xml:lang, Content-Language or og:locale."""
    attributes = (
        root.get("lang"),
        root.get("xml:lang"),
        root.get("{http://www.w3.org/XML/1998/namespace}lang"),
    )
    declared = next((a for a in attributes if a and a.strip()), "")
    return declared or metas.get("content-language") or metas.get("og:locale") or ""
