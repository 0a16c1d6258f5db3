"""Calls of programs when no process can be started."""

from __future__ import annotations

import subprocess

import pytest

from crawler.isolation import fork_server
from crawler.isolation.calls import ProgramError, Programs


class FullServer:
    """A running server with its maximum of children."""

    pid, alive, is_closed = 1, True, False

    def fork(self, *_: object) -> UnbegunChild:
        return UnbegunChild()

    def wait(self, timeout: float | None = None) -> int:
        if timeout is None:
            return 0  # the thread that waits for its end
        raise subprocess.TimeoutExpired("server", timeout)

    def close(self) -> int:
        self.is_closed = True
        return 0


class UnbegunChild:
    """A child that the server did not begin."""

    lost = True

    def begun(self, _: float) -> bool:
        return False

    def close(self) -> None:
        """Nothing is to be ended."""


def test_one_program_too_many_is_busy_and_ends_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server closed with all of its children: the call that found no place harmed its neighbours."""
    server = FullServer()
    monkeypatch.setattr(fork_server, "start_server", lambda *_: server)
    with pytest.raises(ProgramError, match="busy: too many processes are running"):
        Programs(["any"], 60.0).call("any", {}, b"", seconds=1, max_bytes=1)
    assert not server.is_closed
