"""Permissions: everyone with an account reads, staff changes things."""

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

View = Callable[..., HttpResponse]


def staff_only(view: View) -> View:
    """Refuse (403) users who may read but not change."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_staff:
            raise PermissionDenied("only staff may change things")
        return view(request, *args, **kwargs)

    return guarded


def person_of(request: HttpRequest) -> User:
    """Return who is signed in. Raises PermissionDenied for anybody else."""
    if not request.user.is_authenticated:
        raise PermissionDenied("only people who are signed in do this")
    return request.user


class StaffWrites(IsAuthenticated):
    """A permission that lets signed-in users read and staff write."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        signed_in = super().has_permission(request, view)
        return signed_in and (request.method in SAFE_METHODS or request.user.is_staff)
