"""Pages that keep a browser from its end, reach elsewhere, or take all memory: each ends with a name."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import pytest

from crawler.failures import Failure, FetchError
from crawler.fetching.browser.jobs import MAX_NAVIGATIONS
from crawler.fetching.browser.look import BrowserLook
from crawler.fetching.browser.proxy import ProxyLimits
from tests.crawler.fetching.browser.conftest import SECONDS, SHORT_SECONDS, Site

View = Callable[..., BrowserLook | FetchError]


NAMED = (Failure.TOO_SLOW, Failure.TOO_COSTLY, Failure.TIMEOUT, Failure.STEP, Failure.REDIRECT)


def redirect(to: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def page(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", to)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return page


def trickle(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.end_headers()
    handler.wfile.write(b"<title>slow</title><p>begun</p>" + b" " * 2000)
    for _ in range(300):
        handler.wfile.write(b"<p>more</p>")
        time.sleep(0.1)


def download(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/octet-stream")
    handler.send_header("Content-Disposition", "attachment; filename=big.bin")
    handler.send_header("Content-Length", str(2**30))
    handler.end_headers()
    for _ in range(2**30 // 65_536):
        handler.wfile.write(bytes(65_536))


def silence(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(30)


def failure_of(result: BrowserLook | FetchError) -> Failure | None:
    return result.kind if isinstance(result, FetchError) else None


def test_a_page_that_never_ends_loading_is_taken_as_it_is(view: View, site: Site) -> None:
    site.pages["/"] = trickle
    result = view(site.address, seconds=SHORT_SECONDS)
    assert isinstance(result, BrowserLook)
    assert "begun" in result.html and not result.is_complete


def test_a_server_that_is_silent_is_a_failure(view: View, site: Site) -> None:
    site.pages["/"] = silence
    assert failure_of(view(site.address, seconds=SHORT_SECONDS)) in (Failure.TIMEOUT, Failure.TOO_SLOW)


def test_a_download_is_refused(view: View, site: Site) -> None:
    site.pages["/"] = download
    result = view(site.address)
    assert failure_of(result) in (Failure.UNSUPPORTED_TYPE, Failure.TOO_LARGE)
    assert isinstance(result, FetchError) and result.bytes < 60_000_000


def test_a_download_behind_a_page_is_refused(view: View, site: Site) -> None:
    site.pages["/big"] = download
    site.pages["/"] = "<a id=a href=/big download>x</a><p>here</p><script>a.click()</script>"
    result = view(site.address)
    assert isinstance(result, BrowserLook)
    assert "here" in result.html and result.bytes < 60_000_000


PAGES = {
    "pop-ups": "<script>setInterval(() => { for (let i = 0; i < 20; i++) open('/?' + i) }, 1)</script>",
    "pop-ups on click": "<body onclick='for (let i = 0; i < 50; i++) window.open(\"/?\" + i)'>x",
    "busy loop": "<script>while (1) {}</script>",
    "late busy loop": "<script>onload = () => setTimeout(() => { while (1) {} }, 300)</script>",
    "busy workers": """<script>
        const source = URL.createObjectURL(new Blob(['while (1) {}']));
        for (let i = 0; i < 50; i++) new Worker(source)</script>""",
    "alerts": "<script>while (1) alert('again')</script>",
    "print and prompt": "<script>for (;;) { prompt('x'); confirm('y'); print() }</script>",
    "unload": "<script>onbeforeunload = e => { e.preventDefault(); while (1) {} }</script>",
    "permissions": """<script>
        setInterval(() => {
            navigator.geolocation.getCurrentPosition(() => {});
            Notification.requestPermission();
            navigator.mediaDevices?.getUserMedia({audio: true, video: true}).catch(() => {});
        }, 10)</script>""",
    "nested": "<div>" * 100_000 + "deep",
    "objects": "<script>const a = []; for (;;) a.push(new Array(100000).fill(Math.random()))</script>",
    "buffers": """<script>const a = [];
        setInterval(() => { for (let i = 0; i < 4; i++) a.push(new Uint8Array(5e7).fill(1)) }, 9)
        </script>""",
    "long text": "<script>setInterval(() => document.body.append('x'.repeat(2e7)), 10)</script>",
    "canvases": """<body><script>setInterval(() => { const c = document.createElement('canvas');
        c.width = c.height = 8000; c.getContext('2d').fillRect(0, 0, 9e3, 9e3); document.body.append(c) }, 5)
        </script>""",
    "meta refresh": "<meta http-equiv=refresh content=0><p>again</p>",
    "reload": "<script>location.reload()</script>",
    "history": "<script>let i = 0; setInterval(() => { for (;;) history.pushState(0, '', i++) })</script>",
    "frames": "<iframe src='/'></iframe><iframe src='/?2'></iframe>",
    "fetches": "<script>setInterval(() => fetch('/none?' + Math.random()), 1)</script>",
    "title": "<script>setInterval(() => document.title = 'x'.repeat(1e7), 1)</script>",
}


# These disturb, and yet have something to show.
SHOWN = ("permissions", "pop-ups", "nested", "pop-ups on click")


@pytest.mark.parametrize("name", PAGES)
def test_hostile_pages_end(view: View, site: Site, name: str) -> None:
    site.pages["/"] = f"<title>x</title>{PAGES[name]}"
    steps = [{"do": "click", "at": "body"}] if "click" in name else []
    result = view(site.address, *steps, seconds=SECONDS if name in SHOWN else SHORT_SECONDS)
    if isinstance(result, FetchError):
        assert result.kind in NAMED, result
        assert name not in SHOWN, result


@pytest.mark.parametrize(
    "way",
    ["<script>location = '{}/'</script>", "<meta http-equiv=refresh content='0; url={}/'>", redirect],
)
def test_a_page_does_not_lead_to_a_private_network(
    view: View, site: Site, private: Site, way: str | Callable[..., Callable[..., None]]
) -> None:
    site.pages["/"] = way.format(private.address) if isinstance(way, str) else way(private.address)
    assert failure_of(view(site.address)) is Failure.BLOCKED_ADDRESS
    assert private.paths == []


def test_an_address_in_a_private_network_is_refused(view: View, private: Site) -> None:
    assert failure_of(view(private.address)) is Failure.BLOCKED_ADDRESS
    assert failure_of(view(private.address.replace("http:", "https:"))) is Failure.BLOCKED_ADDRESS
    assert failure_of(view("http://localhost:6379/")) is Failure.BLOCKED_PORT
    assert private.paths == []


def test_parts_of_a_page_do_not_come_from_a_private_network(view: View, site: Site, private: Site) -> None:
    site.pages["/"] = f"""<p>here</p><img src={private.address}/a.png><iframe src={private.address}/></iframe>
        <link rel=preconnect href={private.address}><link rel=prefetch href={private.address}/p>
        <script>fetch('{private.address}/f', {{mode: 'no-cors'}});
        navigator.sendBeacon('{private.address}/b');
        new WebSocket('{private.address.replace("http", "ws")}/w')</script>"""
    result = view(site.address)
    assert isinstance(result, BrowserLook)
    assert "here" in result.html and result.blocked >= 3
    assert private.paths == []


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "chrome://version/", "view-source:file:///etc/passwd"]
)
@pytest.mark.parametrize("way", ["script", "redirect", "frame"])
def test_a_page_does_not_lead_to_files(view: View, site: Site, address: str, way: str) -> None:
    site.pages["/"] = {
        "script": f"<p>here</p><script>location = '{address}'</script>",
        "redirect": redirect(address),
        "frame": f"<p>here</p><iframe src='{address}'></iframe>",
    }[way]
    result = view(site.address)
    if isinstance(result, BrowserLook):
        assert "here" in result.html and "root:" not in result.html
        assert result.url == f"{site.address}/"


@pytest.mark.parametrize("name", ["meta refresh", "reload"])
def test_a_page_that_leads_on_for_ever_is_left(view: View, site: Site, name: str) -> None:
    site.pages["/"] = PAGES[name]
    assert failure_of(view(site.address, seconds=40)) is Failure.REDIRECT
    assert len(site.paths) <= 2 * MAX_NAVIGATIONS + 4  # an icon for each


def test_a_page_without_any_element_is_empty(view: View, site: Site) -> None:
    site.pages["/"] = "<script>document.documentElement.remove()</script>"
    result = view(site.address)
    assert isinstance(result, BrowserLook) and result.html == ""


def test_redirects_in_a_circle_end(view: View, site: Site) -> None:
    site.pages["/"] = redirect("/b")
    site.pages["/b"] = redirect("/")
    assert failure_of(view(site.address)) is Failure.REDIRECT


def test_webrtc_does_not_leave_the_proxy(view: View, site: Site, datagrams: socket.socket) -> None:
    port = datagrams.getsockname()[1]
    site.pages["/"] = f"""<p id=p></p><script>
        const connection = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{port}'}}]}});
        connection.onicecandidate = e => {{ if (e.candidate) p.textContent += e.candidate.candidate + ';' }};
        connection.createDataChannel('x');
        connection.createOffer().then(o => connection.setLocalDescription(o));
        try {{ new WebTransport('https://127.0.0.1:{port}/') }} catch (e) {{}}</script>"""
    assert isinstance(view(site.address, {"do": "wait", "seconds": 2}, seconds=30.0), BrowserLook)
    with contextlib.suppress(TimeoutError):
        assert not datagrams.recv(100)


def test_limits_of_the_proxy_end_what_a_page_loads(view: View, site: Site) -> None:
    site.pages["/"] = "<p>here</p><script>for (let i = 0; i < 90; i++) fetch('/none?' + i)</script>"
    result = view(site.address, limits=ProxyLimits(max_requests=20))
    assert isinstance(result, BrowserLook)
    assert result.exceeded == "requests" and "here" in result.html
    assert len(site.paths) <= 20
