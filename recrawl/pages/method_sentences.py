"""Sentences on what each method of visiting a site does, for its page."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

SENTENCES: dict[str, str | Promise] = {
    "A": _(
        "In each directory it asks for the uppermost pages, and for the others where one of these has "
        "changed."
    ),
    "B": _(
        "It asks for the pages that other directories link to, and for what they lead to where one of them "
        "has changed."
    ),
    "C": _("It begins with the top page, and goes on only below pages that have changed."),
    "breadth-first": _(
        "It asks for the pages from the top down, and goes on where it stopped the last time."
    ),
    "server-sampling": _(
        "It asks for a few pages, and for the rest only if one in ten of these has changed."
    ),
    "server-sampling+A": _(
        "It asks for a few pages, and goes on by method A only if one in ten of these has changed."
    ),
    "server-sampling+B": _(
        "It asks for a few pages, and goes on by method B only if one in ten of these has changed."
    ),
    "server-sampling+C": _(
        "It asks for a few pages, and goes on by method C only if one in ten of these has changed."
    ),
    "history": _("It begins with the pages that have changed most often."),
    "adaptive": _("It begins with the pages that are most likely to have changed."),
}
