"""What feeds tell whoever wants to hear it."""

from __future__ import annotations

from django.dispatch import Signal

arrived = Signal()
"""Feeds were read: `visits` are locked and not yet written down.

Who keeps the entries sets `new`, `edited` and `published` of the visits. In the transaction of the check-in.
"""
