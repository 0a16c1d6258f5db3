"""The address to which a mail service sends messages: POST /inbound/KEY/."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import BadRequest, RequestDataTooBig, SuspiciousOperation
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from crawler.database.readers import read_as
from crawler.isolation.calls import ProgramError
from crawler.reading.mail.body import MAX_BYTES
from crawler.web.attempts import count_attempt, too_many
from feeds.mail import calls
from feeds.mail.delivery import deliver, take_turn
from feeds.mail.models import MailAddress
from feeds.mail.programs import ReadMail

FIELDS = ("email", "body-mime", "message", "raw")
"""Fields in which mail services send a whole message."""
_NO_FORM = (SuspiciousOperation, BadRequest, MultiPartParserError, UnreadablePostError, ValueError)
_NOT_UNDERSTOOD = "this is no message of mail"
_WORDS = {
    "malformed": (400, _NOT_UNDERSTOOD),
    "too-large": (413, "too large"),
    "unsupported-type": (415, "this message is encrypted, or of another kind that cannot be read"),
    "busy": (503, "try again in a minute"),
}


class _RefusedMailError(Exception):
    """Error for a message that is not taken: the status, a sentence, and seconds until another attempt."""

    def __init__(self, status: int, words: str, retry: int = 0) -> None:
        super().__init__(words)
        self.status, self.words, self.retry = status, words, retry


@csrf_exempt
@login_not_required
@never_cache
@require_POST
def inbound(request: HttpRequest, key: str) -> HttpResponse:
    """Take a message to a person's address: as the body (message/rfc822), or in a field of a form."""
    now = datetime.now(UTC)
    try:
        address = _address(request, key, now)
        letter = _letter(_message_in(request))
    except _RefusedMailError as error:
        return _answer(error.status, error.words, error.retry)
    read_as(address.user_id)  # whose feed no other request sees
    deliver(address, letter, now)
    return _answer(202, "")


def _address(request: HttpRequest, key: str, now: datetime) -> MailAddress:
    """Return the address with a key, which may take a message now. Raises _RefusedMailError."""
    address = MailAddress.objects.select_related("user").filter(key=key.lower()[:40]).first()
    if address is None or not address.user.is_active:
        if too_many("mail-address", request, now):
            raise _RefusedMailError(429, "try again later", 600)
        count_attempt("mail-address", request, now)
        raise _RefusedMailError(404, "not found")
    if not take_turn(address, now):
        raise _RefusedMailError(429, "too many messages within an hour", 3600)
    return address


def _letter(data: bytes) -> ReadMail:
    if len(data) > MAX_BYTES:
        raise _RefusedMailError(413, "too large")
    try:
        return calls.read(data)
    except ProgramError as error:
        status, words = _WORDS.get(error.kind, (400, "this message cannot be read"))
        raise _RefusedMailError(status, words, 60 if status == 503 else 0) from error


def _message_in(request: HttpRequest) -> bytes:
    """Return the message of a request. Raises _RefusedMailError."""
    if request.content_type in {"message/rfc822", "message/global", "application/octet-stream", "text/plain"}:
        return request.read(MAX_BYTES + 1)
    if request.content_type in {"multipart/form-data", "application/x-www-form-urlencoded"}:
        try:
            data = _message_of_form(request)
        except RequestDataTooBig as error:
            raise _RefusedMailError(413, "too large") from error
        except _NO_FORM as error:
            raise _RefusedMailError(400, "the form was not understood") from error
        if data:
            return data
    raise _RefusedMailError(415, "send the message as message/rfc822, or in the field “email” of a form")


def _message_of_form(request: HttpRequest) -> bytes:
    # A character for each byte: a message is in whatever charsets its parts say.
    request.encoding = "latin-1"
    for name in FIELDS:
        if file := request.FILES.get(name):
            return bytes(file.read(MAX_BYTES + 1))
        if text := request.POST.get(name):
            return str(text).encode("latin-1", "replace")
    return b""


def _answer(status: int, words: str, retry: int = 0) -> HttpResponse:
    response = HttpResponse(words, "text/plain; charset=utf-8", status)
    if retry:
        response.headers["Retry-After"] = str(retry)
    return response
