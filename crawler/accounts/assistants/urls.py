"""URLs of the sign-in for assistants. The names of the endpoints are those that allauth looks up."""

from __future__ import annotations

from django.urls import include, path

from crawler.accounts.assistants import views
from crawler.accounts.assistants.views import if_enabled, open_to_browsers

_server = if_enabled(open_to_browsers(views.server_metadata))
_resource = if_enabled(open_to_browsers(views.resource_metadata))
_endpoints = [
    path("authorize", if_enabled(views.ConsentView.as_view()), name="authorization"),
    path("token", if_enabled(open_to_browsers(views.AssistantTokenView.as_view())), name="token"),
    path("revoke", if_enabled(open_to_browsers(views.AssistantRevokeView.as_view())), name="revoke"),
    path(
        "clients", if_enabled(open_to_browsers(views.RegistrationView.as_view())), name="client_registration"
    ),
]

urlpatterns = [
    path(".well-known/oauth-authorization-server", _server, name="oauth-server"),
    path(".well-known/oauth-authorization-server/mcp", _server, name="oauth-server-mcp"),
    path(".well-known/oauth-protected-resource", _resource, name="oauth-resource"),
    path(".well-known/oauth-protected-resource/mcp", _resource, name="oauth-resource-mcp"),
    path("oauth/", include(([path("", include((_endpoints, "oidc")))], "idp"))),
    path(
        "settings/apps/assistants/<int:pk>/disconnect/",
        if_enabled(views.disconnect_assistant),
        name="assistant-disconnect",
    ),
]
