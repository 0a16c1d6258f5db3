"""Confinement of a process that reads hostile bytes: which files it may open, which processes it may inspect.

Landlock (Linux 5.13 and newer) needs no privileges and holds for root, too; the rest works on every Linux.
`python -I confine.py --hide DIR --read DIR --write DIR -- COMMAND ...` applies the limits and becomes the
command; it needs the standard library alone. Numbers are from landlock(7), prctl(2) and capset(2).
"""

from __future__ import annotations

import ctypes
import os
import re
import stat
import struct
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_MAKE_DEVICES = 1 << 6 | 1 << 11
# What each version of the kernel's interface can refuse: later ones know moving, truncating, ioctl.
_HANDLED = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_SCOPES = 0b11  # from version 6: abstract sockets of, and signals to, processes outside
_READ = _EXECUTE | _READ_FILE | _READ_DIR

_NO_NEW_PRIVILEGES, _DROP_BOUND, _AMBIENT, _CLEAR_ALL = 38, 24, 47, 4
_CAPABILITIES_V3, _MAY_OPEN = 0x20080522, 1 << 1  # CAP_DAC_OVERRIDE: root may run what another user owns
_LAST_CAPABILITY = 63

SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/gnu/store", "/proc", "/sys",
    "/run/systemd/resolve", "/run/nscd", "/run/resolvconf",
    *(f"/etc/{name}" for name in (
        "alternatives", "ca-certificates", "crypto-policies", "gai.conf", "group", "host.conf", "hosts",
        "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types", "nsswitch.conf", "os-release",
        "passwd", "pki", "protocols", "resolv.conf", "services", "ssl/certs", "ssl/openssl.cnf", "timezone",
    )),
)  # fmt: skip
"""Where programs, libraries, certificates and the names of hosts are."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - semaphores of a pool of processes

_KEPT = {
    "PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TERM", "VIRTUAL_ENV", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "DATA_DIR", "LOG_LEVEL", "ALLOWED_HOSTS", "FRESHET_SMALL",
}  # fmt: skip
_KEPT_BEGINNINGS = (
    "LC_",
    "LD_",
    "PYTHON",
    "CRAWL_",
    "FETCH_",
    "PIPELINE_",
    "FRONTIER_",
    "CELERY_",
    "MALLOC_",
    "OMP_",
)


def landlock() -> int:
    """Return the kernel's Landlock ABI version, 0 where this process cannot use Landlock."""
    if _LIBC is None:
        return 0
    return max(
        int(_LIBC.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))), 0
    )


def missing() -> str:
    """Describe the protection that this kernel lacks for confined processes. Returns "" for none."""
    if landlock():
        return ""
    return "terminals can read this machine's secrets: its kernel has no Landlock (Linux 5.13 and newer have)"


def confine(read: Iterable[str | Path], write: Iterable[str | Path], hide: Sequence[str | Path] = ()) -> bool:
    """Restrict this thread and its children to files below `read` and `write`, without those below `hide`.

    Files below `hide` are reachable only where `write` names them. Processes outside cannot be traced, nor
    their environment be read. Returns False if the kernel has no Landlock and nothing was done. Raises
    OSError when the kernel refuses.
    """
    version = landlock()
    if _LIBC is None or not version:
        return False
    # Rights that a kernel does not know make it refuse the whole ruleset.
    handled = _HANDLED[min(version, 5)]
    attributes = struct.pack("=QQQ", handled, 0, _SCOPES if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = _checked(
        _LIBC.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0)), "ruleset"
    )
    hidden = [Path(path).resolve() for path in hide]
    for root in read:
        for path, rights in _around(Path(root).resolve(), hidden):
            _allow(ruleset, path, rights & handled)
    for root in write:
        # No devices and no programs: what is written there must not be run.
        _allow(ruleset, Path(root).resolve(), handled & ~_MAKE_DEVICES & ~_EXECUTE)
    # Landlock demands it, and set-user-ID programs would leave it.
    _checked(_LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no new privileges")
    _checked(_LIBC.syscall(_RESTRICT_SELF, ruleset, ctypes.c_uint32(0)), "restriction")
    os.close(ruleset)
    return True


def drop_capabilities() -> None:
    """Drop root's capabilities except that of opening other users' files, for children too."""
    if _LIBC is None or os.geteuid() != 0:
        return
    for number in range(_LAST_CAPABILITY + 1):
        if not _MAY_OPEN >> number & 1:
            _LIBC.prctl(_DROP_BOUND, number, 0, 0, 0)  # fails for numbers that this kernel has not
    _LIBC.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    header = struct.pack("=Ii", _CAPABILITIES_V3, 0)
    _checked(_LIBC.capset(header, struct.pack("=6I", _MAY_OPEN, _MAY_OPEN, 0, 0, 0, 0)), "capabilities")


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables a terminal needs: its settings, and where programs are."""
    return {
        name: value for name, value in variables.items() if name in _KEPT or name.startswith(_KEPT_BEGINNINGS)
    }


def interpreter() -> list[str]:
    """Return the directories of the running Python and of its packages."""
    directories = {
        sys.prefix,
        sys.base_prefix,
        sys.exec_prefix,
        *sysconfig.get_paths().values(),
        sys.executable,
    }
    return sorted({path for name in directories for path in (name, os.path.realpath(name))})


def command(program: Sequence[str], *, hide: Path, read: Iterable[Path], write: Iterable[Path]) -> list[str]:
    """Return the command that runs a program under these restrictions."""
    options = ["--hide", str(hide)]
    for path in read:
        options += ["--read", str(path)]
    for path in write:
        options += ["--write", str(path)]
    return [sys.executable, "-I", str(Path(__file__).resolve()), *options, "--", *program]


def _around(root: Path, hidden: Sequence[Path]) -> Iterator[tuple[Path, int]]:
    """Yield the paths to allow, with their rights: everything below `root` except `hidden` is readable.

    Landlock's rules cover whole trees: of a directory above a hidden one only the names may be listed.
    """
    if any(root == path or path in root.parents for path in hidden):
        return
    if not any(root in path.parents for path in hidden):
        yield root, _READ
        return
    yield root, _READ_DIR
    for entry in _entries(root):
        yield from _around(entry, hidden)


def _entries(directory: Path) -> list[Path]:
    try:
        # A link would be allowed by where it leads, which may be the hidden directory.
        return [entry for entry in directory.iterdir() if not entry.is_symlink()]
    except OSError:
        return []


def _allow(ruleset: int, path: Path, rights: int) -> None:
    """Add a rule to the ruleset. Does nothing for a path that does not exist."""
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, opened)
        if _LIBC is not None and rights:
            _checked(_LIBC.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, ctypes.c_uint32(0)), str(path))
    finally:
        os.close(opened)


def _checked(status: int, subject: str) -> int:
    if status < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{os.strerror(number)}: {subject}")
    return int(status)


def _main(words: list[str]) -> None:
    """Apply the restrictions that the options ask for and become the command."""
    cut = words.index("--")
    options, program = words[:cut], words[cut + 1 :]
    paths: dict[str, list[str]] = {"--hide": [], "--read": [], "--write": []}
    for name, value in zip(options[::2], options[1::2], strict=True):
        paths[name].append(value)
    # A preloaded library must be there when the command loads, with the file that it reads: an allocator, a
    # clock. A terminal on another clock than the controller's drops each batch as too late (issue 56).
    preloaded = [
        path for name, value in os.environ.items() if name.startswith("LD_") for path in _files(value)
    ]
    certificates = [os.environ[name] for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ]
    drop_capabilities()
    confine(
        [*SYSTEM, *interpreter(), *certificates, *preloaded, *paths["--read"]],
        [*DEVICES, SHARED_MEMORY, *paths["--write"]],
        paths["--hide"],
    )
    os.execvp(program[0], program)  # noqa: S606 - what the supervisor asked for


def _files(value: str) -> list[str]:
    """Return the files that a list of paths names, as LD_PRELOAD separates them."""
    return [path for path in re.split("[ :]", value) if os.path.isabs(path) and os.path.isfile(path)]


if __name__ == "__main__":
    _main(sys.argv[1:])
