"""The program that finds the parts of a page, without a way to the network."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import msgspec

from crawler.fetching.sandboxed.programs import READING
from crawler.isolation.calls import register
from crawler.reading.errors import ReadingError
from crawler.reading.limits import LIMITS
from crawler.reading.pages.tree import media_type, text_of, whole_tree
from recrawl.pages.part_candidates import page_parts

PARTS, SMALL_PICTURE = "page-parts", "small-picture"
SHOWN_PIXELS, PICTURE_PIXELS, QUALITY = (1280, 800), (640, 400), 50
"""The part of a screenshot that is shown, and its size there."""


def run(request: dict[str, Any], body: bytes) -> bytes:
    """Return the parts of a page as MessagePack. Raises ReadingError for what is no page."""
    content_type = request["content_type"]
    if media_type(body, content_type) != "text/html":
        raise ReadingError("unsupported-type", "this is no page of text")
    root = whole_tree(text_of(body, content_type), LIMITS.link_elements)
    if root is None:
        raise ReadingError("malformed", "the page is empty")
    return msgspec.msgpack.encode(page_parts(root))


def small_picture(request: dict[str, Any], body: bytes) -> bytes:
    """Return the top of a screenshot as a small WebP."""
    from PIL import Image  # noqa: PLC0415 - only where it runs

    Image.MAX_IMAGE_PIXELS = SHOWN_PIXELS[0] * 10_000
    picture = Image.open(BytesIO(body), formats=("PNG",)).convert("RGB").crop((0, 0, *SHOWN_PIXELS))
    out = BytesIO()
    picture.resize(PICTURE_PIXELS).save(out, "WEBP", quality=QUALITY, method=4)
    return out.getvalue()


register(PARTS, run, READING)
register(SMALL_PICTURE, small_picture, READING)
