"""An IMAP server on loopback: as much of IMAP4rev1 as a look into a mailbox needs."""

from __future__ import annotations

import base64
import contextlib
import re
import socketserver
import threading
from dataclasses import dataclass, field
from typing import Self


@dataclass
class ImapServer:
    """Serves `messages` by UID to who signs in with `login` and `secret`. Notes all `commands`."""

    login: str = "ada@example.org"
    secret: str = "open sesame"
    messages: dict[int, bytes] = field(default_factory=dict)
    validity: int = 7
    folders: tuple[str, ...] = ("INBOX",)
    commands: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                with contextlib.suppress(OSError):
                    _Talk(outer, self).run()

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def port(self) -> int:
        return int(self.server.server_address[1])

    def named(self, name: str) -> list[str]:
        return [command for command in self.commands if name in command.upper()]


class _Talk:
    def __init__(self, server: ImapServer, handler: socketserver.StreamRequestHandler) -> None:
        self.server, self.handler = server, handler

    def say(self, text: str | bytes) -> None:
        self.handler.wfile.write((text.encode() if isinstance(text, str) else text) + b"\r\n")

    def hear(self) -> str:
        return self.handler.rfile.readline().decode().strip("\r\n")

    def run(self) -> None:
        self.say("* OK ready")
        while line := self.hear():
            tag, _, command = line.partition(" ")
            self.server.commands.append(command)
            name = command.split()[0].upper()
            if name == "LOGOUT":
                self.say("* BYE")
                self.say(f"{tag} OK done")
                return
            answer = getattr(self, f"do_{name.lower()}", lambda _: "BAD unknown")(command)
            self.say(f"{tag} {answer}")

    def do_capability(self, _: str) -> str:
        self.say("* CAPABILITY IMAP4rev1 AUTH=XOAUTH2 AUTH=PLAIN")
        return "OK done"

    def do_login(self, command: str) -> str:
        right = f'LOGIN {self.server.login} "{self.server.secret}"'
        # Such a server repeats what it was told, with the password in it.
        return "OK welcome" if command == right else f"NO {command}"

    def do_authenticate(self, command: str) -> str:
        self.say("+ ")
        given = base64.b64decode(self.hear()).decode()
        right = {
            f"user={self.server.login}\1auth=Bearer {self.server.secret}\1\1",
            f"\0{self.server.login}\0{self.server.secret}",
        }
        if given in right:
            return "OK welcome"
        if "XOAUTH2" in command:
            self.say("+ " + base64.b64encode(b'{"status":"400"}').decode())
            self.hear()
        return "NO refused"

    def do_examine(self, command: str) -> str:
        if command.partition(" ")[2].strip('"') not in self.server.folders:
            return "NO no such folder"
        self.say(f"* {len(self.server.messages)} EXISTS")
        self.say(f"* OK [UIDVALIDITY {self.server.validity}] valid")
        return "OK [READ-ONLY] done"

    def do_uid(self, command: str) -> str:
        if match := re.match(r"UID SEARCH UID (\d+):\*", command):
            uids = [uid for uid in self.server.messages if uid >= int(match[1])]
            uids = uids or list(self.server.messages)[-1:]
        elif command.startswith("UID SEARCH SINCE "):
            uids = list(self.server.messages)
        else:
            return self.fetched(command)
        self.say("* SEARCH " + " ".join(map(str, uids)))
        return "OK done"

    def fetched(self, command: str) -> str:
        _, _, uids, what = command.split(" ", 3)
        for place, uid in enumerate(map(int, uids.split(",")), 1):
            data = self.server.messages[uid]
            if what == "(BODY.PEEK[])":
                self.say(f"* {place} FETCH (UID {uid} BODY[] {{{len(data)}}}".encode())
                self.handler.wfile.write(data)
                self.say(")")
            else:
                self.say(f"* {place} FETCH (UID {uid} RFC822.SIZE {len(data)})")
        return "OK done"
