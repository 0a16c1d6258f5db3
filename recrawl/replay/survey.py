"""Tables 1 to 3 and figure 1 of Kumagai and Yamana 2004, counted on histories. Pure.

Each comparison of a history with itself some weeks later stands for a server of the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crawler.text.cells import aligned
from recrawl.replay.history import History
from recrawl.replay.one_shot import OneShot, pairs, share

PAPER: Mapping[int, Mapping[str, float]] = {
    2: {"updated": 0.036, "top_changed": 0.20, "held": 0.63, "inside": 0.05},
    4: {"updated": 0.077, "top_changed": 0.35, "held": 0.76, "inside": 0.09},
    12: {"updated": 0.145, "top_changed": 0.52, "held": 0.84, "inside": 0.16},
    24: {"updated": 0.210, "top_changed": 0.66, "held": 0.88, "inside": 0.22},
}
"""What the paper found on 17,613 servers in 2004, by weeks: see `Period`."""


@dataclass(slots=True)
class Period:
    """Sums over the comparisons of one period: all pages, and those of servers whose top page had changed."""

    servers: int = 0
    top_changed: int = 0
    everything: OneShot = field(default_factory=OneShot)
    announced: OneShot = field(default_factory=OneShot)

    def add(self, other: Period) -> None:
        """Add the sums of another."""
        self.servers += other.servers
        self.top_changed += other.top_changed
        self.everything.add(other.everything)
        self.announced.add(other.announced)

    def as_json(self) -> dict[str, float]:
        """Return shares: of pages that were updated (table 2), of servers whose top page was (figure 1), of
        all updated pages that these servers hold, and of their own pages that were updated (table 3).
        """
        return {
            "servers": self.servers,
            "updated": share(self.everything.changed, self.everything.fetched),
            "top_changed": share(self.top_changed, self.servers),
            "held": share(self.announced.changed, self.everything.changed),
            "inside": share(self.announced.changed, self.announced.fetched),
        }


@dataclass(slots=True)
class Survey:
    """The counts of a group of servers: servers, their pages in the last week, and sums by period (weeks)."""

    servers: int = 0
    pages: int = 0
    periods: dict[int, Period] = field(default_factory=dict)

    def add(self, other: Survey) -> None:
        """Add the counts of another group."""
        self.servers += other.servers
        self.pages += other.pages
        for weeks, period in other.periods.items():
            self.periods.setdefault(weeks, Period()).add(period)

    def as_json(self) -> dict[str, Any]:
        """Return the counts as a dictionary for json.dumps."""
        return {
            "servers": self.servers,
            "pages": self.pages,
            "pages_per_server": share(self.pages, self.servers),
            "periods": {str(weeks): period.as_json() for weeks, period in self.periods.items()},
        }


def survey(history: History, periods: Sequence[int]) -> Survey:
    """Count one history."""
    result = Survey(1, len(history.live[-1]), {period: Period() for period in periods})
    for weeks, _, pair in pairs(history, periods):
        everything = pair.everything()
        is_top_changed = pair.changed.get(history.top, False)
        announced = everything if is_top_changed else OneShot()
        result.periods[weeks].add(Period(1, int(is_top_changed), everything, announced))
    return result


def tables(groups: Mapping[str, Survey]) -> str:
    """Return the tables as text, with the paper's figures beside ours."""
    whole = Survey()
    for group in groups.values():
        whole.add(group)
    first = [["group", "servers", "pages", "pages a server"]]
    first += [_row(name, group) for name, group in [*groups.items(), ("all", whole)]]
    weeks = list(whole.periods)
    second = [["group", *(f"{number} weeks" for number in weeks)]]
    for name, group in [*groups.items(), ("all", whole)]:
        second.append([name, *(f"{group.periods[n].as_json()['updated']:.1%}" for n in weeks)])
    second.append(["the paper, 2004", *(_paper(number, "updated") for number in weeks)])
    third = [["", *(f"{number} weeks" for number in weeks)]]
    for title, name in (
        ("servers whose top page changed", "top_changed"),
        ("changed pages that they hold", "held"),
        ("their pages that changed", "inside"),
    ):
        third.append([title, *(f"{whole.periods[number].as_json()[name]:.1%}" for number in weeks)])
        third.append(["  the paper, 2004", *(_paper(number, name) for number in weeks)])
    return "\n".join(
        [
            "Table 1: servers and pages",
            aligned(first),
            "",
            "Table 2: pages that were updated",
            aligned(second),
            "",
            "Figure 1 and table 3: what a changed top page tells",
            aligned(third),
        ]
    )


def _row(name: str, group: Survey) -> list[str]:
    return [name, f"{group.servers:,}", f"{group.pages:,}", f"{share(group.pages, group.servers):.1f}"]


def _paper(weeks: int, name: str) -> str:
    return f"{PAPER[weeks][name]:.1%}" if weeks in PAPER else "-"
