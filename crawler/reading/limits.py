"""How much of a document is read: one table of bounds against documents that were made to cost much."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds. A document beyond one is refused as too large or too deep unless the line says otherwise.

    XML is bounded by libxml2 as well: 256 levels, and 10 MB of text in one element.
    """

    # bytes of a document without its compression
    bytes: int = 10_000_000  # of a page or a feed
    sitemap_bytes: int = 50_000_000  # as sitemaps.org allows; for the graph any document may be so long
    discovery_bytes: int = 2_000_000  # of a page that may name feeds, the rest is cut: they stand in its head
    mended_bytes: int = 5_000_000  # of an ill-formed feed, which is read three times
    tolerant_bytes: int = 1_000_000  # of one that only feedparser reads, which is slow; the rest is cut

    # elements of a document, each some 200 bytes in a tree
    elements: int = 250_000  # of a page
    link_elements: int = 400_000  # of a page that is looked through for links only
    feed_elements: int = 200_000  # or values of JSON
    sitemap_elements: int = 2_000_000  # without a tree

    # levels of elements
    depth: int = 200  # of a page, the rest is cut: what comes after the parser does not bear it
    markup_depth: int = 100  # of an entry, which is text beyond it: nh3 takes seconds for deep ones
    unclosed_depth: int = 1_000  # before feedparser; unclosed tags count, so this is wider than libxml2's

    # attributes of one element: libxml2 compares each with all before it
    attributes: int = 200  # of HTML; an entry beyond it is text
    feed_attributes: int = 1_000

    # of one feed
    entries: int = 1_000  # the newest are taken
    room: int = 10_000_000  # characters by which relative addresses may grow when they are made absolute
    candidates: int = 1_000  # links of a page that may lead to feeds, of which are looked at so many
    feeds: int = 30  # of one page, the likeliest

    # of one entry, the rest is cut; the first four in characters
    title: int = 1_000
    name: int = 200  # of a category
    address: int = 4_000
    markup: int = 1_000_000
    categories: int = 50
    enclosures: int = 20

    text: int = 1_000_000  # characters of a page, the rest is cut


LIMITS = Limits()
