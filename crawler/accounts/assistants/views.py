"""Pages and endpoints of the sign-in for assistants, from their metadata to their disconnection."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from http import HTTPStatus
from typing import Any

from allauth.idp.oidc import views as provider
from allauth.idp.oidc.models import Token
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from crawler.accounts.assistants.adapter import destination_of, issuer_of, resource_of
from crawler.accounts.assistants.connections import connect, disconnect
from crawler.accounts.assistants.forms import ConsentForm
from crawler.accounts.models import AssistantConnection
from crawler.engine.chosen import chosen
from crawler.text.characters import unstorable
from crawler.web.permissions import person_of
from crawler.web.scopes import SCOPES, scopes_open_to

MAX_REGISTRATION_BYTES = 20_000
CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, MCP-Protocol-Version",
}
"""For assistants that run in a browser. None of these endpoints knows a session."""


def if_enabled(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Return the view, which answers 404 where assistants are not wanted (ASSISTANTS)."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not chosen("ASSISTANTS"):
            raise Http404
        return view(request, *args, **kwargs)

    return guarded


def open_to_browsers(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Return the view, which scripts of other sites may call (CORS)."""

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        is_preflight = request.method == "OPTIONS"
        response = HttpResponse(status=204) if is_preflight else view(request, *args, **kwargs)
        for name, value in CORS.items():
            response.headers.setdefault(name, value)
        return response

    return answered


@login_not_required
@csrf_exempt
def server_metadata(request: HttpRequest) -> HttpResponse:
    """Describe the authorization server (RFC 8414)."""
    names = {
        "authorization_endpoint": "authorization",
        "token_endpoint": "token",
        "revocation_endpoint": "revoke",
        "registration_endpoint": "client_registration",
    }
    endpoints = {
        name: request.build_absolute_uri(reverse(f"idp:oidc:{view}")) for name, view in names.items()
    }
    return JsonResponse(
        {
            "issuer": issuer_of(request),
            **endpoints,
            "scopes_supported": list(SCOPES),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
        }
    )


@login_not_required
@csrf_exempt
def resource_metadata(request: HttpRequest) -> HttpResponse:
    """Describe the protected resource, which is the MCP endpoint (RFC 9728)."""
    return JsonResponse(
        {
            "resource": resource_of(request),
            "resource_name": "Freshet",
            "authorization_servers": [issuer_of(request)],
            "scopes_supported": list(SCOPES),
            "bearer_methods_supported": ["header"],
        }
    )


class ConsentView(provider.AuthorizationView):  # type: ignore[misc]
    """The page on which a person allows an assistant to act for them, or refuses.

    Unlike the class it is made from, it needs a session and a CSRF token like every page.
    """

    form_class = ConsentForm
    template_name = "account/assistant.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Show the page, or a page that leads back to the assistant.

        Our policy lets forms go nowhere else, not even by a redirect. And where the person decided nothing
        yet, such as after an error, nobody is sent on without a click (RFC 9700, 4.11.2).
        """
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        location = response.headers.get("Location", "")
        if response.status_code == HTTPStatus.FOUND and not location.startswith("/"):
            context = {"address": location, "goes_on": request.method == "POST"}
            response = render(request, "account/assistant_onward.html", context)
        elif response.status_code == HTTPStatus.OK and not isinstance(response, TemplateResponse):
            response.status_code = HTTPStatus.BAD_REQUEST  # a page about an error
        add_never_cache_headers(response)
        return response

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show the form. PKCE is needed, and with the method S256: oauthlib would take `plain`, too."""
        if request.GET.get("code_challenge_method") != "S256":
            needed = ValidationError("A code_challenge with the method S256 is needed.")
            refused: HttpResponse = provider.respond_html_error(request, error=needed)
            return refused
        try:
            response: HttpResponse = super().get(request, *args, **kwargs)
        except ValueError:  # of addresses such as http://[ that nothing can take apart
            error = ValidationError("An address in the request is not one.")
            response = provider.respond_html_error(request, error=error)
        return response

    def get_form_kwargs(self) -> dict[str, Any]:
        """Offer of the requested scopes those that the person's role allows."""
        kwargs: dict[str, Any] = super().get_form_kwargs()
        open_scopes = scopes_open_to(person_of(self.request))
        offered = [scope for scope in SCOPES if scope in self._scopes and scope in open_scopes]
        return kwargs | {"requested_scopes": offered}

    def form_valid(self, form: ConsentForm) -> HttpResponse:
        """Store what was allowed, and send the assistant its code."""
        response: HttpResponse = super().form_valid(form)
        if response.status_code == HTTPStatus.FOUND:
            client_id, scopes = self._request_info["client_id"], form.cleaned_data["scopes"]
            connect(person_of(self.request), client_id, scopes, datetime.now(UTC))
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add where the person will be sent back to."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        host, is_near = destination_of(self._request_info["redirect_uri"])
        return context | {"host": host, "is_near": is_near}


class RegistrationView(provider.ClientRegistrationView):  # type: ignore[misc]
    """The registration of assistants (RFC 7591), all of them without a secret (public clients)."""

    def _get_client_metadata(self) -> dict[str, Any] | None:
        """Return the name and the addresses that the assistant states. The rest is the same for all."""
        if int(self.request.META.get("CONTENT_LENGTH") or 0) > MAX_REGISTRATION_BYTES:
            return None
        try:
            metadata = super()._get_client_metadata()
        except RecursionError:
            return None
        name = metadata.get("client_name") if metadata is not None else None
        if metadata is None or not isinstance(name, str | None) or unstorable(name or ""):
            return None
        return {
            "client_name": name,
            "redirect_uris": metadata.get("redirect_uris"),
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "scope": " ".join(SCOPES),
        }


class AssistantTokenView(provider.TokenView):  # type: ignore[misc]
    """The endpoint that gives tokens for a code or a refresh token."""

    def post(self, request: HttpRequest) -> HttpResponse:
        """Give tokens. A resource that is not ours is an error of the assistant, not of the server."""
        try:
            response: HttpResponse = super().post(request)
        except (ValidationError, ValueError) as error:
            words = {
                "error": "invalid_target",
                "error_description": getattr(error, "message", "Not an address."),
            }
            return JsonResponse(words, status=HTTPStatus.BAD_REQUEST)
        return response


class AssistantRevokeView(provider.RevokeView):  # type: ignore[misc]
    """The endpoint that takes tokens back (RFC 7009)."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Take a token back, and with a refresh token the access tokens that came with it."""
        refresh = Token.objects.lookup(Token.Type.REFRESH_TOKEN, request.POST.get("token", ""))
        response: HttpResponse = super().post(request, *args, **kwargs)
        if refresh is not None and response.status_code == HTTPStatus.OK:
            Token.objects.filter(user=refresh.user, client=refresh.client).delete()
        return response


@never_cache
@require_POST
def disconnect_assistant(request: HttpRequest, pk: int) -> HttpResponse:
    """End the connection with one of one's own assistants."""
    connections = AssistantConnection.objects.select_related("client")
    connection = get_object_or_404(connections, pk=pk, user=person_of(request))
    name = str(connection)
    disconnect(connection)
    messages.success(request, _("%(name)s is disconnected and reads nothing any more.") % {"name": name})
    return redirect("me-readers")
