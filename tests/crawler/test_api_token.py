"""`manage.py api_token USER` for scripts."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from tests.factories import make_user

pytestmark = pytest.mark.django_db


def test_it_prints_one_token_that_opens_the_api(client, capsys):
    make_user("ann")
    call_command("api_token", "ann")
    call_command("api_token", "ann")
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    assert client.get("/api/feeds/", headers={"Authorization": f"Token {first}"}).status_code == 200


def test_an_unknown_user_is_named():
    with pytest.raises(CommandError, match="no user 'nobody'"):
        call_command("api_token", "nobody")


@pytest.mark.parametrize("program", ["manage.py", "freshet"])
def test_pages_name_the_program_that_runs_commands(client: Client, settings: Any, program: str) -> None:
    settings.PROGRAM = program
    client.force_login(make_user())
    assert f"<code>{program} api_token USER</code>" in client.get("/api/docs/").content.decode()
