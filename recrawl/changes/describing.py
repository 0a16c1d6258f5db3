"""Changes in words: what became what, how much came and went, row by row for pages."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext_lazy

from crawler.web.sentences import translated
from recrawl.comparing.differences import Difference
from recrawl.comparing.word_differences import Piece, word_difference
from recrawl.models import Change

MAX_QUOTED = 60
"""Characters of a quotation in a sentence."""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A row of a difference: `kind` is same, edited, removed or added, the rest the pieces of both lines."""

    kind: str
    old: list[Piece]
    new: list[Piece]


def diff_rows(gain: Difference) -> list[list[DiffRow]]:
    """Return the hunks of a difference, edited lines word by word."""
    return [[_row(kind, old, new) for kind, old, new in hunk] for hunk in gain.hunks]


def _row(kind: str, old: str, new: str) -> DiffRow:
    if kind == "edited":
        return DiffRow(kind, *word_difference(old, new))
    differs = kind != "same"
    return DiffRow(kind, [Piece(old, differs)] if old else [], [Piece(new, differs)] if new else [])


def sentence(change: Change, gain: Difference) -> str:
    """Return a sentence that says what changed: the words themselves if it is little."""
    if change.kind == Change.Kind.GONE:
        return _("The page is gone: its server answers that it was not found.")
    if change.kind == Change.Kind.MOVED:
        return translated(change.summary)
    if change.kind == Change.Kind.NEW:
        number = sum(len(line.split()) for line in gain.lines_added)
        message = ngettext("A new page, %(number)d word.", "A new page, %(number)d words.", number)
        return message % {"number": number}
    if change.kind == Change.Kind.BACK:
        return _("The page is there again.")
    if not gain.hunks and change.visual:
        return _("It looks different: %(percent)s %% of the page.") % {"percent": f"{change.visual:.1f}"}
    return _little(gain) or counts(gain)


def counts(gain: Difference) -> str:
    """Return how many lines changed, came and went."""
    rows = [kind for hunk in gain.hunks for kind, _old, _new in hunk]
    edited = rows.count("edited")
    added, removed = gain.added - edited, gain.removed - edited
    parts = [
        (edited, ngettext("%(number)d line changed", "%(number)d lines changed", edited)),
        (added, ngettext("%(number)d line came", "%(number)d lines came", added)),
        (removed, ngettext("%(number)d line went", "%(number)d lines went", removed)),
    ]
    words = [text % {"number": number} for number, text in parts if number > 0]
    return _("%(parts)s.") % {"parts": ", ".join(words)} if words else _("Nothing that counts has changed.")


def _little(gain: Difference) -> str:
    """Return the change itself in words if it is one line, else an empty text."""
    rows = [row for hunk in gain.hunks for row in hunk if row[0] != "same"]
    if len(rows) != 1 or gain.cut:
        return ""
    kind, old, new = rows[0]
    if kind == "added":
        return _("A line was added: “%(line)s”.") % {"line": _quoted(new)}
    if kind == "removed":
        return _("A line was removed: “%(line)s”.") % {"line": _quoted(old)}
    return _within_a_line(old, new)


def _within_a_line(old: str, new: str) -> str:
    """Return what became what within a line, an empty text for more than one place."""
    before, after = word_difference(old, new)
    removed_texts = [piece.text.strip() for piece in before if piece.differs and piece.text.strip()]
    added_texts = [piece.text.strip() for piece in after if piece.differs and piece.text.strip()]
    if len(removed_texts) == 1 and len(added_texts) == 1:
        return _("“%(old)s” became “%(new)s”.") % {
            "old": _quoted(removed_texts[0]),
            "new": _quoted(added_texts[0]),
        }
    if len(added_texts) == 1 and not removed_texts:
        return _("“%(new)s” was added.") % {"new": _quoted(added_texts[0])}
    if len(removed_texts) == 1 and not added_texts:
        return _("“%(old)s” was removed.") % {"old": _quoted(removed_texts[0])}
    return ""


def _quoted(text: str) -> str:
    return text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 1].rstrip()}…"


_STOCKS = {
    "instock": pgettext_lazy("stock", "in stock"),
    "instoreonly": pgettext_lazy("stock", "in the shop only"),
    "onlineonly": pgettext_lazy("stock", "online only"),
    "limitedavailability": pgettext_lazy("stock", "few left"),
    "outofstock": pgettext_lazy("stock", "sold out"),
    "soldout": pgettext_lazy("stock", "sold out"),
    "backorder": pgettext_lazy("stock", "to be ordered, delivered later"),
    "preorder": pgettext_lazy("stock", "to be ordered before it appears"),
    "presale": pgettext_lazy("stock", "to be ordered before it appears"),
    "discontinued": pgettext_lazy("stock", "not made any more"),
}
"""Words for schema.org/ItemAvailability."""


def stock(availability: str) -> str:
    """Return the words for an availability, as it was stated if it is none of schema.org."""
    return str(_STOCKS.get(availability, availability))
