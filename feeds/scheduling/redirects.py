"""The rule for believing a permanent redirect (301, 308) and rewriting a feed's address.

Sites answer 301 by mistake, from captive portals and while they are being moved: only a redirect that stays
the same over several visits and days counts. Temporary redirects (302, 307) never do.
"""

from __future__ import annotations

DAY = 86400.0


def should_move(
    repeats: int, first_seen: float, now: float, *, least_repeats: int = 5, least_days: float = 3.0
) -> bool:
    """Return whether `repeats` consecutive redirects to one permanent target since `first_seen` are enough.

    Times are epoch seconds. The caller checks that the target parses as the same feed.
    """
    return repeats >= least_repeats and now - first_seen >= least_days * DAY
