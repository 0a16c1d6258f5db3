"""A feed's bytes as UTF-8, whatever its byte order mark, HTTP header and XML declaration claim.

A body that is valid UTF-8 is UTF-8 whenever only a single-byte encoding contradicts, because text in
those is next to never valid UTF-8 by chance, and servers that claim ISO-8859-1 for everything are common.
"""

from __future__ import annotations

import codecs
import re

from crawler.text.charset import codec_of

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNMARKED = (
    (re.compile(rb"<\x00\x00\x00"), "utf-32-le"),
    (re.compile(rb"\x00\x00\x00<"), "utf-32-be"),
    (re.compile(rb"(?:\s\x00)*<\x00[^\x00]\x00"), "utf-16-le"),
    (re.compile(rb"(?:\x00\s)*\x00<\x00[^\x00]"), "utf-16-be"),
)
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']\s*([A-Za-z0-9._:-]{1,40})")
_HTTP = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_MULTI_BYTE = {"gb18030", "cp932", "cp949", "big5hkscs", "euc-jp", "iso2022-jp"}


def to_utf8(body: bytes, content_type: str = "") -> tuple[bytes, bool]:
    """The body in UTF-8 without byte order mark, and whether no byte had to be replaced."""
    body = _without_false_marks(body)
    marked = _marked(body)
    if marked:
        return marked
    claims = _claims(body, content_type)
    wide = [c for c in claims if c in _MULTI_BYTE]
    valid = _decodes(body, "utf-8") is not None
    if valid and (not wide or "utf-8" in claims):
        return body, True
    for codec in (*wide, *(["utf-8"] if valid else []), *(c for c in claims if c not in _MULTI_BYTE)):
        text = _decodes(body, codec)
        if text is not None:
            return text.encode("utf-8", "replace"), True
    return _guessed(body).encode("utf-8", "replace"), False


def _without_false_marks(body: bytes) -> bytes:
    """The body without marks of UTF-16 and 32 before bytes that are neither, and without others before those.

    In both of them every tag has zero bytes, in UTF-8 nothing has any.
    """
    for _ in range(3):
        mark, codec = next((pair for pair in _MARKS if body.startswith(pair[0])), (b"", ""))
        rest = body[len(mark) :][:400]
        marked_again = any(rest.startswith(other) for other, _ in _MARKS)
        if not mark or not (marked_again or (b"\0" in rest) == (codec == "utf-8")):
            break
        body = body[len(mark) :]
    return body


def _marked(body: bytes) -> tuple[bytes, bool] | None:
    """UTF-8, 16 and 32 by their byte order mark or by the zero bytes around the first character."""
    found = next(((codec, len(mark)) for mark, codec in _MARKS if body.startswith(mark)), None)
    if found is None:
        found = next(((codec, 0) for shape, codec in _UNMARKED if shape.match(body)), None)
    if found is None:
        return None
    codec, skip = found
    text = _decodes(body[skip:], codec)
    if codec == "utf-8":
        return (body[skip:], True) if text is not None else None
    lossy = body[skip:].decode(codec, "replace") if text is None else text
    return lossy.encode("utf-8", "replace"), text is not None


def _claims(body: bytes, content_type: str) -> list[str]:
    """Codecs that the HTTP header and the XML declaration name, known ones only, in that order."""
    http = _HTTP.search(content_type[:500])
    declared = _DECLARED.search(body, 0, 1024)
    labels = [http[1] if http else "", declared[1].decode("ascii") if declared else ""]
    return [codec for label in labels if (codec := _codec(label))]


def _codec(label: str) -> str:
    """Python's codec for a label, "" when it is unknown.

    UTF-16 is left out on purpose: a document in it is known by its bytes, while one that only claims
    to be (a common fault of .NET programs) is not.
    """
    codec = codec_of(label) or ""
    return "" if codec.startswith("utf-16") else codec


def _decodes(body: bytes, codec: str) -> str | None:
    """The text when every byte makes sense in the codec."""
    try:
        return body.decode(codec)
    except (UnicodeDecodeError, ValueError):
        return None


def _guessed(body: bytes) -> str:
    """UTF-8 with a few broken sequences, or windows-1252, which all else is most likely to be."""
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    sound = sum(1 for c in text[:200_000] if c > "\x7f" and c != "\ufffd")
    return text if broken <= sound else body.decode("cp1252", "replace")
