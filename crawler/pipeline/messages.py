"""What controller and workers say to each other about documents: small frozen records."""

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
    """A stylesheet of somebody else: for documents of these types (empty: all) whose address matches.

    With `grddl`, its address, only for documents that name it as their transformation.
    """

    name: str
    content: str
    types: tuple[str, ...] = ()
    pattern: str = ""
    grddl: str = ""


class Plugin(Record, frozen=True):
    """A transformer behind an address: for documents of these types (empty: all) whose URL matches."""

    name: str
    address: str
    types: tuple[str, ...] = ()
    pattern: str = ""


class PhaseOutcome(Record, frozen=True):
    """What a phase made of a document; `failure` is empty on success. `seconds` of work."""

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
    """A batch of one phase under a lease, as it goes to a worker; after `expires` (epoch) it is void."""

    phase: str
    lease: str
    tasks: tuple[Task, ...]
    expires: float = 0.0
    hash_mail: bool = False
    rdfa: bool = False
    sheets: tuple[Sheet, ...] = ()
    plugins: tuple[Plugin, ...] = ()


class Done(Record, frozen=True):
    """What came of a batch, and who did it."""

    phase: str
    lease: str
    worker: str
    outcomes: tuple[PhaseOutcome, ...]
