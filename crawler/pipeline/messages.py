"""What controller and workers say to each other about documents: small frozen records."""

from __future__ import annotations

from dataclasses import dataclass

PHASES = ("fetch", "detect", "transform", "index", "extract")
HEAD = 65_536
"""Bytes of a document that detect gets to see."""


@dataclass(frozen=True, slots=True)
class Task:
    """A document for detect (the head of its body) or transform (all of it), from the controller."""

    id: int
    url: str
    body: bytes
    content_type: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A stylesheet of somebody else: for documents of these types (empty: all) whose address matches.

    With `grddl`, its address, only for documents that name it as their transformation.
    """

    name: str
    content: str
    types: tuple[str, ...] = ()
    pattern: str = ""
    grddl: str = ""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A transformer behind an address: for documents of these types (empty: all) whose URL matches."""

    name: str
    address: str
    types: tuple[str, ...] = ()
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class PhaseOutcome:
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


@dataclass(frozen=True, slots=True)
class PhaseWork:
    """A batch of one phase under a lease, as it goes to a worker; after `expires` (epoch) it is void."""

    phase: str
    lease: str
    tasks: tuple[Task, ...]
    expires: float = 0.0
    hash_mail: bool = False
    rdfa: bool = False
    sheets: tuple[Sheet, ...] = ()
    plugins: tuple[Plugin, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a batch, and who did it."""

    phase: str
    lease: str
    worker: str
    outcomes: tuple[PhaseOutcome, ...]
