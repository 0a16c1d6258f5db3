"""Requests and batches by their ids: in answers, and in the log for programs."""

from __future__ import annotations

import json
import logging
import re
import threading
from typing import Any

import pytest
from django.test import Client

from crawler.telemetry import logs

pytestmark = pytest.mark.django_db


def line(message: str = "x") -> dict[str, Any]:
    record = logging.LogRecord("feeds", logging.WARNING, "", 0, message, (), None)
    content: dict[str, Any] = json.loads(logs.JsonLine("web").format(record))
    return content


def test_every_answer_has_an_id_of_its_own(client: Client) -> None:
    identifiers = {
        client.get(path).headers["X-Request-Id"] for path in ("/healthz", "/read/", "/nowhere/", "/api/")
    }
    assert len(identifiers) == 4
    assert all(re.fullmatch("[0-9a-f]{32}", identifier) for identifier in identifiers)


def test_only_a_proxy_may_bring_an_id(client: Client, settings: Any) -> None:
    headers = {"X-Request-Id": "proxy-12345678"}
    assert client.get("/healthz", headers=headers).headers["X-Request-Id"] != "proxy-12345678"
    settings.BEHIND_TLS_PROXY = True
    assert client.get("/healthz", headers=headers).headers["X-Request-Id"] == "proxy-12345678"
    for wrong in ("short", "x" * 65, "a b c d e f g", "<script>alert", "é" * 9):
        assert client.get("/healthz", headers={"X-Request-Id": wrong}).headers["X-Request-Id"] != wrong


def test_the_log_has_the_ids_of_what_it_is_about() -> None:
    assert "request" not in line()
    with logs.named(request="r1"), logs.named(lease="l1", host="a.example"):
        content = line()
        assert (content["request"], content["lease"], content["host"]) == ("r1", "l1", "a.example")
    assert "lease" not in line()


def test_threads_do_not_mix_them() -> None:
    seen: list[dict[str, Any]] = []
    with logs.named(request="r1"):
        thread = threading.Thread(target=lambda: seen.append(line()))
        thread.start()
        thread.join()
    assert "request" not in seen[0]


def test_a_task_begins_with_nothing_of_the_one_before() -> None:
    def run() -> None:
        logs.begin(task_id="t1", lease="l1")
        logs.begin(task_id="t2")
        seen.append(line())

    seen: list[dict[str, Any]] = []
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen[0]["task_id"] == "t2"
    assert "lease" not in seen[0]
