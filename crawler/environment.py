"""Typed readers of environment variables. A bad value ends the start with an error that names its variable.

The readers raise ImproperlyConfigured.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
import secrets
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import dj_email_url
from django.core.exceptions import ImproperlyConfigured

from crawler.postgresql import place

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
BROKERS = ("redis", "rediss", "amqp", "amqps", "pgmq", "memory")
BRIDGES = ("rsshub", "rss-bridge")
TEST_DATABASE_PREFIX = "freshet_test_"
"""Prefix of databases that tests create and drop, chosen so that no real database has it."""


FORMER_NAMES = {
    f"FEED_{name}": f"CRAWL_{name}"
    for name in (
        "TICK_SECONDS", "MIN_GAP_SECONDS", "BUDGET", "POLICY", "TRAINING_DAYS", "TRAINING_MAX_TICKS",
        "AUDIENCE_WEIGHT", "ARTICLE_PAGES",
    )
}  # fmt: skip
"""Former names of variables: until 0.1 those of feeds were called like those of crawls."""


def text(name: str, default: str = "") -> str:
    """Return the variable's value without surrounding blanks.

    Returns the default when it is unset or empty. A variable that is set under its former name counts.
    """
    if value := os.environ.get(name, "").strip():
        return value
    former = FORMER_NAMES.get(name, "")
    value = os.environ.get(former, "").strip()
    if value:
        warnings.warn(f"{former} is called {name} now; it is read until 1.0", stacklevel=2)
    return value or default


def is_given(name: str) -> bool:
    """Return whether the variable is set to something, also under its former name."""
    return any(os.environ.get(key, "").strip() for key in (name, FORMER_NAMES.get(name, "")) if key)


def web_address(name: str, *, with_path: bool = False) -> str:
    """Return an http(s) address without query, credentials or final slash. Returns "" when unset.

    It has no path unless `with_path` allows one.
    """
    value = text(name).rstrip("/")
    if value and not _is_web_address(value, with_path=with_path):
        raise ImproperlyConfigured(
            f"{name} must be an address such as https://feeds.example.org, not {value!r}"
        )
    return value


def _is_web_address(value: str, *, with_path: bool) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    path = parts.path if with_path else ""
    bare = f"{parts.scheme}://{parts.netloc}{path}" == value and "@" not in parts.netloc
    return bare and parts.scheme in {"http", "https"} and bool(parts.hostname)


def bridges(name: str) -> dict[str, str]:
    """Return base addresses by kind from `rsshub=https://hub.example, rss-bridge=https://bridge.example`."""
    addresses: dict[str, str] = {}
    for word in words(name):
        kind, _, address = (part.strip() for part in word.partition("="))
        if kind not in BRIDGES or kind in addresses or not _is_web_address(address, with_path=True):
            raise ImproperlyConfigured(
                f"{name} must name each kind of bridge ({', '.join(BRIDGES)}) once, as in "
                f"rsshub=https://hub.example, not {word!r}"
            )
        addresses[kind] = address.rstrip("/")
    return addresses


def origin_and_path(name: str) -> tuple[str, str]:
    """Return an http(s) address in two parts: https://example.org and /feeds. The path may be empty."""
    value = web_address(name, with_path=True)
    path = urlsplit(value).path
    if not re.fullmatch(r"(?:/[\w.~-]+)*", path, re.ASCII) or "/." in path:
        raise ImproperlyConfigured(f"the path of {name} takes letters, digits and .~_- only, not {path!r}")
    return value.removesuffix(path), path


def integer(name: str, default: int, *, min_value: int = 0, max_value: int | None = None) -> int:
    """Return a whole number of at least `min_value` and, where given, at most `max_value`."""
    value = text(name, str(default))
    try:
        number = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}") from None
    if number < min_value:
        raise ImproperlyConfigured(f"{name} must be at least {min_value}, not {value}")
    if max_value is not None and number > max_value:
        raise ImproperlyConfigured(f"{name} must be at most {max_value}, not {value}")
    return number


def number(name: str, default: float, *, min_value: float = 0.0) -> float:
    """Return a finite number of at least `min_value`."""
    value = text(name, str(default))
    try:
        result = float(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a number, not {value!r}") from None
    if not min_value <= result < float("inf"):
        raise ImproperlyConfigured(f"{name} must be a finite number of at least {min_value:g}, not {value}")
    return result


def switch(name: str, default: bool) -> bool:
    """Return True for 1, true, yes, on, and False for 0, false, no, off, in any case."""
    value = text(name, str(default)).lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be true or false, not {value!r}")


def choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    """Return one of the allowed words."""
    value = text(name, default)
    if value not in allowed:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
    return value


def words(name: str, default: tuple[str, ...] = ()) -> list[str]:
    """Return the items of a comma-separated list."""
    value = text(name)
    return [word.strip() for word in value.split(",") if word.strip()] if value else list(default)


def networks(name: str, default: tuple[str, ...] = ()) -> tuple[Network, ...]:
    """Return the networks in a comma-separated list of addresses or CIDR networks.

    An example is `127.0.0.0/8, fd00::/8`.
    """
    try:
        return tuple(ipaddress.ip_network(word) for word in words(name, default))
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from None


def mail(name: str, url: str) -> dict[str, Any]:
    """Return Django's EMAIL_ settings for `smtp://user:password@host:587/?tls=True`.

    Returns a backend that discards mails for an empty URL.
    """
    if not url:
        return {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend"}
    try:
        parsed: dict[str, Any] = dj_email_url.parse(url)
    except (KeyError, ValueError):
        parsed = {}
    if not parsed.get("EMAIL_BACKEND"):
        raise ImproperlyConfigured(f"{name} must look like smtp://user:password@host:587/?tls=True")
    return parsed


def database(name: str, url: str) -> dict[str, Any]:
    """Return Django's settings for `postgresql://user:password@host:port/database?option=value`.

    Returns Django's dummy backend for `none` or an empty URL, as terminals use: everything imports, and the
    first query raises ImproperlyConfigured.
    """
    if url in {"", "none"}:
        return {"ENGINE": "django.db.backends.dummy"}
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from None
    # The value carries a password, so no message quotes it.
    if parts.scheme not in {"postgresql", "postgres"}:
        raise ImproperlyConfigured(f"{name} must start with postgresql:// (or be the word none)")
    if len(parts.path) < 2:
        raise ImproperlyConfigured(f"{name} must end with the database's name, as in postgresql://host/name")
    database_name = unquote(parts.path[1:])
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database_name,
        "TEST": {"NAME": TEST_DATABASE_PREFIX + database_name},
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(port or ""),
        # The pool tests a connection before it hands it out, so a restarted server costs no request.
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "pool": {"min_size": 0, "max_size": 16, "timeout": 10, "max_idle": 60},
            **dict(parse_qsl(parts.query)),
        },
    }


def kept_secret(path: Path) -> str:
    """Return a random secret, made once and kept in a file that only its owner can read.

    Processes that start together agree on one secret: the first link wins, and the others read it.
    """
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_name(f"{path.name}.{os.getpid()}")
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(50))
            with contextlib.suppress(FileExistsError):
                os.link(draft, path)
            draft.unlink()
        secret = path.read_text().strip()
    except (OSError, UnicodeError) as error:
        raise ImproperlyConfigured(place.unusable(path.parent, error)) from error
    if not secret:
        raise ImproperlyConfigured(f"{path} is empty: delete it, and a new secret is made")
    return secret


def broker(database_url: str, embedded_url: str) -> str:
    """Return CELERY_BROKER_URL, else queues in the given database, else those of the embedded server."""
    address = text("CELERY_BROKER_URL")
    if not address and database_url not in {"", "none"}:
        address = "pgmq://" + database_url.split("://", 1)[-1].split("?", 1)[0]
    url = address or embedded_url
    scheme = url.split(":", 1)[0]
    if scheme not in BROKERS:
        raise ImproperlyConfigured(
            f"CELERY_BROKER_URL starts with {scheme!r}, not one of {', '.join(BROKERS)}"
        )
    return url


def transport_options(broker_url: str, visibility_timeout: int) -> dict[str, Any]:
    """Return kombu's transport options. A task unacknowledged for `visibility_timeout` seconds runs again.

    The timeout must be longer than any task may take, or a task still running is handed out twice.
    """
    # Seconds that a sender waits for a broker that is away; without this kombu gives up after four.
    patience = {"connect_retries_timeout": 60}
    if broker_url.startswith("redis"):
        return {"visibility_timeout": visibility_timeout, **patience}
    if not broker_url.startswith("pgmq:"):
        return patience
    return {
        "visibility_timeout": visibility_timeout,
        **patience,
        # Without this pgmq's client prefers a DATABASE_URL it finds in the environment to the broker's URL.
        "conn_string": "postgresql" + broker_url.removeprefix("pgmq"),
        "init_extension": False,  # the schema is installed from SQL (embedded/broker.py)
        "use_notify": True,
        "wait_time_seconds": 0,
        "polling_interval": 5,
        # Seconds in which a lost connection may be restored before its users get an error.
        "pool_timeout": 10,
    }
