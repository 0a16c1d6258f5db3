"""Additions to the OpenAPI schema: the refusals that every operation may return beside its results.

drf-spectacular reads only successful results from views and serializers. Responses to an unknown token, a
missing row or a body that is too large are decided in one place for all operations, so they are documented in
one place.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

JSON = "application/json"
METHODS = ("get", "post", "put", "patch", "delete")
STORABLE = r"^[^\x00]*$"
_SAID = {"$ref": "#/components/schemas/Refused"}
REFUSALS: dict[str, tuple[str, str, dict[str, Any]]] = {
    # status: (name, description, schema)
    "400": (
        "Invalid",
        "Refused: what is wrong, for each field or as a whole.",
        {"anyOf": [_SAID, {"$ref": "#/components/schemas/Faults"}]},
    ),
    "401": ("Unauthorized", "Who asks is not known.", _SAID),
    "403": ("Forbidden", "Only staff may do this, or the CSRF token is missing.", _SAID),
    "404": ("NotFound", "There is no such thing, or no such page of the list.", _SAID),
    "406": ("NotAcceptable", "There is no answer of a type that Accept names.", _SAID),
    "413": ("TooLarge", "The body is too large.", _SAID),
    "415": ("UnsupportedMediaType", "Bodies of this type are not read here.", _SAID),
    "429": ("TooManyAttempts", "Too many unknown tokens came from this address.", _SAID),
}
SCHEMAS = {
    "Refused": {
        "type": "object",
        "description": "Why a request was refused.",
        "properties": {"detail": {"type": "string"}},
        "required": ["detail"],
    },
    "Faults": {
        "type": "object",
        "description": "What is wrong, by the names of fields.",
        "additionalProperties": {},
    },
}


TOO_LONG = {
    "description": "The web server itself refuses an address that is so long.",
    "content": {"text/html": {"schema": {"type": "string"}}},
}


class DocumentedSchema(AutoSchema):
    """An OpenAPI generator that names JSON alone as the type of bodies without files.

    Forms are read too, but express less.
    """

    def map_parsers(self) -> list[Any]:
        """Return the media types of bodies."""
        types: list[Any] = super().map_parsers()
        serializer = self.get_request_serializer()
        fields = serializer().fields if isinstance(serializer, type) else getattr(serializer, "fields", {})
        has_file = any(isinstance(field, serializers.FileField) for field in fields.values())
        return [JSON] if JSON in types and not has_file else types


def with_refusals(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the refusals to the schema; a hook of drf-spectacular (POSTPROCESSING_HOOKS)."""
    components = result.setdefault("components", {})
    components.setdefault("schemas", {}).update(SCHEMAS)
    for schema in components["schemas"].values():
        _exclude_zero_bytes(schema)
    components["responses"] = {name: _response(status) for status, (name, _, _) in REFUSALS.items()}
    components["responses"]["TooLong"] = TOO_LONG
    for path, operations in result["paths"].items():
        for method in METHODS:
            if method in operations:
                _complete(path, method, operations[method])
    return result


def _exclude_zero_bytes(schema: Any) -> None:
    """Declare of every plain text that it has no zero bytes."""
    if isinstance(schema, list):
        for each in schema:
            _exclude_zero_bytes(each)
    elif isinstance(schema, dict):
        plain = not schema.keys() & {"enum", "format", "pattern", "const"}
        if schema.get("type") == "string" and plain and not schema.get("readOnly"):
            schema["pattern"] = STORABLE
        for each in list(schema.values()):
            _exclude_zero_bytes(each)


def _complete(path: str, method: str, operation: dict[str, Any]) -> None:
    for parameter in operation.get("parameters", ()):
        _exclude_zero_bytes(parameter["schema"])
    statuses = {"400", "401", "406", "429"}
    if method != "get" or operation.pop("x-staff-only", False):
        statuses.add("403")
    if "{" in path or any(parameter["name"] == "page" for parameter in operation.get("parameters", ())):
        statuses.add("404")
    if "requestBody" in operation:
        statuses |= {"413", "415"}
    responses = operation["responses"]
    for status in sorted(statuses - responses.keys()):
        responses[status] = {"$ref": f"#/components/responses/{REFUSALS[status][0]}"}
    responses.setdefault("414", {"$ref": "#/components/responses/TooLong"})
    operation["responses"] = dict(sorted(responses.items()))


def _response(status: str) -> dict[str, Any]:
    _, description, schema = REFUSALS[status]
    response: dict[str, Any] = {
        "description": description,
        "content": {"application/json": {"schema": schema}},
    }
    if status == "429":
        retry = {"description": "Seconds.", "schema": {"type": "integer"}}
        response["headers"] = {"Retry-After": retry}
    return response
