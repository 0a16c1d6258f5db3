"""The messages between controller and workers about documents: small frozen records."""

from __future__ import annotations

from crawler.text.records import Record

PHASES = ("fetch", "detect", "transform", "index", "extract")
HEAD = 65_536
"""Bytes of a document that detect gets to see."""


class Task(Record, frozen=True):
    """A document for detect (the head of its body) or transform (all of it), from the controller."""

    id: int
    url: str
    body: bytes
    content_type: str = ""
    type: str = ""


class Sheet(Record, frozen=True):
    """A user's stylesheet for documents of these types (empty: all) whose address matches.

    With `grddl`, its address, only for documents that name it as their transformation.
    """

    name: str
    content: str
    types: tuple[str, ...] = ()
    pattern: str = ""
    grddl: str = ""


class Plugin(Record, frozen=True):
    """A transformer behind an address, for documents of these types (empty: all) whose URL matches."""

    name: str
    address: str
    types: tuple[str, ...] = ()
    pattern: str = ""


class PhaseOutcome(Record, frozen=True):
    """The result of a phase for a document; `failure` is empty on success. `seconds` of work."""

    id: int
    failure: str = ""
    detail: str = ""
    seconds: float = 0.0
    type: str = ""
    reason: str = ""
    sha256: str = ""
    transformer: str = ""
    notes: tuple[str, ...] = ()
    count: int = 0
    triples: bytes = b""


class PhaseWork(Record, frozen=True):
    """A batch of one phase under a lease, sent to a worker; it is void after `expires` (epoch seconds).

    With `binaries` a transformer wants pictures and the like.
    """

    phase: str
    lease: str
    tasks: tuple[Task, ...]
    expires: float = 0.0
    hash_mail: bool = False
    rdfa: bool = False
    sheets: tuple[Sheet, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    binaries: bool = False


class Done(Record, frozen=True):
    """The outcomes of a batch, and the worker that did it."""

    phase: str
    lease: str
    worker: str
    outcomes: tuple[PhaseOutcome, ...]
