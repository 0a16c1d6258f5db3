"""Changes in words: what became what, how much came and went, row by row for pages."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext_lazy

from crawler.text.word_differences import Piece, word_difference
from crawler.web.sentences import translated
from recrawl.comparing.differences import Difference
from recrawl.models import Change

MAX_QUOTED = 60
"""Characters of a quotation in a sentence."""
MAX_NEAR, MAX_CHANGED = 60, 160
"""Characters of an excerpt: of equal words beside what changed, and of what changed."""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A row of a difference: `kind` is same, edited, removed or added, the rest the pieces of both lines."""

    kind: str
    old: list[Piece]
    new: list[Piece]


def diff_rows(gain: Difference) -> list[list[DiffRow]]:
    """Return the hunks of a difference, edited lines word by word."""
    return [[_row(kind, old, new) for kind, old, new in hunk] for hunk in gain.hunks]


@dataclass(frozen=True, slots=True)
class ExcerptPiece:
    """A piece of an excerpt: `mark` is `del`, `ins` or empty for words that stayed."""

    text: str
    mark: str = ""


def excerpt(gain: Difference) -> list[ExcerptPiece]:
    """Return the first changed line word by word, in few words. Returns nothing without one."""
    for kind, old, new in (row for hunk in gain.hunks for row in hunk):
        if kind == "removed":
            return [ExcerptPiece(_shortened(old, MAX_CHANGED), "del")]
        if kind == "added":
            return [ExcerptPiece(_shortened(new, MAX_CHANGED), "ins")]
        if kind == "edited":
            return _merged(*word_difference(old, new))
    return []


def _merged(old: list[Piece], new: list[Piece]) -> list[ExcerptPiece]:
    """Return both lines as one: equal words once, what went before what came."""
    # Where the equal words are not the same on both sides, a merge would show them in a wrong order.
    if [piece.text for piece in old if not piece.differs] != [p.text for p in new if not p.differs]:
        texts = ("".join(piece.text for piece in line) for line in (old, new))
        return [
            ExcerptPiece(_shortened(text, MAX_CHANGED), mark)
            for text, mark in zip(texts, ("del", "ins"), strict=True)
        ]
    merged: list[ExcerptPiece] = []
    waiting = list(new)
    for piece in old:
        if piece.differs:
            merged.append(ExcerptPiece(_shortened(piece.text, MAX_CHANGED), "del"))
            continue
        while waiting and waiting[0].differs:
            merged.append(ExcerptPiece(_shortened(waiting.pop(0).text, MAX_CHANGED), "ins"))
        waiting = waiting[1:]
        merged.append(ExcerptPiece(piece.text))
    merged += [ExcerptPiece(_shortened(piece.text, MAX_CHANGED), "ins") for piece in waiting]
    last = len(merged) - 1
    return [
        piece if piece.mark else ExcerptPiece(_near(piece.text, is_first=not at, is_last=at == last))
        for at, piece in enumerate(merged)
    ]


def _near(text: str, *, is_first: bool, is_last: bool) -> str:
    """Return the words beside a change that stand next to it."""
    if len(text) <= MAX_NEAR:
        return text
    if is_first:
        return f"…{text[-MAX_NEAR:]}"
    if is_last:
        return f"{text[:MAX_NEAR]}…"
    return f"{text[: MAX_NEAR // 2]}…{text[-MAX_NEAR // 2 :]}"


def _shortened(text: str, max_length: int) -> str:
    return text if len(text) <= max_length else f"{text[: max_length - 1].rstrip()}…"


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
    return _shortened(text, MAX_QUOTED)


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
