"""How the embedded cluster is reached: its port and passwords, kept in a file for its owner alone.

The settings read them without starting or touching anything.
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
    """The embedded server cannot start or answer; the message says why and what helps."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """How to reach the cluster: a loopback port, and a password for each role."""

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
        """New ones: a port that is free now, and random passwords."""
        return cls(_free_port(), *(secrets.token_urlsafe(24) for _ in range(3)))

    def moved(self) -> Credentials:
        """The same passwords on another port that is free now."""
        return replace(self, port=_free_port())

    @classmethod
    def read(cls, data_dir: Path) -> Credentials | None:
        """Those kept in the data directory; None before the first start, for other users, and where it
        cannot be one."""
        try:
            return cls(**json.loads(credentials_file(data_dir).read_text()))
        except OSError:
            return None
        except (ValueError, TypeError) as error:
            raise EmbeddedError(f"{credentials_file(data_dir)} is damaged: {error}") from error

    def keep(self, data_dir: Path) -> None:
        """Write them so that only the owner reads them, whole or not at all."""
        file = credentials_file(data_dir)
        draft = file.with_suffix(".new")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            json.dump(asdict(self), out)
        draft.replace(file)


def credentials_file(data_dir: Path) -> Path:
    """Where they are kept."""
    return data_dir / "embedded.json"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def port_is_free(port: int) -> bool:
    """Whether a server could listen there now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
