"""No request makes the server fail: every address of the product, as anonymous, user and administrator.

Requests go through the WSGI application as a web server would hand them in, so that nothing of Django's test
client tidies them up. Every answer is below 500, and the log has no traceback.
"""

from __future__ import annotations

import io
import itertools
import json
import logging
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from django import forms
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import call_command
from django.db import connection
from django.urls import URLPattern, URLResolver, get_resolver

from crawler.telemetry import logs
from crawler.web.requests import Utf8WSGIHandler
from tests.demo import seed
from tests.factories import make_token, make_user

PEOPLE = ("anonymous", "user", "administrator")
CSRF = "c" * 32
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
MULTIPART = "multipart/form-data; boundary=x"
HUGE = "9" * 400
ODD_TEXTS = (
    HUGE,
    "-1",
    "9" * 6000,
    str(2**63),
    "nan",
    "inf",
    "1e999",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-12:00",
    "2024-01-01T00:00:00+23:59",
    "0000-00-00",
    "\U0001f4a3" * 900,
    "[",
    "(?R)",
    "\x01\x1b\x7f\u202e\ufffe",
    "WzUsIDVd",
    "WyI5OTk5LTEyLTMxVDIzOjU5OjU5LTEyOjAwIiwgMV0",
    "WzFlOTk5LCAxXQ",
    "WyIwMDAxLTAxLTAxVDAwOjAwOjAwKzE0OjAwIiwgMV0",
    "user/-/label/",
    "feed/" + HUGE,
    "javascript:x",
    "../" * 50,
)


@dataclass(frozen=True)
class Sent:
    """One request: `path` percent-encoded as on the wire, with its query."""

    path: str
    method: str = "GET"
    body: bytes = b""
    type: str = ""
    headers: dict[str, str] = field(default_factory=dict)


class Client:
    """Sends requests as one person."""

    def __init__(self, person: str) -> None:
        self.person = person
        self.application = Utf8WSGIHandler()
        self.user = None if person == "anonymous" else User.objects.get(username=person)
        self.token = make_token(self.user) if self.user else ""

    def send(self, sent: Sent) -> tuple[int, bytes]:
        """Status and body of the answer."""
        path, _, query = sent.path.partition("?")
        environ: dict[str, Any] = {
            "REQUEST_METHOD": sent.method,
            "SCRIPT_NAME": "",
            "PATH_INFO": _unquoted(path),
            "QUERY_STRING": query,
            "CONTENT_TYPE": sent.type,
            "CONTENT_LENGTH": str(len(sent.body)),
            "HTTP_HOST": "localhost",
            "HTTP_COOKIE": f"csrftoken={CSRF}; {self._session()}",
            "HTTP_X_CSRFTOKEN": CSRF,
            "REMOTE_ADDR": "127.0.0.1",
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(sent.body),
            "wsgi.errors": io.StringIO(),
            "wsgi.multithread": False,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        if self.token:
            environ["HTTP_AUTHORIZATION"] = self.token
        environ |= sent.headers
        statuses: list[str] = []
        answer = self.application(environ, lambda status, headers, *rest: statuses.append(status))
        body = b"".join(itertools.islice(answer, 100))
        answer.close()
        return int(statuses[0].split()[0]), body

    def _session(self) -> str:
        """A session of this person, made anew when a request has ended it."""
        if self.user is None:
            return ""
        store = SessionStore(getattr(self, "_key", None))
        if SESSION_KEY not in store:
            store = SessionStore()
            store[SESSION_KEY] = str(self.user.pk)
            store[BACKEND_SESSION_KEY] = "crawler.accounts.backends.NameOrMailBackend"
            store[HASH_SESSION_KEY] = self.user.get_session_auth_hash()
            store.create()
            self._key = store.session_key
        return f"sessionid={self._key}"


class Lines(logging.Handler):
    """What the product's log would say, tracebacks included."""

    def __init__(self) -> None:
        super().__init__()
        for name in settings.LOGGING["handlers"]["stderr"]["filters"]:
            made = settings.LOGGING["filters"][name]["()"].rpartition(".")[2]
            self.addFilter(getattr(logs, made)())
        self.text: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.text.append(self.format(record))


@pytest.fixture
def log() -> Iterator[Lines]:
    lines = Lines()
    logging.getLogger().addHandler(lines)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield lines
    logging.getLogger().removeHandler(lines)


def restart_numbering() -> None:
    """Let the next row of every table be its number one: there are none, not even those of migrations."""
    call_command("flush", interactive=False, verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT setval(quote_ident(sequencename), 1, false) FROM pg_sequences WHERE schemaname = 'public'"
        )


@pytest.fixture
def deployment(transactional_db: None) -> None:
    """Rows of every kind, numbered from one, and the people."""
    restart_numbering()
    seed(datetime.now(UTC), replayed=False)
    make_user("user")
    make_user("administrator", staff=True, is_superuser=True)


def _unquoted(path: str) -> str:
    """As a WSGI server hands a path in: percent signs decoded, bytes as Latin-1."""
    raw = path.encode("utf-8", "surrogatepass")
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), raw).decode("latin-1")


def templates(patterns: list[Any] | None = None, before: str = "/") -> Iterator[str]:
    """Every address of the product, {} where a value goes."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        text = str(pattern.pattern)
        text = re.sub(r"<[^>]*>", "{}", text) if "(?P" not in text else _of_expression(text)
        path = before + text.removeprefix("^").rstrip("$").removesuffix("\\Z").replace("\\.", ".").replace(
            "\\Z", ""
        )
        if isinstance(pattern, URLResolver):
            yield from templates(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern):
            yield path


def _of_expression(text: str) -> str:
    """The same of a regular expression with named groups."""
    while "(?P<" in text:
        start = text.index("(?P<")
        depth = 0
        for at in range(start, len(text)):
            depth += {"(": 1, ")": -1}.get(text[at], 0) if text[at - 1] != "\\" else 0
            if depth == 0:
                break
        text = text[:start] + "{}" + text[at + 1 :]
    return text.replace("/?", "/").replace("?", "")


@cache
def _fields() -> list[str]:
    """Names that some form, filter or view reads."""
    names = {
        "page",
        "page_size",
        "ordering",
        "search",
        "cursor",
        "q",
        "next",
        "since",
        "until",
        "url",
        "limit",
        "subject",
        "predicate",
        "object",
        "context",
        "as",
        "host",
        "feed",
        "day",
        "run",
        "delay",
        "category",
        "status",
        "state",
        "view",
        "order",
        "folder",
        "iri",
        "query",
        "dry",
        "from",
        "hub.mode",
        "hub.topic",
        "hub.challenge",
        "n",
        "c",
        "r",
        "s",
        "i",
        "it",
        "xt",
        "ot",
        "nt",
        "T",
        "a",
        "Email",
        "Passwd",
        "output",
        "ac",
        "t",
        "dest",
        "ts",
        "username",
        "password",
        "name",
        "feature",
        "word",
        "action",
        "_selected_action",
        "failure",
        "link",
        "format",
    }
    waiting = [forms.Form, forms.ModelForm]
    while waiting:
        one = waiting.pop()
        waiting += one.__subclasses__()
        if one.__module__.split(".")[0] in {"crawler", "feeds", "articles", "recrawl"}:
            names |= set(one.base_fields)
    return sorted(names)


@cache
def _query(value: str) -> str:
    return "&".join(f"{name}={quote(value)}" for name in _fields())


@cache
def _form(value: str) -> bytes:
    return "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name in _fields()).encode()


@cache
def _objects() -> list[bytes]:
    """Every field with one value."""
    odd = (HUGE, 1e300, -1, 2**63, True, None, [], {}, [[]], {"a": {}}, "x" * 30_000, "\U0001f4a3" * 900)
    return [json.dumps(dict.fromkeys(_fields(), value)).encode() for value in odd]


def _in_parts(value: str, name: str = "file", file: str = "a.opml") -> bytes:
    return (
        f'--x\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\n'
        f"Content-Type: text/x-opml\r\n\r\n{value}\r\n--x--\r\n"
    ).encode("utf-8", "surrogatepass")


def poisons_of(path: str) -> Iterator[Sent]:
    """What is sent to the address of a template."""
    good = path.replace("{}", "1")
    places = ["%00", "a%00b", "%ed%a0%80", "%ff", "%c0%80", "1%00", HUGE, "0.5", "-1", str(2**63), "9" * 6000]
    if "{}" in path:
        for value in places:
            yield Sent(path.replace("{}", value))
        yield Sent(path.replace("{}", "%00"), "POST", b"{}", JSON)
        yield Sent(path.replace("{}", HUGE), "DELETE")
    yield Sent(good + "%00")
    yield Sent(good + "?q=a%00b")
    yield Sent(good + "?%00=1")
    yield Sent(good + "?q=%ed%a0%80&name=%ff%fe&url=%c0%80")
    yield Sent(good + "?" + "a&" * 1500)
    for value in ODD_TEXTS:
        yield Sent(f"{good}?{_query(value)}")
    yield from _odd_headers(good)
    yield from _odd_bodies(good)
    for method in ("HEAD", "OPTIONS", "TRACE", "PROPFIND", "get", "X" * 200, "PUT", "PATCH", "DELETE"):
        yield Sent(good, method, b"[1]", JSON)


def _odd_headers(good: str) -> Iterator[Sent]:
    cookies = (
        'sessionid="\\000\\000abcdefgh"',
        "sessionid=a\0bcdefghi",
        "sessionid=\xed\xa0\x80abcdefgh",
        "=;;=" * 99,
    )
    yield from (Sent(good, headers={"HTTP_COOKIE": each}) for each in cookies)
    authorizations = (
        "Token a\0b",
        "Token \xed\xa0\x80",
        "Token",
        "Token a b",
        "Bearer \xff",
        "GoogleLogin auth=a\0b/c",
        "GoogleLogin auth=" + "x" * 9000,
        "Basic %%%",
        "Token " + "x" * 9000,
    )
    yield from (Sent(good, headers={"HTTP_AUTHORIZATION": each}) for each in authorizations)
    odd = ("\xff\xfe", "a\0b", HUGE, ";q=;;=", '"', "a, " * 900, "*/*; q=x; indent=" + HUGE, 'W/"')
    for name in (
        "ACCEPT",
        "ACCEPT_LANGUAGE",
        "IF_NONE_MATCH",
        "IF_MODIFIED_SINCE",
        "X_FORWARDED_FOR",
        "HX_REQUEST",
    ):
        yield from (Sent(good, headers={f"HTTP_{name}": each}) for each in odd)
    hosts = ("a\0b", "[::1", "evil.example", "localhost:" + HUGE, "\xff", "")
    yield from (Sent(good, headers={"HTTP_HOST": each}) for each in hosts)
    types = (
        "text/plain; charset*=utf-8''a%00b",
        "text/plain; charset*=bogus''%41",
        "text/plain; charset=hex",
        "text/plain; charset=undefined",
        "application/json; charset=unicode_escape",
        "multipart/form-data",
        "\xff",
        "multipart/form-data; boundary=\xff",
        "multipart/form-data; boundary=x; charset*=bogus''%41",
        ";;;",
        "a/" * 999,
        "application/x-www-form-urlencoded; charset=hex",
        "application/x-www-form-urlencoded; charset=utf-16",
        "application/json; charset=utf-16",
        "text/x-opml; charset=zlib",
        "application/sparql-query",
        "application/xml",
    )
    for kind in types:
        yield Sent(good + "?q=%41", type=kind)
        yield Sent(good, "POST", b"a=%41%00", kind)
    yield Sent(good + "?" + "a&" * 1500, "POST", b"a=1", "text/plain; charset=utf-8")
    for length in ("-1", "x", HUGE, "9" * 12):
        yield Sent(good, "POST", b"{}", JSON, {"CONTENT_LENGTH": length})


def _odd_bodies(good: str) -> Iterator[Sent]:
    deep = b"[" * 200_000
    values = (
        deep,
        b'{"a":' * 200_000,
        b'{"a":"\\u0000","url":"\\u0000","name":"\\u0000"}',
        b"1e999",
        b"NaN",
        b'{"url":"\\ud800","name":"\\ud800"}',
        b'"\xed\xa0\x80"',
        b"\xff\xfe[\x00",
        b"9" * 9000,
        b"null",
        b"[]",
        b'"x"',
        b'{"a\\u0000":1}',
    )
    yield from (Sent(good, "POST", each, JSON) for each in values)
    for body in _objects():
        yield Sent(good, "POST", body, JSON)
        yield Sent(good, "PATCH", body, JSON)
    for value in ("a\0b", *ODD_TEXTS):
        yield Sent(good, "POST", _form(value), FORM)
    yield Sent(good, "POST", b"a=%ed%a0%80&name=%ff&url=%c0%80", FORM)
    yield Sent(good, "POST", b"a=1&" * 3000, FORM)
    yield Sent(good, "POST", b"a=" + b"x" * 3_000_000, FORM)
    yield Sent(good, "POST", _in_parts("a\0b"), MULTIPART)
    yield Sent(good, "POST", _in_parts("x", name="a\0b"), MULTIPART)
    yield Sent(good, "POST", _in_parts("x", file="a\0b/../\ud800"), MULTIPART)
    yield Sent(good, "POST", _in_parts("x", file="x\"; filename*=bogus''%41"), MULTIPART)
    yield Sent(good, "POST", b"--x\r\n" * 5000, MULTIPART)
    part = b'--x\r\nContent-Disposition: form-data; name="url"\r\n\r\na\0b\r\n--x--\r\n'
    yield Sent(good, "POST", part, MULTIPART)
    yield Sent(good, "POST", part.replace(b"a\0b", b"\xed\xa0\x80"), MULTIPART)
    opml = b'<opml><body><outline text="a" xmlUrl="%s"/></body></opml>'
    for url in (
        b"http://" + b"a." * 900 + b"b/",
        b"http://[::1",
        "http://x.example/\u00e9".encode() * 99,
        b"&#0;",
    ):
        yield Sent(good, "POST", _in_parts((opml % url).decode()), MULTIPART)


def _worth_asking(path: str) -> bool:
    """One of several addresses of one view is enough: `.json` at its end; the admin's pages of each table."""
    if path.startswith("/api/") and ".{}" in path:
        return False
    ours = path.startswith(
        ("/admin/feeds/", "/admin/auth/user/", "/admin/recrawl/site/", "/admin/crawler/host/")
    )
    return not path.startswith("/admin/") or path.count("/") <= 3 or ours


ADDRESSES = sorted(path for path in set(templates()) if _worth_asking(path))
EVERYTHING = bool(os.environ.get("HOSTILE_EVERYTHING"))
"""Every poison to every address takes a quarter of an hour for each person; a sample, another one for each
address, takes some seconds: every poison is in it, and every address gets some of each kind."""
SAMPLE = 151
MAY_BE_AWAY = {"/healthz", "/graph/sparql", "/graph/query/"}
"""Their 503 says that another part of the product does not run, which is so in a test."""


def sample(path: str, person: str) -> Iterator[Sent]:
    """Which poisons an address gets."""
    start = (ADDRESSES.index(path) + 50 * PEOPLE.index(person)) % SAMPLE
    poisons = poisons_of(path)
    return poisons if EVERYTHING else itertools.islice(poisons, start, None, SAMPLE)


def test_the_list_of_addresses_is_the_product_s() -> None:
    assert len(ADDRESSES) > 200
    for known in (
        "/healthz",
        "/websub/{}/",
        "/personal/{}.{}",
        "/api/feeds/{}/",
        "/reader/api/0/token",
        "/admin/",
    ):
        assert known in ADDRESSES


@pytest.mark.usefixtures("deployment")
@pytest.mark.parametrize("person", PEOPLE)
def test_no_request_makes_the_server_fail(person: str, log: Lines) -> None:
    client = Client(person)
    failures: list[str] = []
    for path in ADDRESSES:
        for sent in sample(path, person):
            try:
                status, _ = client.send(sent)
            except Exception as error:  # what leaves the application is a 500 of the web server
                status = 500
                log.text.append(f"Traceback: {error!r}")
            if status >= 500 and not (status == 503 and path in MAY_BE_AWAY):
                failures.append(f"{status} {person}: {str(sent)[:400]}")
    tracebacks = [text for text in log.text if "Traceback" in text]
    assert "\n".join(failures + tracebacks) == ""
