"""The form with which a person allows an assistant to act for them."""

from __future__ import annotations

from typing import Any

from allauth.idp.oidc.forms import AuthorizationForm
from django.utils.translation import gettext_lazy

from crawler.web.scopes import ASSISTANT_SENTENCES, MANAGE


class ConsentForm(AuthorizationForm):  # type: ignore[misc]
    """A box for each scope that is asked for. The farthest one is never ticked beforehand."""

    def __init__(self, *args: Any, requested_scopes: list[str], **kwargs: Any) -> None:
        super().__init__(*args, requested_scopes=requested_scopes, **kwargs)
        boxes = self.fields["scopes"]
        boxes.choices = [(scope, ASSISTANT_SENTENCES[scope]) for scope in requested_scopes]
        boxes.initial = [scope for scope in requested_scopes if scope != MANAGE]
        boxes.error_messages["required"] = gettext_lazy("Tick what it may do, or refuse.")
