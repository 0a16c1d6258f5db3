"""Servers of mail as people run them, each with files of its own: Dovecot, and the pipe of Exim."""

from __future__ import annotations

import contextlib
import getpass
import imaplib
import os
import shutil
import smtplib
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

LOGIN, SECRET = "ada", "open-sesame"
DOMAIN = "in.example.org"
_DOVECOT = """
base_dir = {folder}/run
log_path = {folder}/log
protocols = imap
listen = 127.0.0.1
{users}
first_valid_uid = 1
first_valid_gid = 1
mail_location = maildir:{folder}/mail
disable_plaintext_auth = {only_encrypted}
ssl = yes
ssl_cert = <{folder}/cert.pem
ssl_key = <{folder}/key.pem
passdb {{
  driver = static
  args = password={secret}
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={folder}
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {plain}
  }}
  inet_listener imaps {{
    port = {tls}
    ssl = yes
  }}
}}
service anvil {{
  chroot =
}}
service stats {{
  chroot =
}}
"""
_EXIM = """
spool_directory = {folder}/spool
log_file_path = {folder}/spool/%slog
pid_file_path = {folder}/spool/pid
primary_hostname = mx.example.org
local_interfaces = 127.0.0.1
daemon_smtp_ports = {port}
tls_advertise_hosts =
keep_environment =
deliver_drop_privilege = true
message_size_limit = 20M
smtp_accept_queue_per_connection = 0
bounce_return_message = false
acl_smtp_rcpt = everybody
acl_smtp_data = everything
begin acl
everybody:
  accept domains = {domain}
everything:
  accept
begin routers
newsletters:
  driver = accept
  domains = {domain}
  transport = freshet
begin transports
freshet:
  driver = pipe
  command = /bin/sh {folder}/pipe.sh
  return_path_add
  delivery_date_add
  envelope_to_add
  return_fail_output
begin retry
* * F,1h,1h
"""
_PIPE = """# Hand a message over to the test, which has the product, and exit as that says.
place=$(mktemp -d {folder}/pipe/XXXXXXXX) || exit 75
cat > "$place/message"
echo "$RECIPIENT" > "$place/to"
mkfifo "$place/code"
mv "$place" "$place.ready"
read code < "$place.ready/code"
exit "$code"
"""


@dataclass(frozen=True)
class Dovecot:
    """An IMAP server with an account; its certificate was made for it and is signed by nobody."""

    plain: int
    tls: int
    certificate: Path

    def append(self, messages: list[bytes]) -> None:
        """Put messages into the account's inbox."""
        with imaplib.IMAP4("127.0.0.1", self.plain, timeout=20) as client:
            client.login(LOGIN, SECRET)
            for message in messages:
                status, _ = client.append("INBOX", "", "", message)  # type: ignore[arg-type]
                assert status == "OK"


@dataclass(frozen=True)
class Exim:
    """A mail server that gives each message for DOMAIN to a pipe."""

    port: int
    folder: Path

    def send(self, messages: list[bytes], to: str) -> None:
        with smtplib.SMTP("127.0.0.1", self.port, "sender.example", timeout=20) as client:
            for message in messages:
                client.sendmail("bounces@sender.example", [to], message)

    def serve(self, number: int, take: Callable[[bytes, str], int], seconds: float = 30.0) -> list[int]:
        """Take so many messages from the pipe, and answer it with exit codes."""
        codes: list[int] = []
        until = time.monotonic() + seconds
        while len(codes) < number:
            assert time.monotonic() < until, f"{len(codes)} of {number} messages came: {self.log()}"
            for place in sorted(self.folder.glob("pipe/*.ready")):
                codes.append(take((place / "message").read_bytes(), (place / "to").read_text().strip()))
                (place / "code").write_text(f"{codes[-1]}\n")
                place.rename(place.with_suffix(".done"))
            time.sleep(0.01)
        return codes

    def log(self) -> str:
        log = self.folder / "spool" / "mainlog"
        return log.read_text(errors="replace") if log.exists() else ""


@contextlib.contextmanager
def dovecot() -> Iterator[Dovecot]:
    """Run Dovecot. Skips the test without it."""
    program = _program("dovecot", "dovecot-imapd")
    with _folder() as folder:
        _certificate(folder)
        plain, tls = _ports(2)
        is_root = os.getuid() == 0
        me = getpass.getuser()
        _owned(folder / "mail")
        (folder / "dovecot.conf").write_text(
            _DOVECOT.format(
                folder=folder, plain=plain, tls=tls, secret=SECRET, only_encrypted="no",
                uid=65534 if is_root else os.getuid(), gid=65534 if is_root else os.getgid(),
                users="" if is_root else f"default_internal_user = {me}\ndefault_login_user = {me}\n"
                f"default_internal_group = {os.getgid()}",
            )
        )  # fmt: skip
        with _running([program, "-F", "-c", str(folder / "dovecot.conf")], plain, folder / "log"):
            yield Dovecot(plain, tls, folder / "cert.pem")


@contextlib.contextmanager
def exim() -> Iterator[Exim]:
    """Run Exim. Skips the test without it, and for who may not change users as it does."""
    program = _program("exim4", "exim4-daemon-light")
    if os.getuid() != 0:
        pytest.skip("Exim with a configuration of its own delivers for root only")
    with _folder() as folder:
        (port,) = _ports(1)
        for name in ("spool", "pipe"):
            _owned(folder / name, 0o1777)
        (folder / "pipe.sh").write_text(_PIPE.format(folder=folder))
        config = folder / "exim.conf"
        config.write_text(_EXIM.format(folder=folder, port=port, domain=DOMAIN))
        command = [program, "-C", str(config), "-bdf"]
        with _running(command, port, folder / "spool" / "mainlog"):
            yield Exim(port, folder)


def _program(name: str, package: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed ({package})")
    return found


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """A folder that other users reach: pytest's own are closed to them."""
    folder = Path(tempfile.mkdtemp(prefix="freshet-mail-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _owned(folder: Path, mode: int = 0o700) -> None:
    folder.mkdir()
    folder.chmod(mode)
    if os.getuid() == 0 and mode == 0o700:
        os.chown(folder, 65534, 65534)


def _ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(socket.socket()) for _ in range(number)]
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in listeners]


def _certificate(folder: Path) -> None:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", "key.pem",
         "-out", "cert.pem", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    (folder / "cert.pem").chmod(0o644)


@contextlib.contextmanager
def _running(command: list[str], port: int, log: Path) -> Iterator[None]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        try:
            _wait_for(server, port, log)
            yield
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()


def _wait_for(server: subprocess.Popen[str], port: int, log: Path) -> None:
    for _ in range(200):
        if server.poll() is not None:
            raise RuntimeError(f"it ended: {server.stderr.read() if server.stderr else ''}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"it does not answer: {log.read_text() if log.exists() else ''}")
