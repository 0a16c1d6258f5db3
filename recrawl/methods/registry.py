"""The methods by name."""

from __future__ import annotations

from collections.abc import Callable

from recrawl.methods.adaptive import Adaptive
from recrawl.methods.base import Method
from recrawl.methods.gated import ByDirectory, ByLinks, ByLinksGated
from recrawl.methods.oracle import Oracle
from recrawl.methods.plain import BreadthFirstMethod, HistoryMethod
from recrawl.methods.sampling import ServerSampling
from recrawl.methods.textbook import Textbook

METHODS: dict[str, Callable[[], Method]] = {
    "A": ByDirectory,
    "B": ByLinks,
    "C": ByLinksGated,
    "breadth-first": BreadthFirstMethod,
    "server-sampling": ServerSampling,
    "server-sampling+A": lambda: ServerSampling(ByDirectory()),
    "server-sampling+B": lambda: ServerSampling(ByLinks()),
    "server-sampling+C": lambda: ServerSampling(ByLinksGated()),
    "history": HistoryMethod,
    "adaptive": Adaptive,
}
"""Methods that sites are visited by."""
REPLAYED = METHODS | {"cho-garcia-molina": Textbook, "oracle": Oracle}
"""Methods that replays know."""
DEFAULT = "adaptive"


def make_method(name: str) -> Method:
    """Return a new method by name. Raises ValueError for an unknown name."""
    if name not in REPLAYED:
        raise ValueError(f"there is no method {name!r}; the methods are {', '.join(REPLAYED)}")
    return REPLAYED[name]()
