"""Pictures through the product: signed addresses, the two processes, the cache, and hostile publishers."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from PIL import Image

from crawler.fetching.sandboxed import client as confined
from crawler.web.pictures import client, loading
from crawler.web.pictures.addresses import icon_address, picture_address, with_own_pictures
from crawler.web.pictures.cache import PictureCache, webp_size
from tests.factories import make_feed
from tests.servers import Reply, Request, WebServer

pytestmark = pytest.mark.django_db


def png(size: tuple[int, int] = (400, 300), colour: str = "teal") -> bytes:
    out = BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


PICTURE = Reply(png(), headers={"Content-Type": "image/png"})


@pytest.fixture
def proxy(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    settings.DATA_DIR = tmp_path
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)
    monkeypatch.setattr("crawler.web.pictures.views.SIZES", {"full": 20.0, "thumbnail": 20.0})
    yield
    confined.programs.close()


@pytest.fixture
def publisher() -> Iterator[WebServer]:
    with WebServer({"/p.png": PICTURE}) as server:
        yield server


def ask(url: str, size: str = "full", **headers: str) -> Any:
    return Client().get(picture_address(url, size), headers=headers)


def icon_of(feed: int) -> Any:
    """The icon once it was looked for."""
    until = time.monotonic() + 20
    while True:
        answer = Client().get(icon_address(feed))
        if "max-age=30," not in answer["Cache-Control"] + "," or time.monotonic() > until:
            return answer
        time.sleep(0.05)


@pytest.mark.usefixtures("proxy")
def test_a_picture_is_fetched_once_and_served_anew(publisher: WebServer) -> None:
    url = f"{publisher.origin}/p.png"
    full, small = ask(url), ask(url, "thumbnail")
    assert (full.status_code, full["Content-Type"]) == (200, "image/webp")
    assert Image.open(BytesIO(full.content)).size == (400, 300)
    assert Image.open(BytesIO(small.content)).size == (176, 152)
    assert publisher.paths == ["/p.png"]
    assert "max-age=2592000" in full["Cache-Control"]
    assert "sandbox" in full["Content-Security-Policy"]
    assert ask(url, if_none_match=full["ETag"]).status_code == 304
    assert ask(url, if_none_match=f"W/{full['ETag']}").status_code == 304
    assert "Content-Encoding" not in ask(url, accept_encoding="gzip")
    (request,) = publisher.requests
    assert not {"cookie", "referer", "x-forwarded-for"} & set(request.headers)


@pytest.mark.usefixtures("proxy")
def test_only_signed_addresses_are_fetched(publisher: WebServer) -> None:
    address = picture_address(f"{publisher.origin}/p.png")
    other = address.replace("p.png", "q.png")
    for forged in (
        other,
        address[:-1],
        address + "A",
        address.split("&s=")[0],
        "/img/full/",
        "/img/huge/?u=x&s=y",
    ):
        assert Client().get(forged).status_code == 404, forged
    feed = make_feed(f"{publisher.origin}/feed")
    assert Client().get(f"/img/icon/{feed.pk}/AAAAAAAAAAAAAAAA/").status_code == 404
    assert Client().get(icon_address(feed.pk).replace(f"/{feed.pk}/", f"/{feed.pk + 1}/")).status_code == 404
    assert publisher.requests == []


ODD = {
    "html": Reply(b"<html><script>alert(1)</script></html>", headers={"Content-Type": "image/png"}),
    "svg": Reply(b"<svg><script>alert(1)</script></svg>", headers={"Content-Type": "image/svg+xml"}),
    "missing": Reply(status=404),
    "empty": Reply(b"", headers={"Content-Type": "image/png"}),
    "large": Reply(b"\0" * 13_000_000, headers={"Content-Type": "image/png"}),
    "50-megapixels": Reply(png((10_000, 5_000)), headers={"Content-Type": "image/png"}),
    "private": Reply(status=302, headers={"Location": "http://10.0.0.1/p.png"}),
    "local-file": Reply(status=302, headers={"Location": "file:///etc/passwd"}),
    "loop": Reply(status=302, headers={"Location": "/loop"}),
}


@pytest.mark.usefixtures("proxy")
@pytest.mark.parametrize("name", ODD)
def test_what_is_no_picture_is_refused_by_name_and_not_asked_again(name: str) -> None:
    with WebServer({f"/{name}": ODD[name], "/p.png": PICTURE}) as server:
        url = f"{server.origin}/{name}"
        answer = ask(url)
        assert (answer.status_code, answer["Content-Type"]) == (404, "text/plain")
        assert answer.content.startswith(b"No picture: ")
        asked = len(server.requests)
        assert ask(url).status_code == 404
        assert len(server.requests) == asked <= 2
        assert ask(f"{server.origin}/p.png").status_code == 200


@pytest.mark.usefixtures("proxy")
def test_a_slow_picture_is_answered_later_and_its_neighbours_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.web.pictures.views.SIZES", {"full": 0.3, "thumbnail": 0.3})
    monkeypatch.setattr("crawler.web.pictures.client._LIMITS", replace(client._LIMITS, seconds=4.0))
    with WebServer({"/slow": Reply(png(), seconds=60), "/p.png": PICTURE}) as server:
        answer = ask(f"{server.origin}/slow")
        assert (answer.status_code, answer["Retry-After"], answer["Cache-Control"]) == (503, "2", "no-store")
        monkeypatch.setattr("crawler.web.pictures.views.SIZES", {"full": 20.0, "thumbnail": 20.0})
        assert ask(f"{server.origin}/p.png").status_code == 200
        assert ask(f"{server.origin}/slow").status_code == 404
        assert not server.statuses("/slow"), "nobody waited for its answer"


PRIVATE = [
    "http://127.0.0.1/", "http://127.1/", "http://0177.0.0.1/", "http://0x7f.1/", "http://2130706433/", "http://0/",
    "http://localhost/", "http://LOCALHOST./", "http://[::1]/", "http://[::]/", "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/", "http://10.0.0.1/", "http://10.1/", "http://172.16.0.1/", "http://172.31.255.255/",
    "http://192.168.0.1/", "http://192.168.1/", "http://169.254.169.254/", "http://0xa9fea9fe/", "http://2852039166/",
    "http://[fe80::1]/", "http://[fc00::1]/", "http://[fd00:ec2::254]/", "http://100.64.0.1/", "http://198.18.0.1/",
    "http://224.0.0.1/", "http://255.255.255.255/", "http://[ff02::1]/", "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/", "http://127.0.0.1:22/", "http://user@127.0.0.1/", "http://127.0.0.1#@example.org/",
    "http://①②⑦.⓪.⓪.①/", "http://127。0。0。1/", "http://127.0.0.1%2f/", "http://%31%32%37.0.0.1/",
    "http://ip6-localhost/", "http://127.000.000.001/",
]  # fmt: skip


@pytest.mark.usefixtures("proxy")
def test_no_private_address_is_connected_to(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.FETCH_ALLOWED_NETWORKS = ()
    assert len(PRIVATE) == 40
    with WebServer({"/": PICTURE}) as server:
        port = server.origin.rpartition(":")[2]
        spelled = [
            f"{url.removesuffix('/')}:{port}/" for url in PRIVATE if "#" not in url and ":22" not in url
        ]
        for url in [*PRIVATE, *spelled]:
            answer = ask(url)
            assert answer.status_code == 404, url
        assert server.requests == []


@pytest.mark.usefixtures("proxy")
def test_an_icon_is_that_of_the_feed_else_of_the_site_else_a_letter(publisher: WebServer) -> None:
    page = b'<html><link rel="icon" href="/site.png"></html>'
    publisher.replies |= {"/": Reply(page, headers={"Content-Type": "text/html"}), "/site.png": PICTURE}
    first = make_feed(f"{publisher.origin}/1", title="One")
    letter = Client().get(icon_address(first.pk))
    assert letter["Content-Type"] == "image/svg+xml" and b">O<" in letter.content
    assert icon_of(first.pk)["Content-Type"] == "image/webp"
    assert "/site.png" in publisher.paths
    own = make_feed(f"{publisher.origin}/2", icon=f"{publisher.origin}/p.png")
    assert icon_of(own.pk)["Content-Type"] == "image/webp"
    assert publisher.paths.count("/site.png") == 1
    bare = make_feed("http://127.0.0.1:9/3", title='<script>"&')
    answer = icon_of(bare.pk)
    assert answer["Content-Type"] == "image/svg+xml"
    assert b"<script" not in answer.content


@pytest.mark.usefixtures("proxy")
def test_the_processes_know_no_secret_and_end_with_their_picture(publisher: WebServer) -> None:
    assert ask(f"{publisher.origin}/p.png").status_code == 200
    server = confined.programs._server
    assert server is not None
    variables = Path(f"/proc/{server.pid}/environ").read_bytes()
    assert not any(name in variables for name in (b"SECRET", b"DATABASE", b"BROKER", b"PASSWORD"))
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    until = time.monotonic() + 5
    while children.read_text() and time.monotonic() < until:
        time.sleep(0.05)
    assert children.read_text() == ""


@pytest.mark.usefixtures("proxy")
def test_processes_that_were_killed_are_started_again(publisher: WebServer) -> None:
    assert ask(f"{publisher.origin}/p.png").status_code == 200
    assert confined.programs._server is not None
    os.kill(confined.programs._server.pid, 9)
    confined.programs._server.wait(5)
    publisher.replies["/q.png"] = PICTURE
    assert ask(f"{publisher.origin}/q.png").status_code == 200


def test_the_directory_is_kept_under_its_size(tmp_path: Path) -> None:
    cache = PictureCache(tmp_path, 1000)
    for number in range(30):
        cache.write(f"https://a.example/{number}", {"full": bytes(100)})
        path = cache._path(f"https://a.example/{number}").with_suffix(".full")
        os.utime(path, (number, number))
    assert cache.trim() == 22
    assert cache.read("https://a.example/29", "full") is not None
    assert cache.read("https://a.example/0", "full") is None
    assert cache.trim() == 0


def test_a_full_disk_means_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = PictureCache(tmp_path / "file", 1000)
    cache.write("https://a.example/", {"full": b"x"})
    cache.fail("https://a.example/", "gone")
    assert cache.read("https://a.example/", "full") is None
    assert cache.trim() == 0


def test_every_picture_of_a_text_comes_from_here() -> None:
    body = (
        '<p><img src="https://a.example/1.png?a=1&amp;b=2" alt="One &lt;" width="9" srcset="/2.png 2x">'
        '<picture><source srcset="https://a.example/3.webp">'
        '<img alt="x" loading="lazy" src="https://a.example/3.png"></picture>'
        '<img alt="none"><img src="data:image/png;base64,AA"></p>'
        '<video controls poster="https://a.example/4.jpg" src="https://a.example/4.mp4"></video>'
    )
    own = with_own_pictures(body)
    assert own.count("/img/full/?u=") == 3
    assert "srcset" not in own and "<source" not in own and 'src="data:' not in own
    assert 'alt="One &lt;"' in own and 'width="9"' in own
    assert own.count('loading="lazy"') >= 1
    assert with_own_pictures("") == ""


@pytest.mark.usefixtures("proxy")
def test_ten_thousand_pictures_are_not_loaded_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.web.pictures.views.SIZES", {"full": 0.0, "thumbnail": 0.0})
    monkeypatch.setattr("crawler.web.pictures.loading.MAX_WAITING", 5)

    def answer(request: Request) -> Reply:
        return Reply(png(), seconds=0.2)

    with WebServer({f"/{number}": answer for number in range(40)}) as server:
        statuses = {ask(f"{server.origin}/{number}").status_code for number in range(40)}
        assert statuses <= {200, 503}
        assert server.most_at_once <= loading.THREADS
        assert len(loading._waiting) <= 5


@pytest.mark.parametrize(("mode", "options"), [("RGB", {}), ("RGB", {"lossless": True}), ("RGBA", {})])
def test_the_size_of_a_picture_is_read_from_its_first_bytes(mode: str, options: dict[str, Any]) -> None:
    body = BytesIO()
    Image.effect_noise((321, 123), 60).convert(mode).save(body, "webp", **options)
    assert webp_size(body.getvalue()[:30]) == (321, 123)
    assert webp_size(body.getvalue()[:29]) is None
    assert webp_size(b"GIF89a" + bytes(30)) is None


def test_a_picture_without_a_size_gets_that_of_the_stored_file() -> None:
    sizes = {"https://a.example/1": (640, 480)}
    one, two = '<img src="https://a.example/1"', '<img src="https://a.example/2"'
    body = f'{one}>{one} width="9">{two}>'
    first, second, third = with_own_pictures(body, sizes.get).split("<img")[1:]
    assert 'width="640" height="480"' in first
    assert "640" not in second
    assert "width" not in third
