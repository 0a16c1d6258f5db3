"""Tell how far a move is, and what came, in words."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from articles.moving.models import Move
from crawler.web.sentences import translated
from crawler.web.templatetags.freshet import amount


def sentence_of(move: Move) -> str:
    """Return how far a move is as one sentence."""
    why = {"why": translated(move.failure).rstrip(".")}
    if move.state == Move.State.READING:
        return _("It goes on by itself: %(why)s.") % why if move.failure else _reading(move)
    if move.state == Move.State.STORING:
        return _storing(move)
    if move.state == Move.State.FAILED:
        return _("It ended: %(why)s.") % why
    if move.state == Move.State.STOPPED:
        return _("It was stopped. What came stays.")
    message = _("This is what would come. Nothing was changed.")
    return message if move.is_rehearsal else _("It is all here.")


def _reading(move: Move) -> str:
    items = int(move.counts.get("items", 0))
    if move.about <= 0:
        return _("%(count)s articles are read at the other reader so far.") % {"count": amount(items)}
    numbers = {"count": amount(items), "all": amount(max(move.about, items))}
    return _("%(count)s of about %(all)s articles are read at the other reader.") % numbers


def _storing(move: Move) -> str:
    remaining = sum(move.parts.values_list("number", flat=True))
    numbers = {"left": amount(remaining), "all": amount(int(move.counts.get("items", 0)))}
    return _("%(left)s of %(all)s articles are still to be stored, most when their feeds are read.") % numbers


def came(move: Move) -> list[str]:
    """Return what came, or would come, each kind with its number in words."""
    counts = {name: int(number) for name, number in move.counts.items()}
    items, about = counts.get("items", 0), max(move.about, counts.get("items", 0))
    words = [
        (counts.get("feeds", 0), ngettext("%(count)s feed", "%(count)s feeds", counts.get("feeds", 0))),
        (
            counts.get("folders", 0),
            ngettext("%(count)s folder", "%(count)s folders", counts.get("folders", 0)),
        ),
        (counts.get("rules", 0), ngettext("%(count)s rule", "%(count)s rules", counts.get("rules", 0))),
        # Each star and label comes twice, so that only a rehearsal knows how many articles they are.
        (items * move.is_rehearsal, ngettext("%(count)s article", "%(count)s articles", items)),
        (counts.get("read", 0), _("%(count)s that you have read")),
        (counts.get("starred", 0), _("%(count)s with a star")),
        (counts.get("labelled", 0), _("%(count)s with labels")),
        (counts.get("articles", 0), _("%(count)s that their feeds no longer hold")),
        (counts.get("saved", 0), _("%(count)s saved as pages, for you no longer follow their feeds")),
        (counts.get("homeless", 0), _("%(count)s of feeds that you no longer follow are left out")),
    ]
    lines = [text % {"count": amount(number)} for number, text in words if number]
    if waiting := counts.get("waiting", 0):
        words_of_waiting = ngettext(
            "%(count)d mark waits for its article.", "%(count)d marks wait for their articles.", waiting
        )
        lines.append(words_of_waiting % {"count": waiting})
    if move.is_rehearsal and about > items:
        lines.append(
            _("Only the first %(count)s articles were looked at, of about %(all)s.")
            % {"count": amount(items), "all": amount(about)}
        )
    return lines
