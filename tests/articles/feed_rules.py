"""The W3C feed validator's rules that apply to what Freshet writes, as errors and warnings in words.

From its documentation of errors and warnings, RFC 4287, the RSS 2.0 specification with its best practices,
RFC 5005 and JSON Feed 1.1; written anew, for the validator itself runs on the web alone.
"""

# ruff: noqa: C901, PLR0912 - a list of rules reads best as a list

from __future__ import annotations

import json
import re
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

from lxml import etree, html

ATOM = "{http://www.w3.org/2005/Atom}"
CONTENT = "{http://purl.org/rss/1.0/modules/content/}encoded"
RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
RFC822 = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} "
    r"\d\d:\d\d:\d\d (?:GMT|[+-]\d{4})"
)
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
MEDIA = re.compile(r"[\w.+-]+/[\w.+-]+")
UNSAFE = {"script", "object", "embed", "iframe", "meta", "link", "style", "form", "frame", "base", "applet"}


def broken(body: bytes, kind: str, content_type: str, address: str) -> list[str]:
    """What is wrong with a document served at an address, errors and warnings; empty where nothing is."""
    if not content_type.endswith("; charset=utf-8"):
        return [f"the charset is not said: {content_type}"]
    if kind == "json":
        return list(_json(json.loads(body), address))
    try:
        root = etree.fromstring(body, etree.XMLParser(resolve_entities=False))
    except etree.XMLSyntaxError as error:
        return [f"not well-formed: {error}"]
    return list(_rss(root, address) if kind == "rss" else _atom(root, address))


def _rss(root: Any, address: str) -> Any:
    if root.tag != "rss" or root.get("version") != "2.0" or len(root) != 1:
        yield "no rss 2.0 with one channel"
    channel = root[0]
    for name in ("title", "link", "description"):
        if len(channel.findall(name)) != 1 or not (channel.findtext(name) or "").strip():
            yield f"channel: one {name} is wanted"
    yield from _url("channel link", channel.findtext("link"))
    yield from _date822("lastBuildDate", channel.findtext("lastBuildDate"))
    yield from _self_link([(a.get("rel"), a.get("href")) for a in channel.findall(f"{ATOM}link")], address)
    guids = []
    for item in channel.findall("item"):
        for name in ("title", "link", "description", "guid", "pubDate", "author", "source"):
            if len(item.findall(name)) > 1:
                yield f"item: {name} more than once"
        if not (item.findtext("title") or item.findtext("description")):
            yield "item: neither title nor description"
        if item.find("link") is not None:
            yield from _url("item link", item.findtext("link"))
        guid = item.find("guid")
        if guid is None or not guid.text:
            yield "item: no guid"
        else:
            guids.append(guid.text)
            if guid.get("isPermaLink") != "false":
                yield from _url("guid as permalink", guid.text)
        yield from _date822("pubDate", item.findtext("pubDate"))
        enclosures = item.findall("enclosure")
        for enclosure in enclosures:
            yield from _url("enclosure", enclosure.get("url"))
            if not (enclosure.get("length") or "").isdigit() or not MEDIA.fullmatch(
                enclosure.get("type") or ""
            ):
                yield "enclosure: length or type is missing"
        if item.find("source") is not None:
            yield from _url("source", item.find("source").get("url"))
        if item.find("title") is not None and re.search(r"<\w+[^>]*>", item.findtext("title") or ""):
            yield "item: markup in the title"
        for name in ("description", CONTENT):
            yield from _markup(name, item.findtext(name) or "")
    if len(set(guids)) < len(guids):
        yield "two items have one guid"


def _atom(root: Any, address: str) -> Any:
    if root.tag != f"{ATOM}feed":
        yield "no Atom feed"
    yield from _required(root, "feed")
    yield from _self_link([(a.get("rel"), a.get("href")) for a in root.findall(f"{ATOM}link")], address)
    ids = []
    for entry in root.findall(f"{ATOM}entry"):
        yield from _required(entry, "entry")
        ids.append(entry.findtext(f"{ATOM}id"))
        yield from _date3339("published", entry.findtext(f"{ATOM}published"))
        authors = entry.findall(f"{ATOM}author") + root.findall(f"{ATOM}author")
        authors += entry.findall(f"{ATOM}source/{ATOM}author")
        if not authors or not all((author.findtext(f"{ATOM}name") or "").strip() for author in authors):
            yield "entry: no author with a name, neither here nor in the feed"
        links = entry.findall(f"{ATOM}link")
        alternates = [
            (a.get("type"), a.get("hreflang")) for a in links if a.get("rel", "alternate") == "alternate"
        ]
        if len(set(alternates)) < len(alternates):
            yield "entry: two alternates of one type and language"
        if not alternates and entry.find(f"{ATOM}content") is None:
            yield "entry: neither content nor an alternate"
        for link in links:
            yield from _url("entry link", link.get("href"))
            if link.get("length") and not link.get("length").isdigit():
                yield "entry link: length is no number"
            if link.get("type") and not MEDIA.fullmatch(link.get("type")):
                yield "entry link: type is none"
        for category in entry.findall(f"{ATOM}category"):
            if not category.get("term"):
                yield "category without a term"
        for name in ("summary", "content"):
            found = entry.find(f"{ATOM}{name}")
            if found is not None:
                if found.get("type") not in {"text", "html"}:
                    yield f"{name}: type {found.get('type')}"
                yield from _markup(name, found.text or "")
    if len(set(ids)) < len(ids):
        yield "two entries have one id"
    for tag in root.iter():
        language = tag.get("{http://www.w3.org/XML/1998/namespace}lang")
        if language and not LANGUAGE.fullmatch(language):
            yield f"{language!r} is no language"


def _required(element: Any, name: str) -> Any:
    for part in ("id", "title", "updated"):
        if (
            len(element.findall(f"{ATOM}{part}")) != 1
            or not (element.findtext(f"{ATOM}{part}") or "").strip()
        ):
            yield f"{name}: one {part} is wanted"
    if not urlsplit(element.findtext(f"{ATOM}id") or "").scheme:
        yield f"{name}: id is no full IRI"
    yield from _date3339("updated", element.findtext(f"{ATOM}updated"))


def _json(feed: dict[str, Any], address: str) -> Any:
    if feed.get("version") != "https://jsonfeed.org/version/1.1":
        yield "version is wanted"
    if not feed.get("title") or not isinstance(feed.get("items"), list):
        yield "title and items are wanted"
    if feed.get("feed_url") != address:
        yield f"feed_url {feed.get('feed_url')} is not {address}"
    for name in ("home_page_url", "feed_url", "next_url"):
        if name in feed:
            yield from _url(name, feed[name])
    ids = [item.get("id") for item in feed["items"]]
    if len(set(ids)) < len(ids):
        yield "two items have one id"
    for item in feed["items"]:
        if not isinstance(item.get("id"), str) or not item["id"]:
            yield "item: id must be a string"
        if "content_html" not in item and "content_text" not in item:
            yield "item: neither content_html nor content_text"
        if "url" in item:
            yield from _url("item url", item["url"])
        for name in ("date_published", "date_modified"):
            yield from _date3339(name, item.get(name))
        if not isinstance(item.get("tags", []), list) or not isinstance(item.get("authors", []), list):
            yield "item: tags and authors are lists"
        for attachment in item.get("attachments", []):
            yield from _url("attachment", attachment.get("url"))
            if not MEDIA.fullmatch(attachment.get("mime_type", "")):
                yield "attachment: mime_type is wanted"
        yield from _markup("content_html", item.get("content_html", ""))


def _self_link(links: list[tuple[str | None, str | None]], address: str) -> Any:
    own = [href for rel, href in links if rel == "self"]
    if own != [address]:
        yield f"the self link {own} is not {address}"
    for rel, href in links:
        yield from _url(f"{rel} link", href)
    for rel in ("first", "next", "previous", "last"):
        if sum(found == rel for found, _ in links) > 1:
            yield f"more than one {rel} link"


def _markup(name: str, text: str) -> Any:
    """Relative references and what readers take out for safety, in HTML."""
    if not text.strip():
        return
    for element in html.fragment_fromstring(text, create_parent="div").iter():
        if not isinstance(element.tag, str):
            continue
        if element.tag in UNSAFE:
            yield f"{name}: <{element.tag}>"
        for attribute, value in element.attrib.items():
            if attribute.startswith("on") or attribute == "style":
                yield f"{name}: attribute {attribute}"
            if attribute in {"href", "src"} and not urlsplit(value.strip()).scheme:
                yield f"{name}: relative reference {value!r}"


def _url(name: str, value: str | None) -> Any:
    if not value or value != value.strip() or " " in value or urlsplit(value).scheme not in {"http", "https"}:
        yield f"{name}: {value!r} is no full address"
    elif urljoin(value, "") != value:
        yield f"{name}: {value!r} is not in its usual form"


def _date822(name: str, value: str | None) -> Any:
    if not value or not RFC822.fullmatch(value) or parsedate_to_datetime(value) is None:
        yield f"{name}: {value!r} is no date of RFC 822"


def _date3339(name: str, value: str | None) -> Any:
    if not value or not RFC3339.fullmatch(value):
        yield f"{name}: {value!r} is no date of RFC 3339"
