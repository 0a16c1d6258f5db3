"""Behind the walls: a process for hostile bytes opens no secret, looks into no other, and still works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.isolation import confine
from crawler.settings import BASE_DIR

# What hostile bytes that took the process over might try; prints which of it was possible.
TRY = """
import json, os, socket, ssl, sys, tempfile, multiprocessing
home, outside = sys.argv[1], int(sys.argv[2])
def read(path): return lambda: open(path, "rb").read(1)
def through_a_link():
    os.symlink(f"{home}/secret_key", f"{home}/hosts/link")
    return open(f"{home}/hosts/link").read()
tries = {
    "secret_key": read(f"{home}/secret_key"),
    "embedded.json": read(f"{home}/embedded.json"),
    "later": read(f"{home}/later"),
    "a link": through_a_link,
    "a hard link": lambda: os.link(f"{home}/secret_key", f"{home}/hosts/hard"),
    "moved": lambda: os.rename(f"{home}/secret_key", f"{home}/hosts/moved"),
    "replaced": lambda: open(f"{home}/embedded.json", "a"),
    "environment": read(f"/proc/{outside}/environ"),
    "memory": read(f"/proc/{outside}/mem"),
    "its root": read(f"/proc/{outside}/root{home}/secret_key"),
    "passwords": read("/etc/shadow"),
    "own notes": lambda: open(f"{home}/hosts/000", "w").write("x"),
    "own environment": read("/proc/self/environ"),
    "scratch": lambda: tempfile.TemporaryFile().write(b"x"),
    "names": lambda: socket.getaddrinfo("localhost", 80),
    "certificates": ssl.create_default_context,
    "semaphores": multiprocessing.Lock,
    "packages": lambda: __import__("lxml.etree"),
    "the product": lambda: __import__("crawler.messages"),
}
possible = []
for name, attempt in tries.items():
    try:
        attempt()
    except OSError:
        continue
    possible.append(name)
print(json.dumps(possible))
"""
NEEDED = {
    "own notes", "own environment", "scratch", "names", "certificates", "semaphores", "packages",
    "the product",
}  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("secret_key", "embedded.json"):
        (tmp_path / name).write_text("secret")
    (tmp_path / "hosts").mkdir()
    return tmp_path


@pytest.fixture
def outsider() -> Iterator[int]:
    """A process of the same user, with a secret in its environment."""
    with subprocess.Popen(["sleep", "60"], env={**os.environ, "SECRET_KEY": "s"}) as process:
        yield process.pid
        process.kill()


def possible(home: Path, outsider: int, program: list[str]) -> set[str]:
    confined = confine.command(program, hide=home, read=[BASE_DIR], write=[home / "hosts"])
    done = subprocess.run(
        [*confined, str(home), str(outsider)],
        env=confine.environment(os.environ) | {"TMPDIR": str(home / "hosts")},
        cwd=BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_the_kernel_of_whoever_tests_has_landlock() -> None:
    assert confine.missing() == ""


def test_a_terminal_opens_what_it_needs_and_no_secret(home: Path, outsider: int) -> None:
    (home / "later").write_text("written after the walls stood would be hidden as well")
    assert possible(home, outsider, [sys.executable, "-c", TRY]) == NEEDED


def test_what_a_terminal_starts_stands_behind_the_same_walls(home: Path, outsider: int) -> None:
    again = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', *sys.argv[1:]]))"
    assert possible(home, outsider, [sys.executable, "-c", again, TRY]) == NEEDED


def test_data_in_the_checkout_is_hidden_though_the_checkout_is_read(tmp_path: Path, outsider: int) -> None:
    """As it is by default: `var/` stands beside the code."""
    checkout, home = tmp_path / "checkout", tmp_path / "checkout" / "var"
    (home / "hosts").mkdir(parents=True)
    (home / "secret_key").write_text("secret")
    (checkout / "module.py").write_text("WORD = 'read'")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import module; print(module.WORD)\n"
        "try: print(open(sys.argv[2]).read())\n"
        "except PermissionError: print('refused')"
    )
    program = [sys.executable, "-c", code, str(checkout), str(home / "secret_key")]
    confined = confine.command(program, hide=home, read=[checkout], write=[home / "hosts"])
    done = subprocess.run(confined, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["read", "refused"], done.stderr


def test_a_kernel_without_landlock_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confine, "landlock", lambda: 0)
    assert "no Landlock" in confine.missing()
    assert confine.confine(["/"], []) is False


def test_the_environment_of_a_terminal_holds_no_secret() -> None:
    given = {
        "PATH": "/bin", "FETCH_MAX_BYTES": "1", "DATABASE_URL": "u", "SECRET_KEY": "s", "METRICS_TOKEN": "t",
        "PGPASSWORD": "p", "AWS_SECRET_ACCESS_KEY": "a", "LC_ALL": "C", "SSH_AUTH_SOCK": "/x",
    }  # fmt: skip
    assert confine.environment(given) == {"PATH": "/bin", "FETCH_MAX_BYTES": "1", "LC_ALL": "C"}


def test_a_preloaded_library_reaches_a_terminal_with_its_file(
    home: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A clock that all other processes had did not, and the terminal dropped each batch as too late."""
    file = tmp_path_factory.mktemp("elsewhere") / "clock"
    file.write_text("there")
    given = {**os.environ, "LD_CLOCK_FILE": str(file)}
    assert confine.environment(given)["LD_CLOCK_FILE"] == str(file)
    program = confine.command(["cat", str(file)], hide=home, read=[], write=[])
    done = subprocess.run(program, env=given, check=False, capture_output=True, text=True)
    assert done.stdout == "there", done.stderr


def test_it_ends_with_its_supervisor_all_the_same(home: Path) -> None:
    """Giving up rights must not take back the wish to die with the parent."""
    program = confine.command(["sleep", "60"], hide=home, read=[], write=[])
    code = (
        "import functools, os, signal, subprocess, sys, time\n"
        "from crawler.isolation import lifeline\n"
        "tied = functools.partial(lifeline.die_with_parent, signal.SIGKILL, os.getpid())\n"
        "print(subprocess.Popen(sys.argv[1:], preexec_fn=tied).pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, *program], stdout=subprocess.PIPE, cwd=BASE_DIR
    ) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        until(lambda: Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep"))
        owner.kill()
    until(lambda: not alive(pid))


def until(promise, seconds: float = 20.0) -> None:  # type: ignore[no-untyped-def]
    deadline = time.monotonic() + seconds
    while not promise():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
