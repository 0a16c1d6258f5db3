"""An identity provider's answer is good once, in the browser that asked for it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from django.contrib.auth.models import User
from django.test import Client

from tests.browser.provider import CLIENT, SECRET, IdentityProvider

pytestmark = pytest.mark.django_db
LOGIN = "/accounts/oidc/oidc/login/"


@pytest.fixture
def provider(settings: Any) -> Iterator[IdentityProvider]:
    with IdentityProvider("paul") as made:
        app = {
            "provider_id": "oidc", "name": "the paper", "client_id": CLIENT, "secret": SECRET,
            "settings": {"server_url": made.origin},
        }  # fmt: skip
        settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [app], "OAUTH_PKCE_ENABLED": True}}
        settings.OIDC_NAME, settings.OIDC_SIGN_UP = "the paper", True
        yield made


def asked_of_provider(client: Client) -> str:
    """Return the provider's address to which a visitor is sent."""
    return str(client.post(LOGIN).context["address"])


def answer_for(client: Client) -> str:
    """Return our address, with code and state, to which the provider sends a visitor back."""
    answer = requests.get(asked_of_provider(client), allow_redirects=False, timeout=10)
    parts = urlsplit(answer.headers["Location"])
    return f"{parts.path}?{parts.query}"


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def tokens_asked_for(provider: IdentityProvider) -> list[dict[str, list[str]]]:
    return [parse_qs(request.body.decode()) for request in provider.requests if request.path == "/token"]


def test_an_answer_that_is_replayed_signs_nobody_in(provider: IdentityProvider) -> None:
    client = Client()
    answer = answer_for(client)
    client.get(answer)
    assert is_signed_in(client)
    client.post("/accounts/logout/")
    assert not is_signed_in(client)
    client.get(answer)
    assert not is_signed_in(client)
    assert len(tokens_asked_for(provider)) == 1, "its code is not even sent a second time"
    assert User.objects.count() == 1


def test_an_answer_counts_in_the_browser_alone_that_asked(provider: IdentityProvider) -> None:
    asking, other = Client(), Client()
    answer = answer_for(asking)
    answer_for(other)
    for address in (answer, answer.partition("&state=")[0], f"{answer}x"):
        other.get(address)
        assert not is_signed_in(other)
    assert not tokens_asked_for(provider)
    asking.get(answer)
    assert is_signed_in(asking)


def test_a_code_is_bound_to_the_sign_in_that_asked_for_it(provider: IdentityProvider) -> None:
    """PKCE does what a nonce would: the provider refuses a code that another sign-in brings."""
    challenges = []
    for client in (Client(), Client()):
        sent_to = asked_of_provider(client)
        challenges += parse_qs(urlsplit(sent_to).query)["code_challenge"]
        answer = requests.get(sent_to, allow_redirects=False, timeout=10).headers["Location"]
        client.get(answer.partition("testserver")[2])
    verifiers = [form["code_verifier"][0] for form in tokens_asked_for(provider)]
    hashes = [hashlib.sha256(verifier.encode()).digest() for verifier in verifiers]
    assert [base64.urlsafe_b64encode(value).rstrip(b"=").decode() for value in hashes] == challenges
    assert len(set(challenges)) == 2
