"""Sign-in of assistants: metadata, registration, consent, tokens, refusals, and their list."""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from allauth.idp.oidc.models import Client as Assistant
from allauth.idp.oidc.models import Token
from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.exceptions import AuthenticationFailed, Throttled

from crawler.accounts.assistants.adapter import is_good_redirect
from crawler.accounts.assistants.callers import Caller, caller_of, challenge_of
from crawler.accounts.assistants.connections import delete_unused
from crawler.accounts.models import AssistantConnection
from crawler.web.models import ApiToken
from crawler.web.roles import EDITOR, give_role
from tests.factories import make_user

pytestmark = pytest.mark.django_db
VERIFIER = "a" * 64
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
REDIRECT = "https://assistant.example/callback"
RESOURCE = "http://testserver/mcp"
BACKEND = "crawler.accounts.backends.NameOrMailBackend"


@pytest.fixture(autouse=True)
def no_limits_left_over() -> None:
    cache.clear()


@pytest.fixture
def ann() -> User:
    user = make_user("ann")
    give_role(user, EDITOR)
    return user


@pytest.fixture
def browser(ann: User) -> Client:
    client = Client()
    client.force_login(ann, backend=BACKEND)
    return client


def registered(**fields: Any) -> HttpResponse:
    told = {"client_name": "Helper", "redirect_uris": [REDIRECT]} | fields
    return Client().post("/oauth/clients", told, "application/json")


def assistant_id() -> str:
    return str(registered().json()["client_id"])


def asked(browser: Client, client_id: str, /, **changes: str | None) -> HttpResponse:
    query = {
        "client_id": client_id, "redirect_uri": REDIRECT, "response_type": "code", "state": "s1",
        "scope": "read mark manage", "code_challenge": CHALLENGE, "code_challenge_method": "S256",
        "resource": RESOURCE,
    } | changes  # fmt: skip
    told = urlencode({name: value for name, value in query.items() if value is not None})
    return browser.get(f"/oauth/authorize?{told}")


def signed_request(page: HttpResponse) -> str:
    match = re.search(r'name="request" value="([^"]+)"', page.content.decode())
    assert match, page.content.decode()
    return unescape(match[1])


def consented(browser: Client, page: HttpResponse, *scopes: str, action: str = "grant") -> HttpResponse:
    form = {"request": signed_request(page), "scopes": scopes, "action": action}
    return browser.post("/oauth/authorize", form)


def onward(response: HttpResponse) -> dict[str, str]:
    match = re.search(r'id="onward" href="([^"]+)"', response.content.decode())
    assert match, response.content.decode()
    address = unescape(match[1])
    assert address.startswith(REDIRECT)
    parts = urlsplit(address)
    return {name: values[0] for name, values in parse_qs(parts.query or parts.fragment).items()}


def code_for(browser: Client, client_id: str, *scopes: str) -> str:
    return onward(consented(browser, asked(browser, client_id), *scopes))["code"]


def exchanged(client_id: str, code: str, /, **changes: str) -> HttpResponse:
    form = {
        "grant_type": "authorization_code", "client_id": client_id, "code": code, "redirect_uri": REDIRECT,
        "code_verifier": VERIFIER, "resource": RESOURCE,
    } | changes  # fmt: skip
    return Client().post("/oauth/token", form)


def refreshed(client_id: str, refresh_token: str) -> HttpResponse:
    form = {"grant_type": "refresh_token", "client_id": client_id, "refresh_token": refresh_token}
    return Client().post("/oauth/token", form)


def called(secret: str, scheme: str = "Bearer") -> Caller:
    return caller_of(RequestFactory().post("/mcp", headers={"Authorization": f"{scheme} {secret}"}))


def tokens_for(browser: Client, *scopes: str) -> tuple[str, dict[str, Any]]:
    client_id = assistant_id()
    answer = exchanged(client_id, code_for(browser, client_id, *scopes))
    assert answer.status_code == 200, answer.content
    return client_id, answer.json()


def test_an_assistant_finds_registers_is_allowed_refreshes_and_is_revoked(browser: Client) -> None:
    challenge = challenge_of(RequestFactory().post("/mcp"))
    match = re.search('resource_metadata="([^"]+)"', challenge)
    assert match
    resource = Client().get(urlsplit(match[1]).path).json()
    assert resource["resource"] == RESOURCE
    issuer = resource["authorization_servers"][0]
    server = Client().get("/.well-known/oauth-authorization-server").json()
    assert (server["issuer"], server["code_challenge_methods_supported"]) == (issuer, ["S256"])
    assert server == Client().get("/.well-known/oauth-authorization-server/mcp").json()
    assert server["registration_endpoint"] == f"{issuer}/oauth/clients"

    answer = registered()
    assert answer.status_code == 201
    assert answer.json()["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in answer.json()
    client_id = answer.json()["client_id"]

    page = asked(browser, client_id)
    text = page.content.decode()
    assert "Helper" in text
    assert "assistant.example" in text
    back = onward(consented(browser, page, "read", "mark"))
    assert back["state"] == "s1"

    tokens = exchanged(client_id, back["code"]).json()
    assert tokens["expires_in"] == 3600
    caller = called(tokens["access_token"])
    assert (caller.user.get_username(), caller.client) == ("ann", "Helper")
    assert caller.scopes == {"read", "mark"}

    newer = refreshed(client_id, tokens["refresh_token"]).json()
    assert called(newer["access_token"]).token_key == caller.token_key
    assert refreshed(client_id, tokens["refresh_token"]).status_code == 400

    form = {"token": newer["refresh_token"], "client_id": client_id}
    assert Client().post("/oauth/revoke", form).status_code == 200
    for secret in (tokens["access_token"], newer["access_token"]):
        with pytest.raises(AuthenticationFailed):
            called(secret)


def test_manage_includes_the_rest(browser: Client, ann: User) -> None:
    _client_id, tokens = tokens_for(browser, "manage")
    assert called(tokens["access_token"]).scopes == {"read", "mark", "manage"}
    give_role(ann, "reader")
    assert called(tokens["access_token"]).scopes == {"read", "mark", "manage"}, "readers follow feeds, too"


def test_manage_is_never_ticked_beforehand(browser: Client) -> None:
    boxes = re.findall(r"<input[^>]*name=\"scopes\"[^>]*>", asked(browser, assistant_id()).content.decode())
    ticked = {re.search('value="(\\w+)"', box)[1] for box in boxes if "checked" in box}  # type: ignore[index]
    assert (len(boxes), ticked) == (3, {"read", "mark"})


def test_nothing_ticked_is_asked_again(browser: Client) -> None:
    page = consented(browser, asked(browser, assistant_id()))
    assert "Tick what it may do" in page.content.decode()


def test_a_refusal_sends_no_code(browser: Client) -> None:
    back = onward(consented(browser, asked(browser, assistant_id()), "read", action="refuse"))
    assert back == {"error": "access_denied", "state": "s1"}
    assert not AssistantConnection.objects.exists()


def test_somebody_not_signed_in_is_led_to_the_sign_in() -> None:
    answer = asked(Client(), assistant_id())
    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/?next=/oauth/authorize")
    assert asked(Client(), assistant_id(), prompt="none").status_code == 302


@pytest.mark.parametrize(
    "changes",
    [
        {"code_challenge": None, "code_challenge_method": None},
        {"code_challenge_method": "plain"},
        {"code_challenge_method": None},
        {"redirect_uri": "https://other.example/callback"},
        {"redirect_uri": None},
        {"resource": "https://other.example/mcp"},
        {"resource": "http://testserver/api"},
        {"client_id": "unknown"},
        {"resource": "http://["},
        {"redirect_uri": "https://assistant.example:99999/callback"},
    ],
)
def test_a_bad_request_is_answered_here_and_leads_nowhere(
    browser: Client, changes: dict[str, str | None]
) -> None:
    answer = asked(browser, assistant_id(), **changes)
    assert answer.status_code == 400
    assert b"onward" not in answer.content


@pytest.mark.parametrize(
    "changes", [{"code_challenge": None}, {"scope": "openid"}, {"scope": "admin"}, {"response_type": "token"}]
)
def test_an_error_for_the_assistant_waits_for_a_click(
    browser: Client, changes: dict[str, str | None]
) -> None:
    answer = asked(browser, assistant_id(), **changes)
    assert "error" in onward(answer)
    assert b"http-equiv" not in answer.content


@pytest.mark.parametrize(
    "redirect",
    [
        "javascript:alert(1)", "javascript://host/%0aalert(1)", "JavaScript:alert(1)", "data:text/html,x",
        "http://assistant.example/", "https://a@b.example/", "https://*.example/", "file:///etc/passwd",
        "https:///x", "//assistant.example/", "/callback", "https://a.example/#x", "https://a.example/ x",
        "https://a.example:x/",
    ],
)  # fmt: skip
def test_nobody_registers_an_address_that_is_unsafe(redirect: str) -> None:
    assert registered(redirect_uris=[REDIRECT, redirect]).status_code == 400
    assert not Assistant.objects.exists()


@pytest.mark.parametrize(
    "redirect",
    [
        "http://127.0.0.1:4000/cb", "http://localhost:4000/cb", "http://[::1]/cb",
        "cursor://anysphere.cursor-mcp/oauth", "com.example.app:/callback",
    ],
)  # fmt: skip
def test_programs_on_the_same_computer_have_addresses(redirect: str) -> None:
    assert is_good_redirect(redirect)


@pytest.mark.parametrize(
    "fields",
    [
        {"redirect_uris": []}, {"redirect_uris": "x"}, {"redirect_uris": [REDIRECT] * 11},
        {"redirect_uris": None}, {"client_name": "x" * 101}, {"client_name": "<b>"},
        {"client_name": "\ud800"}, {"client_name": {"a": 1}},
    ],
)  # fmt: skip
def test_a_registration_that_makes_no_sense_is_refused(fields: dict[str, Any]) -> None:
    assert registered(**fields).status_code == 400


def test_a_registration_asks_for_no_secret_and_no_other_grant() -> None:
    told = registered(
        token_endpoint_auth_method="client_secret_basic", grant_types=["client_credentials"], scope="openid"
    ).json()
    assert told["token_endpoint_auth_method"] == "none"
    assert told["grant_types"] == ["authorization_code", "refresh_token"]
    assert told["scope"] == "read mark manage"


def test_registrations_of_one_address_are_limited() -> None:
    assert [registered().status_code for _ in range(4)] == [201, 201, 201, 429]


def test_a_code_fits_its_verifier_client_address_and_resource_only(browser: Client) -> None:
    client_id, other = assistant_id(), assistant_id()
    for changes in (
        {"code_verifier": "b" * 64},
        {"code_verifier": ""},
        {"client_id": other},
        {"redirect_uri": "https://assistant.example/other"},
        {"resource": "https://other.example/mcp"},
        {"resource": "http://["},
    ):
        answer = exchanged(client_id, code_for(browser, client_id, "read"), **changes)
        assert answer.status_code in {400, 401}, changes
        assert "access_token" not in answer.json()


def test_a_code_is_used_once(browser: Client) -> None:
    client_id = assistant_id()
    code = code_for(browser, client_id, "read")
    assert exchanged(client_id, code).status_code == 200
    assert exchanged(client_id, code).status_code == 400


def test_a_token_without_a_resource_is_good_and_one_for_another_server_is_not(browser: Client) -> None:
    _client_id, tokens = tokens_for(browser, "read")
    row = Token.objects.get(type=Token.Type.ACCESS_TOKEN)
    assert row.get_resources() == [RESOURCE]
    for resources, is_good in (([], True), (["https://other.example/mcp"], False)):
        row.set_resources(resources)
        row.save()
        if is_good:
            assert called(tokens["access_token"])
        else:
            with pytest.raises(AuthenticationFailed):
                called(tokens["access_token"])


def test_tokens_that_expired_or_are_refresh_tokens_open_nothing(browser: Client) -> None:
    _client_id, tokens = tokens_for(browser, "read")
    with pytest.raises(AuthenticationFailed):
        called(tokens["refresh_token"])
    Token.objects.update(expires_at=datetime.now(UTC) - timedelta(seconds=1))
    for _ in range(40):  # which is no attempt at guessing
        with pytest.raises(AuthenticationFailed, match="expired"):
            called(tokens["access_token"])


def test_a_closed_account_has_no_assistant(browser: Client, ann: User) -> None:
    client_id, tokens = tokens_for(browser, "read")
    User.objects.filter(pk=ann.pk).update(is_active=False)
    with pytest.raises(AuthenticationFailed):
        called(tokens["access_token"])
    assert refreshed(client_id, tokens["refresh_token"]).status_code == 400


def test_a_new_consent_replaces_the_former(browser: Client) -> None:
    client_id, tokens = tokens_for(browser, "manage")
    newer = exchanged(client_id, code_for(browser, client_id, "read")).json()
    assert called(newer["access_token"]).scopes == {"read"}
    with pytest.raises(AuthenticationFailed):
        called(tokens["access_token"])
    assert AssistantConnection.objects.get().scopes == "read"


def test_a_token_of_a_program_is_a_caller_by_either_word(ann: User) -> None:
    row, secret = ApiToken.make(ann, "cron", scope="mark")
    for scheme in ("Bearer", "token"):
        caller = called(secret, scheme)
        assert caller == Caller(ann, frozenset({"read", "mark"}), "cron", f"token-{row.pk}")


def test_unknown_tokens_are_counted() -> None:
    with pytest.raises(AuthenticationFailed):
        called("", "Bearer")
    for _ in range(30):
        with pytest.raises(AuthenticationFailed):
            called("invented")
    with pytest.raises(Throttled):
        called("fst_invented")


def test_a_challenge_names_the_error_and_the_scopes() -> None:
    request = RequestFactory().post("/mcp")
    assert challenge_of(request, error="insufficient_scope", scopes=["manage"]) == (
        'Bearer resource_metadata="http://testserver/.well-known/oauth-protected-resource/mcp", '
        'scope="manage", error="insufficient_scope"'
    )


def test_the_consent_page_stays_out_of_frames_and_needs_a_csrf_token(ann: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ann, backend=BACKEND)
    page = asked(strict, assistant_id())
    assert page["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert "no-store" in page["Cache-Control"]
    assert consented(strict, page, "read").status_code == 403
    assert not AssistantConnection.objects.exists()


def test_a_forged_request_is_refused(browser: Client) -> None:
    form = {"request": "e30:forged", "scopes": ["read"], "action": "grant"}
    assert browser.post("/oauth/authorize", form).status_code == 403


def test_browsers_of_other_sites_may_ask_the_endpoints_but_not_the_page(browser: Client) -> None:
    for path in ("/oauth/token", "/oauth/clients", "/.well-known/oauth-protected-resource/mcp"):
        answer = Client().options(path)
        assert (answer.status_code, answer["Access-Control-Allow-Origin"]) == (204, "*")
    assert "Access-Control-Allow-Origin" not in browser.get("/oauth/authorize").headers


def test_the_list_shows_and_disconnects_one_s_own(browser: Client) -> None:
    _client_id, tokens = tokens_for(browser, "read")
    called(tokens["access_token"])
    row = AssistantConnection.objects.get()
    assert row.last_used is not None
    assert "Helper" in browser.get("/settings/apps/").content.decode()
    listed = browser.get("/api/assistants/").json()["results"][0]
    assert (listed["name"], listed["host"], listed["scopes"]) == ("Helper", "assistant.example", ["read"])

    other = Client()
    other.force_login(make_user("bob"), backend=BACKEND)
    assert "Helper" not in other.get("/settings/apps/").content.decode()
    assert other.get("/api/assistants/").json()["results"] == []
    assert other.delete(f"/api/assistants/{row.pk}/").status_code == 404
    assert other.post(f"/settings/apps/assistants/{row.pk}/disconnect/").status_code == 404
    assert called(tokens["access_token"])

    assert browser.post(f"/settings/apps/assistants/{row.pk}/disconnect/").status_code == 302
    assert not Token.objects.exists()
    with pytest.raises(AuthenticationFailed):
        called(tokens["access_token"])


def test_the_api_disconnects(browser: Client) -> None:
    _client_id, tokens = tokens_for(browser, "read")
    key = AssistantConnection.objects.get().pk
    assert browser.delete(f"/api/assistants/{key}/").status_code == 204
    with pytest.raises(AuthenticationFailed):
        called(tokens["access_token"])


def test_a_code_given_before_a_disconnection_opens_nothing(browser: Client) -> None:
    client_id = assistant_id()
    code = code_for(browser, client_id, "read")
    browser.delete(f"/api/assistants/{AssistantConnection.objects.get().pk}/")
    tokens = exchanged(client_id, code).json()
    with pytest.raises(AuthenticationFailed):
        called(tokens["access_token"])


def test_the_last_use_is_noted_once_a_minute(browser: Client) -> None:
    _client_id, tokens = tokens_for(browser, "read")
    called(tokens["access_token"])
    noted = AssistantConnection.objects.get().last_used
    called(tokens["access_token"])
    assert AssistantConnection.objects.get().last_used == noted


def test_clients_that_nobody_uses_are_deleted(browser: Client) -> None:
    used, _tokens = tokens_for(browser, "read")
    unused, fresh = assistant_id(), assistant_id()
    long_ago = datetime.now(UTC) - timedelta(days=31)
    Assistant.objects.exclude(pk=fresh).update(created_at=long_ago)
    AssistantConnection.objects.update(since=long_ago)
    delete_unused(datetime.now(UTC))
    assert set(Assistant.objects.values_list("pk", flat=True)) == {used, fresh}
    assert unused not in {used, fresh}
    Token.objects.update(expires_at=long_ago)
    delete_unused(datetime.now(UTC))
    assert set(Assistant.objects.values_list("pk", flat=True)) == {fresh}


def test_all_of_it_is_off_with_the_setting(browser: Client, settings: Any) -> None:
    settings.ASSISTANTS_ENABLED = False
    for path in (
        "/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/mcp",
        "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp",
        "/oauth/authorize", "/oauth/token", "/oauth/revoke", "/oauth/clients", "/api/assistants/",
    ):  # fmt: skip
        assert browser.get(path).status_code == 404, path
        assert browser.post(path).status_code in {404, 405}, path
    assert 'id="assistants"' not in browser.get("/settings/apps/").content.decode()


def test_the_rest_of_the_identity_provider_is_not_there(browser: Client) -> None:
    for path in ("/.well-known/openid-configuration", "/identity/o/authorize", "/oauth/userinfo"):
        assert browser.get(path).status_code == 404


def classes_of_api(resolver: URLResolver) -> set[type]:
    """Return the classes of all views of the API."""
    classes: set[type] = set()
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            classes |= classes_of_api(pattern)
        elif isinstance(pattern, URLPattern):
            view = getattr(pattern.callback, "cls", None) or getattr(pattern.callback, "view_class", None)
            classes |= {view} if view else set()
    return classes


def test_marks_are_all_that_a_token_for_marks_changes() -> None:
    views = classes_of_api(get_resolver("crawler.api"))
    scopes = {view.__name__: getattr(view, "token_scope", "manage") for view in views}
    assert {name for name, scope in scopes.items() if scope == "mark"} == {
        "MarksView", "SavedViewSet", "SavedImportViewSet", "HighlightViewSet", "CollectionViewSet",
    }  # fmt: skip
    assert set(scopes.values()) == {"mark", "manage"}


@pytest.mark.parametrize(
    ("scope", "collections", "tokens"), [("read", 403, 403), ("mark", 201, 403), ("manage", 201, 201)]
)
def test_a_token_of_the_api_changes_what_its_scope_covers(
    ann: User, scope: str, collections: int, tokens: int
) -> None:
    header = {"Authorization": f"Token {ApiToken.make(ann, 'cron', scope=scope)[1]}"}
    program = Client(headers=header)
    assert program.get("/api/collections/").status_code == 200
    assert program.post("/api/collections/", {"name": "x"}, "application/json").status_code == collections
    assert program.post("/api/tokens/", {"name": "x"}, "application/json").status_code == tokens


def test_the_api_takes_the_scope_of_a_token_and_what_there_was_before_it(browser: Client) -> None:
    for told, scope in (({"scope": "mark"}, "mark"), ({"may_write": True}, "manage"), ({}, "read")):
        answer = browser.post("/api/tokens/", {"name": "x"} | told, "application/json").json()
        assert (answer["scope"], answer["may_write"]) == (scope, scope != "read")
