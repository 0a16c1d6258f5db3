"""Typed readings of the process environment; a bad value ends the start and names its variable."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from crawler.embedded import place

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
BROKERS = ("redis", "rediss", "amqp", "amqps", "pgmq", "memory")


def text(name: str, default: str = "") -> str:
    """The variable's value without blanks around it; the default when unset or empty."""
    return os.environ.get(name, "").strip() or default


def web_address(name: str) -> str:
    """An http or https address without path, query or credentials, no slash at its end; empty when unset."""
    value = text(name).rstrip("/")
    parts = urlsplit(value)
    bare = f"{parts.scheme}://{parts.netloc}" == value and "@" not in parts.netloc
    if value and not (bare and parts.scheme in {"http", "https"} and parts.hostname):
        raise ImproperlyConfigured(
            f"{name} must be an address such as https://feeds.example.org, not {value!r}"
        )
    return value


def integer(name: str, default: int, *, least: int = 0, most: int | None = None) -> int:
    """A whole number not below `least`, and not above `most` where there is such a bound."""
    value = text(name, str(default))
    try:
        number = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}") from None
    if number < least:
        raise ImproperlyConfigured(f"{name} must be at least {least}, not {value}")
    if most is not None and number > most:
        raise ImproperlyConfigured(f"{name} must be at most {most}, not {value}")
    return number


def number(name: str, default: float, *, least: float = 0.0) -> float:
    """A finite number not below `least`."""
    value = text(name, str(default))
    try:
        result = float(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a number, not {value!r}") from None
    if not least <= result < float("inf"):
        raise ImproperlyConfigured(f"{name} must be a finite number of at least {least:g}, not {value}")
    return result


def switch(name: str, default: bool) -> bool:
    """True for 1, true, yes, on; false for 0, false, no, off, in any case."""
    value = text(name, str(default)).lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be true or false, not {value!r}")


def choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    """One of the allowed words."""
    value = text(name, default)
    if value not in allowed:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
    return value


def words(name: str, default: tuple[str, ...] = ()) -> list[str]:
    """A comma-separated list."""
    value = text(name)
    return [word.strip() for word in value.split(",") if word.strip()] if value else list(default)


def networks(name: str, default: tuple[str, ...] = ()) -> tuple[Network, ...]:
    """A comma-separated list of addresses or CIDR networks, such as `127.0.0.0/8, fd00::/8`."""
    try:
        return tuple(ipaddress.ip_network(word) for word in words(name, default))
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from None


def database(name: str, url: str) -> dict[str, Any]:
    """Django's settings for `postgresql://user:password@host:port/database?option=value`.

    The word `none` (or nothing) gives Django's dummy backend: everything imports, and the first query
    raises ImproperlyConfigured. That is how a terminal runs.
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
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path[1:]),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(port or ""),
        # The pool tests a connection before it hands it out, so a restarted server costs no request.
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "pool": {"min_size": 0, "max_size": 8, "timeout": 10, "max_idle": 60},
            **dict(parse_qsl(parts.query)),
        },
    }


def kept_secret(path: Path) -> str:
    """A random secret made once, in a file that only its owner can read.

    Processes that start together agree on one: the first link wins and the others read it.
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
    """CELERY_BROKER_URL; else queues in the database that was given; else the embedded server's."""
    given = text("CELERY_BROKER_URL")
    if not given and database_url not in {"", "none"}:
        given = "pgmq://" + database_url.split("://", 1)[-1].split("?", 1)[0]
    url = given or embedded_url
    scheme = url.split(":", 1)[0]
    if scheme not in BROKERS:
        raise ImproperlyConfigured(
            f"CELERY_BROKER_URL starts with {scheme!r}, not one of {', '.join(BROKERS)}"
        )
    return url


def transport_options(broker_url: str, visibility_timeout: int) -> dict[str, Any]:
    """What kombu's transport needs. A task unacknowledged for `visibility_timeout` seconds runs again.

    The timeout must be longer than any task may take, or a task still running is handed out twice.
    """
    # Seconds that whoever sends waits for a broker that is away; kombu gives up after four otherwise.
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
        # Seconds that a lost connection has to come back before whoever uses it is told.
        "pool_timeout": 10,
    }
