"""The process that decodes pictures, without a way to the network."""

from __future__ import annotations

from typing import Any

import msgspec

from crawler.fetching.walled.programs import OK, failure, read_alone
from crawler.isolation.fork_server import PROGRAMS, Program
from crawler.web.pictures.render import PictureError, icon_links, render

DECODE = "picture-decode"


def decode(words: dict[str, Any], descriptors: list[int]) -> None:
    """Read a picture or page from a pipe, and write OK and its new form to another; or the failure."""

    def read(body: bytes) -> bytes:
        try:
            made = render(body) if words["task"] == "picture" else icon_links(body, words["url"])
        except PictureError as error:
            return failure(error.kind, error.detail)
        return OK + msgspec.msgpack.encode(made)

    read_alone(descriptors, read)


PROGRAMS[DECODE] = Program(decode)
