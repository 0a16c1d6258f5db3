"""When a permanent redirect (301, 308) is believed, and a feed's address rewritten.

Sites answer 301 by mistake, from captive portals and while they are being moved: only an answer that stays
the same over several visits and days counts. Temporary redirects (302, 307) never do.
"""

from __future__ import annotations

DAY = 86400.0


def should_move(
    repeats: int, first_seen: float, now: float, *, least_repeats: int = 5, least_days: float = 3.0
) -> bool:
    """Whether `repeats` answers in a row with the same permanent target, since `first_seen`, are enough.

    Times are epoch seconds. That the target parses as the same feed is the caller's to check.
    """
    return repeats >= least_repeats and now - first_seen >= least_days * DAY
