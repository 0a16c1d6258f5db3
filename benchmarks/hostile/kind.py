"""What a kind of work is, what is seen of it, and the hosts that it is tried on."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlencode

from benchmarks.hostile import wire
from benchmarks.hostile.api import Api
from benchmarks.hostile.documents import BUILDERS, Content, Shape, feed, media_type
from benchmarks.hostile.poisons import Poison
from benchmarks.hostile.server import Answer, Server, Site

GOOD = ("/good-1", "/good-2")
FULL_TEXT = 300
"""Characters that only an article's page has: what the feeds here say of it is shorter."""


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A kind of work and a poison, on a host of their own."""

    kind: Kind
    poison: Poison
    address: str


@dataclass(slots=True)
class Seen:
    """What the product says of a cell: is the poison stored, or failed by a name; which others are missing.

    `ready` tells that a poison which comes later may come now. `said` is all that the API says of it, `page`
    the page that has to show the failure. `named` tells whether the API names it, `trouble` says what else
    is wrong. With `in_words` the failure is a sentence, not a name of the taxonomy.
    """

    stored: bool = False
    failure: str = ""
    missing: tuple[str, ...] = ()
    ready: bool = False
    said: Any = None
    page: str = ""
    named: bool = True
    trouble: str = ""
    in_words: bool = False

    @property
    def settled(self) -> bool:
        """Whether nothing is awaited any more."""
        return (self.stored or bool(self.failure)) and not self.missing


@dataclass
class World:
    """The hosts, the product, and what was begun there."""

    api: Api
    server: Server
    crawls: dict[str, int] = field(default_factory=dict)
    forms: dict[str, dict[str, str]] = field(default_factory=dict)
    replies: dict[Cell, str] = field(default_factory=dict)
    _lists: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def url(self, cell: Cell, path: str) -> str:
        """An address on a cell's host."""
        return self.server.origin(cell.address) + path

    def sent(self, cell: Cell) -> int:
        """How often its poison was given out."""
        return self.server.sites[cell.address].sent

    def rows(self, target: str, **query: object) -> list[dict[str, Any]]:
        """A list of the API, read once a round."""
        name = f"{target}?{urlencode(query)}"
        if name not in self._lists:
            self._lists[name] = list(self.api.rows(target, **query))
        return self._lists[name]

    def forget(self) -> None:
        """Another round begins."""
        self._lists.clear()

    def heard(self, path: str, body: bytes) -> None:
        """What a hub is told: keep it, and confirm it as hubs do."""
        form = {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}
        if "hub.callback" not in form:
            return
        self.forms[form["hub.topic"]] = form
        query = {"hub.mode": "subscribe", "hub.topic": form["hub.topic"], "hub.challenge": "water"}
        confirm = f"{form['hub.callback']}?{urlencode(query | {'hub.lease_seconds': '864000'})}"
        with urllib.request.urlopen(confirm, timeout=30) as answer:
            answer.read()


_SPELLED = {"robots.txt": "robots", "TLS": "tls", "DNS": "dns"}


def named_on_page(words: str) -> str:
    """The failure that a page spells for people, as the taxonomy has it."""
    words = words.strip()
    status = re.match(r"(?:HTTP )?(\d{3})\b", words)
    return f"http-{status[1]}" if status else _SPELLED.get(words, words.lower().replace(" ", "-"))


Look = Callable[[World, "Kind", Sequence[Cell]], dict[Cell, Seen]]


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind of work: the document that is poisoned, where it is, how it is begun, and what is seen of it.

    With `turn` the poison comes later: everything is healthy until a cell is `ready`, then `turn` is called;
    but `early` ones are out from the beginning. `site_wide` kinds take a site that is watched.
    In tests kinds with `every_answer` see all ways to write one.
    """

    name: str
    shape: Shape
    path: str
    site: Callable[[World, Cell], dict[str, Answer]]
    begin: Callable[[World, Kind, Sequence[Cell]], None]
    look: Look
    turn: Callable[[World, Cell], None] | None = None
    concerned: Callable[[Kind, Poison], bool] = lambda kind, poison: poison.concerns(kind.shape)
    early: bool = False
    site_wide: bool = False
    every_answer: bool = False


def build(world: World, cell: Cell) -> Site:
    """The host of a cell."""
    kind = cell.kind
    answers = kind.site(world, cell)
    site = Site(
        cell.address, answers, kind.path, poisonous(world, cell), poisoned=kind.turn is None or kind.early
    )
    site.heard = world.heard
    return site


def poisonous(world: World, cell: Cell) -> Answer:
    """The poisoned answer: the poison's own document, or the usual one filled by it."""
    kind, poison, origin = cell.kind, cell.poison, world.server.origin(cell.address)
    usual = kind.site(world, cell).get(kind.path)
    own = poison.bodies.get(kind.shape) if poison.bodies else None
    if own is None:
        made = partial(document, kind.shape, origin, kind.path, poison.content)
    else:
        made = partial(own, origin)
    content_type = media_type(kind.shape, poison.content)
    return Answer(
        made, content_type, dict(poison.headers), poison.send or wire.plainly, usual.status if usual else 200
    )


def document(shape: Shape, origin: str, path: str, content: Content, links: Sequence[str] = ()) -> bytes:
    """The usual document of a shape, filled."""
    return BUILDERS[shape](origin, path, content, tuple(links))


def healthy(
    world: World, cell: Cell, shape: Shape, path: str, links: Sequence[str] = (), **also: Any
) -> Answer:
    """A healthy answer, whose words name it."""
    origin = world.server.origin(cell.address)
    content = Content(f"Neighbour {cell.address}{path}")
    if also:
        return Answer(partial(feed, origin, path, content, tuple(links), **also), media_type(shape, content))
    return Answer(lambda: document(shape, origin, path, content, links), media_type(shape, content))
