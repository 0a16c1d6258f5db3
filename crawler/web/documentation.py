"""The OpenAPI schema arranged for reading: endpoints in groups, with parameters and fields resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

METHODS = ("get", "post", "put", "patch", "delete")
_WRAPPED = ("allOf", "oneOf", "anyOf")


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter or a field of a body, its type in words."""

    name: str
    type: str
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class AnswerDescription:
    """What comes back with one status."""

    status: str
    description: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one path."""

    method: str
    path: str
    summary: str
    description: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    answers: tuple[AnswerDescription, ...]


def endpoints(schema: Mapping[str, Any]) -> dict[str, list[Endpoint]]:
    """All endpoints of an OpenAPI 3.0 document by tag, in the document's order."""
    groups: dict[str, list[Endpoint]] = {}
    for path, operations in schema["paths"].items():
        for method in METHODS:
            if method in operations:
                operation = operations[method]
                group = groups.setdefault(operation.get("tags", ["api"])[0], [])
                group.append(_endpoint(schema, path, method, operation))
    return groups


def _endpoint(schema: Mapping[str, Any], path: str, method: str, operation: Mapping[str, Any]) -> Endpoint:
    parameters = (
        Field(p["name"], _type(schema, p["schema"]), p.get("required", False), p.get("description", ""))
        for p in operation.get("parameters", ())
    )
    return Endpoint(
        method=method.upper(),
        path=path,
        summary=operation.get("summary", ""),
        description=operation.get("description", ""),
        parameters=tuple(parameters),
        body=_fields(schema, operation.get("requestBody", {})),
        answers=tuple(
            AnswerDescription(str(status), answer.get("description", ""), _fields(schema, answer))
            for status, answer in operation["responses"].items()
            if "$ref" not in answer  # what every endpoint may answer
        ),
    )


def _fields(schema: Mapping[str, Any], message: Mapping[str, Any]) -> tuple[Field, ...]:
    """Fields of a body, those of the rows where it is a list of them."""
    for content in message.get("content", {}).values():
        shape = _resolved(schema, content["schema"])
        if shape.get("type") == "array":
            shape = _resolved(schema, shape["items"])
        rows = shape.get("properties", {}).get("results")
        shape = _resolved(schema, rows["items"]) if rows else shape
        required = shape.get("required", ())
        return tuple(
            Field(name, _type(schema, given), name in required, given.get("description", ""))
            for name, given in shape.get("properties", {}).items()
        )
    return ()


def _type(schema: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    shape = _resolved(schema, given)
    words = str(shape.get("type", "any"))
    if words == "array":
        words = f"list of {_type(schema, shape.get('items', {}))}"
    elif "enum" in shape:
        words = " | ".join(str(value) for value in shape["enum"] if value is not None)
    elif shape.get("format"):
        words = f"{words} ({shape['format']})"
    return f"{words} or null" if given.get("nullable") or shape.get("nullable") else words


def _resolved(schema: Mapping[str, Any], shape: Mapping[str, Any]) -> Mapping[str, Any]:
    """The shape behind `$ref`, also where it is wrapped: the first of several."""
    while "$ref" in shape or any(name in shape for name in _WRAPPED):
        if "$ref" in shape:
            shape = schema["components"]["schemas"][shape["$ref"].rpartition("/")[2]]
        else:
            shape = next(shape[name] for name in _WRAPPED if name in shape)[0]
    return shape
