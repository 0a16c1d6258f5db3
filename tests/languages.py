"""Catalogues of translations, and a language of fullwidth letters in which untranslated text stands out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import lxml.html
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from django.conf import settings
from django.utils.translation import deactivate, trans_real
from django.utils.translation.template import templatize

ROOT = Path(settings.BASE_DIR)
LANGUAGES = [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
SPOKEN = ("aria-label", "title", "placeholder", "alt")
"""Attributes that people read or hear."""
_FUNCTIONS = {
    **dict.fromkeys(
        ("_", "Reason", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy"), 0
    ),
    **dict.fromkeys(("pgettext", "pgettext_lazy", "npgettext", "npgettext_lazy"), 1),
}
"""Functions that translate, with the number of their arguments before the message."""
_CALL = re.compile(r"\b(_|gettext|ngettext|pgettext|npgettext)\((?=[urb]?['\"])")
_KEPT = re.compile(r"<[^>]*>|%\(\w+\)[a-z]|%[sd%]|\{\{.*?\}\}|\{\w*\}|&#?\w+;")
_WIDE = {code: code + 0xFEE0 for code in (*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1))}
_SILENT = (
    "self::script or self::style or self::code or self::pre or self::kbd or self::samp or self::textarea"
)
_FOREIGN = (
    f"{_SILENT} or self::bdi or self::time or self::option[../@name='zone' or ../@name='language']"
    " or (@lang and not(self::html))"
)


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the source: the text, and the context that tells it from others of the same text."""

    text: str
    context: str = ""


def catalogue(language: str) -> Catalog:
    """Read the translations of a language."""
    with (ROOT / "locale" / language / "LC_MESSAGES/django.po").open("rb") as file:
        return read_po(file, language)


def messages_of_the_source() -> set[Message]:
    """Every message in Python files and templates."""
    messages: set[Message] = set()
    for room in ("crawler", "feeds", "articles", "recrawl"):
        for path in sorted((ROOT / room).rglob("*.py")):
            messages.update(_messages_of_code(path.read_text()))
    for path in sorted((ROOT / "templates").rglob("*")):
        if path.suffix in {".html", ".txt", ".json", ".js"}:
            messages.update(_messages_of_template(path.read_text()))
    return messages


def _messages_of_code(source: str) -> Iterator[Message]:
    if "gettext" not in source and "Reason(" not in source:
        return
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        before = _FUNCTIONS.get(node.func.id)
        texts = [
            word.value for word in node.args if isinstance(word, ast.Constant) and isinstance(word.value, str)
        ]
        if before is not None and len(texts) > before:
            yield Message(texts[before], texts[0] if before else "")


def _messages_of_template(source: str) -> Iterator[Message]:
    code = templatize(source)
    for call in _CALL.finditer(code):
        texts = _strings(code, call.end())
        before = _FUNCTIONS[call[1]]
        yield Message(texts[before], texts[0] if before else "")


def _strings(code: str, at: int) -> list[str]:
    """Read the string literals that follow each other, with commas between them."""
    texts = []
    while literal := re.compile(r"\s*(u?(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))\s*,?", re.S).match(
        code, at
    ):
        texts.append(ast.literal_eval(literal[1]))
        at = literal.end()
    return texts


def places(text: str) -> set[str]:
    """The places of a message that values fill."""
    return set(re.findall(r"%\(\w+\)[sd]|\{\w*\}", text))


def tags(text: str) -> list[str]:
    """The HTML tags of a message, sorted."""
    return sorted(re.findall(r"<[a-z/][^>]*>", text))


def widen(message: str) -> str:
    """Write a message in fullwidth letters, all but its tags and places."""
    parts, end = [], 0
    for kept in _KEPT.finditer(message):
        parts += [message[end : kept.start()].translate(_WIDE), kept[0]]
        end = kept.end()
    return "".join((*parts, message[end:].translate(_WIDE)))


class _Wide:
    """A catalogue that has every message."""

    def __init__(self, language: str) -> None:
        self.language = language

    def gettext(self, message: str) -> str:
        context, sign, text = message.rpartition("\x04")
        return text if sign and "date format" in context else widen(text)

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        return self.gettext(singular if number == 1 else plural)

    def to_language(self) -> str:
        return self.language


@contextmanager
def every_message_widened() -> Iterator[None]:
    """Show every message of every language in fullwidth letters.

    Django keeps a thread's catalogue and the default one: both are what they were afterwards.
    """
    real, default = trans_real.translation, trans_real._default
    active = getattr(trans_real._active, "value", None)
    trans_real.translation, trans_real._default = _Wide, None
    try:
        yield
    finally:
        trans_real.translation, trans_real._default = real, default
        deactivate()
        if active is not None:
            trans_real._active.value = active


def texts_of(page: str) -> Iterator[str]:
    """Yield the pieces of text that a page's language decides about, with the attributes that are read.

    Texts of the web are left out: they stand in `bdi`, in elements with a language of their own, or in code.
    """
    for element in lxml.html.fromstring(page).iter():
        if not isinstance(element.tag, str):
            continue
        own = [] if _is_foreign(element) else [element.text, *(element.get(name) for name in SPOKEN)]
        parent = element.getparent()
        tail = [element.tail] if parent is not None and not _is_foreign(parent) else []
        for text in (*own, *tail):
            if text and text.strip():
                yield " ".join(text.split())


def _is_foreign(element: lxml.html.HtmlElement) -> bool:
    return bool(element.xpath(f"boolean(ancestor-or-self::*[{_FOREIGN}])"))
