"""Dispatch of documents to the phases, with a bounded number of batches of each; the rest waits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from crawler.messages import encode
from crawler.pipeline.documents import LEASES, lease, out, work


@dataclass(frozen=True, slots=True)
class Message:
    """A batch for a phase's task: encoded work, or the lease of its rows."""

    phase: str
    content: str


def hand_out(now: datetime) -> list[Message]:
    """Lease as many batches of each phase as there is room for."""
    messages = []
    for phase, max_batches in LEASES.items():
        for _ in range(max_batches - out(phase)):
            rows = lease(phase, now)
            if not rows:
                break
            if phase in {"detect", "transform"}:
                messages += [Message(phase, encode(batch)) for batch in work(phase, rows)]
            else:
                messages.append(Message(phase, str(rows[0].lease)))
    return messages
