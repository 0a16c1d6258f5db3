"""App passwords, login tokens from ClientLogin, and short-lived edit tokens."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import datetime, timedelta

from django.core.signing import BadSignature, Signer
from django.db import transaction

from articles.greader.models import AppPassword, ReaderLogin
from articles.models import Subscriber

KEPT_LOGINS = 100
"""Maximum number of stored logins of a subscriber, revoked ones included; the oldest are deleted."""

MAX_APP_PASSWORDS = 50
_USED_EVERY = timedelta(hours=1)  # how exact `last_used` needs to be
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # no i, l, o, 0, 1: people type it on phones
_GROUPS, _GROUP = 6, 4
_signer = Signer(salt="articles.greader.edit")


def digest(secret: str) -> str:
    """Return the stored form of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def create_app_password(subscriber: Subscriber, name: str) -> str:
    """Create an app password of 118 random bits as "abcd-efgh-...". It cannot be looked up later."""
    groups = ("".join(secrets.choice(_ALPHABET) for _ in range(_GROUP)) for _ in range(_GROUPS))
    password = "-".join(groups)
    fever = fever_digest(subscriber.user.get_username(), password)
    AppPassword.objects.create(subscriber=subscriber, name=name, digest=digest(_plain(password)), fever=fever)
    return password


def fever_digest(username: str, password: str) -> str:
    """Return the stored form of the key that clients of the Fever API make of a name and a password.

    The API prescribes MD5; the password is random, and what is stored is a digest of the key.
    """
    key = hashlib.md5(f"{username}:{password}".encode(), usedforsecurity=False).hexdigest()
    return digest(key)


def app_password_of(username: str, password: str) -> AppPassword | None:
    """Return the app password of this active user, ignoring hyphens, blanks and case. Returns None for a
    wrong one.
    """
    rows = AppPassword.objects.select_related("subscriber__user")
    return rows.filter(
        digest=digest(_plain(password)),
        subscriber__user__username=username,
        subscriber__user__is_active=True,
    ).first()


@transaction.atomic
def open_login(subscriber: Subscriber, app_password: AppPassword | None, app: str, now: datetime) -> str:
    """Record a sign-in. Returns its token of 256 random bits.

    Without `app_password`, the account's own password was used, and the login ends when it changes.
    """
    token = secrets.token_urlsafe(32)
    account = "" if app_password else subscriber.user.get_session_auth_hash()
    ReaderLogin.objects.create(
        subscriber=subscriber,
        app_password=app_password,
        digest=digest(token),
        account_password=account,
        app=app,
        last_used=now,
    )
    retained = subscriber.reader_logins.order_by("-id").values_list("pk", flat=True)[:KEPT_LOGINS]
    subscriber.reader_logins.exclude(pk__in=list(retained)).delete()
    if app_password:
        AppPassword.objects.filter(pk=app_password.pk).update(last_used=now)
    return token


def login_with(token: str) -> ReaderLogin | None:
    """Return the login of a token, valid or not, with its subscriber and user."""
    return ReaderLogin.objects.select_related("subscriber__user").filter(digest=digest(token)).first()


def is_good(login: ReaderLogin) -> bool:
    """Return whether the login is not revoked, its user active and the account's password unchanged."""
    user = login.subscriber.user
    if login.revoked is not None or not user.is_active:
        return False
    return not login.account_password or hmac.compare_digest(
        login.account_password, user.get_session_auth_hash()
    )


def note_use(login: ReaderLogin, now: datetime) -> None:
    """Update `last_used`, at most once an hour."""
    if login.last_used is None or now - login.last_used > _USED_EVERY:
        ReaderLogin.objects.filter(pk=login.pk).update(last_used=now)


def edit_token(login: ReaderLogin) -> str:
    """Return the API's edit token, valid as long as this login: NetNewsWire keeps it until it is left."""
    return _signer.sign(str(login.pk))


def is_edit_token(text: str, login: ReaderLogin) -> bool:
    """Return whether `edit_token` made `text` for this login, or it is the login's own token."""
    if hmac.compare_digest(digest(text), login.digest):
        return True
    try:
        return _signer.unsign(text) == str(login.pk)
    except BadSignature:
        return False


def _plain(password: str) -> str:
    return re.sub(r"[\s-]", "", password).lower()
