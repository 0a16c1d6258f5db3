"""The table of roles: what each address and each operation of the API needs, walked with every role."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from crawler.web.roles import EDITOR, OPERATOR, OWNER, READER, ROLES, give_role
from tests.crawler.test_pages import OPEN, example
from tests.factories import make_user

pytestmark = pytest.mark.django_db

# What is not named here needs the role of a reader, to look at it and to change it.
NEEDS: dict[str, set[str]] = {
    "": OPEN,
    EDITOR: {
        "add", "feed-import-line", "logins", "login-forget", "api-login-list", "api-login-detail",
        "read-begin", "feeds-change", "feed-row", "feed-edit", "feed-rules", "feed-address",
        "add-rules", "health-deed", "site-add", "site-new",
        "site-act", "site-copy", "site-import", "site-pick", "site-settings", "api-feed-find",
        "rules-propose",
    },
    OPERATOR: {
        "story-apart", "leave-story", "join-story", "crawl-start", "crawl-change", "documents-again",
        "pipeline-links-change", "pipeline-stylesheet", "pipeline-stylesheets-try",
        "pipeline-stylesheets-keep", "experiment-start", "experiment-change", "opinions", "planning",
        "laboratory-set", "settings-budget", "settings-retention", "settings-mail", "settings-more",
    },
    OWNER: {"people", "person-role", "person-link", "person-close", "invitation-revoke", "settings-signup"},
}  # fmt: skip
NEEDS_TO_CHANGE: dict[str, set[str]] = {
    EDITOR: {
        "feeds-add", "api-feed-list", "api-feed-detail", "api-feed-import-opml", "api-feed-retrieve-now",
        "api-category-list", "api-category-detail", "api-site-list", "api-site-detail", "api-site-map-again",
        "api-site-visit-now", "api-site-import",
    },
    OPERATOR: {
        "api-enrichment-join-story", "api-enrichment-leave-story", "api-story-apart",
        "api-crawl-list", "api-crawl-detail", "api-crawl-requeue", "api-crawl-try-query",
        "api-document-again", "api-link-query-list", "api-link-query-detail",
        "api-http-transformer-list", "api-http-transformer-detail", "api-stylesheet-list",
        "api-stylesheet-detail", "api-stylesheet-trial", "api-stylesheet-again", "api-uri-filter-list",
        "api-uri-filter-detail", "api-planning",
    },
}  # fmt: skip
BY_TOKEN = (
    "/api/greader.php",
    "/api/fever.php",
    "/fever/",
    "/reader/",
    "/accounts/ClientLogin",
    "/metrics",
    "/mcp",
)
"""Beginnings of addresses that know tokens, not sessions; the tests of greader and assistants walk them."""
BACKEND = "crawler.accounts.backends.NameOrMailBackend"
ENDS_SESSIONS = {"logout", "account_logout", "admin:login", "admin:logout"}
AMID_A_SIGN_IN = {
    "mfa_authenticate", "mfa_login_webauthn", "socialaccount_signup", "socialaccount_login_error",
    "account_confirm_login_code",
}  # fmt: skip
"""Pages between the steps of a sign-in; without one they lead to its beginning."""


def role_needed(name: str, method: str) -> str:
    for table in (NEEDS_TO_CHANGE if method != "get" else {}, NEEDS):
        for role, names in table.items():
            if name in names:
                return role
    return OWNER if name.startswith("admin:") else READER


def operations(resolver: URLResolver, prefix: str = "/", space: str = "") -> Iterator[tuple[str, str, str]]:
    """Name, example path and method of every operation of the project."""
    for pattern in resolver.url_patterns:
        if "format" in str(pattern.pattern):
            continue
        route = prefix + example(str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from operations(
                pattern, route, f"{space}{pattern.namespace}:" if pattern.namespace else space
            )
        elif isinstance(pattern, URLPattern):
            for method in {*(getattr(pattern.callback, "actions", None) or ("get", "post"))} - {"head"}:
                yield f"{space}{pattern.name}", route, method


def is_refused(answer: HttpResponse) -> bool:
    if answer.status_code == 302:
        return "/accounts/login/" in answer["Location"] or answer["Location"].startswith("/admin/login/")
    return answer.status_code in {401, 403}


def test_every_operation_needs_the_role_of_the_table() -> None:
    visitors = {role: Client() for role in ("", *ROLES)}
    for role in ROLES:
        person = make_user(role)
        give_role(person, role)
        visitors[role].force_login(person, backend=BACKEND)
    order, seen, wrong = list(visitors), 0, []
    for name, path, method in operations(get_resolver()):
        if (
            name in ENDS_SESSIONS | AMID_A_SIGN_IN
            or path.startswith(BY_TOKEN)
            or (name == "None" and "/social/" in path)
        ):
            continue
        needed = role_needed(name, method)
        for role, client in visitors.items():
            if name.startswith("admin:") and role in {OPERATOR, OWNER}:
                continue  # the administration asks staff for a permission for each kind of row
            # Some operations end sessions, close accounts or change roles: all of it is taken back.
            cookies = copy.deepcopy(client.cookies)
            with transaction.atomic():
                refused = is_refused(getattr(client, method)(path))
                transaction.set_rollback(True)
            client.cookies = cookies
            if refused != (order.index(role) < order.index(needed)):
                wrong.append(f"{method} {name} {path} as {role or 'nobody'}: refused is {refused}")
            seen += 1
    assert not wrong, "\n".join(wrong)
    assert seen > 2000


def test_the_table_names_only_what_there_is() -> None:
    names = {name for name, _, _ in operations(get_resolver())}
    named = {name for table in (NEEDS, NEEDS_TO_CHANGE) for role in table for name in table[role]}
    assert named <= names


def test_roles_hold_the_rights_of_those_below() -> None:
    user = make_user()
    for role in (OWNER, EDITOR, OPERATOR, READER):
        give_role(user, role)
        user.refresh_from_db()
        assert (user.is_superuser, user.is_staff) == (role == OWNER, role in {OPERATOR, OWNER})
        assert user.groups.count() == (role == EDITOR)
    with pytest.raises(ValueError, match="king"):
        give_role(user, "king")
