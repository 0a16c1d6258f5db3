"""Adapter of django-allauth's identity provider: which assistants may register, and for which server."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from allauth.idp.oidc.adapter import DefaultOIDCAdapter
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import get_script_prefix

from crawler.web.scopes import SCOPES

MAX_REDIRECTS = 10
MAX_REDIRECT_LENGTH = 500
LOOPBACK_HOSTS = {"127.0.0.1", "::1", "localhost"}
_UNSAFE_SCHEMES = {
    "javascript", "data", "vbscript", "file", "filesystem", "blob", "about", "ftp", "ws", "wss",
    "view-source", "intent",
}  # fmt: skip


class AssistantAdapter(DefaultOIDCAdapter):  # type: ignore[misc]
    """The identity provider for assistants."""

    def get_issuer(self) -> str:
        """Return the address of this deployment, which is the issuer of its tokens."""
        return issuer_of(self.request)

    def validate_client_registration(self, *, client: Any, **kwargs: Any) -> None:
        """Give a new client its scopes. Raises ValidationError for addresses that nobody is to be sent to."""
        redirects = client.get_redirect_uris()
        if len(redirects) > MAX_REDIRECTS:
            raise ValidationError("There are too many redirect_uris.")
        for redirect in redirects:
            if not is_good_redirect(redirect):
                raise ValidationError("A redirect_uri must be https, on the same computer, or an app's own.")
        client.set_scopes(list(SCOPES))
        client.set_default_scopes(list(SCOPES))  # what of it is granted, the person decides

    def validate_resource_uris(self, *, uris: list[str], **kwargs: Any) -> None:
        """Refuse (ValidationError) tokens for other servers than this one (RFC 8707)."""
        if any(uri.rstrip("/") != resource_of(self.request) for uri in uris):
            raise ValidationError("The resource is not on this server.")


def issuer_of(request: HttpRequest) -> str:
    """Return the address of this deployment without a final slash."""
    return request.build_absolute_uri(get_script_prefix()).rstrip("/")


def resource_of(request: HttpRequest) -> str:
    """Return the address of the MCP endpoint, which is the resource that tokens are for."""
    return f"{issuer_of(request)}/mcp"


def is_good_redirect(redirect: str) -> bool:
    """Return whether an assistant may get its code at this address.

    That is an https address, one on the same computer, or one with a scheme of an app's own.
    """
    try:
        parts = urlsplit(redirect)
        host = parts.hostname or ""
        parts.port  # noqa: B018 - raises ValueError for a bad one
    except ValueError:
        return False
    if len(redirect) > MAX_REDIRECT_LENGTH or not re.fullmatch(r"[!-~]+", redirect) or parts.fragment:
        return False
    if parts.scheme in {"http", "https"}:
        is_web = bool(host) and "@" not in parts.netloc and "*" not in redirect and "\\" not in redirect
        return is_web and (parts.scheme == "https" or host in LOOPBACK_HOSTS)
    return bool(parts.scheme) and parts.scheme not in _UNSAFE_SCHEMES and bool(parts.netloc or parts.path)


def destination_of(redirect: str) -> tuple[str, bool]:
    """Return the host or the app's scheme of an address, and whether it is on the same computer."""
    parts = urlsplit(redirect)
    if parts.scheme in {"http", "https"}:
        host = parts.hostname or ""
        return (host if host in LOOPBACK_HOSTS else parts.netloc), host in LOOPBACK_HOSTS
    return f"{parts.scheme}:", True
