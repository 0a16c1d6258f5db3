"""An article's page to the record that a terminal sends: main text, language and metadata, from one tree."""

from __future__ import annotations

import zlib

from crawler.reading.documents import PageDocument
from crawler.reading.limits import LIMITS
from crawler.reading.pages.language import language_of
from crawler.reading.pages.maintext import main_text
from crawler.reading.pages.metadata import read_metadata
from crawler.reading.pages.tree import media_type, page_tree, text_of


def extract_page(body: bytes, *, url: str, content_type: str = "") -> PageDocument:
    """What the page in a response body from `url` says; `html` is the body as received, under zlib.

    A text/plain body is its own text. Raises ReadingError: unsupported-type for anything that is neither
    HTML nor text, too-large for bodies, trees and elements beyond the limits of `tree`.
    """
    kind = media_type(body, content_type)
    text = text_of(body, content_type)
    packed = zlib.compress(body, 6)
    if kind == "text/plain":
        plain = text.strip()[: LIMITS.text]
        title = plain.partition("\n")[0].strip()[:200]
        return PageDocument(html=packed, title=title, text=plain, language=language_of(plain))
    root = page_tree(text)
    if root is None:
        return PageDocument(html=packed)
    found = read_metadata(root, url)
    words = main_text(root, found.description)
    return PageDocument(
        html=packed,
        title=found.title,
        text=words,
        language=language_of(words, found.language),
        author=found.author,
        published=found.published,
        canonical_url=found.canonical_url,
    )
