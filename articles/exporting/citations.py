"""Rows for programs that cite: BibTeX (for biblatex, UTF-8) and RIS."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from articles.exporting.rows import ExportedList, ExportRow, day_of, one_line, web_address

_TEX = {
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "%": r"\%", "&": r"\&",
    "#": r"\#", "_": r"\_", "$": r"\$", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
}  # fmt: skip
"""How TeX writes its own signs. Braces are words, for BibTeX counts them even behind a backslash."""
_TO_TEX = str.maketrans(_TEX)
_IN_URLS = str.maketrans({"\\": "%5C", "{": "%7B", "}": "%7D", " ": "%20"})
"""Signs that end a verbatim field of BibTeX; all others stand as they are, without backslashes."""
_LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l", "þ": "th", "ð": "d"})
_SMALL = {
    "a", "an", "the", "of", "and", "in", "on", "to", "for", "der", "die", "das", "ein", "eine", "le", "la",
    "les", "un", "une", "el", "los", "las", "de", "du", "il", "how", "why", "what", "is", "it", "with",
}  # fmt: skip
_BODIES = {
    "news", "press", "agency", "team", "staff", "collaboration", "ministry", "institute", "university", "inc",
    "ltd", "gmbh", "office", "redaktion", "editors", "editorial", "board", "group", "association", "times",
    "service", "department", "desk", "committee", "developers", "redaction", "foundation", "society",
}  # fmt: skip
"""Words in names of bodies, which have no first name."""
_TAG = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)
MAX_KEY_PART = 24


def as_bibtex(rows: Iterable[ExportRow], about: ExportedList) -> Iterator[bytes]:
    """Yield entries of the kind @online, keys as authorYEARword and the row's number: none repeats."""
    for row in rows:
        fields = {
            "author": " and ".join(map(_tex_name, filter(None, map(one_line, row.authors)))),
            "title": f"{{{_tex(row.title)}}}",
            "organization": _tex(row.site),
            "date": day_of(row.published),
            "url": web_address(row.url).translate(_IN_URLS),
            "urldate": day_of(row.seen),
            "doi": row.doi,
            "langid": _tex(row.language),
            "keywords": ", ".join(_tex(tag.replace(",", " ")) for tag in _tags(row)),
            "abstract": _tex(row.summary),
            "annotation": _tex(_notes(row)),
        }
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
        yield f"@online{{{citation_key(row)},\n{lines}}}\n\n".encode()


def as_ris(rows: Iterable[ExportRow], about: ExportedList) -> Iterator[bytes]:
    """Yield RIS: a tag and its value on each line, from TY to ER."""
    for row in rows:
        tags = [
            ("TY", "NEWS" if row.kind == "news" else "ELEC"),
            ("ID", citation_key(row)),
            *(("AU", name) for name in row.authors),
            ("TI", row.title),
            ("T2", row.site),
            ("PY", f"{row.published.year:04}" if row.published else ""),
            ("DA", _ris_date(day_of(row.published))),
            ("Y2", _ris_date(day_of(row.seen))),
            ("UR", web_address(row.url)),
            ("DO", row.doi),
            ("LA", row.language),
            *(("KW", tag) for tag in _tags(row)),
            ("AB", row.summary),
            ("N1", _notes(row)),
        ]
        lines = ((name, one_line(value)) for name, value in tags)
        text = "".join(f"{name}  - {value}\r\n" for name, value in lines if value)
        yield f"{text}ER  - \r\n\r\n".encode()


def citation_key(row: ExportRow) -> str:
    """Return a key such as `svensson2026flood-17`: ASCII, the same in every export, and of no other row."""
    name = row.authors[0] if row.authors else row.site
    last = name.partition(",")[0] if "," in name else (name.split() or [""])[-1]
    words = (_ascii(word) for word in one_line(_TAG.sub("", row.title)).split())
    word = next((word for word in words if len(word) > 1 and word not in _SMALL), "")
    year = f"{row.published.year:04}" if row.published else ""
    beginning = f"{_ascii(last)[:MAX_KEY_PART]}{year}{word[:MAX_KEY_PART]}"
    return f"{beginning}-{_ascii(row.key)}" if beginning else f"item-{_ascii(row.key)}"


def _ascii(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return re.sub(r"[^a-z0-9]", "", plain)


def _tex(text: str) -> str:
    return one_line(text).translate(_TO_TEX)


def _tex_name(name: str) -> str:
    """Return an author as BibTeX reads one: in braces what is no name of a person."""
    words = re.findall(r"\w+", name.casefold())
    is_body = len(words) > 4 or bool({"and", "others", *_BODIES} & {*words}) or name.count(",") > 1
    return f"{{{_tex(name)}}}" if is_body else _tex(name)


def _tags(row: ExportRow) -> list[str]:
    return [line for tag in dict.fromkeys([*row.tags, *row.labels]) if (line := one_line(tag))]


def _notes(row: ExportRow) -> str:
    quotes = (f"“{one_line(each.quote)}” {one_line(each.note)}".strip() for each in row.highlights)
    return " ".join(part for part in (one_line(row.note), *quotes) if part)


def _ris_date(day: str) -> str:
    return f"{day.replace('-', '/')}/" if day else ""
