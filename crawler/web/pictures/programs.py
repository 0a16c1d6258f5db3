"""The program that decodes pictures, without a way to the network."""

from __future__ import annotations

from typing import Any

import msgspec

from crawler.fetching.sandboxed.programs import READING
from crawler.isolation.calls import register
from crawler.web.pictures.render import icon_links, manifest_link, render

DECODE = "picture-decode"


def decode(request: dict[str, Any], body: bytes) -> bytes:
    """Return a picture's new form, or the icons that a page names, as MessagePack. Raises PictureError."""
    if request["task"] == "picture":
        return msgspec.msgpack.encode(render(body))
    task = manifest_link if request["task"] == "manifest" else icon_links
    return msgspec.msgpack.encode(task(body, request["url"]))


register(DECODE, decode, READING)
