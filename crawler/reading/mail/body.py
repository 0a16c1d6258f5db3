"""The parts of a message, and those among them that a person reads. Nothing here calls itself."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field

from crawler.reading.charset import decode, to_utf8
from crawler.reading.errors import ReadingError
from crawler.reading.mail.headers import MAX_BLOCK_BYTES, MessageHeaders, from_japanese, split_block
from crawler.text.characters import storable

MAX_BYTES = 10_000_000
MAX_PARTS = 200
MAX_DEPTH = 20
MAX_TEXT = 2_000_000
"""Characters of decoded text; the rest is cut."""
MAX_LINES = 10_000
"""Lines of one block of headers."""
_NOT_BASE64 = bytes(
    set(range(256)) - set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
)
_REST_OF_LINE = rb"(--)?[ \t]{0,100}(?:\r*\n|\r|\Z)"
_IMAGE = re.compile(r"<img\b[^<>]{0,4000}", re.IGNORECASE)
_UNSEEN = re.compile(r"display:\s*none|\b(?:width|height)\s*[=:]\s*[\"']?\s*[01](?:px)?\b", re.IGNORECASE)
"""A picture that counts readers. Some senders put it into a part that is empty otherwise."""
_SOFT_BREAK = re.compile(rb"=[ \t]*\r*\n")
_NOT_READ = {"text/calendar", "text/x-amp-html", "text/css", "text/vcard", "text/x-vcard", "text/directory",
             "text/watch-html", "text/rfc822-headers", "text/csv", "text/javascript"}  # fmt: skip


@dataclass(slots=True)
class MessagePart:
    """A part of a message. `choices` are the alternatives that it stands in: their number and its place."""

    headers: MessageHeaders
    type: str
    parameters: dict[str, str]
    data: bytes
    depth: int = 0
    choices: tuple[tuple[int, int], ...] = ()
    is_in_digest: bool = False
    disposition: str = ""
    name: str = ""
    decoded: bytes | None = field(default=None, repr=False)

    @property
    def content(self) -> bytes:
        """The bytes without their transfer encoding."""
        if self.decoded is None:
            self.decoded = _without_encoding(self.data, self.headers.raw("content-transfer-encoding"))
        return self.decoded

    @property
    def text(self) -> str:
        """The decoded text, cut to MAX_TEXT characters."""
        return storable(text_of(self.content, self.parameters.get("charset", ""), self.type))[:MAX_TEXT]


def part_of(data: bytes, depth: int = 0, default: str = "text/plain") -> MessagePart:
    """Read the headers of a message or part. Raises ReadingError(too-large)."""
    block, body = split_block(data)
    if len(block) > MAX_BLOCK_BYTES or block.count(b"\n") > MAX_LINES:
        raise ReadingError("too-large", "too many headers")
    headers = MessageHeaders(block)
    kind, parameters = headers.parameters("content-type")
    disposition, extra = headers.parameters("content-disposition")
    name = extra.get("filename") or parameters.get("name") or ""
    kind = kind if "/" in kind else default
    return MessagePart(
        headers, kind, parameters, body, depth, disposition=disposition, name=storable(name, 200)
    )


def leaves(root: MessagePart) -> list[MessagePart]:
    """Return the parts without parts of their own, in order.

    A message within the message is a leaf. Raises ReadingError: too-large for more than MAX_PARTS, too-deep
    beyond MAX_DEPTH, unsupported-type for an encrypted message.
    """
    parts: list[MessagePart] = []
    stack = [root]
    count = alternatives = 0
    while stack:
        part = stack.pop()
        count += 1
        if count > MAX_PARTS:
            raise ReadingError("too-large", f"more than {MAX_PARTS} parts")
        if part.depth > MAX_DEPTH:
            raise ReadingError("too-deep", f"parts nested deeper than {MAX_DEPTH}")
        _refuse_encrypted(part)
        if not part.type.startswith("multipart/"):
            parts.append(part)
            continue
        pieces = _pieces(part.data, part.parameters.get("boundary", ""))
        if not pieces and part.data.strip():
            looks_like_html = re.search(rb"<(?:html|body|table|p)\b", part.data[:4000])
            part.type = "text/html" if looks_like_html else "text/plain"
            parts.append(part)
            continue
        default = "message/rfc822" if part.type == "multipart/digest" else "text/plain"
        children = [part_of(piece, part.depth + 1, default) for piece in pieces]
        if part.type == "multipart/signed":
            children = children[:1]
        for place, child in enumerate(children):
            child.is_in_digest = part.type == "multipart/digest"
            child.choices = part.choices
            if part.type == "multipart/alternative":
                child.choices = (*part.choices, (alternatives, place))
        alternatives += part.type == "multipart/alternative"
        stack += reversed(children)
    return parts


def readable(parts: list[MessagePart]) -> list[MessagePart]:
    """Return the texts to read, in order: of alternatives the richest that has any words."""
    texts = [part for part in parts if is_text(part)]
    ranks = {id(part): _rank(part) for part in texts}
    for number in sorted({number for part in texts for number, _ in part.choices}, reverse=True):
        best: dict[int, int] = {}
        for part in texts:
            place = dict(part.choices).get(number)
            if place is not None:
                best[place] = max(best.get(place, 0), ranks[id(part)])
        chosen = max(best, key=lambda place: (best[place], place))
        texts = [part for part in texts if dict(part.choices).get(number, chosen) == chosen]
    return [part for part in texts if ranks[id(part)]]


def is_text(part: MessagePart) -> bool:
    """Return whether a part is text that stands in the message itself."""
    is_file = part.disposition == "attachment" or (bool(part.name) and part.type != "text/html")
    return part.type.startswith("text/") and part.type not in _NOT_READ and not is_file


def text_of(data: bytes, charset: str, kind: str) -> str:
    """Decode a text of a declared charset, which is believed unless the bytes contradict it."""
    if b"\x1b$" in data or b"\x1b(J" in data:
        return from_japanese(data)
    if not charset and kind == "text/html":
        return decode(data)
    return to_utf8(data, f"{kind}; charset={charset}")[0].decode("utf-8", "replace")


def _rank(part: MessagePart) -> int:
    text = part.text
    if part.type != "text/html":
        return 1 if text.strip() else 0
    has_words = bool(re.sub(r"<[^<>]*>|&(?:nbsp|#160);", "", text).strip())
    return 2 if has_words or any(not _UNSEEN.search(picture) for picture in _IMAGE.findall(text)) else 0


def _pieces(data: bytes, boundary: str) -> list[bytes]:
    """Return the parts between lines of a boundary, without what stands before and behind them."""
    mark = b"--" + boundary.strip().encode("utf-8", "surrogateescape")
    if len(mark) < 3 or len(mark) > 300:
        return []
    pieces: list[bytes] = []
    start = -1
    # What stands before the mark is looked at after it was found: the search itself is for plain bytes.
    literal = re.escape(mark)
    for line in re.finditer(literal + rb"(?<![^\n\r]" + literal + rb")" + _REST_OF_LINE, data):
        if start >= 0:
            pieces.append(data[start : line.start()].removesuffix(b"\n").removesuffix(b"\r"))
        start = -1 if line[1] else line.end()
        if len(pieces) > MAX_PARTS:
            raise ReadingError("too-large", f"more than {MAX_PARTS} parts")
        if line[1]:
            break
    if start >= 0 and start < len(data):
        pieces.append(data[start:])
    return pieces


def _without_encoding(data: bytes, encoding: str) -> bytes:
    encoding = encoding.strip().strip("\"'").lower()
    if encoding == "base64":
        data = data.translate(None, _NOT_BASE64)
        data = data[: len(data) - (len(data) % 4 == 1)]
        return base64.b64decode(data + b"=" * (-len(data) % 4))
    if encoding == "quoted-printable":
        return binascii.a2b_qp(_SOFT_BREAK.sub(b"=\n", data))
    return data


def _refuse_encrypted(part: MessagePart) -> None:
    sealed = part.type == "multipart/encrypted" or (
        part.type in ("application/pkcs7-mime", "application/x-pkcs7-mime")
        and part.parameters.get("smime-type", "enveloped-data") != "signed-data"
    )
    armour = part.type == "text/plain" and part.data[:200].lstrip().startswith(b"-----BEGIN PGP MESSAGE--")
    if sealed or armour:
        raise ReadingError("unsupported-type", "the message is encrypted")
