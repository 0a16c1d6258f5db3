"""Read-later services, which keep the article that a message is about."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from crawler.notices.posting import SendOutcome, post
from crawler.notices.targets.base import AddressError, AddressField, TargetKind, part_of
from crawler.text.marking import gettext_noop, pgettext

MAX_HIGHLIGHT = 8191
"""Characters of a highlight that Readwise takes."""


class ReadLaterService(NamedTuple):
    """A service: its name, the fields of its form that it needs, and how an article is saved there."""

    name: str
    needs: tuple[str, ...]
    save: Callable[[dict[str, str], dict[str, Any]], SendOutcome]


def _bookmark(
    place: str, scheme: str, **more_fields: str
) -> Callable[[dict[str, str], dict[str, Any]], SendOutcome]:
    """Return how to save at a service that takes bookmarks as JSON, with a word before the token."""

    def save(target: dict[str, str], message: dict[str, Any]) -> SendOutcome:
        content = {**more_fields, "url": message["url"], "title": message["title"]}
        headers = {"Authorization": f"{scheme} {target.get('token', '')}"}
        return post(place.format(base=_base(target)), message, json=content, headers=headers)

    return save


def _instapaper(target: dict[str, str], message: dict[str, Any]) -> SendOutcome:
    fields = {"url": message["url"], "title": message["title"]}
    login = (target.get("name", ""), target.get("token", ""))
    return post("https://www.instapaper.com/api/add", message, data=fields, auth=login)


def _wallabag(target: dict[str, str], message: dict[str, Any]) -> SendOutcome:
    base = _base(target)
    fields = {
        "grant_type": "password",
        "client_id": target.get("client", ""),
        "username": target.get("name", ""),
    }
    fields |= {"client_secret": target.get("secret", ""), "password": target.get("token", "")}
    reply: dict[str, str] = {}
    outcome = post(f"{base}/oauth/v2/token", message, data=fields, reply=reply)
    if outcome.state != "sent":
        return outcome
    token = json.loads(reply["body"])["access_token"]
    return post(
        f"{base}/api/entries.json",
        message,
        json={"url": message["url"], "title": message["title"]},
        headers={"Authorization": f"Bearer {token}"},
    )


def _readwise_highlight(target: dict[str, str], message: dict[str, Any]) -> SendOutcome:
    """Add the text of a message as a highlight; the same text of the same title again changes nothing there.

    Source: https://readwise.io/api_deets
    """
    text = message["text"].removesuffix(message["url"]).strip()  # which messages end with
    highlight = {
        "text": text[:MAX_HIGHLIGHT] or message["title"],
        "title": message["title"][:511],
        "source_url": message["url"][:2047],
        "source_type": "freshet",
        "category": "articles",
    }
    headers = {"Authorization": f"Token {target.get('token', '')}"}
    place = "https://readwise.io/api/v2/highlights/"
    return post(place, message, json={"highlights": [highlight]}, headers=headers)


def _base(target: dict[str, str]) -> str:
    """Return the address of the service's server."""
    return target.get("url", "").rstrip("/")


SERVICES = {
    "wallabag": ReadLaterService("Wallabag", ("url", "login", "token", "client", "secret"), _wallabag),
    "linkding": ReadLaterService("Linkding", ("url", "token"), _bookmark("{base}/api/bookmarks/", "Token")),
    "karakeep": ReadLaterService(
        "Karakeep", ("url", "token"), _bookmark("{base}/api/v1/bookmarks", "Bearer", type="link")
    ),
    "readwise": ReadLaterService(
        "Readwise Reader", ("token",), _bookmark("https://readwise.io/api/v3/save/", "Token")
    ),
    "highlights": ReadLaterService("Readwise Highlights", ("token",), _readwise_highlight),
    "instapaper": ReadLaterService("Instapaper", ("login", "token"), _instapaper),
}


class SaveTarget(TargetKind):
    """An account at a read-later service."""

    key = "save"
    title = pgettext("kind of target", "a read-later service")
    fields = (
        AddressField(
            "read_later",
            gettext_noop("Service"),
            20,
            note="For a read-later service: which one.",
            choices=[(key, service.name) for key, service in SERVICES.items()],
        ),
        AddressField("url", gettext_noop("Address of its server"), 2000, note="Of its server.", is_url=True),
        AddressField("login", gettext_noop("Your name there"), 200),
        AddressField("token", gettext_noop("Token or password"), 1000),
        AddressField("client", gettext_noop("Client id (Wallabag)"), 200, group="Wallabag"),
        AddressField("secret", gettext_noop("Client secret (Wallabag)"), 200, group="Wallabag"),
    )

    def address_of(self, values: dict[str, Any]) -> tuple[str, str]:
        """Return the login of an account, and the service's name. Raises AddressError."""
        key = values.get("read_later") or ""
        needs = SERVICES[key].needs if key in SERVICES else ("url", "token")
        if missing := [name for name in needs if not values.get(name)]:
            labels = {field.name: field.label for field in self.fields}
            raise AddressError(gettext_noop("Fill in: %(name)s."), name=labels[missing[0]])
        parcel = {"service": key, **{name: values[name] for name in needs if name != "login"}}
        if "login" in needs:
            parcel["name"] = values["login"]
        return json.dumps(parcel), SERVICES[key].name

    def shown(self, address: str) -> str:
        """Return the address of the server, else the service."""
        return part_of(address, "url", "service")

    def send(self, message: dict[str, Any]) -> SendOutcome:
        """Save the article."""
        target = json.loads(message["address"])
        if target["service"] not in SERVICES:
            return SendOutcome("failed", "this service is not known here")
        return SERVICES[target["service"]].save(target, message)
