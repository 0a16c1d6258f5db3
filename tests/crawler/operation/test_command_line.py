"""Django's own options of every command."""

from __future__ import annotations

import os
import sys

import pytest

from crawler.operation import command_line


def test_options_of_all_commands_are_heeded_before_anything_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They went unheard once the applications were loaded before Django read its arguments."""
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "crawler.settings")
    monkeypatch.setattr(sys, "path", list(sys.path))
    arguments = ["freshet", "check", "--deploy", "--settings=other.settings", "--pythonpath", "elsewhere"]
    monkeypatch.setattr(sys, "argv", arguments)
    command_line._heed_options()
    assert os.environ["DJANGO_SETTINGS_MODULE"] == "other.settings"
    assert sys.path[0] == "elsewhere"


@pytest.mark.parametrize("arguments", [[], ["check", "--settings"], ["shell", "--", "-c", "x"]])
def test_without_them_the_settings_are_freshets(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "crawler.settings")
    monkeypatch.setattr(sys, "argv", ["freshet", *arguments])
    command_line._heed_options()
    assert os.environ["DJANGO_SETTINGS_MODULE"] == "crawler.settings"
