"""OPML as a body of requests and answers of the API."""

from __future__ import annotations

from typing import Any, cast

from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from feeds.opml import MAX_BYTES, OpmlError

MEDIA_TYPE = "text/x-opml"


class OpmlParser(BaseParser):
    """Takes the body as it is, whatever type it is sent as; `request.data` is bytes."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        # One byte more than allowed, so that what is too large is seen to be.
        return stream.read(MAX_BYTES + 1)


class OpmlRenderer(BaseRenderer):
    """Gives bytes out as they are."""

    media_type = MEDIA_TYPE
    format = "opml"
    charset = "utf-8"
    render_style = "binary"

    def render(self, data: Any, accepted_media_type: Any = None, renderer_context: Any = None) -> bytes:
        return data if isinstance(data, bytes) else str(data).encode()


def sent_opml(request: Request) -> bytes:
    """The OPML of a request: the file `file` of a form, or the body. Raises OpmlError."""
    if isinstance(request.data, bytes):
        return request.data
    file = request.FILES.get("file")
    if file is None:
        raise OpmlError("no file was sent: send it as the body, or as `file` of a form")
    return cast(bytes, file.read(MAX_BYTES + 1))
