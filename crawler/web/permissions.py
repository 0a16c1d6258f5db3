"""Permissions: everyone with an account reads, editors change feeds and sites, operators the rest."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from rest_framework.permissions import SAFE_METHODS, IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from crawler.web.roles import EDITOR, OPERATOR, REFUSALS, is_at_least

View = Callable[..., HttpResponse]


def needs(role: str) -> Callable[[View], View]:
    """Return a decorator that refuses (403) users whose role is lower."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not is_at_least(request.user, role):
                raise PermissionDenied(REFUSALS[role])
            return view(request, *args, **kwargs)

        return guarded

    return decorate


def person_of(request: HttpRequest) -> User:
    """Return who is signed in. Raises PermissionDenied for anybody else."""
    if not request.user.is_authenticated:
        raise PermissionDenied("only people who are signed in do this")
    return request.user


class EditorWrites(IsAuthenticated):
    """A permission that lets signed-in users read and editors write."""

    role = EDITOR

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return whether the request's user may do this."""
        signed_in = super().has_permission(request, view)
        return signed_in and (request.method in SAFE_METHODS or is_at_least(request.user, self.role))


class EditorsOnly(IsAuthenticated):
    """A permission for editors alone."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return whether the request's user may do this."""
        return super().has_permission(request, view) and is_at_least(request.user, EDITOR)


class OperatorWrites(EditorWrites):
    """A permission that lets signed-in users read and operators write."""

    role = OPERATOR
