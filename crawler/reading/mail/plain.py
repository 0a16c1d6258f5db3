"""Plain text of mail as HTML: paragraphs, lines and links (RFC 3676 for format=flowed)."""

from __future__ import annotations

import re
from html import escape

_LINK = re.compile(r"https?://[^\s<>\"'`]{3,2000}")
_WRAPPED = (55, 100)
"""Lengths of all full lines in a text that was wrapped at a width."""
_SIGNED = re.compile(r"\A\s*-----BEGIN PGP SIGNED MESSAGE-----\r?\n(?:[A-Za-z-]{1,40}: [^\n]*\n)*\s*")
_SIGNATURE = "-----BEGIN PGP SIGNATURE-----"


def to_html(text: str, *, flowed: bool = False, delete_space: bool = False) -> str:
    """Return plain text as HTML. Lines that a program has wrapped are joined again."""
    if signed := _SIGNED.match(text):
        text = text[signed.end() :].partition(_SIGNATURE)[0].replace("\n- -", "\n-")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if flowed:
        lines = _unflowed(lines, delete_space=delete_space)
    paragraphs: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            paragraphs[-1].append(line.rstrip())
        elif paragraphs[-1]:
            paragraphs.append([])
    full = [len(line) for paragraph in paragraphs for line in paragraph[:-1]]
    is_wrapped = not flowed and bool(full) and min(full) >= _WRAPPED[0] and max(full) <= _WRAPPED[1]
    glue = "\n" if is_wrapped else "<br>\n"
    return "".join(f"<p>{glue.join(map(_linked, lines))}</p>" for lines in paragraphs if lines)


def _unflowed(lines: list[str], *, delete_space: bool) -> list[str]:
    """Join lines that end in a space with the next one of the same depth of quotation."""
    joined: list[str] = []
    pieces: list[str] = []
    depth = 0
    for line in lines:
        body = line.lstrip(">")
        quotes = len(line) - len(body)
        body = body.removeprefix(" ")
        if pieces and (quotes != depth or body == "-- "):
            joined.append(_quoted("".join(pieces), depth))
            pieces = []
        depth = quotes
        is_open = body.endswith(" ") and body != "-- "
        pieces.append(body[:-1] if is_open and delete_space else body)
        if not is_open:
            joined.append(_quoted("".join(pieces), depth))
            pieces = []
    return [*joined, _quoted("".join(pieces), depth)] if pieces else joined


def _quoted(text: str, depth: int) -> str:
    return f"{'>' * depth} {text}" if depth else text


def _linked(line: str) -> str:
    pieces: list[str] = []
    position = 0
    for match in _LINK.finditer(line):
        address = match[0].rstrip(".,;:!?*_")
        while address.endswith(")") and address.count(")") > address.count("("):
            address = address[:-1]
        pieces.append(escape(line[position : match.start()], quote=False))
        pieces.append(f'<a href="{escape(address)}">{escape(address, quote=False)}</a>')
        position = match.start() + len(address)
    return "".join([*pieces, escape(line[position:], quote=False)])
