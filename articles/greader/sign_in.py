"""ClientLogin: exchanges name and password for a token.

Accepts only the body of a POST, because URLs are written into logs. Every reader tested sends a POST.
"""

from __future__ import annotations

from datetime import UTC, datetime

from allauth.mfa.utils import is_mfa_enabled
from django.contrib.auth import authenticate
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_variables

from articles.greader.access import app_password_of, open_login
from articles.greader.names import BadInput
from articles.greader.wire import Parameters, cross_origin, in_json, plain, read_pairs
from articles.personal.following import subscriber_of

MAX_FIELDS = 50
MAX_NAME_LENGTH = 150
MAX_APP_LENGTH = 100
_WRONG = (
    "name and password do not fit together; with codes or passkeys for the account, apps need a password of "
    "their own"
)


@csrf_exempt
@login_not_required
@cross_origin
@cache_control(private=True, no_store=True)
@sensitive_variables()
def client_login(request: HttpRequest) -> HttpResponse:
    """Return SID, LSID and Auth as lines of text or, with output=json, as JSON.

    Returns 401 with the reason for a wrong name or password.
    """
    if request.method != "POST":
        return _refused("send Email and Passwd in the body of a POST")
    try:
        pairs = read_pairs(request)
        if len(pairs) > MAX_FIELDS:
            raise BadInput("too many fields")
        parameters = Parameters(pairs)
        name, password = parameters.needed("Email"), parameters.needed("Passwd")
    except BadInput as error:
        return plain(f"Error=BadRequest\nInfo=Not understood: {error}.\n", 400)
    user = None
    if len(name) <= MAX_NAME_LENGTH:
        user = authenticate(request, username=name, password=password, for_reader=True)
    if user is None:
        return _refused(_WRONG)
    app = parameters.one("source") or parameters.one("client") or request.headers.get("User-Agent", "")
    app_password = app_password_of(name, password)
    if app_password is None and is_mfa_enabled(user):
        return _refused(_WRONG)  # in the same words, which do not say that the password was right
    token = open_login(subscriber_of(user), app_password, app[:MAX_APP_LENGTH], datetime.now(UTC))
    names = {"SID": token, "LSID": token, "Auth": token}
    if parameters.one("output") == "json":
        return in_json(names)
    return plain("".join(f"{name}={value}\n" for name, value in names.items()))


def _refused(why: str) -> HttpResponse:
    return plain(f"Error=BadAuthentication\nInfo={why}\n", 401)
