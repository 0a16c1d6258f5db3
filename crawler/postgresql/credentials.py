"""The port and passwords of the embedded cluster, kept in a file that only its owner can read.

The settings read them without starting or changing anything.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
from dataclasses import asdict, dataclass, replace
from pathlib import Path

HOST = "127.0.0.1"


class EmbeddedError(RuntimeError):
    """An error raised when the embedded server cannot start or answer, with the reason and a remedy."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The port of the cluster on the loopback interface, and a password for each role."""

    port: int
    superuser: str
    freshet: str
    broker: str

    @property
    def database_url(self) -> str:
        return f"postgresql://freshet:{self.freshet}@{HOST}:{self.port}/freshet"

    @property
    def broker_url(self) -> str:
        return f"pgmq://broker:{self.broker}@{HOST}:{self.port}/broker"

    @classmethod
    def made(cls) -> Credentials:
        """Return new credentials with a port that is free now and random passwords."""
        return cls(_free_port(), *(secrets.token_urlsafe(24) for _ in range(3)))

    def moved(self) -> Credentials:
        """Return credentials with the same passwords and another port that is free now."""
        return replace(self, port=_free_port())

    @classmethod
    def read(cls, data_dir: Path) -> Credentials | None:
        """Read the credentials kept in the data directory.

        Returns None before the first start, for users who may not read them, and for an unusable directory.
        Raises EmbeddedError for a damaged file.
        """
        try:
            return cls(**json.loads(credentials_file(data_dir).read_text()))
        # Settings are loaded by commands of other users, too, which need no database.
        except OSError:
            return None
        except (ValueError, TypeError) as error:
            raise EmbeddedError(f"{credentials_file(data_dir)} is damaged: {error}") from error

    def keep(self, data_dir: Path) -> None:
        """Write the credentials atomically to a file that only its owner can read."""
        file = credentials_file(data_dir)
        # Renamed when whole: a start that is killed here must not leave half a file.
        draft = file.with_suffix(".new")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            json.dump(asdict(self), out)
        draft.replace(file)


def credentials_file(data_dir: Path) -> Path:
    """Return the path of the file with the credentials."""
    return data_dir / "embedded.json"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def port_is_free(port: int) -> bool:
    """Return whether a server could listen on the port now."""
    with socket.socket() as probe:
        # As PostgreSQL does: a port in TIME_WAIT is free for it.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
