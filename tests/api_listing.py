"""List what programs may rely on in the API: each parameter and field of its OpenAPI schema. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

DEPTH = 4
"""Objects within objects that are listed; trees of any depth exist."""
METHODS = ("get", "post", "put", "patch", "delete")
Schema = Mapping[str, Any]


def listing(document: Schema) -> list[str]:
    """Return the lines of a schema, sorted.

    `GET /api/x/ ?name: type` is a parameter, `POST /api/x/ <field: type` a field of a request, `>field` one
    of an answer; `!` marks what a request must have and what an answer always has.
    """
    lines: set[str] = set()
    for path, operations in document["paths"].items():
        for method in METHODS:
            if method in operations:
                lines.update(_operation(document, f"{method.upper()} {path}", operations[method]))
    return sorted(lines)


def broken(before: list[str], after: list[str]) -> list[str]:
    """Return what programs relied on and no longer find, and what they must send now and did not have to."""
    had, has = set(before), set(after)
    sent = {line.rstrip("!") for line in has}
    operations = {line for line in had if line.count(" ") == 1}
    # What a request no longer needs breaks nobody who still sends it.
    gone = [line for line in sorted(had - has) if not (_is_sent(line) and line.rstrip("!") in sent)]
    wanted = [line for line in sorted(has - had) if _is_sent(line) and line.endswith("!")]
    return [f"gone: {line}" for line in gone] + [
        f"newly required: {line}" for line in wanted if " ".join(line.split(" ", 2)[:2]) in operations
    ]


def _is_sent(line: str) -> bool:
    """Return whether a line is of what a program sends."""
    return " <" in line or " ?" in line


def _operation(document: Schema, name: str, operation: Schema) -> Iterator[str]:
    yield name
    for parameter in operation.get("parameters", ()):
        must = "!" if parameter.get("required") else ""
        yield f"{name} ?{parameter['name']}: {_type(document, parameter.get('schema', {}))}{must}"
    for content in operation.get("requestBody", {}).get("content", {}).values():
        yield from (f"{name} <{line}" for line in _fields(document, content.get("schema", {})))
    for status, answer in operation.get("responses", {}).items():
        if status.startswith("2"):
            for content in answer.get("content", {}).values():
                yield from (f"{name} >{line}" for line in _fields(document, content.get("schema", {})))


def _fields(document: Schema, schema: Schema, prefix: str = "", depth: int = 0) -> Iterator[str]:
    schema = _resolved(document, schema)
    if schema.get("type") == "array":
        yield from _fields(document, schema.get("items", {}), f"{prefix}[].", depth)
        return
    for field, kind in schema.get("properties", {}).items():
        must = "!" if field in schema.get("required", ()) else ""
        yield f"{prefix}{field}: {_type(document, kind)}{must}"
        if depth < DEPTH:
            yield from _fields(document, kind, f"{prefix}{field}.", depth + 1)


def _type(document: Schema, schema: Schema) -> str:
    schema = _resolved(document, schema)
    name = schema.get("type", "any")
    if isinstance(name, list):
        name = " or ".join(name)
    if name == "array":
        return f"list of {_type(document, schema.get('items', {}))}"
    return f"{name} ({schema['format']})" if "format" in schema else str(name)


def _resolved(document: Schema, schema: Schema) -> Schema:
    """Return a schema with its reference followed; of several that all hold, the first that is one."""
    for _ in range(10):
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        elif parts := schema.get("allOf") or schema.get("oneOf"):
            schema = parts[0]
        else:
            break
    return schema
