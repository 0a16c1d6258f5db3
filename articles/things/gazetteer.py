"""Known names in texts of any language: whole words, spelled as they are known, the longest first. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from articles.things.people import site_of

PERSON, ORGANISATION = "person", "organisation"
MIN_DOCUMENTS = 2
"""Documents that call something by a name before it is looked for in texts."""
MAX_SITES = 20
"""Sites of a name that are kept."""
MAX_ADDRESSES = 200
"""Addresses of a name that are kept."""
MAX_WORDS = 6
MIN_TOGETHER = 3
"""Characters of a name in a script that is written without blanks; shorter ones are also parts of words."""
MAX_CHARACTERS = 60_000
"""Characters read of a text."""

_WORD = re.compile(r"\w+", re.UNICODE)
_TOGETHER = re.compile(r"[\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7a3々ー・]+")
_BETWEEN = re.compile(r"(?:[ \u00a0]|\u2010|-|['’]|[ \u00a0]?&[ \u00a0]?)")
"""Signs between two words of one name."""
_AFTER_INITIAL = re.compile(r"\.?[ \u00a0]?")
_PARTICLES = {
    "af", "al", "am", "an", "and", "at", "bin", "da", "das", "de", "del", "della", "den", "der",
    "des", "di", "do", "dos", "du", "e", "el", "for", "för", "für", "ibn", "in", "la", "las", "le",
    "lo", "los", "mac", "of", "och", "on", "op", "ten", "ter", "the", "to", "und", "van", "von",
    "vom", "y", "zu", "zum", "zur", "ze", "et", "i",
}  # fmt: skip
"""Words in small letters that names may have in their middle."""
_ARTICLES = {
    "The", "Die", "Der", "Das", "Den", "Le", "La", "Les", "El", "Los", "Las", "Il", "Lo", "De",
    "Het", "O", "A", "Os", "As",
}  # fmt: skip
_NO_NAMES = {
    "admin", "administrator", "agencies", "agency", "author", "authors", "by", "contributor",
    "contributors", "correspondent", "desk", "editor", "editorial", "editors", "guest", "news",
    "newsdesk", "newsroom", "press", "reporter", "reporters", "staff", "team", "unknown", "writer",
    "writers", "autor", "autoren", "redaktion", "rédaction", "redacción", "redazione", "redactie",
    "newsletter", "podcast", "home", "contact", "about", "login", "subscribe", "sponsored",
    "anonymous", "webmaster",
}  # fmt: skip
"""Words that make a byline an office rather than a person."""


@dataclass(frozen=True, slots=True, order=True)
class Name:
    """A name of a person or an organisation."""

    kind: str
    text: str


def is_usable(name: Name) -> bool:
    """Return whether a name is so much a name that its words in a text mean its bearer.

    Of one word are only those of organisations that have capitals within, such as NASA and GitHub.
    """
    text = name.text
    if _TOGETHER.fullmatch(text):
        return MIN_TOGETHER <= len(text) <= 20
    words = _WORD.findall(text)
    if not words or len(words) > MAX_WORDS or "".join(_WORD.split(text)).strip(" .-'’&\u00a0\u2010"):
        return False
    if len(words) == 1:
        inner = words[0][1:]
        return name.kind == ORGANISATION and len(words[0]) > 2 and inner.lower() != inner and inner.isalpha()
    is_office = name.kind == PERSON and any(word.lower() in _NO_NAMES for word in words)
    return (
        not is_office
        and all(word[0].isupper() or _is_without_case(word) for word in (words[0], words[-1]))
        and not any(word[0].islower() and word not in _PARTICLES for word in words)
        and not any(word.isdecimal() for word in words)
        and max(map(len, words)) > 2
    )


def _is_without_case(word: str) -> bool:
    return word.isalpha() and word.lower() == word.upper()


@dataclass(slots=True)
class KnownName:
    """A name, the number of documents with it, their sites, and the addresses that they give."""

    name: Name
    documents: int = 0
    sites: set[str] = field(default_factory=set)
    addresses: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The sites that give each address."""

    def pages(self) -> list[str]:
        """Return the addresses that two sites give, or the site they are on; those of most sites first."""
        trusted = [
            address
            for address, sites in self.addresses.items()
            if len(sites) > 1 or site_of(address) in sites
        ]
        return sorted(trusted, key=lambda address: (-len(self.addresses[address]), address))


def gathered(kind: str, statements: Iterable[tuple[str, str, str]]) -> list[KnownName]:
    """Return the usable names that at least MIN_DOCUMENTS have, those in most documents first.

    A statement is a name, the graph with it, and the address of its bearer or nothing.
    """
    names: dict[str, KnownName] = {}
    documents: defaultdict[str, set[str]] = defaultdict(set)
    for text, context, address in statements:
        document = context.partition("#")[0]  # also of a named graph within it
        entry = names.get(text)
        if entry is None:
            name = Name(kind, text)
            if not is_usable(name):
                continue
            entry = names[text] = KnownName(name)
        if document not in documents[text]:
            documents[text].add(document)
            entry.documents += 1
            if len(entry.sites) < MAX_SITES:
                entry.sites.add(site_of(document))
        if address.startswith(("http://", "https://")) and len(entry.addresses) < MAX_ADDRESSES:
            entry.addresses[address].add(site_of(document))
    enough = [entry for entry in names.values() if entry.documents >= MIN_DOCUMENTS]
    return sorted(enough, key=lambda entry: (-entry.documents, entry.name))


class Gazetteer:
    """Names to look for."""

    def __init__(self, names: Iterable[Name]) -> None:
        # By the first two words, which many names have not in common; by the only one of short names.
        self._by_words: dict[tuple[str, ...], list[tuple[tuple[str, ...], Name]]] = {}
        self._together: dict[str, list[Name]] = {}
        for name in sorted(set(names)):
            if not is_usable(name):
                continue
            if _TOGETHER.fullmatch(name.text):
                self._together.setdefault(name.text[:2], []).append(name)
            else:
                words = tuple(_WORD.findall(name.text))
                self._by_words.setdefault(words[:2], []).append((words, name))
        for entries in self._by_words.values():
            entries.sort(key=lambda entry: -len(entry[0]))
        for together in self._together.values():
            together.sort(key=lambda name: -len(name.text))

    def mentions(self, text: str) -> Counter[Name]:
        """Return the names in a text, and how often it has each. No part of a longer name counts."""
        text = text[:MAX_CHARACTERS]
        counts: Counter[Name] = Counter()
        words = list(_WORD.finditer(text))
        at = 0
        while at < len(words):
            name, length = self._at(text, words, at)
            if name is not None:
                counts[name] += 1
            at += length
        if self._together:
            for run in _TOGETHER.finditer(text):
                counts.update(self._within(run[0]))
        return counts

    def _at(self, text: str, words: list[re.Match[str]], at: int) -> tuple[Name | None, int]:
        """Return the longest name that begins with a word, None for none, and its number of words."""
        following = (words[at + 1][0],) if at + 1 < len(words) else ()
        candidates = self._by_words.get((words[at][0], *following), []) if following else []
        for name_words, name in (*candidates, *self._by_words.get((words[at][0],), ())):
            end = at + len(name_words)
            if end > len(words) or any(
                words[at + place][0] != word for place, word in enumerate(name_words) if place
            ):
                continue
            if all(_are_together(text, words[place], words[place + 1]) for place in range(at, end - 1)):
                if _goes_on(text, words, end) or (
                    name.kind == ORGANISATION and _began_before(text, words, at)
                ):
                    return None, 1
                return name, len(name_words)
        return None, 1

    def _within(self, run: str) -> Counter[Name]:
        counts: Counter[Name] = Counter()
        at = 0
        while at < len(run) - 1:
            candidates = self._together.get(run[at : at + 2], ())
            name = next((name for name in candidates if run.startswith(name.text, at)), None)
            if name is not None:
                counts[name] += 1
            at += len(name.text) if name is not None else 1
        return counts


def _goes_on(text: str, words: list[re.Match[str]], end: int) -> bool:
    """Return whether the next word belongs to a longer name: "Ada Example Street" is not Ada Example."""
    if end >= len(words) or not _is_capital(words[end][0]):
        return False
    return _are_together(text, words[end - 1], words[end])


def _began_before(text: str, words: list[re.Match[str]], at: int) -> bool:
    """Return whether the word before belongs to a longer name, such as "Royal" before "Example Society"."""
    if not at or not _is_capital(words[at - 1][0]) or words[at - 1][0] in _ARTICLES:
        return False
    return _are_together(text, words[at - 1], words[at]) and not _begins_a_sentence(text, words[at - 1])


def _are_together(text: str, first: re.Match[str], second: re.Match[str]) -> bool:
    """Return whether two words may belong to one name: nothing but a blank or a hyphen is between them."""
    between = text[first.end() : second.start()]
    if len(first[0]) == 1 and _AFTER_INITIAL.fullmatch(between):
        return True
    return _BETWEEN.fullmatch(between) is not None


def _is_capital(word: str) -> bool:
    return word[0].isupper() and not word.isdecimal()


def _begins_a_sentence(text: str, word: re.Match[str]) -> bool:
    """Return whether a word has its capital for its place."""
    before = text[max(0, word.start() - 3) : word.start()].strip(" \u00a0")
    return not before or before[-1] in ".!?:;\n\"“”„»«'‘’()[]–—•|…"
