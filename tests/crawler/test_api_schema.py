"""The OpenAPI schema is complete, and the page that explains it is made from it."""

import io

import pytest
from django.core.management import call_command

from crawler.web.documentation import endpoints
from tests.factories import make_token, make_user


def test_it_is_valid_and_without_warnings():
    out = io.StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=out)
    assert "/api/feeds/{id}/retrieve-now/" in out.getvalue()


@pytest.mark.django_db
def test_it_is_for_people_who_are_signed_in(client):
    assert client.get("/api/schema/").status_code in {401, 403}
    assert client.get("/api/docs/").status_code == 302
    token = make_token(make_user())
    assert client.get("/api/schema/", headers={"Authorization": token}).status_code == 200


@pytest.mark.django_db
def test_the_page_lists_every_endpoint(client):
    client.force_login(make_user())
    page = client.get("/api/docs/").content.decode()
    assert "/api/articles/{id}/" in page
    assert "next_retrieval" in page
    assert "<script" not in page.partition("<main")[2].partition("</main>")[0]


def test_references_lists_and_nulls_are_told_in_words():
    schema = {
        "paths": {
            "/x/": {
                "get": {
                    "tags": ["x"],
                    "responses": {
                        "200": {
                            "content": {
                                "application/json": {
                                    "schema": {"type": "array", "items": {"$ref": "#/components/schemas/X"}}
                                }
                            }
                        }
                    },
                }
            }
        },
        "components": {
            "schemas": {
                "X": {
                    "required": ["at"],
                    "properties": {
                        "at": {"type": "string", "format": "date-time", "nullable": True},
                        "kind": {"allOf": [{"$ref": "#/components/schemas/Kind"}]},
                        "of": {"type": "array", "items": {"type": "integer"}},
                    },
                },
                "Kind": {"type": "string", "enum": ["a", "b"]},
            }
        },
    }
    fields = endpoints(schema)["x"][0].answers[0].fields
    assert [(field.type, field.required) for field in fields] == [
        ("string (date-time) or null", True),
        ("a | b", False),
        ("list of integer", False),
    ]
