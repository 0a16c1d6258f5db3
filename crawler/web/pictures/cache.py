"""Pictures on this machine's disk, in a directory that is kept under a size."""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

FAILURE_SECONDS = 86_400.0
"""A picture that could not be fetched is not asked for again within a day."""
ICON_SECONDS = 30 * 86_400.0
TOUCH_SECONDS = 86_400.0
KEPT_AFTER_TRIMMING = 0.8
_FAILED = ".failed"
_KEPT = ".kept"


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored picture, or the name of the `failure` for which there is none; `age` in seconds."""

    body: bytes
    failure: str
    age: float


def webp_size(head: bytes) -> tuple[int, int] | None:
    """Return width and height from the first 30 bytes of a WebP file, None for anything else.

    Source: RFC 9649, sections 2.5 to 2.7.
    """
    if len(head) < 30 or head[:4] != b"RIFF" or head[8:12] != b"WEBP":
        return None
    if head[12:16] == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if head[12:16] == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if head[12:16] == b"VP8 ":
        return int.from_bytes(head[26:28], "little") & 0x3FFF, int.from_bytes(head[28:30], "little") & 0x3FFF
    return None


class PictureCache:
    """Files by the digest of an address and the name of a size."""

    def __init__(self, directory: Path, max_bytes: int) -> None:
        self._directory = directory
        self._max_bytes = max_bytes

    def read(self, url: str, size: str) -> Stored | None:
        """Return a stored picture or a failure of the last day, None for neither."""
        path = self._path(url)
        for name in (f".{size}", _FAILED):
            file = path.with_suffix(name)
            try:
                age = time.time() - file.stat().st_mtime
                body = file.read_bytes()
            except OSError:
                continue
            if name == _FAILED:
                return Stored(b"", body.decode("utf-8", "replace"), age) if age < FAILURE_SECONDS else None
            return Stored(body, "", age)
        return None

    def size_of(self, url: str) -> tuple[int, int] | None:
        """Return width and height of a stored picture in pixels, None if none is stored."""
        with suppress(OSError), self._path(url).with_suffix(".full").open("rb") as file:
            return webp_size(file.read(30))
        return None

    def used(self, url: str, size: str) -> None:
        """Note that a picture is still wanted, so that it is among the last to be deleted."""
        with suppress(OSError):
            os.utime(self._path(url).with_suffix(f".{size}"))

    def write(self, url: str, sizes: dict[str, bytes]) -> None:
        """Store the sizes of a picture."""
        path = self._path(url)
        for size, body in sizes.items():
            _write(path.with_suffix(f".{size}"), body)
        with suppress(OSError):
            path.with_suffix(_FAILED).unlink(missing_ok=True)

    def fail(self, url: str, failure: str) -> None:
        """Store that there is no picture, and why."""
        _write(self._path(url).with_suffix(_FAILED), failure.encode("utf-8", "replace")[:500])

    def keep(self, url: str, *, kept: bool = True) -> None:
        """Keep a picture whatever its age, for a page that somebody saved, or no longer."""
        path = self._path(url).with_suffix(_KEPT)
        if kept:
            _write(path, b"")
        else:
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def trim(self) -> int:
        """Delete the files that were not used for the longest time, if there are too many bytes.

        Pictures that are kept stay, and do not count. Returns the number of deleted files.
        """
        files = []
        for path in self._directory.glob("??/*"):
            if path.suffix == _KEPT or path.with_suffix(_KEPT).exists():
                continue
            with suppress(OSError):
                status = path.stat()
                files.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in files)
        if total <= self._max_bytes:
            return 0
        deleted = 0
        for _, size, path in sorted(files):
            if total <= self._max_bytes * KEPT_AFTER_TRIMMING:
                break
            with suppress(OSError):
                path.unlink()
                total -= size
                deleted += 1
        return deleted

    def _path(self, url: str) -> Path:
        digest = hashlib.blake2b(url.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
        return self._directory / digest[:2] / digest


def _write(path: Path, body: bytes) -> None:
    """Write a file as a whole or not at all; on a full disk not at all."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{os.getpid()}.{time.monotonic_ns()}.part")
        try:
            part.write_bytes(body)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
