"""A mirror of the graph in another store, by the SPARQL 1.1 Graph Store HTTP Protocol.

The process that follows the graph (`manage.py sparql_replica`) sends each changed graph whole; one that has
become empty is deleted. What does not arrive is sent again later; a graph that the store refuses several
times is set aside under its name, and the rest goes on. The statements about graphs (`urn:crawl:meta`) follow
once an hour. Source: https://www.w3.org/TR/sparql11-http-rdf-update/.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import requests
from requests.auth import HTTPBasicAuth, HTTPDigestAuth

from crawler.pipeline.models import GraphChange
from crawler.pipeline.sparql.replica import read_json, write_json
from crawler.pipeline.store import META
from crawler.pipeline.terms import iri, safe

MIRROR = "mirror.json"
"""The file of the mirror's position, in the replica's directory."""
MAX_AT_ONCE = 500
MAX_TURN_SECONDS = 15.0
"""Graphs that are sent, and time that is spent, before the replica follows again."""
MAX_IN_A_ROW = 3
"""Graphs that fail one after the other before the store is left alone for a while."""
MAX_REFUSALS = 5
MAX_ASIDE = 1_000
SECONDS = 10.0
_OVERLAP = timedelta(minutes=10)
"""How far before the last look changes are read again: one may commit long after it got its number."""
_ORIGINS_SECONDS = 3_600.0
MAX_PAUSE_SECONDS = 600.0


@dataclass(slots=True)
class _Position:
    """The place in the log of changes, and the names that wait, with how often they were refused."""

    address: str = ""
    change: int = 0
    waiting: dict[str, int] = field(default_factory=dict)
    aside: dict[str, str] = field(default_factory=dict)


class Mirror:
    """The sending side. `content` returns a graph's N-Triples by the graph's name, empty for no graph."""

    def __init__(self, address: str, login: str, file: Path, content: Callable[[str], bytes]) -> None:
        self._address, self._file, self._content = address, file, content
        self._session = requests.Session()
        # A proxy or a .netrc of the environment must not decide where the graph goes.
        self._session.trust_env = False
        name, _, password = login.partition(":")
        self._login = name, password
        self._sign_in(is_basic=True)
        self._position = self._read()
        self._seen: dict[int, datetime] = {}
        self._looked: datetime | None = None
        self._again, self._pause, self._origins_again = 0.0, 0.0, 0.0
        self.trouble = ""
        """Why the store does not take anything now, empty if it does."""

    def follow(self) -> int:
        """Look for changes and send them. Returns the number of graphs that arrived."""
        self.look()
        return self.send()

    def look(self) -> None:
        """Note which graphs have changed. Comes before the replica's own look, which then has all of them."""
        now = datetime.now(UTC)
        late = min(self._looked or now, now) - _OVERLAP
        rows = GraphChange.objects.filter(id__gt=self._position.change) | GraphChange.objects.filter(
            at__gte=late
        )
        changes = [row for row in rows.values_list("id", "url", "at") if row[0] not in self._seen]
        for number, url, _ in changes:
            self._position.waiting.setdefault(iri(safe(url)).value, 0)
            self._position.change = max(self._position.change, number)
        self._seen = {number: at for number, at in self._seen.items() if at >= late - _OVERLAP}
        self._seen |= {number: at for number, _, at in changes}
        self._looked = now
        if changes:
            self._write()

    def send(self) -> int:
        """Send graphs that wait, for MAX_TURN_SECONDS. Returns the number of graphs that arrived."""
        until = time.monotonic() + MAX_TURN_SECONDS
        if time.monotonic() < self._again or not self._has_work:
            return 0
        sent, failures, in_a_row = 0, [], 0
        for name in list(self._position.waiting)[:MAX_AT_ONCE]:
            try:
                sent += self._send(name)
                in_a_row = 0
            except requests.RequestException as error:
                failures.append(name)
                in_a_row += 1
                self.trouble = f"the mirror of the graph does not answer: {type(error).__name__}"
                # A store that is away fails for every graph; there is no need to try three.
                if in_a_row == MAX_IN_A_ROW or isinstance(error, requests.ConnectionError):
                    break
            if time.monotonic() > until:
                break
        for name in failures:  # behind the others; what fails while others arrive is at fault itself
            refusals = self._position.waiting.pop(name, 0)
            # Counted only while others arrive: a store that is down is not the graphs' fault.
            self._refuse(name, refusals + bool(sent), "it does not take it in time")
        if failures and not sent:
            self._pause = min(max(2 * self._pause, 5.0), MAX_PAUSE_SECONDS)
            self._again = time.monotonic() + self._pause
        else:
            self._pause, self.trouble = 0.0, ""
            self._send_origins()
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

    @property
    def _has_work(self) -> bool:
        return bool(self._position.waiting) or time.monotonic() >= self._origins_again

    def _send_origins(self) -> None:
        """Send the statements about graphs, once an hour, when nothing else waits."""
        if self._position.waiting or time.monotonic() < self._origins_again:
            return
        self._origins_again = time.monotonic() + _ORIGINS_SECONDS
        try:
            self._send(META.value)
        except requests.RequestException as error:
            self.trouble = f"the mirror of the graph does not answer: {type(error).__name__}"

    def _send(self, name: str) -> bool:
        """Send a graph, or delete it if it is empty. Returns whether it arrived.

        Raises RequestException if the store does not answer, or cannot take anything now.
        """
        try:
            content = self._content(name)
        except ValueError as error:
            self._position.waiting.pop(name, None)
            self._refuse(name, MAX_REFUSALS, str(error))
            return False
        response = self._asked(name, content)
        if response.status_code == 401 and self._is_basic:
            # Not all stores say that they want Digest: Virtuoso does so only if nothing else was tried.
            self._sign_in(is_basic=False)
            response = self._asked(name, content)
            if response.status_code == 401:
                self._sign_in(is_basic=True)
        status = response.status_code
        # These are about the store or the login, not about this graph.
        if status in {401, 403, 408, 429} or status >= 500:
            raise requests.HTTPError(f"{status}", response=response)
        refusals = self._position.waiting.pop(name, 0)
        # A graph that the store never had is deleted all the same.
        if 200 <= status < 300 or (status == 404 and not content):
            self._position.aside.pop(name, None)
            return True
        self._refuse(name, refusals + 1, f"{status} {response.reason}")
        return False

    def _refuse(self, name: str, refusals: int, reason: str) -> None:
        """Let a graph wait behind the others, or set it aside after MAX_REFUSALS."""
        if refusals < MAX_REFUSALS:
            self._position.waiting[name] = refusals
        elif len(self._position.aside) < MAX_ASIDE:
            self._position.aside[name] = reason[:300]

    def _sign_in(self, *, is_basic: bool) -> None:
        """Choose how to sign in, if there is a login."""
        self._is_basic = is_basic and bool(self._login[0])
        if self._login[0]:
            name, password = (part.encode() for part in self._login)
            # requests encodes texts as Latin-1; most stores read UTF-8.
            basic = HTTPBasicAuth(name, password)
            self._session.auth = basic if is_basic else HTTPDigestAuth(*self._login)

    def _asked(self, name: str, content: bytes) -> requests.Response:
        return self._session.request(
            "PUT" if content else "DELETE",
            self._address,
            params={"graph": name},
            data=content or None,
            headers={"Content-Type": "application/n-triples"} if content else {},
            timeout=SECONDS,
            # A redirect would carry the login to another server.
            allow_redirects=False,
        )

    def _read(self) -> _Position:
        """Return the stored position; a mirror at another address begins anew."""
        try:
            position = _Position(**read_json(self._file))
        except TypeError:  # other fields, of another version
            position = _Position()
        return position if position.address == self._address else _Position(self._address)

    def _write(self) -> None:
        write_json(self._file, asdict(self._position))
