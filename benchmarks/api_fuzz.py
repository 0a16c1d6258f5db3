"""schemathesis over the whole API as administrator, as ordinary user and anonymous.

    python -m benchmarks.api_fuzz --examples 100 --seed 1 2 3

An invented deployment (tests/demo.py) behind the web server, on an embedded PostgreSQL of its own; the
deployment is made anew for each person and seed. There are no workers: addresses that are sent in become rows
and no request leaves. What is promised is checked: no server error, and no answer that /api/schema/ does not
describe. `--checks all` adds schemathesis' opinions on what should have been refused or taken (here a filter
by a feed that does not exist is a wrong choice: 400). Its report is shown as it is. Exits with 1 when any
check failed or the server's log has a traceback.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from benchmarks.database import own_database

ROOT = Path(__file__).resolve().parent.parent
PROMISED = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_headers_conformance,response_schema_conformance"
)
PEOPLE = ("administrator", "user", "anonymous")


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--examples", type=int, default=50, help="cases of each operation and phase")
    parser.add_argument("--seed", type=int, nargs="*", default=[1])
    parser.add_argument("--people", nargs="*", default=list(PEOPLE), choices=PEOPLE)
    parser.add_argument("--checks", default=PROMISED, help="as schemathesis takes them; or all")
    parser.add_argument("--report", type=Path, help="a directory for the reports and the server's log")
    parser.add_argument("rest", nargs="*", help="after --: further arguments of `schemathesis run`")
    options = parser.parse_args()
    failed = []
    with own_database("fuzz") as directory, server(directory) as address:
        for seed in options.seed:
            for person in options.people:
                began = time.monotonic()
                code = fuzz(person, address, directory, seed, options)
                print(
                    f"{person}, seed {seed}: exit code {code} after {time.monotonic() - began:.0f} s",
                    flush=True,
                )
                failed += [(person, seed)] if code else []
        log = (directory / "log").read_text(errors="replace")
        if options.report:
            shutil.copy(directory / "log", options.report / "server.log")
    tracebacks = log.count("Traceback")
    print(f"failed: {failed or 'none'}; tracebacks in the server's log: {tracebacks}")
    return 1 if failed or tracebacks else 0


def fuzz(person: str, address: str, directory: Path, seed: int, options: argparse.Namespace) -> int:
    """One run of schemathesis; its exit code."""
    tokens = fresh_deployment()
    schema = directory / "schema.yaml"
    request = urllib.request.Request(f"{address}/api/schema/", headers={"Authorization": tokens["user"]})
    schema.write_bytes(urllib.request.urlopen(request).read())
    program = str(Path(sys.executable).with_name("schemathesis"))
    command = [program, "--no-color", "run", str(schema), "--url", address, "--seed", str(seed)]
    command += ["--max-examples", str(options.examples), "--checks", options.checks, *options.rest]
    if person in tokens:
        command += ["--header", f"Authorization: {tokens[person]}"]
    if options.report is None:
        return subprocess.run(command, cwd=directory, check=False).returncode
    options.report.mkdir(parents=True, exist_ok=True)
    with (options.report / f"{person}-{seed}.txt").open("w") as out:
        return subprocess.run(command, cwd=directory, check=False, stdout=out, stderr=out).returncode


def fresh_deployment() -> dict[str, str]:
    """Empty the database and fill it again; the Authorization headers of the people with an account."""
    from django.contrib.auth.models import User
    from django.core.management import call_command

    demo, factories = import_module("tests.demo"), import_module("tests.factories")
    call_command("flush", interactive=False, verbosity=0)
    demo.seed(datetime.now(UTC), replayed=False)
    administrator = User.objects.get(username="keeper")
    people = {"administrator": administrator, "user": factories.make_user("ordinary")}
    return {name: factories.make_token(user) for name, user in people.items()}


@contextlib.contextmanager
def server(directory: Path) -> Iterator[str]:
    """Run a web server on this database, which logs into `log`; yield its address."""
    from django.core.management import call_command

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    call_command("collectstatic", interactive=False, verbosity=0)
    command = [sys.executable, str(ROOT / "manage.py"), "web", "--bind", f"127.0.0.1:{port}"]
    address = f"http://127.0.0.1:{port}"
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ)
        try:
            for _ in range(300):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
                time.sleep(0.1)
            yield address
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
