"""A message of mail (RFC 5322, MIME) as an article: who sent it, when, and what it says.

Messages come from anybody, so that all is bounded: bytes, parts, levels, headers, text and elements. The
parts are taken apart here rather than by Python's parser, which calls itself for each level and looks for
the ends of all levels in every line.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from html import escape

from crawler.reading.dates import epoch
from crawler.reading.errors import ReadingError
from crawler.reading.language_tags import language_tag
from crawler.reading.limits import LIMITS
from crawler.reading.mail.body import MAX_BYTES, MAX_DEPTH, MAX_TEXT, MessagePart, leaves, part_of, readable
from crawler.reading.mail.cleaning import Cleaned, clean, visible
from crawler.reading.mail.headers import MessageHeaders
from crawler.reading.mail.links import confirmation_of, unsubscribe_of, view_of
from crawler.reading.mail.plain import to_html
from crawler.reading.mail.record import Mail, MailFile
from crawler.reading.mail.senders import authentication_of, author_of, list_of
from crawler.text.characters import indexable, one_line, storable

MAX_PICTURES_BYTES = 300_000
"""Bytes of all inline pictures of a message that are kept within its HTML."""
MAX_SUMMARY = 300
MAX_FILES = 50
MAX_DIGESTED = 500
"""Texts and titles of the messages in a digest."""
_KNOWN = frozenset({
    "from", "to", "subject", "date", "message-id", "received", "content-type", "mime-version", "delivered-to",
    "return-path", "sender", "list-id",
})  # fmt: skip
_PICTURES = {
    b"\x89PNG\r\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp",
}  # fmt: skip
_RECIPIENTS = ("delivered-to", "x-original-to", "to")


def read_message(data: bytes) -> Mail:
    """Read a message.

    Inline pictures (`cid:`) stand in the HTML as `data:` addresses if all of them together have at most
    MAX_PICTURES_BYTES, else as their alternative texts. A message that holds nothing but another one is read
    as that one; what vouches for its sender is unknown then. Raises ReadingError: `malformed` for what is no
    message, `too-large`, `too-deep`, and `unsupported-type` for an encrypted one.
    """
    if len(data) > MAX_BYTES:
        raise ReadingError("too-large", f"more than {MAX_BYTES} bytes")
    outer = root = _root(data)
    parts = leaves(root)
    for _ in range(MAX_DEPTH):
        if readable(parts) or any(part.is_in_digest for part in parts):
            break
        inner = next((part for part in parts if part.type in ("message/rfc822", "message/global")), None)
        if inner is None:
            break
        root = _root(inner.content)
        parts = leaves(root)
    else:
        raise ReadingError("too-deep", f"messages nested deeper than {MAX_DEPTH}")
    return _mail(outer.headers, root.headers, parts)


def _root(data: bytes) -> MessagePart:
    """Return the outermost part. Raises ReadingError(malformed) for what has no header of a message."""
    data = data.lstrip(b"\r\n\t \xef\xbb\xbf")
    if data[:5] in (b"From ", b">From"):
        data = data.partition(b"\n")[2]
    root = part_of(data)
    if not root.headers.names() & _KNOWN:
        raise ReadingError("malformed", "no message: none of its headers")
    return root


def _mail(outer: MessageHeaders, headers: MessageHeaders, parts: list[MessagePart]) -> Mail:
    recipients = tuple(dict.fromkeys(
        address for block in (outer, headers) for name in _RECIPIENTS for _, address in block.addresses(name)
    ))[:100]  # fmt: skip
    body = _body(parts, recipients)
    sender_name, sender_address = _sender(headers)
    subject = indexable(one_line(headers.text("subject"), LIMITS.title))
    list_id, list_name = list_of(headers)
    unsubscribe_url, unsubscribe_mail, one_click = unsubscribe_of(headers, body.links)
    is_confirmation, confirm_url = confirmation_of(subject, body.text, body.links)
    authentication, domain = authentication_of(headers, sender_address) if headers is outer else ("", "")
    files = [part for part in parts if _is_file(part)][:MAX_FILES]
    language = language_tag(headers.raw("content-language").partition(",")[0]) or language_tag(body.language)
    return Mail(
        message_id=_identity(headers, sender_address, subject, body),
        subject=subject,
        sender_name=storable(sender_name, 300),
        sender_address=sender_address,
        list_id=list_id,
        list_name=list_name,
        sent=_sent(headers),
        language=language,
        html=body.html,
        text=body.text,
        summary=one_line(visible(body.preheader or body.text[:2_000]), MAX_SUMMARY),
        author=storable(author_of(sender_name), 300),
        unsubscribe_url=unsubscribe_url,
        unsubscribe_one_click=one_click,
        unsubscribe_mail=unsubscribe_mail,
        is_confirmation=is_confirmation,
        confirm_url=confirm_url,
        view_url=view_of(headers, body.links),
        authentication=authentication,
        authenticated_domain=domain,
        recipients=recipients,
        opaque_links=body.opaque_links,
        pictures=body.pictures,
        audio=tuple(_file(part) for part in files if part.type.startswith("audio/")),
        attachments=tuple(_file(part) for part in files if not part.type.startswith("audio/")),
    )


def _body(parts: list[MessagePart], recipients: Sequence[str]) -> Cleaned:
    """Return the texts of a message as one document. Those of a digest begin with their subjects."""
    pieces: list[str] = []
    room = MAX_TEXT
    for part in _with_digested(parts):
        markup = part.text[: max(room, 0)]
        room -= len(markup)
        if part.type != "text/html":
            markup = to_html(
                markup,
                flowed=part.parameters.get("format", "").lower() == "flowed",
                delete_space=part.parameters.get("delsp", "").lower() == "yes",
            )
        pieces.append(markup)
    return clean("\n".join(pieces), _pictures(parts), recipients)


def _with_digested(parts: list[MessagePart]) -> list[MessagePart]:
    """Return the texts to read, with those of the messages of a digest, each under its subject."""
    texts: list[MessagePart] = []
    chosen = {id(part) for part in readable(parts)}
    for part in parts:
        if id(part) in chosen:
            texts.append(part)
        elif part.is_in_digest and part.type == "message/rfc822" and len(texts) < MAX_DIGESTED:
            inner = part_of(part.content)
            name, address = _sender(inner.headers)
            title = f"<h2>{escape(inner.headers.text('subject'))}</h2><p>{escape(name or address)}</p>"
            texts.append(MessagePart(MessageHeaders(b""), "text/html", {"charset": "utf-8"}, title.encode()))
            texts += readable(leaves(inner))
    return texts


def _pictures(parts: list[MessagePart]) -> dict[str, str]:
    """Return the inline pictures as `data:` addresses by Content-ID, none if they are too large together."""
    pictures: dict[str, str] = {}
    size = 0
    for part in parts:
        name = part.headers.raw("content-id").strip(" <>").lower()
        if not name or not part.type.startswith("image/"):
            continue
        size += len(part.content)
        if size > MAX_PICTURES_BYTES:
            return {}
        kind = next((kind for mark, kind in _PICTURES.items() if part.content.startswith(mark)), "")
        if kind:
            pictures[name] = f"data:{kind};base64,{base64.b64encode(part.content).decode()}"
    return pictures


def _sender(headers: MessageHeaders) -> tuple[str, str]:
    """Return name and address of From, else of Sender or Reply-To."""
    for name in ("from", "sender", "reply-to"):
        if addresses := headers.addresses(name):
            return addresses[0]
    return one_line(headers.text("from"), 300), ""


def _sent(headers: MessageHeaders) -> float | None:
    """Return the time in Date, else that of the topmost Received."""
    for text in (headers.raw("date"), next(iter(headers.all("received")), "").rpartition(";")[2]):
        if not text.strip():
            continue
        try:
            moment: float | None = parsedate_to_datetime(text[:200]).timestamp()
        except (ValueError, TypeError, IndexError, OverflowError):
            moment = epoch(re.sub(r"\([^()]*\)", "", text[:200]))
        if moment is not None and 0 < moment < 32503680000:
            return moment
    return None


def _identity(headers: MessageHeaders, sender_address: str, subject: str, body: Cleaned) -> str:
    """Return the Message-ID without brackets, else a digest of the content."""
    value = "".join(storable(headers.raw("message-id").encode("utf-8", "replace").decode()).split()).strip(
        "<>"
    )
    if value:
        return value[:500]
    content = "\0".join((sender_address, subject, headers.raw("date"), body.text or body.html))
    digest = hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16)
    return f"digest:{digest.hexdigest()}"


def _is_file(part: MessagePart) -> bool:
    if part.type in ("application/pgp-signature", "application/pkcs7-signature", "text/x-amp-html"):
        return False
    if part.headers.raw("content-id") and part.type.startswith("image/") and part.disposition != "attachment":
        return False
    is_other = not part.type.startswith(("text/", "message/", "multipart/"))
    return is_other or bool(part.name) or part.disposition == "attachment" or part.type == "text/calendar"


def _file(part: MessagePart) -> MailFile:
    return MailFile(one_line(part.name, 200), part.type[:100], len(part.content))
