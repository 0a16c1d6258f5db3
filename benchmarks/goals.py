"""Figures beside their goals."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """A figure and its goal: `most` means at most that, otherwise at least."""

    what: str
    value: float
    goal: float
    unit: str = ""
    most: bool = False

    @property
    def reached(self) -> bool:
        """Whether the figure meets the goal."""
        return self.value <= self.goal if self.most else self.value >= self.goal

    def __str__(self) -> str:
        sign, mark = "<=" if self.most else ">=", "reached" if self.reached else "MISSED"
        return f"{self.what:46} {self.value:10.2f} {sign} {self.goal:g} {self.unit}  {mark}"
