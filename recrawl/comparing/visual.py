"""The look of pages: pictures reduced to grids of grey cells, and how two of them differ. Pure.

A cell is CELL x CELL pixels of the screenshot and one byte, its mean grey value.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL import Image

CELL = 8
MIN_STEP = 2
"""Grey levels of 255 by which a cell must differ: less is noise of rendering."""
MAX_BOXES = 50
MAX_SIDE = 16_000
GAP = 3
"""Cells between two differing ones that still belong to one box."""
_HEAD = struct.Struct("<HH")

Region = tuple[int, int, int, int]
"""Left, top, width and height in pixels."""


@dataclass(frozen=True, slots=True)
class VisualDifference:
    """The share of the page that looks different, in percent, and the boxes around it in pixels."""

    percent: float
    boxes: tuple[Region, ...] = ()


def screenshot_of(png: bytes) -> tuple[bytes, bytes]:
    """Return a screenshot as WebP, and its grid. Raises ValueError for what is no picture."""
    from PIL import Image  # noqa: PLC0415 - loaded with the first screenshot

    try:
        # Only PNG: the other decoders of Pillow are not for bytes that a stranger's page has made.
        with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
            # WebP takes at most 16,383 pixels a side.
            picture = image.convert("RGB").crop(
                (0, 0, min(image.width, MAX_SIDE), min(image.height, MAX_SIDE))
            )
    except (OSError, Image.DecompressionBombError) as error:
        raise ValueError(f"this is no picture: {error}") from error
    out = io.BytesIO()
    picture.save(out, "WEBP", quality=70, method=2)
    return out.getvalue(), grid_of(picture)


def grid_of(picture: Image.Image) -> bytes:
    """Return the grid of a picture: its columns and rows, then its cells under zlib."""
    from PIL import Image  # noqa: PLC0415 - loaded with the first screenshot

    columns, rows = -(-picture.width // CELL), -(-picture.height // CELL)
    # Padded with white, as pages are below their end.
    grey = Image.new("L", (columns * CELL, rows * CELL), 255)
    grey.paste(picture.convert("L"))
    pixels = np.asarray(grey, dtype=np.float32).reshape(rows, CELL, columns, CELL)
    cells = pixels.mean(axis=(1, 3)).round().astype(np.uint8)
    return _HEAD.pack(columns, rows) + zlib.compress(cells.tobytes(), 6)


def visual_difference(old: bytes, new: bytes, ignored: Iterable[Region] = ()) -> VisualDifference:
    """Return how the looks of two grids differ. Cells that only one has differ; ignored ones do not count.

    Raises ValueError for a damaged grid.
    """
    before, after = _cells(old), _cells(new)
    rows, columns = max(len(before), len(after)), max(before.shape[1], after.shape[1])
    differs = np.abs(_padded(before, rows, columns) - _padded(after, rows, columns)) >= MIN_STEP
    counts = np.ones_like(differs)
    for left, top, width, height in ignored:
        area = (
            slice(top // CELL, -(-(top + height) // CELL)),
            slice(left // CELL, -(-(left + width) // CELL)),
        )
        counts[area] = False
    differs &= counts
    percent = 100.0 * float(differs.sum()) / max(float(counts.sum()), 1.0)
    return VisualDifference(round(percent, 3), tuple(_boxes(differs)))


def size_of(grid: bytes) -> tuple[int, int]:
    """Return the width and the height in pixels of the picture of a grid."""
    columns, rows = _HEAD.unpack_from(grid)
    return columns * CELL, rows * CELL


def region(text: str) -> Region:
    """Read a region as written: left, top, width, height in pixels. Raises ValueError with a sentence."""
    parts = text.replace(" ", "").split(",")
    if len(parts) != 4 or not all(part.isascii() and part.isdecimal() and len(part) < 6 for part in parts):
        raise ValueError("A region is left, top, width and height in pixels, such as 0,120,1280,90.")
    left, top, width, height = map(int, parts)
    return left, top, width, height


def _cells(grid: bytes) -> NDArray[np.int16]:
    try:
        columns, rows = _HEAD.unpack_from(grid)
        limit = columns * rows
        # Bounded by what the head promises, plus one byte that tells of more.
        cells = zlib.decompressobj().decompress(grid[_HEAD.size :], limit + 1)
    except (struct.error, zlib.error) as error:
        raise ValueError(f"damaged grid: {error}") from error
    if len(cells) != limit or not limit:
        raise ValueError("damaged grid")
    return np.frombuffer(cells, dtype=np.uint8).reshape(rows, columns).astype(np.int16)


def _padded(cells: NDArray[np.int16], rows: int, columns: int) -> NDArray[np.int16]:
    missing = ((0, rows - cells.shape[0]), (0, columns - cells.shape[1]))
    # Far from every grey, so that cells that only one of them has always differ.
    return np.pad(cells, missing, constant_values=-1000)


def _boxes(differs: NDArray[np.bool_]) -> list[Region]:
    """Return boxes around differing cells that lie near each other, the largest first, at most MAX_BOXES."""
    boxes: list[list[int]] = []
    for row in np.flatnonzero(differs.any(axis=1)):
        for first, last in _runs(np.flatnonzero(differs[row])):
            near = [
                box for box in boxes if row - box[3] <= GAP and first - box[2] <= GAP and box[0] - last <= GAP
            ]
            for box in near:
                boxes.remove(box)
            lefts, rights = [first, *(box[0] for box in near)], [last, *(box[2] for box in near)]
            boxes.append([min(lefts), min([int(row), *(box[1] for box in near)]), max(rights), int(row)])
    boxes.sort(key=lambda box: (box[2] - box[0] + 1) * (box[3] - box[1] + 1), reverse=True)
    return [
        (left * CELL, top * CELL, (right - left + 1) * CELL, (bottom - top + 1) * CELL)
        for left, top, right, bottom in boxes[:MAX_BOXES]
    ]


def _runs(columns: Sequence[int] | NDArray[np.intp]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for column in map(int, columns):
        if runs and column - runs[-1][1] <= GAP:
            runs[-1] = (runs[-1][0], column)
        else:
            runs.append((column, column))
    return runs
