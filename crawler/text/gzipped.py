"""Reading of files that may be gzipped: site records, traces and logs that people give to commands."""

from __future__ import annotations

import gzip
import zlib
from typing import BinaryIO, cast

DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile)
"""What reading a damaged one raises."""


def unpacked(file: BinaryIO) -> BinaryIO:
    """Return a file that unpacks the open one while reading, or the open file if it is not gzipped."""
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return cast(BinaryIO, gzip.GzipFile(fileobj=file)) if packed else file
