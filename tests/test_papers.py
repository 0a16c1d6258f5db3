"""The rows of docs/papers.md: each names a file that is there, and a page or command by which it is seen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import get_commands
from django.test import Client

from tests.factories import make_user

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs/papers.md").read_text()
ROWS = [line.split("|")[1:-1] for line in TEXT.splitlines() if line.startswith("| ") and "---" not in line]
SYSTEMS = [row for row in ROWS if len(row) == 4 and row[1].strip() not in {"where", "paper"}]
PARTS = [row for row in SYSTEMS if "`" in row[1]]
WORDS = re.compile(r"`([^`]+)`")


def test_there_is_a_row_for_each_part() -> None:
    assert len(PARTS) >= 74
    assert all(row[2].strip() and row[3].strip() for row in PARTS), "each is seen somewhere, and judged"
    for row in PARTS:
        assert row[3].strip().startswith(("as printed", "differs: ", "not yet: ", "beyond")), row


def test_every_file_is_there() -> None:
    for row in PARTS:
        for name in WORDS.findall(row[1]):
            assert "/" not in name or (ROOT / name).exists(), name


def test_every_command_is_there() -> None:
    known = set(get_commands())
    seen = [name for row in PARTS for name in WORDS.findall(row[2])]
    last = TEXT[TEXT.index("**By command.**") :]
    for name in [*seen, *WORDS.findall(last)]:
        first, *rest = name.split()
        if first == "python":
            assert (ROOT / rest[0]).exists(), name
        elif re.fullmatch(r"[a-z_]+", first) and first not in {"history", "feeds_posting_rates"}:
            assert first in known, name


@pytest.mark.django_db
def test_every_page_answers(client: Client) -> None:
    user = make_user(staff=True)
    user.is_superuser = True
    user.save()
    client.force_login(user)
    pages = {name for name in WORDS.findall(TEXT) if name.startswith("/")}
    assert len(pages) > 25
    assert {page for page in pages if client.get(page).status_code not in {200, 302}} == set()
