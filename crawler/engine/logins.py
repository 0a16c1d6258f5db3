"""Logins for feeds and pages: kept encrypted, handed to terminals with the work of their host."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

from crawler.database.secrets import UnreadableError, seal, unseal
from crawler.engine.models import Host, SiteLogin
from crawler.fetching.http.logins import Login, basic, checked_header, without_login
from crawler.fetching.http.urls import canonical_url, host_key

log = logging.getLogger(__name__)


def logins_of(hosts: Iterable[int]) -> dict[int, list[Login]]:
    """Return the logins of hosts by their ids. One that cannot be decrypted is left out, and logged."""
    found: dict[int, list[Login]] = defaultdict(list)
    for row in SiteLogin.objects.filter(host__in=list(hosts)):
        try:
            name, _, value = unseal(row.sealed).partition(": ")
        except UnreadableError as error:
            log.warning("the login for %s is not sent: %s", row.url, error)
            continue
        found[row.host_id].append(Login(row.url, name, value))
    return found


def keep_login(url: str, kind: str, secret: str, name: str = "") -> SiteLogin:
    """Store the login for an address and all below it, in place of an earlier one.

    `name` is that of the user, or of the header. Raises BadUrl, and LoginError for what no request can carry.
    """
    address = canonical_url(url)
    if kind == SiteLogin.Kind.BASIC:
        header, value = basic(name, secret)
    else:
        header, value = checked_header("Cookie" if kind == SiteLogin.Kind.COOKIE else name, secret)
    host = host_key(address)
    row, _ = SiteLogin.objects.update_or_create(
        url=address,
        defaults={
            "host_id": Host.objects.named({host})[host],
            "kind": kind,
            "sealed": seal(f"{header}: {value}"),
            "given": datetime.now(UTC),
        },
    )
    return row


def take_login(text: str) -> str:
    """Return an address without its user name and password, which are stored as its login.

    They also become that of the address's folder, if it has none, since a site asks for one login for its
    feed and its articles (RFC 7617, section 2.2). Raises BadUrl and LoginError.
    """
    bare, pair = without_login(text)
    if pair is not None:
        url = keep_login(bare, SiteLogin.Kind.BASIC, pair[1], pair[0]).url
        folder = url.partition("?")[0].rpartition("/")[0] + "/"
        if not SiteLogin.objects.filter(url=folder).exists():
            keep_login(folder, SiteLogin.Kind.BASIC, pair[1], pair[0])
    return bare
