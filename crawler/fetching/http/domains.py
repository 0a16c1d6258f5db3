"""Registrable domains by the public suffix list that a library ships, never downloaded. Pure functions."""

from __future__ import annotations

import ipaddress
from functools import cache, lru_cache
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList


@lru_cache(maxsize=65536)
def registrable_domain(host: str) -> str:
    """Return the registrable domain, such as `example.co.uk` for `www.example.co.uk`.

    Returns an IP address, or a host that is itself a public suffix, as it is.
    """
    # An address has no registrable domain; the list would take its last number for a top-level one.
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return str(_list().privatesuffix(host) or host)


def top_level_domain(domain: str) -> str:
    """Return the top-level domain, such as `uk`. Returns `address` for IP addresses."""
    return "address" if domain.replace(".", "").isdigit() or ":" in domain else domain.rpartition(".")[2]


def host_of(url: str) -> str:
    """Return the host of a canonical URL without port and brackets. Returns "" for a text without one."""
    # Before the host there is no user name in such a URL, and behind it always a path.
    return _host(url.partition("//")[2].partition("/")[0])


@lru_cache(maxsize=65536)
def _host(netloc: str) -> str:
    try:
        return (urlsplit(f"//{netloc}").hostname or "").strip("[]")
    except ValueError:
        return ""


@cache
def _list() -> PublicSuffixList:
    return PublicSuffixList()
