"""Ask the controller to send out what was just selected, instead of waiting for the next tick."""

from __future__ import annotations

import logging

from django.db import transaction

from crawler.tasks import dispatch

log = logging.getLogger(__name__)


def wake_controller() -> None:
    """Send the message once the current transaction is committed.

    A broker that is away costs nothing but time: the next tick hands out the same feeds.
    """
    transaction.on_commit(_send, robust=True)


def _send() -> None:
    try:
        dispatch.apply_async(retry=False)
    except Exception as error:  # every transport has errors of its own
        log.warning("the broker does not answer, so the next tick sends these feeds out: %s", error)
