"""The page of readers: addresses, app passwords that are shown once, and signing readers out."""

import re

import pytest

from articles.greader import me_views
from articles.greader.access import create_app_password
from articles.greader.models import AppPassword, ReaderLogin
from tests.articles.greader.conftest import sign_in
from tests.factories import make_subscriber, make_user
from tests.html import flat

pytestmark = pytest.mark.django_db
PAGE = "/settings/apps/"
FORMS = "/me/readers/"


@pytest.fixture
def visitor(client):
    """Ann, signed in with a browser."""
    client.subscriber = make_subscriber("ann")
    client.force_login(client.subscriber.user)
    return client


def test_it_wants_a_sign_in(client):
    for path in (PAGE, f"{FORMS}passwords/1/revoke/", f"{FORMS}logins/1/revoke/", f"{FORMS}tokens/1/revoke/"):
        for answer in (client.get(path), client.post(path)):
            assert answer.status_code == 302
            assert "next=" in answer["Location"]


def test_it_says_what_to_type_into_a_reader(visitor):
    answer = visitor.get(PAGE)
    html = answer.content.decode()
    assert ">http://testserver/api/greader.php<" in html
    other = visitor.get(PAGE, {"app": "NewsFlash"}).content.decode()
    assert '<code id="server">http://testserver</code>' in flat(other.encode())
    assert ">http://testserver/fever/<" in visitor.get(PAGE, {"app": "Fiery Feeds"}).content.decode()
    assert {"private", "no-store"} <= set(answer["Cache-Control"].split(", "))
    assert not re.search(r"<script(?![^>]* src=)|\sstyle=|\son\w+=", html)


def test_an_app_password_is_shown_once_and_signs_in(visitor):
    html = flat(visitor.post(PAGE, {"name": "Phone"}).content)
    match = re.search(r'id="made-password">([a-z0-9-]{29})<', html)
    assert match
    assert match[1] not in visitor.get(PAGE).content.decode()
    sign_in(visitor, "ann", match[1], source="FeedMe")
    html = visitor.get(PAGE).content.decode()
    assert "FeedMe" in html
    assert "the app password Phone" in html


def test_an_app_password_needs_a_name_and_there_is_an_end(visitor, monkeypatch):
    assert "made-password" not in visitor.post(PAGE, {"name": ""}).content.decode()
    monkeypatch.setattr(me_views, "MAX_APP_PASSWORDS", 1)
    visitor.post(PAGE, {"name": "one"})
    assert "are enough" in visitor.post(PAGE, {"name": "two"}).content.decode()
    assert AppPassword.objects.count() == 1


def test_revoking_an_app_password_signs_its_readers_out(visitor, client):
    password = create_app_password(visitor.subscriber, "Phone")
    token = sign_in(client, "ann", password)
    visitor.post(f"{FORMS}passwords/{AppPassword.objects.get().pk}/revoke/")
    assert not AppPassword.objects.exists()
    headers = {"Authorization": f"GoogleLogin auth={token}"}
    assert client.get("/reader/api/0/user-info", headers=headers).status_code == 401
    assert client.post("/accounts/ClientLogin", {"Email": "ann", "Passwd": password}).status_code == 401


def test_a_reader_is_signed_out(visitor):
    token = sign_in(visitor, "ann", source="Old phone")
    html = visitor.post(f"{FORMS}logins/{ReaderLogin.objects.get().pk}/revoke/", follow=True).content.decode()
    assert "Old phone was signed out" in html
    assert "Signed in now" not in html
    headers = {"Authorization": f"GoogleLogin auth={token}"}
    assert visitor.get("/reader/api/0/user-info", headers=headers).status_code == 401


def test_nobody_sees_or_revokes_what_is_another_s(visitor, client):
    create_app_password(visitor.subscriber, "Phone")
    sign_in(client, "ann", source="Old phone")
    client.force_login(make_user("bob"))
    html = client.get(PAGE).content.decode()
    assert "Old phone" not in html
    assert client.post(f"{FORMS}passwords/{AppPassword.objects.get().pk}/revoke/").status_code == 404
    assert client.post(f"{FORMS}logins/{ReaderLogin.objects.get().pk}/revoke/").status_code == 404
    assert AppPassword.objects.exists()
    assert ReaderLogin.objects.get().revoked is None


def test_revoking_takes_a_post(visitor):
    create_app_password(visitor.subscriber, "Phone")
    assert visitor.get(f"{FORMS}passwords/{AppPassword.objects.get().pk}/revoke/").status_code == 405
