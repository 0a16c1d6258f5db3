"""What goes out to the phases next: as many batches as may be out of each, the rest waits in the table."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from crawler.messages import encode
from crawler.pipeline.documents import LEASES, lease, out, work


@dataclass(frozen=True, slots=True)
class Message:
    """A batch for a phase's task: encoded work, or the lease under which the rows are."""

    phase: str
    content: str


def hand_out(now: datetime) -> list[Message]:
    """Lease what there is room for."""
    messages = []
    for phase, most in LEASES.items():
        for _ in range(most - out(phase)):
            rows = lease(phase, now)
            if not rows:
                break
            if phase in {"detect", "transform"}:
                messages += [Message(phase, encode(batch)) for batch in work(phase, rows)]
            else:
                messages.append(Message(phase, str(rows[0].lease)))
    return messages
