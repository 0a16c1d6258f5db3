"""Signals of feeds."""

from __future__ import annotations

from django.dispatch import Signal

arrived = Signal()
"""Feeds were read: `visits` are locked and not yet written down.

Who keeps the entries sets `new`, `edited` and `published` of the visits. In the transaction of the check-in.
"""

added = Signal()
"""A person has added feeds: `user`, and the `feeds`, new ones and such as were known already."""

moved = Signal()
"""A person has moved feeds to another folder: `user`, and the `feeds`, with the category they have now."""
