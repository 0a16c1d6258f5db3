"""Tools of assistants: a name, arguments and their schema, the scope that is needed, and the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from crawler.accounts.assistants.callers import Caller
from crawler.assistants.calls import ToolRefused
from crawler.web.scopes import READ

MAX_ANSWER_CHARACTERS = 60_000
"""Of the text of an answer: some 15,000 tokens, which every assistant takes."""
PAGE_ROWS = 20
MAX_ROWS = 50

Cursor = Annotated[str, Meta(description="`next` of the answer before, for what follows.", max_length=500)]
Rows = Annotated[int, Meta(description="Rows of a page.", ge=1, le=MAX_ROWS)]


class Arguments(msgspec.Struct, forbid_unknown_fields=True):
    """Arguments of a tool; assistants are told of those that it does not know."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer of a tool: its data, and a text where that says more than the data."""

    data: dict[str, Any] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `takes_away` says that it removes or forgets something."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Caller, Any], ToolAnswer]
    scope: str = READ
    takes_away: bool = False
    asks_the_web: bool = False

    @property
    def changes(self) -> bool:
        """Return whether it may change anything."""
        return self.scope != READ

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of its arguments: an object without references."""
        [schema], parts = msgspec.json.schema_components([self.arguments])
        definition: dict[str, Any] = dict(parts[schema["$ref"].rpartition("/")[2]])
        definition.pop("title", None)
        definition.pop("description", None)
        return definition

    def call(self, caller: Caller, raw_arguments: Mapping[str, Any]) -> ToolAnswer:
        """Run it for a caller. Raises ToolRefused where it may not, or where the arguments are wrong."""
        if not caller.may(self.scope):
            raise ToolRefused(
                f"This connection may not do that: {self.name} needs the right to {self.scope}."
                " The person can give it in Freshet under Settings, Apps and keys."
            )
        try:
            arguments = msgspec.convert(dict(raw_arguments), self.arguments)
        except msgspec.ValidationError as error:
            raise ToolRefused(f"The arguments are wrong: {error}") from error
        return self.run(caller, arguments)


def key_of(reference: str, kind: str) -> int:
    """Return the number in a reference such as "article:12". Raises ToolRefused for any other text."""
    name, sign, number = reference.strip().partition(":")
    if not sign:
        name, number = kind, name
    if name != kind or not (number.isascii() and number.isdecimal() and len(number) < 19):
        raise ToolRefused(f'"{reference[:60]}" is no {kind}: give its id as answers show it, "{kind}:12".')
    return int(number)
