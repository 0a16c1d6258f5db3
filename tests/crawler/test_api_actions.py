"""No view set of the API has an action that answers to an HTTP method which nobody routed to it."""

from __future__ import annotations

import pytest

from crawler.api import router

METHODS = ("get", "head", "options", "trace", "post", "put", "patch", "delete")


@pytest.mark.parametrize("view_set", [each for _, each, _ in router.registry])
def test_no_action_is_called_like_an_http_method(view_set):
    """Django dispatches by attribute: an action called `delete` would answer DELETE at every address."""
    allowed = {"options"}  # the framework's own
    named = {name for name in METHODS if hasattr(view_set, name)} - allowed
    assert named == set()
    assert not {each.__name__ for each in view_set.get_extra_actions()} & set(METHODS)
