"""A reader that is signed in to the API, as the tests of its endpoints need it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import HttpResponse
from django.test import Client

from articles.models import Subscriber
from tests.factories import make_subscriber

BASE = "/reader/api/0/"
FORM = "application/x-www-form-urlencoded"


def sign_in(client: Client, name: str, password: str = "water", **more: str) -> str:
    """The token that ClientLogin gives."""
    form = urlencode({"Email": name, "Passwd": password, **more})
    answer = client.post("/accounts/ClientLogin", form, FORM)
    assert answer.status_code == 200, answer.content
    lines = dict(line.split("=", 1) for line in answer.content.decode().splitlines())
    return lines["Auth"]


@dataclass
class Reader:
    """A subscriber and the reader of theirs: every request has the token of a login."""

    subscriber: Subscriber
    client: Client
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"GoogleLogin auth={self.token}"}

    def get(self, path: str, query: Any = (), **more: str) -> HttpResponse:
        """GET below /reader/api/0/; `query` is a dict or pairs."""
        text = urlencode(query or more, doseq=True)
        return self.client.get(f"{BASE}{path}?{text}", headers=self.headers)

    def post(self, path: str, form: Any = (), **more: Any) -> HttpResponse:
        """POST a form below /reader/api/0/, with neither cookie nor CSRF token."""
        body = urlencode(form or more, doseq=True)
        return self.client.post(f"{BASE}{path}", body, FORM, headers=self.headers)

    def ids(self, stream: str = "user/-/state/com.google/reading-list", **more: Any) -> list[int]:
        """Primary keys of a stream's items."""
        answer = self.get("stream/items/ids", [("s", stream), *more.items()])
        assert answer.status_code == 200, answer.content
        return [int(row["id"]) for row in answer.json()["itemRefs"]]

    def items(
        self, stream: str = "user/-/state/com.google/reading-list", **more: str
    ) -> list[dict[str, Any]]:
        """A stream's items."""
        return self.get(f"stream/contents/{stream}", **more).json()["items"]


@pytest.fixture
def ann(db: None) -> Reader:
    """A reader of a subscriber who follows nothing yet."""
    subscriber = make_subscriber("ann")
    client = Client(enforce_csrf_checks=True)
    return Reader(subscriber, client, sign_in(client, "ann"))


@pytest.fixture
def bob(db: None) -> Reader:
    """Another subscriber's reader."""
    subscriber = make_subscriber("bob")
    client = Client(enforce_csrf_checks=True)
    return Reader(subscriber, client, sign_in(client, "bob"))
