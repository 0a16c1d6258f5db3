"""The base of all kinds of targets: a name, the fields of an address, and a way to send.

Nothing here imports Django: messages are sent by a process that has neither settings nor secrets.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crawler.notices.posting import SendOutcome


@dataclass(frozen=True, slots=True)
class AddressField:
    """A field of the form that asks for an address. Pages translate its label and help."""

    name: str
    label: str
    max_length: int
    help: str = ""
    note: str = ""
    """Help in the API's schema."""
    is_url: bool = False
    choices: Sequence[tuple[str, str]] = ()
    group: str = ""
    """The title of the folded group that the field is in."""


class AddressError(Exception):
    """Error for an address that cannot be used: a message for people, with names of fields in it."""

    def __init__(self, message: str, **names: str) -> None:
        super().__init__(message)
        self.message = message
        self.names = names


class TargetKind:
    """A kind of target. The attributes say how it differs from the others."""

    key = ""
    """Its value in `Target.kind`."""
    title = ("", "")
    """Its name for people, as context and message (`crawler.text.marking.pgettext`)."""
    fields: Sequence[AddressField] = ()
    """The fields that its address is made of; none if no form makes such a target."""
    hint = ""
    """HTML below the fields."""
    is_masked = True
    """Whether most of the address is hidden where it is shown."""
    is_isolated = True
    """Whether a separate process sends, which knows neither Django nor secrets."""
    is_deleted_when_gone = False
    """Whether a target that takes no messages any more is deleted."""

    def address_of(self, values: dict[str, Any]) -> tuple[str, str]:
        """Return the address that the fields' values make, and a name for it. Raises AddressError."""
        raise NotImplementedError

    def shown(self, address: str) -> str:
        """Return the part of an address that tells people which one it is."""
        return address

    def secret_of(self, address: str) -> str:
        """Return the secret that the owner is shown once, "" if there is none."""
        return ""

    def more_facts(self) -> dict[str, Any]:
        """Return what sending needs of the deployment's settings, beside the message and the address."""
        return {}

    def send(self, message: dict[str, Any]) -> SendOutcome:
        """Send a message. May raise whatever a library raises."""
        raise NotImplementedError


def part_of(address: str, *names: str) -> str:
    """Return the first of these fields that an address in JSON has, "" if it has none."""
    try:
        fields = json.loads(address)
    except ValueError:
        return ""
    return next((str(fields[name]) for name in names if fields.get(name)), "")
