"""The address guard for sockets of any library, in a process that asks another server."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from crawler.fetching.http.addresses import AddressGuard
from crawler.text.marking import gettext_noop

CONNECT_SECONDS = 10.0


class RefusedError(OSError):
    """Error for a connection to an address that is not allowed."""


def guard_sockets(guard: AddressGuard) -> None:
    """Let no socket of this process reach an address that the guard does not permit."""

    def check(address: Any) -> None:
        # An address of a Unix socket is a text: those lead to services of this machine.
        if not isinstance(address, tuple) or not guard.permits(str(address[0])):
            raise RefusedError(
                gettext_noop(
                    "its address is inside a private network, which who runs this Freshet can allow by "
                    "FETCH_ALLOWED_NETWORKS"
                )
            )

    def checked(method: Callable[..., Any], at: int) -> Callable[..., Any]:
        def call(self: socket.socket, *values: Any) -> Any:
            check(values[at])
            return method(self, *values)

        return call

    # sendto has its address last (flags may stand before it).
    for name, at in (("connect", 0), ("connect_ex", 0), ("sendto", -1)):
        setattr(socket.socket, name, checked(getattr(socket.socket, name), at))
    socket.setdefaulttimeout(CONNECT_SECONDS)
