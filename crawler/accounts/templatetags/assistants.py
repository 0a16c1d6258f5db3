"""A template tag that shows the assistants of the visitor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

from crawler.accounts.assistants.adapter import resource_of
from crawler.accounts.models import AssistantConnection
from crawler.engine.chosen import chosen

register = template.Library()


@register.inclusion_tag("settings/_assistants.html", takes_context=True)
def assistants(context: Mapping[str, Any]) -> dict[str, Any]:
    """Show the assistants that the visitor connected, each with a button that disconnects it."""
    request = context["request"]
    connections = AssistantConnection.objects.filter(user=request.user.pk).select_related("client")
    return {
        "request": request,
        "csrf_token": context.get("csrf_token"),
        "is_enabled": chosen("ASSISTANTS"),
        "connections": connections.order_by("client__name", "id"),
        "old": context.get("old"),
        "mcp_address": resource_of(request),
    }
