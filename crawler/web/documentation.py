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
    """The description of the answers with one status."""

    status: str
    description: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A method of a path."""

    method: str
    path: str
    summary: str
    description: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    answers: tuple[AnswerDescription, ...]


def endpoints(schema: Mapping[str, Any]) -> dict[str, list[Endpoint]]:
    """Return all endpoints of an OpenAPI 3.0 document by tag, in the document's order."""
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
            AnswerDescription(str(status), response.get("description", ""), _fields(schema, response))
            for status, response in operation["responses"].items()
            if "$ref" not in response  # what every endpoint may answer
        ),
    )


def _fields(schema: Mapping[str, Any], message: Mapping[str, Any]) -> tuple[Field, ...]:
    """Return the fields of a body, or of its rows if it is a list."""
    for content in message.get("content", {}).values():
        shape = _resolved(schema, content["schema"])
        if shape.get("type") == "array":
            shape = _resolved(schema, shape["items"])
        rows = shape.get("properties", {}).get("results")
        shape = _resolved(schema, rows["items"]) if rows else shape
        required = shape.get("required", ())
        return tuple(
            Field(name, _type(schema, field_schema), name in required, field_schema.get("description", ""))
            for name, field_schema in shape.get("properties", {}).items()
        )
    return ()


def _type(schema: Mapping[str, Any], field_schema: Mapping[str, Any]) -> str:
    shape = _resolved(schema, field_schema)
    words = str(shape.get("type", "any"))
    if words == "array":
        words = f"list of {_type(schema, shape.get('items', {}))}"
    elif "enum" in shape:
        words = " | ".join(str(value) for value in shape["enum"] if value is not None)
    elif shape.get("format"):
        words = f"{words} ({shape['format']})"
    return f"{words} or null" if field_schema.get("nullable") or shape.get("nullable") else words


def _resolved(schema: Mapping[str, Any], shape: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the shape behind `$ref`, also inside a wrapper. Of several the first counts."""
    while "$ref" in shape or any(name in shape for name in _WRAPPED):
        if "$ref" in shape:
            shape = schema["components"]["schemas"][shape["$ref"].rpartition("/")[2]]
        else:
            shape = next(shape[name] for name in _WRAPPED if name in shape)[0]
    return shape
