"""Signals of the engine. Receivers of `settled` and `robots_read` run in the transaction of the check-in, the
others outside any.
"""

from __future__ import annotations

from django.dispatch import Signal

settled = Signal()
"""Sent when a check-in has settled all harvests: `stored` has the result of `settle` by class of `Work`."""

robots_read = Signal()
"""Sent when the hosts of a check-in are locked and their robots.txt is saved: `hosts`, `now`."""

checked_in = Signal()
"""Sent after the transaction that stored results: `results`."""

ticked = Signal()
"""Sent after a tick whose selection is handed out: `now`."""

planned = Signal()
"""Sent after the daily plan was made: `now`. In the process for slow work."""

asked = Signal()
"""Asks receivers whether tending would find work: `now`. If one returns true, tending runs within seconds,
not a minute. Sent every few seconds, so a receiver must need no more than one index lookup."""

tended = Signal()
"""Sent every few seconds to tend work under way: `now`. A receiver returns true when it has work to lease."""
