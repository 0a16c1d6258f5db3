"""The runner of reports about exports, and strict parsers of BibTeX and RIS."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime
from typing import Any

from warcio.archiveiterator import ArchiveIterator

from articles.exporting.formats import FORMATS
from articles.exporting.rows import ExportedList, ExportedQuote, ExportRow
from tests.reports.runners import Input, runner

_COMMANDS = {
    r"\textbackslash{}": "\\", r"\textbraceleft{}": "{", r"\textbraceright{}": "}",
    r"\textasciicircum{}": "^", r"\textasciitilde{}": "~",
    r"\%": "%", r"\&": "&", r"\#": "#", r"\_": "_", r"\$": "$",
}  # fmt: skip
_COMMAND = re.compile("|".join(map(re.escape, _COMMANDS)))
_VERBATIM = {"url", "doi", "date", "urldate", "author"}


def parsed_bibtex(text: str) -> list[dict[str, str]]:
    """Entries as BibTeX reads them: braces count even behind a backslash, and TeX's signs are escaped."""
    entries, at = [], 0
    while (start := text.find("@", at)) != -1:
        assert text[at:start].strip() == "", "words between entries"
        head = re.compile(r"@(\w+)\{([!-~]+),\n").match(text, start)
        assert head, text[start : start + 80]
        entry, at = {"type": head[1], "key": head[2]}, head.end()
        while field := re.compile(r"  (\w+) = \{").match(text, at):
            depth, at = 1, field.end()
            begin = at
            while depth:
                depth += {"{": 1, "}": -1}.get(text[at], 0)
                at += 1
            value = text[begin : at - 1]
            assert field[1] not in entry, "a field stands twice"
            assert "\n" not in value
            entry[field[1]] = value if field[1] in _VERBATIM else _plain(value)
            assert text[at : at + 2] == ",\n", text[at : at + 20]
            at += 2
        assert text[at : at + 2] == "}\n", text[at : at + 20]
        at += 2
        entries.append(entry)
    assert text[at:].strip() == ""
    return entries


def _plain(value: str) -> str:
    inner = value[1:-1] if value.startswith("{") and value.endswith("}") and "}" not in value[1:-2] else value
    if value.startswith("{") and inner is value:
        inner = value[1:-1]
    for rest in (_COMMAND.sub("", inner),):
        assert not re.search(r"[\\{}%&#_$^~]", rest), rest
    return _COMMAND.sub(lambda each: _COMMANDS[each[0]], inner)


def parsed_ris(text: str) -> list[dict[str, list[str]]]:
    """References of a RIS file, whose lines all begin with a tag."""
    references: list[dict[str, list[str]]] = []
    current: dict[str, list[str]] | None = None
    assert text.endswith("ER  - \r\n\r\n") or not text
    for line in text.split("\r\n"):
        assert not re.search(r"[\n\r\x00-\x1f\x85\u2028\u2029]", line)
        if not line:
            assert current is None
            continue
        tag = re.match(r"([A-Z][A-Z0-9])  - (.*)$", line)
        assert tag, line
        if tag[1] == "TY":
            assert current is None, "TY within a reference"
            current = {}
        assert current is not None, "a tag before TY"
        if tag[1] == "ER":
            references.append(current)
            current = None
            continue
        assert tag[2].strip() and (tag[1] in {"AU", "KW"} or tag[1] not in current)
        current.setdefault(tag[1], []).append(tag[2])
    return references


@runner
def exports(given: Input) -> Any:
    """Rows `as` a format -> what a strict parser reads in the file, or with `raw` the text itself."""
    rows = [_row(number, fields) for number, fields in enumerate(given["rows"], 1)]
    about = ExportedList(given.get("title", ""), for_people=given.get("for_people", False))
    name = given["as"]
    content = b"".join(FORMATS[name].write(rows, about))
    if name == "warc":
        return [
            {
                "type": each.rec_type,
                "uri": each.rec_headers.get_header("WARC-Target-URI"),
                "date": each.rec_headers.get_header("WARC-Date"),
                "kind": each.rec_headers.get_header("Content-Type"),
                "length": int(each.rec_headers.get_header("Content-Length")) > 0,
                "head": dict(each.http_headers.headers) if each.http_headers else {},
                "content": each.content_stream().read().decode("utf-8", "replace"),
            }
            for each in ArchiveIterator(io.BytesIO(content), check_digests="raise")
        ]
    text = content.decode()
    if given.get("raw") or name == "markdown":
        return text
    if name == "csv":
        return list(csv.DictReader(io.StringIO(text, newline="")))
    if name == "jsonl":
        return [json.loads(line) for line in text.splitlines()]
    if name == "bibtex":
        return parsed_bibtex(text)
    return parsed_ris(text) if name == "ris" else json.loads(text)


def _row(number: int, fields: dict[str, Any]) -> ExportRow:
    at = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
    values = {
        "key": str(number),
        "published": at,
        "seen": at,
        "url": f"https://example.org/{number}",
    } | fields
    for name in ("published", "seen"):
        if isinstance(values[name], str):
            values[name] = datetime.fromisoformat(values[name])
    if "body" in values:
        values["body"] = values["body"].encode()
    values["highlights"] = [ExportedQuote(**each) for each in values.get("highlights", ())]
    return ExportRow(**values)
