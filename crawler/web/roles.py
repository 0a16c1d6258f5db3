"""Roles of people, from the least to the most: reader, editor, operator, owner.

A role holds the rights of those before it. It is stored in what Django has for it: a group, `is_staff` and
`is_superuser`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, Group, User
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy, pgettext_lazy

from crawler.text.words import Words

READER, EDITOR, OPERATOR, OWNER = "reader", "editor", "operator", "owner"
ROLE_NAMES: Mapping[str, Words] = {
    READER: pgettext_lazy("role", "reader"),
    EDITOR: pgettext_lazy("role", "editor"),
    OPERATOR: pgettext_lazy("role", "operator"),
    OWNER: pgettext_lazy("role", "owner"),
}
ROLES: Mapping[str, Words] = {
    READER: gettext_lazy("reads, follows feeds and has feeds of their own"),
    EDITOR: gettext_lazy("also adds, changes and removes feeds and sites for all"),
    OPERATOR: gettext_lazy("also uses the tools and changes settings"),
    OWNER: gettext_lazy("also gives roles and opens the administration"),
}
REFUSALS: Mapping[str, Words] = {
    EDITOR: gettext_lazy("Only editors, operators and owners may do this."),
    OPERATOR: gettext_lazy("Only operators and owners may do this."),
    OWNER: gettext_lazy("Only owners may do this."),
}
"""Sentences for those whose role is lower than the one that a page needs."""
EDITORS = "editors"
"""Name of the group of editors."""


def role_of(user: User | AnonymousUser) -> str:
    """Return the role of a user, "" for somebody who is not signed in."""
    if not user.is_authenticated:
        return ""
    if user.is_superuser:
        return OWNER
    if user.is_staff:
        return OPERATOR
    is_editor = getattr(user, "is_editor", None)  # read with the user of a session
    if is_editor is None:
        is_editor = user.groups.filter(name=EDITORS).exists()
    return EDITOR if is_editor else READER


def is_at_least(user: User | AnonymousUser, role: str) -> bool:
    """Return whether a user has this role or a higher one."""
    names = ["", *ROLES]
    return names.index(role_of(user)) >= names.index(role)


def users_with_roles() -> QuerySet[User]:
    """Return all users with `is_editor`, for `role_of` to need no query."""
    memberships = User.groups.through.objects.filter(user=OuterRef("pk"), group__name=EDITORS)
    return User.objects.annotate(is_editor=Exists(memberships))


def user_with_role(key: int) -> User | None:
    """Return an active user with the role, in one query, None without one."""
    user = users_with_roles().filter(pk=key).first()
    return user if user is not None and user.is_active else None


def may(request: HttpRequest) -> dict[str, Any]:
    """Return what the visitor may do, for templates: `may.edit`, `may.operate`, `may.own`; and `demo`."""
    user = getattr(request, "user", AnonymousUser())
    rights = {"edit": EDITOR, "operate": OPERATOR, "own": OWNER}
    rights_held = {name: is_at_least(user, role) for name, role in rights.items()}
    return {"may": rights_held, "demo": settings.DEMO}


@transaction.atomic
def give_role(user: User, role: str) -> None:
    """Give a user a role in place of the present one. Raises ValueError for an unknown role."""
    if role not in ROLES:
        raise ValueError(f"there is no role {role!r}")
    user.is_superuser, user.is_staff = role == OWNER, role in {OPERATOR, OWNER}
    user.save(update_fields=["is_superuser", "is_staff"])
    editors, _ = Group.objects.get_or_create(name=EDITORS)
    if role == EDITOR:
        user.groups.add(editors)
    else:
        user.groups.remove(editors)
