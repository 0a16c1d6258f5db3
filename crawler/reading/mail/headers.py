"""Headers of a message or one of its parts as text: bounded, unfolded, with encoded words decoded.

Python's newer policy parses each header by its grammar, raises whatever its bugs make of odd ones (IndexError
for a Message-ID in square brackets), and needs 20 s for a Content-Type of 200 KB. So the older policy takes
the block apart, and values are cut and read here.
"""

from __future__ import annotations

import base64
import binascii
import re
from email import policy
from email.errors import MessageError
from email.parser import BytesHeaderParser
from email.utils import getaddresses
from urllib.parse import unquote

from crawler.reading.charset import codec_of, decode
from crawler.text.characters import storable

MAX_BLOCK_BYTES = 262_144
"""Bytes of one block of headers; servers refuse messages with more than some 100 KB."""
MAX_VALUE = 8_000
"""Characters of one header that are read."""
MAX_HEADERS = 1_000
_ENCODED = re.compile(r"=\?([^?\s*]{1,40})(?:\*[^?\s]{0,20})?\?([bq])\?([^?]{0,4000})\?=", re.IGNORECASE)
_SPLIT = re.compile(rb"\r?\n\r?\n|\r\r")
_NAME = re.compile(rb"[!-9;-~]{1,100}[ \t]*:")
_JAPANESE = re.compile(rb"(\x1b\$[@B]|\x1b\([BJI])")
_ESCAPED = re.compile("[\udc80-\udcff]")
_PARAMETER = re.compile(r';\s*([^\s=;"]{1,60})\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)')
_CONTINUED = re.compile(r"([^*]{1,50})\*(\d{1,2})?\*?")
_ADDRESS = re.compile(r"[^\s@<>,;:\"()]{1,128}@[^\s@<>,;:\"()]{1,255}")


class MessageHeaders:
    """The headers of one block in order. Names are in lower case."""

    def __init__(self, block: bytes) -> None:
        self._items: list[tuple[str, str]] = []
        for name, value in _raw_items(block):
            self._items.append((name.lower(), value[:MAX_VALUE]))

    def __len__(self) -> int:
        return len(self._items)

    def names(self) -> frozenset[str]:
        """Return the names that occur."""
        return frozenset(name for name, _ in self._items)

    def raw(self, name: str) -> str:
        """Return the first value of a header on one line, its encoded words as they are."""
        return next((_unfolded(value) for key, value in self._items if key == name), "")

    def all(self, name: str) -> list[str]:
        """Return all values of a header, each on one line."""
        return [_unfolded(value) for key, value in self._items if key == name]

    def text(self, name: str) -> str:
        """Return the first value of a header with its encoded words decoded."""
        return decoded(self.raw(name))

    def addresses(self, name: str) -> list[tuple[str, str]]:
        """Return the names and lower-case addresses in a header, at most 100."""
        pairs: list[tuple[str, str]] = []
        for value in self.all(name)[:20]:
            try:
                parsed = getaddresses([_ESCAPED.sub("?", value)]) if value.isascii() else []
            except (MessageError, ValueError, IndexError, TypeError, AttributeError, RecursionError):
                parsed = []
            before, mark, behind = value.partition("<")
            if mark and "<" not in behind and not _ADDRESS.search(before) and _mail(behind):
                pairs.append((decoded(before.strip().strip('"')), _mail(behind)))
                continue
            sound = [(decoded(label), _mail(address)) for label, address in parsed if "@" in address]
            pairs += sound or _addresses_within(decoded(value))
        return [(label.strip(" \"'"), address) for label, address in pairs if address][:100]

    def parameters(self, name: str) -> tuple[str, dict[str, str]]:
        """Return the value of a header such as Content-Type in lower case, and its parameters."""
        raw = _ESCAPED.sub("?", self.raw(name)[:4_000])
        head, _, remainder = raw.partition(";")
        values: dict[str, str] = {}
        pieces: dict[str, dict[int, str]] = {}
        for name_as_written, value in _PARAMETER.findall(";" + remainder):
            key = name_as_written.lower()
            plain = re.sub(r"\\(.)", r"\1", value.strip().strip('"'))
            if match := _CONTINUED.fullmatch(key):
                pieces.setdefault(match[1], {}).setdefault(int(match[2] or 0), plain)
            else:
                values.setdefault(key, decoded(plain))
        for key, parts in pieces.items():
            values[key] = _extended("".join(parts[number] for number in sorted(parts)))
        return head.strip().lower(), values


def split_block(data: bytes) -> tuple[bytes, bytes]:
    """Split a message or part into its block of headers and its body.

    A part that begins with an empty line has no headers; nor has one whose first line is none.
    """
    if data[:2] == b"\r\n" or data[:1] == b"\n":
        return b"", data.lstrip(b"\r\n")
    if not _NAME.match(data):
        return b"", data
    end = _SPLIT.search(data)
    return (data, b"") if end is None else (data[: end.start()], data[end.end() :])


def decoded(value: str) -> str:
    """Return a header's value with encoded words and undeclared bytes decoded, on one line.

    Neighbouring words of one charset are joined before they are decoded: many programs cut them within a
    character.
    """
    value = _from_bytes(value)
    pieces: list[str] = []
    pending, charset, position = b"", "", 0
    for word in _ENCODED.finditer(value):
        between = value[position : word.start()]
        is_next = bool(pending) and not between.strip()
        if not is_next or word[1].lower() != charset:
            pieces.append(_text_of(pending, charset))
            pending = b""
        if not is_next:
            pieces.append(between)
        pending, charset, position = pending + _bytes_of(word[2], word[3]), word[1].lower(), word.end()
    pieces += [_text_of(pending, charset), value[position:]]
    return " ".join(storable("".join(pieces)).split())


def from_japanese(data: bytes) -> str:
    """Decode ISO-2022-JP as Windows programs write it, with the signs of NEC's row 13 (numbers in circles).

    Python's codecs know that row in cp932 only, so two-byte characters are moved there.
    """
    pieces: list[str] = []
    for position, piece in enumerate(_JAPANESE.split(data)):
        if position % 2:
            mode = piece
        elif position and mode[1:2] == b"$":
            pairs = zip(piece[::2], piece[1::2], strict=False)
            pieces.append(b"".join(_shifted(row, cell) for row, cell in pairs).decode("cp932", "replace"))
        elif position and mode == b"\x1b(I":
            pieces.append(bytes(byte | 0x80 for byte in piece).decode("cp932", "replace"))
        else:
            pieces.append(piece.decode("utf-8", "replace"))
    return "".join(pieces)


def _shifted(row: int, cell: int) -> bytes:
    """Return the bytes in Shift JIS of a character in JIS X 0208."""
    if not (0x21 <= row <= 0x7E and 0x21 <= cell <= 0x7E):
        return bytes([row, cell]) if max(row, cell) < 0x80 else b"?"
    lead = (row - 0x21) // 2 + 0x81
    lead += 0x40 if lead > 0x9F else 0
    if row % 2:
        return bytes([lead, cell + 0x1F + (cell >= 0x60)])
    return bytes([lead, cell + 0x7E])


def _raw_items(block: bytes) -> list[tuple[str, str]]:
    try:
        message = BytesHeaderParser(policy=policy.compat32).parsebytes(block + b"\n\n")
        return [(str(name), str(value)) for name, value in message.raw_items()][:MAX_HEADERS]
    except (MessageError, ValueError, IndexError, TypeError, AttributeError, LookupError):
        return []


def _unfolded(value: str) -> str:
    """Return a value on one line, its undeclared bytes decoded."""
    return storable(_from_bytes(re.sub(r"[\r\n]+[ \t]?", " ", value).strip()))


def _from_bytes(value: str) -> str:
    """Decode bytes that stand in a header without encoding."""
    if "\x1b$" in value:
        return from_japanese(value.encode("utf-8", "surrogateescape"))
    if not _ESCAPED.search(value):
        return value
    return decode(value.encode("utf-8", "surrogateescape"))


def _bytes_of(encoding: str, text: str) -> bytes:
    raw = text.encode("utf-8", "replace")
    if encoding in "qQ":
        return binascii.a2b_qp(raw.replace(b" ", b"_"), header=True)
    raw = re.sub(rb"[^A-Za-z0-9+/]", b"", raw)
    raw = raw[: len(raw) - (len(raw) % 4 == 1)]
    return base64.b64decode(raw + b"=" * (-len(raw) % 4))


def _text_of(data: bytes, charset: str) -> str:
    if not data:
        return ""
    if b"\x1b$" in data:
        return from_japanese(data)
    codec = codec_of(charset)
    if codec is None:
        return decode(data)
    try:
        return data.decode(codec)
    except UnicodeError:
        return decode(data) if codec != "utf-8" else data.decode("utf-8", "replace")


def _extended(value: str) -> str:
    """Decode a parameter of RFC 2231: charset, language and escaped bytes."""
    charset, mark, remainder = value.partition("'")
    text = remainder.partition("'")[2] if mark else value
    return unquote(text, codec_of(charset) or "utf-8" if mark else "utf-8", "replace")


def _mail(address: str) -> str:
    match = _ADDRESS.search(address)
    return match[0].lower() if match else ""


def _addresses_within(value: str) -> list[tuple[str, str]]:
    """Return the addresses in a value that no parser reads; what stands before the first one is its name."""
    matches = list(_ADDRESS.finditer(value))
    name = value[: matches[0].start()].strip(" <\"'([") if matches else ""
    return [(name if match is matches[0] else "", match[0].lower()) for match in matches]
