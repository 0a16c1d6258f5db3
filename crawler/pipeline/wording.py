"""The pipeline in words: whether all texts are read, and why some could not be."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Sum
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from crawler.failures import Failure
from crawler.pipeline.models import PhaseFigure
from crawler.web.templatetags.freshet import amount, failure_words

RECENT = timedelta(minutes=10)
LAST_PHASE = "index"
CAUSES: dict[str, Any] = {
    "lost": gettext_lazy("The program that read them ended again and again."),
}
"""Why documents could not be read, by causes that are no failures of a retrieval."""


def pace(now: datetime) -> float:
    """Return the documents a minute that were read of late."""
    figures = PhaseFigure.objects.filter(phase=LAST_PHASE, minute__gte=now - RECENT)
    return (figures.aggregate(n=Sum("documents"))["n"] or 0) / (RECENT.total_seconds() / 60)


def state_sentence(documents: int, behind: int, dead: int, per_minute: float = 0.0) -> str:
    """Return how the reading of texts goes; the time it takes is left out while it is unknown."""
    if not documents:
        return _("Nothing has been read yet.")
    if behind:
        minutes = math.ceil(behind / per_minute) if per_minute else 0
        values = {"n": amount(behind), "minutes": amount(minutes)}
        if not minutes or minutes > 24 * 60:
            return ngettext("%(n)s text behind.", "%(n)s texts behind.", behind) % values
        if minutes == 1:
            text = ngettext(
                "%(n)s text behind, done in a minute.", "%(n)s texts behind, done in a minute.", behind
            )
        else:
            text = ngettext(
                "%(n)s text behind, done in %(minutes)s minutes.",
                "%(n)s texts behind, done in %(minutes)s minutes.",
                behind,
            )
        return text % values
    if dead:
        text = ngettext(
            "All texts are read; %(n)s document could not be read.",
            "All texts are read; %(n)s documents could not be read.",
            dead,
        )
        return text % {"n": amount(dead)}
    return _("All texts are read.")


def cause_words(cause: str) -> str:
    """Return in a sentence why documents could not be read."""
    if cause in CAUSES:
        return str(CAUSES[cause])
    if cause in set(Failure):
        return failure_words(cause)
    return _("The cause is noted as “%(cause)s”.") % {"cause": cause}
