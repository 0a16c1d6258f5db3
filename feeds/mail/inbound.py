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

from crawler.isolation.calls import ProgramError
from crawler.reading.mail.body import MAX_BYTES
from crawler.web.attempts import count_attempt, too_many
from feeds.mail import calls
from feeds.mail.delivery import deliver, take_turn
from feeds.mail.models import MailAddress

FIELDS = ("email", "body-mime", "message", "raw")
"""Fields in which mail services send a whole message."""
_NOT_UNDERSTOOD = "this is no message of mail"
_WORDS = {
    "malformed": (400, _NOT_UNDERSTOOD),
    "too-large": (413, "too large"),
    "unsupported-type": (415, "this message is encrypted, or of another kind that cannot be read"),
    "busy": (503, "try again in a minute"),
}


@csrf_exempt
@login_not_required
@never_cache
@require_POST
def inbound(request: HttpRequest, key: str) -> HttpResponse:
    """Take a message to a person's address: as the body (message/rfc822), or in a field of a form."""
    now = datetime.now(UTC)
    address = MailAddress.objects.select_related("user").filter(key=key.lower()[:40]).first()
    if address is None or not address.user.is_active:
        if too_many("mail-address", request, now):
            return _answer(429, "try again later", retry=600)
        count_attempt("mail-address", request, now)
        return _answer(404, "not found")
    if not take_turn(address, now):
        return _answer(429, "too many messages within an hour", retry=3600)
    try:
        data = _message_in(request)
    except RequestDataTooBig:
        return _answer(413, "too large")
    except (SuspiciousOperation, BadRequest, MultiPartParserError, UnreadablePostError, ValueError):
        return _answer(400, "the form was not understood")
    if data is None:
        return _answer(415, "send the message as message/rfc822, or in the field “email” of a form")
    if len(data) > MAX_BYTES:
        return _answer(413, "too large")
    try:
        letter = calls.read(data)
    except ProgramError as error:
        status, words = _WORDS.get(error.kind, (400, "this message cannot be read"))
        return _answer(status, words, retry=60 if status == 503 else 0)
    deliver(address, letter, now)
    return _answer(202, "")


def _message_in(request: HttpRequest) -> bytes | None:
    """Return the message of a request, None without one."""
    if request.content_type in {"message/rfc822", "message/global", "application/octet-stream", "text/plain"}:
        return request.read(MAX_BYTES + 1)
    if request.content_type not in {"multipart/form-data", "application/x-www-form-urlencoded"}:
        return None
    # A character for each byte: a message is in whatever charsets its parts say.
    request.encoding = "latin-1"
    for name in FIELDS:
        if file := request.FILES.get(name):
            return file.read(MAX_BYTES + 1)
        if text := request.POST.get(name):
            return text.encode("latin-1", "replace")
    return None


def _answer(status: int, words: str, retry: int = 0) -> HttpResponse:
    response = HttpResponse(words, "text/plain; charset=utf-8", status)
    if retry:
        response.headers["Retry-After"] = str(retry)
    return response
