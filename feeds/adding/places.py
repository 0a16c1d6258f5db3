"""Known places: patterns of addresses of pages, with the addresses of their feeds, from `places.toml`. Pure.

The table says which pages are known; this module reads it once, at import, and matches addresses with it.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

TABLE = Path(__file__).with_name("places.toml")
MAX_URL_LENGTH = 2000
"""Longer addresses are of no known place."""
NO_BRIDGES: Mapping[str, str] = MappingProxyType({})

_REQUIRED = {"name", "hosts", "path", "feed", "example"}
_KEYS = _REQUIRED | {"query", "only", "more", "guess", "bridge"}
_VARIABLE = re.compile(r"\{(\w+)(\*|:digits)?\}")
_PAGE_VARIABLES = {"origin", "host", "bridge"}
_HOST = re.compile(r"[a-z0-9][a-z0-9.-]*")
_FEED = re.compile(r"\.(?:rss|atom|xml|rdf)/?$", re.IGNORECASE)
_FEED_QUERY = re.compile(r"(?:^|&)(?:feed|format|alt)=(?:rss|atom|feed|json)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KnownPlace:
    """An entry of the table. `paths` and the values of `query` are patterns whose groups are variables."""

    name: str
    hosts: tuple[str, ...]
    paths: tuple[re.Pattern[str], ...]
    query: tuple[tuple[str, re.Pattern[str]], ...]
    only: frozenset[str]
    feed: str
    others: tuple[tuple[str, str], ...]
    bridge: str
    is_guess: bool
    example: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlaceMatch:
    """A place with the values of its variables for one page, percent-encoded as in a path."""

    place: KnownPlace
    values: Mapping[str, str]

    @property
    def feed(self) -> str:
        """The address of the feed, "" if the table says that the page has none."""
        return _filled(self.place.feed, self.values)

    @property
    def others(self) -> list[tuple[str, str]]:
        """Names and addresses of further feeds of the place."""
        return [(name, _filled(feed, self.values)) for name, feed in self.place.others]


def certain_place(url: str, bridges: Mapping[str, str] = NO_BRIDGES) -> PlaceMatch | None:
    """Return the first place on a known host that the page is of, None if there is none.

    `bridges` are base addresses of bridges by their kind; places that need another kind do not count.
    """
    return next(_matches(url, bridges, is_guess=False), None)


def guessed_places(url: str) -> list[PlaceMatch]:
    """Return the places on any host that the page may be of, the likeliest first."""
    return list(_matches(url, NO_BRIDGES, is_guess=True))


def looks_like_feed(url: str) -> bool:
    """Return whether the address is that of a feed by its look: /x.rss, ?format=atom."""
    address, _, query = url.partition("#")[0].partition("?")
    return bool(_FEED.search(address) or _FEED_QUERY.search(query))


def read_places(text: str) -> list[KnownPlace]:
    """Return the places of a table in TOML. Raises ValueError that names an entry which is no place."""
    return [_place(entry) for entry in tomllib.loads(text)["place"]]


def _matches(url: str, bridges: Mapping[str, str], *, is_guess: bool) -> Iterator[PlaceMatch]:
    if len(url) > MAX_URL_LENGTH:
        return
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return
    if parts.scheme not in {"http", "https"} or not _HOST.fullmatch(host):
        return
    path, query = parts.path.rstrip("/"), parse_qs(parts.query, errors="replace")
    if any(part in {".", ".."} for part in path.split("/")):
        return
    page_values = {"origin": f"{parts.scheme}://{parts.netloc}", "host": host}
    for place in _ANYWHERE if is_guess else _places_on(host.removeprefix("www.").removeprefix("m.")):
        if place.bridge and place.bridge not in bridges:
            continue
        values = _values(place, re.sub("/{2,}", "/", path), query)
        if values is not None:
            yield PlaceMatch(
                place, values | page_values | {"bridge": bridges.get(place.bridge, "").rstrip("/")}
            )


def _places_on(host: str) -> list[KnownPlace]:
    """Return the places on a host in the order of the table."""
    if host in _BY_HOST:
        return _BY_HOST[host]
    labels = host.split(".")
    suffixes = (f"*.{'.'.join(labels[first:])}" for first in range(1, len(labels)))
    return next((_BY_HOST[suffix] for suffix in suffixes if suffix in _BY_HOST), [])


def _values(place: KnownPlace, path: str, query: Mapping[str, list[str]]) -> dict[str, str] | None:
    """Return the variables of an address that matches a place, None for one that does not."""
    if place.only and path.removeprefix("/").partition("/")[0].lower() not in place.only:
        return None
    match = next(filter(None, (pattern.fullmatch(path) for pattern in place.paths)), None)
    if match is None:
        return None
    values: dict[str, str] = match.groupdict()
    for name, pattern in place.query:
        value = pattern.fullmatch(query.get(name, [""])[0])
        if value is None:
            return None
        values |= {key: quote(text, safe="", errors="replace") for key, text in value.groupdict().items()}
    return values


def _filled(template: str, values: Mapping[str, str]) -> str:
    path, mark, query = template.partition("?")
    path = _VARIABLE.sub(lambda variable: values[variable[1]], path)
    query = _VARIABLE.sub(
        lambda variable: quote(unquote(values[variable[1]]), safe="@:,/", errors="replace"), query
    )
    return path + mark + query


def _place(entry: Mapping[str, Any]) -> KnownPlace:
    name = str(entry.get("name", "an entry without name"))
    if unknown := entry.keys() - _KEYS:
        raise ValueError(f"{name}: no key of a place is called {', '.join(sorted(unknown))}")
    if missing := _REQUIRED - entry.keys():
        raise ValueError(f"{name}: a place needs {', '.join(sorted(missing))}")
    templates = entry["path"] if isinstance(entry["path"], list) else [entry["path"]]
    pairs = [pair.partition("=") for pair in entry.get("query", "").split("&") if pair]
    place = KnownPlace(
        name=name,
        hosts=tuple(entry["hosts"]),
        paths=tuple(_pattern(template) for template in templates),
        query=tuple((key, _pattern(value)) for key, _, value in pairs),
        only=frozenset(entry.get("only", ())),
        feed=entry["feed"],
        others=tuple((other_name, feed) for other_name, feed in entry.get("more", ())),
        bridge=entry.get("bridge", ""),
        is_guess=entry.get("guess", False),
        example=tuple(entry["example"]),
    )
    query_variables = {key for _, pattern in place.query for key in pattern.groupindex}
    used = {key for feed in (place.feed, *dict(place.others).values()) for key, _ in _VARIABLE.findall(feed)}
    for pattern in place.paths:
        if undefined := used - query_variables - pattern.groupindex.keys() - _PAGE_VARIABLES:
            raise ValueError(f"{name}: nothing gives {', '.join(sorted(undefined))}")
    return place


def _pattern(template: str) -> re.Pattern[str]:
    """Return the pattern of a template. It takes linear time, since a variable ends at the next slash."""
    template, is_open = template.removesuffix("/**"), template.endswith("/**")
    kinds = {"": "[^/]+", "*": "[^/]+(?:/[^/]+)*?", ":digits": "[0-9]{1,20}"}
    pattern, end = "", 0
    for variable in _VARIABLE.finditer(template):
        pattern += re.escape(template[end : variable.start()])
        pattern += f"(?P<{variable[1]}>{kinds[variable[2] or '']})"
        end = variable.end()
    return re.compile(
        pattern + re.escape(template[end:].rstrip("/")) + ("(?:/.*)?" if is_open else ""), re.DOTALL
    )


def _by_host(places: list[KnownPlace]) -> dict[str, list[KnownPlace]]:
    places_by_host: dict[str, list[KnownPlace]] = defaultdict(list)
    for place in places:
        for host in place.hosts:
            places_by_host[host].append(place)
    return dict(places_by_host)


PLACES = read_places(TABLE.read_text(encoding="utf-8"))
_BY_HOST = _by_host(PLACES)
_ANYWHERE = [place for place in PLACES if place.is_guess]
