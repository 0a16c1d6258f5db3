"""Freshet below a path of another site: every address begins with it, with a proxy that keeps or drops it."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from crawler import environment

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a web server that thinks itself at /feeds, without a database."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    directory = tmp_path_factory.mktemp("prefix")
    variables = {
        "DATABASE_URL": "none", "PUBLIC_URL": "http://news.example/feeds", "PORT": str(port),
        "ALLOWED_HOSTS": "news.example,127.0.0.1", "LISTEN_ADDRESS": "127.0.0.1", "DATA_DIR": str(directory),
    }  # fmt: skip
    environ = {**os.environ, **variables}
    subprocess.run(
        [sys.executable, "manage.py", "collectstatic", "--noinput", "-v", "0"],
        cwd=ROOT,
        env=environ,
        check=True,
    )
    with subprocess.Popen([sys.executable, "manage.py", "web"], cwd=ROOT, env=environ) as server:
        address = f"http://127.0.0.1:{port}"
        try:
            for _ in range(300):
                try:
                    urllib.request.urlopen(f"{address}/feeds/manifest.webmanifest", timeout=5).close()
                    break
                except OSError:  # it does not listen yet, or a busy machine lets it answer late
                    time.sleep(0.1)
            yield address
        finally:
            server.terminate()


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def get(url: str) -> tuple[int, str, dict[str, str]]:
    """Status, body and headers of an answer; redirects are not followed."""
    request = urllib.request.Request(url, headers={"Host": "news.example", "Accept": "text/html"})
    try:
        with urllib.request.build_opener(_Stay).open(request, timeout=20) as answer:
            return answer.status, answer.read().decode(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), dict(error.headers)


@pytest.mark.parametrize("path", ["", "/feeds"])
def test_addresses_begin_with_the_path(served: str, path: str) -> None:
    status, page, headers = get(f"{served}{path}/accounts/login/")
    assert status == 200
    addresses = set(re.findall(r'(?:href|src|action)="(/[^"]*)"', page))
    assert addresses
    assert all(address.startswith("/feeds/") for address in addresses), addresses
    assert "Path=/feeds/" in headers.get("Set-Cookie", "Path=/feeds/")
    assert get(f"{served}{path}/read/")[2]["Location"] == "/feeds/accounts/login/?next=/feeds/read/"
    style = next(address for address in addresses if address.endswith(".css"))
    assert get(f"{served}{style}")[0] == 200


def test_the_web_app_stays_below_the_path(served: str) -> None:
    manifest = json.loads(get(f"{served}/feeds/manifest.webmanifest")[1])
    assert (manifest["scope"], manifest["start_url"]) == ("/feeds/", "/feeds/read/")
    worker = get(f"{served}/feeds/worker.js")[1]
    assert '"/feeds/img/"' in worker
    assert not re.findall(r'["`]/(?:static|img|read|api)/', worker)


def test_what_is_not_there_is_refused_as_elsewhere(served: str) -> None:
    assert get(f"{served}/feeds/api/nothing/")[1].startswith("{")
    assert get(f"{served}/feeds/static/none.css")[0] == 404


@pytest.mark.parametrize(
    "address",
    [
        "http://a.example/a b",
        "http://a.example/../x",
        "http://a.example//x",
        "http://a.example/%2f",
        "/feeds",
    ],
)
def test_no_deployment_is_at_such_a_path(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("PUBLIC_URL", address)
    with pytest.raises(ImproperlyConfigured):
        environment.origin_and_path("PUBLIC_URL")


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("https://a.example", ("https://a.example", "")),
        ("https://a.example/", ("https://a.example", "")),
        ("https://a.example:8443/news/feeds/", ("https://a.example:8443", "/news/feeds")),
        ("", ("", "")),
    ],
)
def test_an_address_has_an_origin_and_a_path(
    monkeypatch: pytest.MonkeyPatch, address: str, parts: tuple[str, str]
) -> None:
    monkeypatch.setenv("PUBLIC_URL", address)
    assert environment.origin_and_path("PUBLIC_URL") == parts
