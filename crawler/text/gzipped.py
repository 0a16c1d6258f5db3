"""Files that may be gzipped: records of sites, traces and logs that people give to commands."""

from __future__ import annotations

import gzip
import zlib
from typing import BinaryIO, cast

DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile)
"""What reading a damaged one raises."""


def unpacked(file: BinaryIO) -> BinaryIO:
    """What is in the open file, unpacked as it is read; as it is where it is not gzipped."""
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return cast(BinaryIO, gzip.GzipFile(fileobj=file)) if packed else file
