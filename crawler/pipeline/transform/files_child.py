"""The metadata of one picture or PDF file, in a process of its own. Only the head of a picture is read."""

from __future__ import annotations

import io
import json
import re
from contextlib import suppress
from datetime import datetime
from typing import Any

from crawler.isolation.calls import register
from crawler.pipeline.transform.children import LIMITS

MAX_CHARACTERS = 1_000
_EXIF = {0x010E: "description", 0x010F: "make", 0x0110: "model", 0x013B: "creator", 0x8298: "rights"}
_TAKEN, _EXIF_PART, _GPS_PART = 0x9003, 0x8769, 0x8825
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]+")


def run(request: dict[str, Any], body: bytes) -> bytes:
    """Return a JSON object of the facts of the file in the body. Raises whatever a damaged one provokes."""
    read = of_pdf if request["kind"] == "pdf" else of_picture
    return json.dumps(read(body)).encode()


def of_pdf(body: bytes) -> dict[str, Any]:
    """Return the facts of a PDF file. Raises whatever a damaged one provokes."""
    import pypdf  # noqa: PLC0415 - only where it runs

    reader = pypdf.PdfReader(io.BytesIO(body))
    facts: dict[str, Any] = {"format": "application/pdf"}
    if reader.is_encrypted and not reader.decrypt(""):
        return facts
    facts["pages"] = len(reader.pages)
    metadata = reader.metadata
    if metadata is not None:
        facts |= {"title": metadata.title, "creator": metadata.author, "subject": metadata.subject}
        facts["created"] = _date_of(metadata, "creation_date")
        facts["modified"] = _date_of(metadata, "modification_date")
    language = reader.root_object.get("/Lang")
    facts["language"] = language if isinstance(language, str) else None
    return _plain(facts)


def _date_of(metadata: Any, name: str) -> str | None:
    try:
        when = getattr(metadata, name)
    except (ValueError, IndexError, OverflowError):  # a date that is none
        return None
    return when.isoformat() if isinstance(when, datetime) else None


def of_picture(body: bytes) -> dict[str, Any]:
    """Return the facts of a picture. Raises whatever a damaged one provokes."""
    from PIL import Image  # noqa: PLC0415 - only where it runs

    with Image.open(io.BytesIO(body), formats=["JPEG", "PNG", "GIF", "WEBP", "TIFF"]) as picture:
        facts: dict[str, Any] = {
            "format": Image.MIME.get(picture.format or "", "application/octet-stream"),
            "width": picture.width,
            "height": picture.height,
        }
        exif = picture.getexif()
    facts |= {name: exif.get(tag) for tag, name in _EXIF.items()}
    facts["created"] = _taken(exif.get_ifd(_EXIF_PART).get(_TAKEN))
    place = exif.get_ifd(_GPS_PART)
    facts["latitude"] = _degrees(place.get(2), place.get(1) == "S", 90)
    facts["longitude"] = _degrees(place.get(4), place.get(3) == "W", 180)
    return _plain(facts)


def _taken(text: object) -> str | None:
    """Return a moment as XML Schema writes it. EXIF says no zone; some cameras leave blanks for zeros."""
    written = re.sub(r": (?=\d)", ":0", str(text).strip("\0 "))
    try:
        return datetime.strptime(written, "%Y:%m:%d %H:%M:%S").isoformat()  # noqa: DTZ007
    except ValueError:
        return None


def _degrees(parts: Any, is_negative: bool, maximum: int) -> float | None:
    """Return degrees from degrees, minutes and seconds, None for what is no place."""
    try:
        degrees, minutes, seconds = (float(part) for part in parts)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    value = degrees + minutes / 60 + seconds / 3600
    return (-value if is_negative else value) if 0 <= value <= maximum else None


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts that are there, texts in one line."""
    cleaned = {name: _one_line(value) for name, value in facts.items()}
    return {name: value for name, value in cleaned.items() if value not in {None, ""}}


def _one_line(value: Any) -> Any:
    if isinstance(value, bytes):
        return _one_line(value.decode("utf-8", "replace"))
    if isinstance(value, str):
        # EXIF knows ASCII alone, and Pillow reads it as Latin-1: most of what is neither is UTF-8.
        with suppress(UnicodeError):
            value = value.encode("latin-1").decode("utf-8")
    return " ".join(_CONTROL.sub(" ", value).split())[:MAX_CHARACTERS] if isinstance(value, str) else value


register("files", run, LIMITS)  # parts of the libraries are loaded when they are needed
