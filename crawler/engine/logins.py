"""Logins for feeds and pages: kept encrypted, handed to terminals with the work of their host."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

from crawler.database.secrets import UnreadableError, seal, unseal
from crawler.engine.models import Host, SiteLogin
from crawler.fetching.http.logins import Login, basic, bearer, checked_header, without_login
from crawler.fetching.http.urls import canonical_url, host_key

log = logging.getLogger(__name__)


def logins_of(hosts: Iterable[int]) -> dict[int, list[Login]]:
    """Return the logins of hosts by their ids. One that cannot be decrypted is left out, and logged."""
    logins: dict[int, list[Login]] = defaultdict(list)
    for row in SiteLogin.objects.filter(host__in=list(hosts)):
        try:
            name, _, value = unseal(row.sealed).partition(": ")
        # After a change of SECRET_KEY the page is asked without its login, which fails by name, and others go
        # on.
        except UnreadableError as error:
            log.warning("the login for %s is not sent: %s", row.url, error)
            continue
        logins[row.host_id].append(Login(row.url, name, value, row.owner_id or 0))
    return logins


def keep_login(url: str, kind: str, secret: str, name: str = "", owner: int | None = None) -> SiteLogin:
    """Store the login for an address and all below it, in place of an earlier one.

    `name` is that of the user, or of the header; with an `owner` it is for this person's feeds alone. Raises
    BadUrl, and LoginError for what no request can carry.
    """
    address = canonical_url(url)
    header, value = login_header(kind, secret, name)
    host = host_key(address)
    row, _ = SiteLogin.objects.update_or_create(
        url=address,
        owner_id=owner,
        defaults={
            "host_id": Host.objects.named({host})[host],
            "kind": kind,
            "sealed": seal(f"{header}: {value}"),
            "given": datetime.now(UTC),
        },
    )
    return row


def login_header(kind: str, secret: str, name: str = "") -> tuple[str, str]:
    """Return the header of a login. Raises LoginError for what no request can carry."""
    if kind == SiteLogin.Kind.BASIC:
        return basic(name, secret)
    if kind == SiteLogin.Kind.BEARER:
        return bearer(secret)
    return checked_header("Cookie" if kind == SiteLogin.Kind.COOKIE else name, secret)


def take_login(text: str, owner: int | None = None) -> str:
    """Return an address without its user name and password, which are stored as its login.

    They also become that of the address's folder, if it has none, since a site asks for one login for its
    feed and its articles (RFC 7617, section 2.2). Raises BadUrl and LoginError.
    """
    bare, pair = without_login(text)
    if pair is not None:
        url = keep_login(bare, SiteLogin.Kind.BASIC, pair[1], pair[0], owner).url
        # The articles of a feed at /feed/x lie beside it, and ask for the same login (miniflux 188).
        folder = url.partition("?")[0].rpartition("/")[0] + "/"
        if not SiteLogin.objects.filter(url=folder, owner=owner).exists():
            keep_login(folder, SiteLogin.Kind.BASIC, pair[1], pair[0], owner)
    return bare
