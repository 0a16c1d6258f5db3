"""Every kind of work with every poison against the whole product, and one table of what came of it.

    python -m benchmarks.hostile [--kind NAME ...] [--poison NAME ...] [--json FILE] [--keep]

Starts `manage.py run` in a fresh data directory with an embedded PostgreSQL, and hosts on loopback addresses:
one for each kind of work and each poison, with healthy neighbours. Ends with 1 when a cell is red.
docs/reliability.md says what is promised of a cell.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from pathlib import Path

from benchmarks.hostile.cells import Run, cells_of
from benchmarks.hostile.kind import World
from benchmarks.hostile.kinds import KINDS
from benchmarks.hostile.poisons import POISONS
from benchmarks.hostile.product import Product, tracebacks
from benchmarks.hostile.server import Server
from benchmarks.hostile.table import as_json, as_markdown

SECONDS, REST, STALL = 420.0, 20.0, 150.0


def main() -> int:
    """Run, tell, and end with what came of it."""
    options = _options()
    kinds = [kind for kind in KINDS if not options.kind or kind.name in options.kind]
    poisons = [poison for poison in POISONS if not options.poison or poison.name in options.poison]
    cells = cells_of(kinds, poisons)
    if not cells:
        raise SystemExit("no such kind or poison; see benchmarks/hostile/kinds.py and poisons.py")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the product ends with us
    began = time.monotonic()
    with Server([cell.address for cell in cells]) as server, Product(keep=options.keep) as product:
        _say(f"{len(cells)} cells; the product is up after {time.monotonic() - began:.0f} s")
        if options.keep:
            _say(f"data and log in {product.directory}")
        run = Run(World(product.api, server), cells)
        run.begin()
        _say(f"all is begun after {time.monotonic() - began:.0f} s")
        run.work(_wait, options.seconds, REST, STALL, _Progress(began))
        whole = [f"a process ended: {words}" for words in product.ended()]
        whole += [f"/healthz: {words}" for words in product.unwell]
        by_address = {cell.address: cell for cell in cells}
        for words, addresses in tracebacks(product.log()):
            blamed = [by_address[address] for address in addresses if address in by_address]
            for cell in blamed:
                run.faults[cell].append(f"traceback in the log: {words}")
            if not blamed:
                whole.append(f"traceback in the log: {words}")
    whole = list(dict.fromkeys(whole))
    red = sum(1 for found in run.faults.values() if found)
    figures = [
        f"{len(cells)} cells, {red} red; {sum(server.asked.values())} requests; "
        f"{time.monotonic() - began:.0f} s from start to end.",
    ]
    print(as_markdown(run.faults, whole, figures))
    if options.json:
        options.json.write_text(json.dumps(as_json(run.faults, whole), indent=1))
    return 1 if red or whole else 0


def _wait() -> bool:
    """The product works by itself."""
    time.sleep(0.5)
    return False


class _Progress:
    """A line on stderr every ten seconds."""

    def __init__(self, began: float) -> None:
        self._began = self._told = began

    def __call__(self, waiting: int) -> None:
        now = time.monotonic()
        if now - self._told > 10:
            self._told = now
            _say(f"{now - self._began:4.0f} s: {waiting} cells are awaited")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hostile",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--kind", action="append", choices=[kind.name for kind in KINDS], help="only this one"
    )
    parser.add_argument(
        "--poison", action="append", choices=[one.name for one in POISONS], help="only this one"
    )
    parser.add_argument("--json", type=Path, help="write the outcome there, too")
    parser.add_argument("--keep", action="store_true", help="keep the data directory with its log")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="the most that the cells may take")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
