"""Link graphs, read from recorded sites and ranked by PageRank. Pure, except for reading files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from crawler.text.gzipped import DAMAGED, unpacked

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# The value of the paper (Page et al. 1998).
DAMPING = 0.85
# The change in the ranks of known pages, all together, below which they are near enough for an order.
KNOWN_TOLERANCE = 0.01
MAX_PAGES = 2_000_000


class GraphError(ValueError):
    """An error raised for a link graph that cannot be used, with the reason."""


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """A link graph of n pages: their `names`, the indices of `seeds`, and for each page its `links`.

    `links` holds the indices of a page's targets. `domain` and `host` number the registrable domain and the
    host of each page. Pages that were never fetched have no links. `counts` are the inter- and intra-domain
    links of each page, links out of the graph included.
    """

    name: str
    names: tuple[str, ...]
    links: tuple[tuple[int, ...], ...]
    seeds: tuple[int, ...]
    host: tuple[int, ...]
    domain: tuple[int, ...]
    counts: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.names)


def graph_of(
    name: str,
    links: Mapping[str, Sequence[str]],
    seeds: Sequence[str],
    domains: Mapping[str, str] | None = None,
    counts: Mapping[str, tuple[int, int]] | None = None,
) -> LinkGraph:
    """Build a graph from the links of each page. Pages that are only linked to are included.

    `domains` maps a host to its registrable domain (by default the host itself), `counts` a page to its
    numbers of inter- and intra-domain links if more are known than the graph holds. Raises GraphError.
    """
    numbers: dict[str, int] = {}
    for page, targets in links.items():
        numbers.setdefault(page, len(numbers))
        for target in targets:
            numbers.setdefault(target, len(numbers))
    missing = [seed for seed in seeds if seed not in numbers]
    if missing or not seeds:
        raise GraphError(f"{name}: no page is called {missing[0] if missing else 'as a seed'}")
    if len(numbers) > MAX_PAGES:
        raise GraphError(f"{name}: more than {MAX_PAGES} pages")
    hosts = [urlsplit(page).hostname or "" for page in numbers]
    places = {host: at for at, host in enumerate(dict.fromkeys(hosts))}
    domain_of = {host: (domains or {}).get(host, host) for host in places}
    owners = {domain: at for at, domain in enumerate(dict.fromkeys(domain_of.values()))}
    out: list[tuple[int, ...]] = [()] * len(numbers)
    for page, targets in links.items():
        place = numbers[page]
        # A link to itself would pay a page its own rank.
        out[place] = tuple(dict.fromkeys(numbers[target] for target in targets if target != page))
    domain = [owners[domain_of[host]] for host in hosts]
    inter = [sum(domain[target] != domain[page] for target in targets) for page, targets in enumerate(out)]
    counted = [
        (counts or {}).get(page, (inter[at], len(out[at]) - inter[at])) for at, page in enumerate(numbers)
    ]
    return LinkGraph(
        name,
        tuple(numbers),
        tuple(out),
        tuple(numbers[seed] for seed in seeds),
        tuple(places[host] for host in hosts),
        tuple(domain),
        tuple(counted),
    )


def read_site_history(path: Path) -> LinkGraph:
    """Read the first week of a recorded site.

    The file is gzipped JSON lines: {"top", "pages": {path: [hash, links]}}. Raises GraphError for a damaged
    file, and OSError for one that cannot be read.
    """
    try:
        with path.open("rb") as file:
            first = json.loads(unpacked(file).readline())
        pages = {page: [str(link) for link in entry[1]] for page, entry in first["pages"].items()}
        return graph_of(path.name, pages, [first["top"]])
    except (*DAMAGED, UnicodeDecodeError) as error:
        raise GraphError(f"{path.name}: damaged gzip: {error}") from error
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        if isinstance(error, GraphError):
            raise
        raise GraphError(f"{path.name}: no recorded site: {error}") from error


def pagerank(graph: LinkGraph, damping: float = DAMPING, tolerance: float = 1e-10) -> Floats:
    """Return the (n,) PageRank of every page (Page et al. 1998), which sums to 1."""
    source = np.repeat(np.arange(len(graph)), [len(targets) for targets in graph.links])
    target = np.array([page for targets in graph.links for page in targets], dtype=np.int64)
    return ranks(len(graph), source, target, damping=damping, tolerance=tolerance)


def known_ranks(source: Integers, target: Integers, host: Integers) -> Floats:
    """Return the (n,) PageRank of the pages that a crawl knows, by the links of those it has crawled.

    Its mean is 1, so that most ranks stay as they are while more pages become known. `host` (n,) numbers the
    host of each page. One who follows no link goes to any host alike: a host of which little is known yet
    counts as much as the others, or its pages would come last.
    """
    host_sizes = np.bincount(host)
    jump = 1.0 / host_sizes[host]
    scores = ranks(len(host), source, target, tolerance=KNOWN_TOLERANCE, jump=jump / jump.sum())
    return scores * len(host)


def ranks(
    n: int,
    source: Integers,
    target: Integers,
    *,
    damping: float = DAMPING,
    tolerance: float = 1e-10,
    jump: Floats | None = None,
) -> Floats:
    """Return the (n,) PageRank of pages 0 to n-1, which sums to 1; (m,) links lead from `source` to `target`.

    `jump` (n,) sums to 1 and says where one goes on who follows no link, or stands on a page without links;
    None: to any page alike.
    """
    jump = np.full(n, 1.0 / n) if jump is None else jump
    degree = np.bincount(source, minlength=n)
    share = 1.0 / np.maximum(degree, 1)
    rank = jump
    for _ in range(1000):
        paid = rank * share
        flowing = np.bincount(target, weights=paid[source], minlength=n) if len(target) else np.zeros(n)
        following: Floats = damping * flowing + (1 - damping + damping * rank[degree == 0].sum()) * jump
        if np.abs(following - rank).sum() < tolerance:
            return following
        rank = following
    return rank
