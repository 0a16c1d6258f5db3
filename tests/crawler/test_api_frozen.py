"""API 1 is frozen: what docs/api-1.txt lists stays, and all that is there is listed."""

from __future__ import annotations

from pathlib import Path

from drf_spectacular.generators import SchemaGenerator

from tests.api_listing import broken, listing

FILE = Path(__file__).parents[2] / "docs" / "api-1.txt"


def test_programs_find_what_they_relied_on() -> None:
    now = listing(SchemaGenerator().get_schema(request=None, public=True))
    before = FILE.read_text().splitlines()
    assert broken(before, now) == [], "API 1 is promised (docs/promises.md): add beside it, take nothing away"
    assert before == now, "the API has grown: run `make api` and look at what it adds to docs/api-1.txt"


def test_what_breaks_a_program_is_found() -> None:
    before = [
        "GET /api/x/", "GET /api/x/ >id: integer!", "GET /api/x/ ?page: integer", "POST /api/x/",
        "POST /api/x/ <name: string",
    ]  # fmt: skip
    assert broken(before, [*before, "GET /api/x/ >new: string", "POST /api/x/ <more: string"]) == []
    assert broken(before, [*before, "POST /api/y/", "POST /api/y/ <name: string!"]) == []
    assert broken(before, before[1:]) == ["gone: GET /api/x/"]
    assert broken(before, [line for line in before if ">id" not in line]) == [
        "gone: GET /api/x/ >id: integer!"
    ]
    changed = [line.replace("id: integer!", "id: string!") for line in before]
    assert broken(before, changed) == ["gone: GET /api/x/ >id: integer!"]
    required = [line.replace("<name: string", "<name: string!") for line in before]
    assert broken(before, required) == ["newly required: POST /api/x/ <name: string!"]
    assert broken(before, [*before, "POST /api/x/ <more: string!"]) == [
        "newly required: POST /api/x/ <more: string!"
    ]
    freer = [line.replace("<name: string", "<name: string!") for line in before]
    assert broken(freer, before) == []
