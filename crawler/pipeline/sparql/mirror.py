"""A mirror of the graph in another store, by the SPARQL 1.1 Graph Store HTTP Protocol.

The process that follows the graph (`manage.py sparql_replica`) sends each changed graph whole; one that has
become empty is deleted. What does not arrive is sent again later; a graph that the store refuses several
times is set aside under its name, and the rest goes on. The statements about graphs (`urn:crawl:meta`) follow
once an hour. Source: https://www.w3.org/TR/sparql11-http-rdf-update/.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import requests
from requests.auth import HTTPDigestAuth

from crawler.pipeline.models import GraphChange
from crawler.pipeline.store import META
from crawler.pipeline.terms import iri, safe

MAX_AT_ONCE = 500
"""Graphs that are sent in one turn: the replica's own turn comes between."""
MAX_REFUSALS = 5
MAX_ASIDE = 1_000
SECONDS = 30.0
_OVERLAP = timedelta(minutes=10)
"""A change commits after its number was given: those of the last minutes are looked at once more."""
_ORIGINS_SECONDS = 3_600.0
_MAX_PAUSE_SECONDS = 600.0


@dataclass(slots=True)
class _Position:
    """What the mirror has: changes up to `change`; names that wait, with how often they were refused."""

    address: str = ""
    change: int = 0
    waiting: dict[str, int] = field(default_factory=dict)
    aside: dict[str, str] = field(default_factory=dict)


class Mirror:
    """The sending side. `content` returns a graph's N-Triples by the graph's name, empty for no graph."""

    def __init__(self, address: str, login: str, file: Path, content: Callable[[str], bytes]) -> None:
        self._address, self._file, self._content = address, file, content
        self._session = requests.Session()
        self._session.trust_env = False
        name, _, password = login.partition(":")
        self._login = name, password
        if login:
            self._session.auth = self._login
        self._position = self._read()
        self._seen: set[int] = set()
        self._again, self._pause, self._origins_again = 0.0, 0.0, 0.0
        self.trouble = ""
        """Why the store does not take anything now, empty where it does."""

    def follow(self) -> int:
        """Send graphs that have changed. Returns the number of graphs that arrived. Never waits for long."""
        self._look()
        if time.monotonic() < self._again:
            return 0
        sent = 0
        try:
            for name in list(self._position.waiting)[:MAX_AT_ONCE]:
                sent += self._send(name)
            if time.monotonic() >= self._origins_again and not self._position.waiting:
                self._send(META.value)
                self._origins_again = time.monotonic() + _ORIGINS_SECONDS
        except requests.RequestException as error:
            self._pause = min(max(2 * self._pause, 5.0), _MAX_PAUSE_SECONDS)
            self._again = time.monotonic() + self._pause
            self.trouble = f"the mirror of the graph does not answer: {type(error).__name__}"
        else:
            self._pause, self.trouble = 0.0, ""
        self._write()
        return sent

    @property
    def waiting(self) -> int:
        """The number of graphs that are still to be sent."""
        return len(self._position.waiting)

    @property
    def aside(self) -> dict[str, str]:
        """The names of graphs that the store refused, with its reasons."""
        return dict(self._position.aside)

    def _look(self) -> None:
        """Add the names of graphs that have changed since the last look."""
        late = datetime.now(UTC) - _OVERLAP
        rows = GraphChange.objects.filter(id__gt=self._position.change) | GraphChange.objects.filter(
            at__gte=late
        )
        changes = [(number, url) for number, url in rows.values_list("id", "url") if number not in self._seen]
        for number, url in changes:
            self._position.waiting.setdefault(iri(safe(url)).value, 0)
            self._position.change = max(self._position.change, number)
        self._seen = {number for number, _ in rows.filter(at__gte=late).values_list("id", "url")}
        if changes:
            self._write()

    def _send(self, name: str) -> bool:
        """Send a graph, or delete it where it is empty. Returns whether it arrived.

        Raises RequestException where the store does not answer, or cannot take anything now.
        """
        content = self._content(name)
        response = self._asked(name, content)
        if response.status_code == 401 and self._session.auth == self._login:
            # Not all stores say that they want Digest: Virtuoso does so only where nothing else was tried.
            self._session.auth = HTTPDigestAuth(*self._login)
            response = self._asked(name, content)
            if response.status_code == 401:
                self._session.auth = self._login
        if response.status_code in {401, 403, 408, 429} or response.status_code >= 500:
            raise requests.HTTPError(f"{response.status_code}", response=response)
        if response.ok or (response.status_code == 404 and not content):
            self._position.waiting.pop(name, None)
            self._position.aside.pop(name, None)
            return True
        refusals = self._position.waiting.pop(name, 0) + 1
        if refusals < MAX_REFUSALS:
            self._position.waiting[name] = refusals  # behind the others
        elif len(self._position.aside) < MAX_ASIDE:
            self._position.aside[name] = f"{response.status_code} {response.reason}"[:300]
        return False

    def _asked(self, name: str, content: bytes) -> requests.Response:
        return self._session.request(
            "PUT" if content else "DELETE",
            self._address,
            params={"graph": name},
            data=content or None,
            headers={"Content-Type": "application/n-triples"} if content else {},
            timeout=SECONDS,
            allow_redirects=False,
        )

    def _read(self) -> _Position:
        """Return the stored position; a mirror at another address begins anew."""
        try:
            position = _Position(**json.loads(self._file.read_text()))
        except (OSError, ValueError, TypeError):
            position = _Position()
        return position if position.address == self._address else _Position(self._address)

    def _write(self) -> None:
        """Write the position in one step."""
        new = self._file.with_suffix(".new")
        position = self._position
        content = {
            "address": position.address, "change": position.change, "waiting": position.waiting,
            "aside": position.aside,
        }  # fmt: skip
        new.write_text(json.dumps(content))
        new.replace(self._file)
