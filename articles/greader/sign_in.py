"""ClientLogin: name and password in, a token out.

In the body of a POST alone: what stands in an address is written into logs. Every reader tried does so.
"""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib.auth import authenticate
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_variables

from articles.greader.access import app_password_of, open_login
from articles.greader.names import BadInput
from articles.greader.wire import Parameters, in_json, plain, read_pairs
from articles.personal.following import subscriber_of

MOST_FIELDS = 50
LONGEST_NAME = 150
LONGEST_APP = 100


@csrf_exempt
@login_not_required
@cache_control(private=True, no_store=True)
@sensitive_variables()
def client_login(request: HttpRequest) -> HttpResponse:
    """SID, LSID and Auth as lines of text or, with output=json, as JSON; 401 with what was wrong."""
    if request.method != "POST":
        return _refused("send Email and Passwd in the body of a POST")
    try:
        pairs = read_pairs(request)
        if len(pairs) > MOST_FIELDS:
            raise BadInput("too many fields")
        given = Parameters(pairs)
        name, password = given.needed("Email"), given.needed("Passwd")
    except BadInput as error:
        return plain(f"Error=BadRequest\nInfo=Not understood: {error}.\n", 400)
    user = None
    if len(name) <= LONGEST_NAME:
        user = authenticate(request, username=name, password=password, for_reader=True)
    if user is None:
        return _refused("name and password do not fit together")
    app = given.one("source") or given.one("client") or request.headers.get("User-Agent", "")
    app_password = app_password_of(name, password)
    token = open_login(subscriber_of(user), app_password, app[:LONGEST_APP], datetime.now(UTC))
    names = {"SID": token, "LSID": token, "Auth": token}
    if given.one("output") == "json":
        return in_json(names)
    return plain("".join(f"{name}={value}\n" for name, value in names.items()))


def _refused(why: str) -> HttpResponse:
    return plain(f"Error=BadAuthentication\nInfo={why}\n", 401)
