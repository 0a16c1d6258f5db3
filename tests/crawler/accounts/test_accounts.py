"""Accounts: invitations, links, mails, limits, second factors, proxies and leaving."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from allauth.usersessions.models import UserSession
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from articles.models import Subscriber
from articles.personal.following import subscriber_of
from crawler import environment
from crawler.accounts import proxy
from crawler.accounts.models import Account, Invitation
from crawler.operation.site import retention
from crawler.web.roles import EDITOR, OWNER, give_role, role_of
from feeds.models import Category
from tests.factories import make_feed, make_user

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC)
PASSWORD = "a long sentence is good"


@pytest.fixture
def owner() -> User:
    user = make_user("ines")
    give_role(user, OWNER)
    return user


def join(secret: str, name: str, **fields: str) -> Any:
    client = Client()
    client.get(f"/accounts/join/{secret}/")
    return client.post("/accounts/signup/", {"username": name, "password1": PASSWORD, **fields})


def test_an_invitation_makes_an_account_with_a_role_and_feeds(owner: User) -> None:
    folder = Category.objects.create(name="Local")
    feeds = [make_feed(category=folder), make_feed(category=folder)]
    make_feed()
    client = Client()
    client.force_login(owner)
    fields = {"role": EDITOR, "folder": folder.pk, "max_uses": 2, "days": 3}
    page = client.post("/people/", fields).content.decode()
    secret = re.search(r"/accounts/join/([\w-]+)/", page)
    assert secret is not None
    guest = Client()
    assert guest.get("/accounts/signup/").content.decode().count("closed circle") == 1
    answer = guest.get(f"/accounts/join/{secret[1]}/", follow=True)
    assert "ines invites you" in answer.content.decode()
    answer = guest.post("/accounts/signup/", {"username": "mara", "password1": PASSWORD})
    assert answer["Location"] == "/read/"
    mara = User.objects.get(username="mara")
    assert role_of(mara) == EDITOR
    followed = Subscriber.objects.get(user=mara).subscriptions.values_list("feed", "folder")
    assert sorted(followed) == sorted((feed.pk, "Local") for feed in feeds)
    assert secret[1] not in str(list(Invitation.objects.values()))


def test_an_invitation_is_good_for_so_many_people_and_so_long(owner: User) -> None:
    _, secret = Invitation.make(owner, NOW)
    assert join(secret, "mara").status_code == 302
    assert join(secret, "tom").status_code == 200
    assert not User.objects.filter(username="tom").exists()
    assert Client().get(f"/accounts/join/{secret}/").status_code == 404
    _, secret = Invitation.make(owner, NOW - timedelta(days=8))
    assert Client().get(f"/accounts/join/{secret}/").status_code == 404
    taken_back, secret = Invitation.make(owner, NOW)
    client = Client()
    client.force_login(owner)
    client.post(f"/people/invitations/{taken_back.pk}/revoke/")
    assert Client().get(f"/accounts/join/{secret}/").status_code == 404


def test_two_people_at_once_do_not_share_one_invitation(owner: User) -> None:
    _, secret = Invitation.make(owner, NOW)
    first, second = Client(), Client()
    for client in (first, second):
        client.get(f"/accounts/join/{secret}/")
    invitation = Invitation.objects.get()
    assert invitation.take(NOW)
    assert not invitation.take(NOW)
    answer = second.post("/accounts/signup/", {"username": "tom", "password1": PASSWORD})
    assert answer.status_code == 200
    assert not User.objects.filter(username="tom").exists()


@pytest.mark.django_db(transaction=True)
def test_an_invitation_that_eight_use_at_once_makes_one_account(owner: User) -> None:
    _, secret = Invitation.make(owner, NOW)
    clients = [Client() for _ in range(8)]
    for client in clients:
        client.get(f"/accounts/join/{secret}/")
    together = threading.Barrier(len(clients))

    def sign_up(number: int) -> int:
        try:
            together.wait(10)
            fields = {"username": f"guest{number}", "password1": PASSWORD}
            return clients[number].post("/accounts/signup/", fields).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(clients)) as threads:
        statuses = list(threads.map(sign_up, range(len(clients))))
    assert statuses.count(302) == 1
    assert set(statuses) <= {302, 200, 403}, "who comes too late is told so"
    assert User.objects.filter(username__startswith="guest").count() == 1
    assert Invitation.objects.get().uses == 1


def test_a_name_that_is_taken_and_a_weak_password_are_named(owner: User) -> None:
    _, secret = Invitation.make(owner, NOW)
    client = Client()
    client.get(f"/accounts/join/{secret}/")
    for name, password in (("Ines", PASSWORD), ("mara", "12345678"), ("mara", "mara"), ("a b", PASSWORD)):
        answer = client.post("/accounts/signup/", {"username": name, "password1": password})
        assert answer.status_code == 200
        assert 'class="error"' in answer.content.decode()
    assert User.objects.count() == 1


def test_open_sign_up_waits_for_the_mail(settings: Any) -> None:
    settings.SIGN_UP, settings.EMAIL_URL = "open", "smtp://localhost"
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    client = Client()
    fields = {"username": "mara", "email": "mara@news.example", "password1": PASSWORD}
    client.post("/accounts/signup/", fields)
    assert "_auth_user_id" not in client.session
    link = re.search(r"/accounts/confirm-email/[^/\s]+/", str(mail.outbox[0].body))
    assert link is not None
    client.post(link[0])
    answer = client.post("/accounts/login/", {"username": "mara@news.example", "password": PASSWORD})
    assert answer["Location"] == "/read/"


def test_a_forgotten_password_is_set_anew_by_mail(settings: Any) -> None:
    settings.EMAIL_URL = "smtp://localhost"
    user = make_user("mara", email="mara@news.example")
    client = Client()
    client.post("/accounts/password/reset/", {"email": "mara@news.example"})
    link = re.search(r"/accounts/password/reset/key/[^/\s]+/", str(mail.outbox[0].body))
    assert link is not None
    form = client.get(link[0])["Location"]
    fields = {"password1": PASSWORD, "password2": PASSWORD}
    answer = client.post(form, fields)
    assert client.session["_auth_user_id"] == str(user.pk), answer.content
    assert Client().get(link[0], follow=True).status_code == 200
    assert "_auth_user_id" not in Client().session


def test_without_mail_an_administrator_gives_a_link(owner: User) -> None:
    user = make_user("mara")
    page = Client().get("/accounts/password/reset/").content.decode()
    assert "Ask somebody who runs it" in page
    out = StringIO()
    call_command("account_link", "mara", stdout=out)
    path = "/accounts/" + out.getvalue().strip().partition("/accounts/")[2]
    client = Client()
    form = client.get(path)["Location"]
    client.post(form, {"password1": PASSWORD, "password2": PASSWORD})
    assert client.session["_auth_user_id"] == str(user.pk)
    stranger = Client()  # the link is good once
    assert stranger.get(path).status_code == 200
    with pytest.raises(CommandError, match="nobody here is called"):
        call_command("account_link", "tom")
    call_command("account_link", "tom", "--create", stdout=out)
    client = Client()
    client.force_login(owner)
    assert "/accounts/password/reset/key/" in client.post(f"/people/{user.pk}/link/").content.decode()


def test_guesses_from_many_addresses_close_a_name_and_a_link_opens_it(settings: Any) -> None:
    settings.SIGN_IN_MAX_FAILURES = 50
    user = make_user("mara")
    statuses = [
        Client()
        .post("/accounts/login/", {"username": "Mara" if n % 2 else "mara", "password": "no"},
              REMOTE_ADDR=f"203.0.{n // 250}.{n % 250 + 1}")
        .status_code
        for n in range(60)
    ]  # fmt: skip
    assert statuses[:49] == [200] * 49
    assert set(statuses[50:]) == {429}
    right = {"username": "mara", "password": "water"}
    assert Client().post("/accounts/login/", right, REMOTE_ADDR="192.0.2.9").status_code == 429
    assert Client().post("/accounts/ClientLogin", {"Email": "mara", "Passwd": "water"}).status_code == 429
    make_user("tom")
    answer = Client().post("/accounts/login/", {"username": "tom", "password": "water"})
    assert answer.status_code == 302
    out = StringIO()
    call_command("account_link", "mara", stdout=out)
    client = Client()
    form = client.get("/accounts/" + out.getvalue().strip().partition("/accounts/")[2])["Location"]
    client.post(form, {"password1": PASSWORD, "password2": PASSWORD})
    assert client.session["_auth_user_id"] == str(user.pk)
    assert not AccessAttempt.objects.filter(username="mara").exists()
    assert Client().post("/accounts/login/", {"username": "mara", "password": PASSWORD}).status_code == 302


def test_a_code_is_asked_for_and_its_secret_is_encrypted() -> None:
    user, secret = make_user("mara"), generate_totp_secret()
    TOTP.activate(user, secret)
    assert secret not in str(list(Authenticator.objects.values()))
    client = Client()
    answer = client.post("/accounts/login/", {"username": "mara", "password": "water"})
    assert answer["Location"].startswith("/accounts/2fa/authenticate/")
    assert "_auth_user_id" not in client.session
    assert client.get("/read/").status_code == 302
    refused = Client().post("/accounts/ClientLogin", {"Email": "mara", "Passwd": "water"})
    assert refused.status_code == 401
    assert "password of their own" in refused.content.decode()


def test_a_session_is_ended_from_another_device() -> None:
    user = make_user("mara")
    phone, desk = Client(headers={"user-agent": "Firefox/1 (Android)"}), Client()
    for client in (phone, desk):
        client.post("/accounts/login/", {"username": "mara", "password": "water"})
    page = desk.get("/settings/account/").content.decode()
    assert "Firefox on Android" in page
    other = UserSession.objects.get(user=user, user_agent__contains="Android")
    stranger = Client()
    stranger.force_login(make_user("tom"))
    assert stranger.post(f"/accounts/security/end/{other.pk}/").status_code == 404
    desk.post(f"/accounts/security/end/{other.pk}/")
    assert phone.get("/read/").status_code == 302
    assert desk.get("/read/").status_code == 200


def test_an_account_is_deleted_after_a_day_unless_its_owner_stays(owner: User) -> None:
    user = make_user("mara")
    subscriber_of(user)
    client = Client()
    client.force_login(user)
    client.post("/accounts/leave/", {"sure": "maria"})
    assert not Account.objects.filter(delete_after__isnull=False).exists()
    client.post("/accounts/leave/", {"sure": "mara"})
    assert "is deleted on" in client.get("/settings/account/").content.decode()
    assert retention.tidy(NOW)["accounts"] == 0
    client.post("/accounts/leave/", {"stay": "1"})
    assert retention.tidy(NOW + timedelta(days=2))["accounts"] == 0
    client.post("/accounts/leave/", {"sure": "mara"})
    assert retention.tidy(NOW + timedelta(days=2))["accounts"] == 1
    assert list(User.objects.all()) == [owner]
    assert not Subscriber.objects.exists()
    client.force_login(owner)
    client.post("/accounts/leave/", {"sure": "ines"})
    assert not Account.objects.filter(delete_after__isnull=False).exists()


def test_the_last_owner_stays_one(owner: User) -> None:
    client = Client()
    client.force_login(owner)
    client.post(f"/people/{owner.pk}/role/", {"role": "reader"})
    client.post(f"/people/{owner.pk}/close/")
    owner.refresh_from_db()
    assert (owner.is_superuser, owner.is_active) == (True, True)
    other = make_user("mara")
    client.post(f"/people/{other.pk}/role/", {"role": "owner"})
    client.post(f"/people/{owner.pk}/role/", {"role": "editor"})
    owner.refresh_from_db()
    assert role_of(owner) == EDITOR


def test_a_closed_account_is_signed_out_at_once(owner: User) -> None:
    user = make_user("mara")
    guest, client = Client(), Client()
    guest.post("/accounts/login/", {"username": "mara", "password": "water"})
    client.force_login(owner)
    client.post(f"/people/{user.pk}/close/")
    assert guest.get("/read/").status_code == 302
    guest.post("/accounts/login/", {"username": "mara", "password": "water"})
    assert guest.get("/read/").status_code == 302


def test_a_printed_password_is_offered_to_be_replaced() -> None:
    user = make_user("admin", staff=True)
    Account.objects.create(user=user, has_printed_password=True)
    client = Client()
    fields = {"username": "admin", "password": "water", "next": "/feeds/"}
    assert client.post("/accounts/login/", fields)["Location"] == "/feeds/"
    assert "was printed at the first start" in client.get("/settings/account/").content.decode()
    assert "Keep the printed one" in client.get("/accounts/password/own/").content.decode()
    fields = {"oldpassword": "water", "password1": PASSWORD, "password2": PASSWORD}
    client.post("/accounts/password/change/", fields)
    assert not Account.objects.get().has_printed_password
    assert (
        Client().post("/accounts/login/", {"username": "admin", "password": PASSWORD})["Location"] == "/read/"
    )


@pytest.fixture
def behind_proxy(settings: Any) -> Any:
    settings.AUTH_PROXY_HEADER = "Remote-User"
    proxy.is_trusted.cache_clear()
    yield settings
    proxy.is_trusted.cache_clear()


def test_a_trusted_proxy_names_who_has_signed_in(behind_proxy: Any) -> None:
    client = Client()
    assert client.get("/read/", headers={"remote-user": "mara"}).status_code == 200
    assert client.session["_auth_user_id"] == str(User.objects.get(username="mara").pk)
    assert client.get("/read/", headers={"remote-user": "tom"}).context["user"].username == "tom"
    assert client.get("/read/").status_code == 302
    behind_proxy.AUTH_PROXY_SIGN_UP = False
    assert client.get("/read/", headers={"remote-user": "new"}).status_code == 302
    behind_proxy.AUTH_PROXY_SIGN_UP = True
    for odd in ("a b", "<script>", "x" * 151):
        assert client.get("/read/", headers={"remote-user": odd}).status_code == 302
    assert sorted(User.objects.values_list("username", flat=True)) == ["mara", "tom"]


def test_a_forged_header_is_ignored_and_logged(behind_proxy: Any, caplog: Any) -> None:
    client = Client(REMOTE_ADDR="203.0.113.9")
    assert client.get("/read/", headers={"remote-user": "mara"}).status_code == 302
    assert "203.0.113.9 forges Remote-User" in caplog.text
    assert not User.objects.exists()
    client.force_login(make_user("tom"))
    assert client.get("/read/", headers={"remote-user": "mara"}).context["user"].username == "tom"


def test_no_header_counts_where_no_proxy_is_set() -> None:
    assert Client().get("/read/", headers={"remote-user": "mara"}).status_code == 302


def test_codes_cannot_be_guessed_without_end() -> None:
    TOTP.activate(make_user("mara"), generate_totp_secret())
    client = Client()
    client.post("/accounts/login/", {"username": "mara", "password": "water"})
    pages = [
        client.post("/accounts/2fa/authenticate/", {"code": f"{n:06}"}).content.decode() for n in range(8)
    ]
    assert "Incorrect code" in pages[0]
    assert "Too many" in pages[-1]
    assert "_auth_user_id" not in client.session


def test_second_factors_end_what_apps_opened_with_the_password() -> None:
    user = make_user("mara")
    answer = Client().post("/accounts/ClientLogin", {"Email": "mara", "Passwd": "water"})
    token = answer.content.decode().rpartition("Auth=")[2].strip()
    headers = {"Authorization": f"GoogleLogin auth={token}"}
    assert Client().get("/reader/api/0/user-info", headers=headers).status_code == 200
    authenticator = TOTP.activate(user, generate_totp_secret()).instance
    authenticator_added.send(Authenticator, request=None, user=user, authenticator=authenticator)
    assert Client().get("/reader/api/0/user-info", headers=headers).status_code == 401


def test_owners_without_a_mail_address_sign_in_where_sign_up_is_open(settings: Any, owner: User) -> None:
    settings.SIGN_UP, settings.EMAIL_URL = "open", "smtp://localhost"
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    client = Client()
    assert client.post("/accounts/login/", {"username": "ines", "password": "water"})["Location"] == "/read/"
    assert client.session["_auth_user_id"] == str(owner.pk)


def test_the_administration_signs_nobody_in_by_itself(owner: User) -> None:
    operator = make_user("olga", staff=True)
    client = Client()
    client.force_login(operator)
    answer = client.post("/admin/login/", {"username": "ines", "password": "water"})
    assert answer.status_code == 403
    assert client.session["_auth_user_id"] == str(operator.pk)


def test_not_all_owners_leave(owner: User) -> None:
    other = make_user("mara")
    give_role(other, OWNER)
    for user in (owner, other):
        client = Client()
        client.force_login(user)
        client.post("/accounts/leave/", {"sure": user.username})
    assert Account.objects.filter(delete_after__isnull=False).count() == 1
    Account.objects.update_or_create(user=other, defaults={"delete_after": NOW})
    Account.objects.update_or_create(user=owner, defaults={"delete_after": NOW})
    retention.tidy(NOW + timedelta(days=2))
    assert User.objects.filter(is_superuser=True).count() == 1


def test_an_invitation_ends_with_the_rights_of_its_maker(owner: User) -> None:
    give_role(make_user("mara"), OWNER)
    _, secret = Invitation.make(owner, NOW, role=OWNER)
    give_role(owner, EDITOR)
    assert Client().get(f"/accounts/join/{secret}/").status_code == 404


@pytest.mark.parametrize("url", ["mail.example.org", "foo://x", "smtp://h:port"])
def test_a_mail_server_that_cannot_be_is_refused_at_the_start(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="EMAIL_URL must look like"):
        environment.mail("EMAIL_URL", url)
    assert environment.mail("EMAIL_URL", "smtp://a:b@h:587/?tls=True")["EMAIL_USE_TLS"]


def test_a_mail_server_that_is_away_harms_no_reset(settings: Any, owner: User) -> None:
    settings.EMAIL_URL = "smtp://127.0.0.1"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    make_user("mara", email="mara@news.example")
    answer = Client().post("/accounts/password/reset/", {"email": "mara@news.example"})
    assert answer.status_code == 302


def test_a_sign_in_that_works_forgives_failures_under_the_mail_address() -> None:
    make_user("mara", email="mara@news.example")
    for _ in range(2):
        for _ in range(4):
            Client().post("/accounts/login/", {"username": "Mara@news.example", "password": "no"})
        right = {"username": "mara@news.example", "password": "water"}
        assert Client().post("/accounts/login/", right).status_code == 302
