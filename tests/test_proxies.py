"""Web servers in front of Freshet, with the configurations that come along: TLS, and what they pass on."""

from __future__ import annotations

import http.client
import http.server
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

CONTRIB = Path(__file__).resolve().parents[1] / "contrib"
NAME = "news.example.org"
MODULES = Path("/usr/lib/apache2/modules")
APACHE_MODULES = (
    "mpm_event", "authz_core", "unixd", "proxy", "proxy_http", "headers", "socache_shmcb", "ssl",
)  # fmt: skip
STARTED_SECONDS = 20
ODD_PATH = "/about/person/a%2Fb%20c/?q=%C3%A4&x=1%2B1"

Seen = list[tuple[str, dict[str, str]]]
Command = Callable[[Path, int, int], list[str]]


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate of our own and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    public, private = tmp_path / "news.pem", tmp_path / "news.key"
    public.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return public, private


@contextmanager
def freshet(seen: Seen) -> Iterator[int]:
    """A server that notes the paths and headers that reach it, in Freshet's place."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.path, dict(self.headers)))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def replaced(path: Path, *pairs: tuple[str, str]) -> str:
    """The configuration that comes along, for the ports and files of a test."""
    text = (CONTRIB / path).read_text()
    for old, new in pairs:
        assert old in text, f"{path} has no {old}"
        text = text.replace(old, new)
    return text


def nginx(directory: Path, port: int, behind: int) -> list[str]:
    site = replaced(
        Path("nginx/freshet.conf"),
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("/etc/ssl/news.example.org.", f"{directory}/news."),
        ("127.0.0.1:8000", f"127.0.0.1:{behind}"),
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {directory}/{kind};" for kind in kinds)
    (directory / "nginx.conf").write_text(
        f"daemon off; pid {directory}/pid; error_log {directory}/error.log;"
        f"events {{}} http {{ access_log off; {temporary} {site} }}"
    )
    return ["nginx", "-p", str(directory), "-c", str(directory / "nginx.conf")]


def caddy(directory: Path, port: int, behind: int) -> list[str]:
    own = f"{{\n\tadmin off\n\tauto_https disable_redirects\n\thttps_port {port}\n}}\n"
    site = replaced(
        Path("caddy/Caddyfile"),
        (
            "news.example.org {\n",
            f"news.example.org {{\n\tbind 127.0.0.1\n\ttls {directory}/news.pem {directory}/news.key\n",
        ),
        ("127.0.0.1:8000", f"127.0.0.1:{behind}"),
    )
    (directory / "Caddyfile").write_text(own + site)
    return ["caddy", "run", "--config", str(directory / "Caddyfile"), "--adapter", "caddyfile"]


def apache(directory: Path, port: int, behind: int) -> list[str]:
    site = replaced(
        Path("apache/freshet.conf"),
        ("*:443", f"127.0.0.1:{port}"),
        ("/etc/ssl/news.example.org.", f"{directory}/news."),
        ("http://127.0.0.1:8000/", f"http://127.0.0.1:{behind}/"),
    )
    modules = "".join(
        f"LoadModule {name}_module {MODULES}/mod_{name}.so\n"
        for name in (
            "mpm_event",
            "authz_core",
            "unixd",
            "proxy",
            "proxy_http",
            "headers",
            "socache_shmcb",
            "ssl",
        )
        if (MODULES / f"mod_{name}.so").exists()
    )
    (directory / "apache.conf").write_text(
        f"ServerRoot {directory}\nServerName localhost\nPidFile {directory}/pid\nListen 127.0.0.1:{port}\n"
        f"ErrorLog {directory}/error.log\n{modules}User nobody\nGroup nogroup\n{site}"
    )
    return ["apache2", "-DFOREGROUND", "-f", str(directory / "apache.conf")]


@pytest.mark.parametrize(
    ("command", "forwarded"),
    [(nginx, "192.0.2.7, 127.0.0.1"), (apache, "192.0.2.7, 127.0.0.1"), (caddy, "127.0.0.1")],
    ids=["nginx", "apache2", "caddy"],
)
def test_a_proxy_ends_tls_and_passes_on_what_freshet_has_to_know(
    command: Command, forwarded: str, tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    program = {nginx: "nginx", apache: "apache2", caddy: "caddy"}[command]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    seen: Seen = []
    with freshet(seen) as behind:
        port = free_port()
        environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/usr/sbin:/bin"}
        with subprocess.Popen(
            command(tmp_path, port, behind), stderr=subprocess.PIPE, env=environment, text=True
        ) as server:
            try:
                answer = ask(port, certificate[0], server)
            finally:
                server.terminate()
    assert answer == 204
    ((path, headers),) = seen
    assert path == ODD_PATH
    assert headers["Host"].partition(":")[0] == NAME
    assert headers["X-Forwarded-For"] == forwarded
    assert headers["X-Forwarded-Proto"] == "https"
    if command is not apache:  # which counts requests in a module of its own
        assert re.fullmatch(r"[0-9a-f-]{32,36}", headers["X-Request-Id"])


def ask(port: int, certificate: Path, server: subprocess.Popen[str]) -> int:
    """Send a request over TLS by the site's name. Returns the status."""
    context = ssl.create_default_context(cafile=str(certificate))
    deadline = time.monotonic() + STARTED_SECONDS
    while True:
        try:
            plain = socket.create_connection(("127.0.0.1", port), timeout=5)
            break
        except ConnectionRefusedError:
            if server.poll() is not None and server.stderr is not None:
                pytest.fail(server.stderr.read()[-2000:])
            assert time.monotonic() < deadline
            time.sleep(0.1)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    connection.sock = context.wrap_socket(plain, server_hostname=NAME)
    connection.request("GET", ODD_PATH, headers={"Host": NAME, "X-Forwarded-For": "192.0.2.7"})
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status
