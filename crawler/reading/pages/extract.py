"""Conversion of an article's page to a record: main text, language and metadata, from one tree."""

from __future__ import annotations

import zlib

from lxml import etree, html

from crawler.reading.documents import PageDocument
from crawler.reading.feeds.markup import Sanitiser
from crawler.reading.hidden import drop_hidden, may_hide
from crawler.reading.limits import LIMITS
from crawler.reading.pages.language import language_of
from crawler.reading.pages.maintext import main_text
from crawler.reading.pages.metadata import read_metadata
from crawler.reading.pages.structure import base_of, main_html, paragraphs
from crawler.reading.pages.tree import media_type, page_tree, text_of


def extract_page(body: bytes, *, url: str, content_type: str = "") -> PageDocument:
    """Read the page in a response body from `url`; `html` is the body as received, under zlib.

    A text/plain body is its own text. Raises ReadingError: unsupported-type for anything that is neither
    HTML nor text, too-large for bodies, trees and elements beyond the limits of `tree`.
    """
    kind = media_type(body, content_type)
    text = text_of(body, content_type)
    # As received, so that stored pages can be read again when terminals read better.
    packed = zlib.compress(body, 6)
    if kind == "text/plain":
        plain = text.strip()[: LIMITS.text]
        title = plain.partition("\n")[0].strip()[:200]
        return PageDocument(
            html=packed, title=title, text=plain, content=paragraphs(plain), language=language_of(plain)
        )
    root = page_tree(text)
    if root is None:
        return PageDocument(html=packed)
    metadata = read_metadata(root, url)
    # Metadata is read before: hidden elements carry it.
    if may_hide(text):
        drop_hidden(root)
    words = main_text(root, metadata.description)
    return PageDocument(
        html=packed,
        title=metadata.title,
        text=words,
        content=_content(root, words, metadata.title, url),
        image=metadata.image,
        language=language_of(words, metadata.language),
        author=metadata.author,
        published=metadata.published,
        canonical_url=metadata.canonical_url,
    )


def _content(root: html.HtmlElement, text: str, title: str, url: str) -> str:
    """Return the article as sanitised HTML with absolute addresses, "" where it would be too long."""
    try:
        base = base_of(root, url)
        content = Sanitiser(pages=True).clean(main_html(root, text, title, base), base)
    except (etree.LxmlError, ValueError):  # of names and addresses that no tree writes
        content = paragraphs(text)
    # Markup of hundreds of kilobytes slows each list that shows it; the text says the same.
    return content if len(content) <= LIMITS.markup else paragraphs(text)[: LIMITS.markup]
