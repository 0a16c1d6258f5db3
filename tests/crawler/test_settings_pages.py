"""The pages of Settings: tabs, looks, and what operators choose for everyone here."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core import mail
from django.core.mail import send_mail
from django.test import Client
from django.urls import reverse

from crawler.engine import chosen as chosen_module
from crawler.engine.chosen import CHOOSABLE, ChoiceError, choose, chosen, pause_of
from crawler.engine.mailing import has_mail, server_options
from crawler.engine.models import Host, OperatorSetting
from crawler.operation.site.retention import tidy
from crawler.web.settings_tabs import GROUPS
from feeds.models import PlanningRules, Retrieval
from feeds.visiting.rules import rules
from tests.factories import make_feed, make_user
from tests.html import flat

pytestmark = pytest.mark.django_db
PART = {"HX-Request": "true"}
FORMER = {
    "/me/account/": "/settings/data/",
    "/me/readers/": "/settings/apps/",
    "/me/personal/": "/settings/own/",
    "/me/notifications/": "/settings/notifications/",
    "/me/interest/": "/settings/interests/",
    "/newsletters/": "/settings/newsletters/",
    "/accounts/security/": "/settings/account/",
}


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(make_user("ops", staff=True))
    return client


@pytest.mark.parametrize(("former", "present"), FORMER.items())
def test_a_former_address_leads_to_the_present_one(operator: Client, former: str, present: str) -> None:
    answer = operator.get(former, {"a": "b"})
    assert (answer.status_code, answer["Location"]) == (302, f"{present}?a=b")


def test_each_tab_opens_and_says_which_it_is(operator: Client) -> None:
    for _title, tabs in GROUPS:
        for tab in tabs:
            answer = operator.get(reverse(tab.view))
            if tab.role == "owner":
                assert answer.status_code == 403
                continue
            page = flat(answer.content)
            assert f'href="{reverse(tab.view)}" aria-current="page"' in page
            assert len(answer.content) < 60_000


def test_a_reader_sees_no_tab_of_operators(client: Client) -> None:
    client.force_login(make_user("ann"))
    page = client.get("/settings/").content.decode()
    assert "/settings/reading/" in page
    assert "/settings/budget/" not in page


def test_a_look_is_remembered_by_the_browser_and_forgotten(operator: Client) -> None:
    fields = {"theme": "dark", "size": "huge", "face": "", "look": "", "start": "interest", "scroll": ""}
    operator.post("/settings/reading/", fields)  # without keys: switched off
    assert operator.cookies["freshet-theme"].value == "dark"
    assert operator.cookies["freshet-keys"].value == "off"
    assert 'data-theme="dark"' in operator.get("/settings/reading/").content.decode()
    assert operator.get("/")["Location"] == "/read/?order=interest"
    operator.post("/settings/reading/", fields | {"theme": "pink", "keys": "on"})
    assert operator.cookies["freshet-theme"].value == ""
    operator.post("/settings/reading/", {"begin-anew": "1"})
    assert operator.get("/")["Location"] == "/read/"


def test_the_pace_is_kept_holds_at_once_and_is_undone(operator: Client) -> None:
    host = Host.objects.create(name="a.example")
    form = {"FETCH_HOST_SPACING_SECONDS": "7,5", "FEED_ARTICLE_PAGES": "on"}
    answer = operator.post("/settings/budget/", form, headers=PART)
    assert "Undo" in answer.content.decode()
    assert pause_of(host) == 7.5
    host.spacing = 3
    assert pause_of(host) == 3
    token = operator.session["undo"]["token"]
    operator.post("/undo/", {"token": token})
    assert chosen("FETCH_HOST_SPACING_SECONDS") == 2.0
    assert not OperatorSetting.objects.exists()


def test_a_value_that_cannot_be_is_refused_where_it_was_given(operator: Client) -> None:
    form = {"FETCH_HOST_SPACING_SECONDS": "-1", "FEED_ARTICLE_PAGES": "on"}
    page = flat(operator.post("/settings/budget/", form, headers=PART).content)
    assert 'id="e-FETCH_HOST_SPACING_SECONDS"' in page
    assert "from 0.1 to 3600" in page
    assert not OperatorSetting.objects.exists()


def test_the_environment_wins_and_the_page_says_so(
    operator: Client, monkeypatch: pytest.MonkeyPatch, settings: pytest.FixtureRequest
) -> None:
    choose("RETENTION_ARTICLES_DAYS", 30)
    assert chosen("RETENTION_ARTICLES_DAYS") == 30
    monkeypatch.setenv("RETENTION_ARTICLES_DAYS", "400")
    settings.RETENTION_ARTICLES_DAYS = 400  # type: ignore[attr-defined]
    assert chosen("RETENTION_ARTICLES_DAYS") == 400
    page = flat(operator.get("/settings/retention/").content)
    assert "Set by RETENTION_ARTICLES_DAYS in the environment, which wins." in page
    operator.post("/settings/retention/", {"RETENTION_ARTICLES_DAYS": "7"})
    assert chosen("RETENTION_ARTICLES_DAYS") == 400
    with pytest.raises(ChoiceError, match="environment"):
        choose("RETENTION_ARTICLES_DAYS", 7)


def test_retention_holds_at_the_next_tick(operator: Client) -> None:
    feed, now = make_feed(), datetime.now(UTC)
    Retrieval.objects.create(feed=feed, at=now - timedelta(days=20), outcome="new")
    assert tidy(now)["retrievals"] == 0
    operator.post("/settings/retention/", {"RETENTION_RETRIEVALS_DAYS": "7"})
    assert tidy(now)["retrievals"] == 1


def test_requests_a_day_are_a_budget_for_each_feed_and_hour(operator: Client) -> None:
    for _ in range(4):
        make_feed()
    operator.post("/settings/budget/", {"feeds_a_day": "480", "FEED_ARTICLE_PAGES": "on"})
    assert PlanningRules.objects.get().budget == 5
    assert rules().budget == 5
    assert 'value="480"' in operator.get("/settings/budget/").content.decode()
    page = flat(operator.post("/settings/budget/", {"feeds_a_day": "many"}, headers=PART).content)
    assert 'id="e-feeds_a_day"' in page
    assert rules().budget == 5


def test_a_budget_of_the_environment_wins(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make_feed()
    PlanningRules.objects.create(budget=9)
    assert rules().budget == 9
    monkeypatch.setenv("FEED_BUDGET", "1")
    assert rules().budget == 1
    assert "Set by FEED_BUDGET" in operator.get("/settings/budget/").content.decode()


def test_the_mail_server_is_kept_sealed_and_its_password_stays(operator: Client) -> None:
    server = {"host": "mail.example", "port": "465", "user": "me@x", "security": "ssl"}
    assert not has_mail()
    operator.post("/settings/mail/", server | {"password": "pa:s/s@"})
    stored = OperatorSetting.objects.get(name="EMAIL_URL").value
    assert "mail.example" not in stored
    options = server_options(chosen("EMAIL_URL"))
    assert (options["host"], options["port"], options["password"]) == ("mail.example", 465, "pa:s/s@")
    assert (options["username"], options["use_ssl"]) == ("me@x", True)
    operator.post("/settings/mail/", server | {"password": "", "port": "587", "security": "tls"})
    options = server_options(chosen("EMAIL_URL"))
    assert (options["port"], options["password"], options["use_tls"]) == (587, "pa:s/s@", True)
    operator.post("/settings/mail/", server | {"password": "", "host": "other.example"})
    assert server_options(chosen("EMAIL_URL"))["password"] == ""
    page = operator.get("/settings/mail/").content.decode()
    assert "pa:s" not in page
    assert operator.post("/settings/mail/", server | {"host": "a b"}).status_code == 422
    operator.post("/settings/mail/", server | {"host": ""})
    assert not has_mail()


def test_mail_goes_by_the_server_and_sender_in_force(settings: pytest.FixtureRequest) -> None:
    settings.EMAIL_BACKEND = "crawler.engine.mailing.ChosenServer"  # type: ignore[attr-defined]
    assert send_mail("s", "t", None, ["b@x.example"]) == 0
    choose("EMAIL_URL", "memory://")
    choose("MAIL_FROM", "News <news@x.example>")
    assert send_mail("s", "t", None, ["b@x.example"]) == 1
    assert mail.outbox[0].from_email == "News <news@x.example>"


def test_a_test_mail_needs_an_address_and_says_what_the_server_said(
    operator: Client, settings: pytest.FixtureRequest
) -> None:
    answer = operator.post("/settings/mail/", {"test": "1"}, follow=True)
    assert "You have no mail address here" in answer.content.decode()
    user = answer.wsgi_request.user
    user.email = "ops@x.example"
    user.save()
    answer = operator.post("/settings/mail/", {"test": "1"}, follow=True)
    assert "Sent to ops@x.example" in answer.content.decode()
    assert [message.to for message in mail.outbox] == [["ops@x.example"]]
    settings.EMAIL_BACKEND = "crawler.engine.mailing.ChosenServer"  # type: ignore[attr-defined]
    choose("EMAIL_URL", "smtp://127.0.0.1:1/")
    answer = operator.post("/settings/mail/", {"test": "1"}, follow=True)
    assert "The mail server did not take it" in answer.content.decode()


def test_who_may_sign_up_is_chosen_by_an_owner(client: Client) -> None:
    client.force_login(make_user("owner", staff=True, is_superuser=True))
    assert Client().get("/accounts/signup/").status_code == 200
    assert "id_username" not in Client().get("/accounts/signup/").content.decode()
    client.post("/settings/signup/", {"SIGN_UP": "open", "LIMIT_FEEDS": "7"})
    assert (chosen("SIGN_UP"), chosen("LIMIT_FEEDS")) == ("open", 7)
    visitor = Client()
    assert "id_username" in visitor.get("/accounts/signup/").content.decode()
    form = {"username": "eve", "password1": "tall-harbour-9", "email": ""}
    assert visitor.post("/accounts/signup/", form).status_code == 302
    assert visitor.get("/read/").status_code == 200


def test_with_a_chosen_mail_server_a_new_person_confirms_their_address() -> None:
    choose("SIGN_UP", "open")
    choose("EMAIL_URL", "memory://")
    form = {"username": "eve", "password1": "tall-harbour-9", "email": ""}
    visitor = Client()
    assert visitor.post("/accounts/signup/", form).status_code == 200, "an address is asked for"
    visitor.post("/accounts/signup/", form | {"email": "eve@x.example"})
    assert visitor.get("/read/").status_code == 302, "not before it is confirmed"


def test_choices_outlive_a_key_that_was_lost_and_a_database_that_is_away(
    monkeypatch: pytest.MonkeyPatch, settings: pytest.FixtureRequest
) -> None:
    choose("EMAIL_URL", "memory://")
    settings.SECRET_KEY = "another"  # type: ignore[attr-defined]
    assert chosen("EMAIL_URL") == ""
    chosen_module.forget()

    def away(*_names: str) -> None:
        raise chosen_module.OperationalError

    monkeypatch.setattr(OperatorSetting.objects, "values_list", away)
    assert chosen("SIGN_UP") == "closed"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LIMIT_FEEDS", "2.5"), ("LIMIT_FEEDS", "nan"), ("SIGN_UP", "maybe"), ("EMAIL_URL", "gopher://x"),
        ("MAIL_FROM", "nobody"), ("RETENTION_CHECKS_DAYS", "-1"), ("FETCH_HOST_SPACING_SECONDS", "inf"),
    ],
)  # fmt: skip
def test_a_setting_reads_only_what_it_can_have(name: str, value: str) -> None:
    with pytest.raises(ChoiceError):
        CHOOSABLE[name].read(value)
