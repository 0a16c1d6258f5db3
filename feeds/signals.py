"""Signals of feeds."""

from __future__ import annotations

from django.dispatch import Signal

arrived = Signal()
"""Feeds were read: `visits` are locked and not yet written down. In the transaction of the check-in.

A receiver that keeps entries returns what it stored, as `feeds.visiting.visits.StoredEntries` by feed id.
"""

mailed = Signal()
"""Feeds have new articles without a visit, from mail: `stored`, as StoredEntries by feed id. In that
transaction."""

links_mailed = Signal()
"""A person has sent addresses of pages to an address of their own: `user`, `urls`, and a `note`."""

wanted = Signal()
"""A person is about to add feeds to follow: `user`, and their `addresses` as texts.

Receivers raise LimitReached where these are more than the person may follow. Nothing is stored yet.
"""

added = Signal()
"""A person has added feeds: `user`, the `feeds`, new ones and such as were known already, and `folders`.

`folders` are the ones in which the person's list has them, by primary key; "" or none if it has none.
"""

moved = Signal()
"""A person has moved feeds to another folder: `user`, and the `feeds`, with the category they have now."""
