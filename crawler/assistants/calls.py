"""Calls of the REST API within the process, as the person for whom an assistant works.

The API knows who may do what, checks what it is given, and says in sentences what is wrong. Tools that asked
the database themselves would have to know all of it once more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from django.test import RequestFactory
from django.urls import Resolver404, resolve
from django.utils.http import urlencode
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.settings import api_settings

from crawler.accounts.assistants.callers import Caller
from crawler.database.readers import reading_as

MAX_SENTENCE = 1_000


class ToolRefused(Exception):
    """A tool cannot do what was asked; its words say why, for the assistant."""


class _OwnRequest(WSGIRequest):
    """A request that came from no host: what the API makes of its own addresses is not handed out."""

    def get_host(self) -> str:
        """Return a name that stands for this process; ALLOWED_HOSTS is about others."""
        return "localhost"


class _Requests(RequestFactory):
    """Requests within the process."""

    def request(self, **request: Any) -> WSGIRequest:
        """Return a request with this environment."""
        return _OwnRequest(self._base_environ(**request))  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """The answer of the API: its status, its data as JSON has them, and its headers."""

    status: int
    data: Any
    headers: Mapping[str, str]


def call(
    caller: Caller,
    path: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    method: str = "GET",
    data: Mapping[str, Any] | None = None,
    accept: str = "application/json",
) -> ApiAnswer:
    """Call an address of the API as a person; parameters that are None or "" are left out.

    Raises ToolRefused with the API's own sentence where it refuses.
    """
    reply = attempt(caller, path, parameters, method=method, data=data, accept=accept)
    if reply.status >= 400:
        raise ToolRefused(sentence_of(reply))
    return reply


def attempt(
    caller: Caller,
    path: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    method: str = "GET",
    data: Mapping[str, Any] | None = None,
    accept: str = "application/json",
) -> ApiAnswer:
    """Call an address of the API as a person, and return what it answers, refusals too."""
    query_parameters = {name: value for name, value in (parameters or {}).items() if value not in (None, "")}
    query = urlencode(query_parameters, doseq=True)
    request = _Requests().generic(
        method,
        f"{path}?{query}" if query else path,
        json.dumps(data) if data is not None else b"",
        "application/json",
        headers={"Accept": accept},
    )
    return _answered(caller, request)


def _answered(caller: Caller, request: HttpRequest) -> ApiAnswer:
    try:
        match = resolve(request.path_info)
    except Resolver404:
        return ApiAnswer(404, {"detail": "There is no such thing."}, {})
    request.user = caller.user
    # As `rest_framework.test` does it: views take this user without looking for a token or a session.
    request._force_auth_user = caller.user  # type: ignore[attr-defined]
    request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]
    with reading_as(caller.user.pk):
        response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
        if isinstance(response, Response):
            data = json.loads(JSONRenderer().render(response.data) or b"null")
        else:
            data = getattr(response, "content", b"").decode("utf-8", "replace")
    return ApiAnswer(response.status_code, data, dict(response.headers))


def sentence_of(reply: ApiAnswer) -> str:
    """Return the sentences with which the API refuses, each with the field that it is about."""
    data = reply.data
    if isinstance(data, str):
        return data[:MAX_SENTENCE] or f"The answer was {reply.status}."
    if isinstance(data, dict):
        data = {name: data[name] for name in data if name != "request_id"}
    return "; ".join(_sentences(data))[:MAX_SENTENCE] or f"The answer was {reply.status}."


def _sentences(data: Any, field: str = "") -> list[str]:
    if isinstance(data, dict):
        return [line for name, value in data.items() for line in _sentences(value, str(name))]
    if isinstance(data, list):
        return [line for value in data for line in _sentences(value, field)]
    plain = field in {"", "detail", "error", api_settings.NON_FIELD_ERRORS_KEY}
    return [str(data) if plain else f"{field}: {data}"]


def parameters_of(address: str | None) -> dict[str, str]:
    """Return the parameters of an address by which the API leads to its next page."""
    return QueryDict((address or "").partition("?")[2]).dict() if address else {}
