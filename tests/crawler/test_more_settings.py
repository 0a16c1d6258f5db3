"""More settings: each variable is choosable or left out with a reason, and a choice holds when it says."""

from __future__ import annotations

import ast
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from allauth.account import app_settings
from django.core.management import CommandError, call_command
from django.test import Client
from django_celery_beat.models import PeriodicTask

from crawler.accounts.adapter import SocialAccountAdapter
from crawler.celery import app
from crawler.engine.chosen import CHOOSABLE, InForce, Origin, choose, chosen, origin_of, read_switch
from crawler.engine.leases import lease_seconds
from crawler.engine.left_out import LEFT_OUT, PLANNED
from crawler.engine.models import OperatorSetting
from crawler.engine.schedule import Scheduler
from crawler.engine.ticking import forget, tick_seconds
from crawler.pipeline.documents import takes_binaries
from crawler.web.more_settings import SECTIONS
from feeds.models import Feed, PlanningRules
from feeds.visiting.selection import retrieve_now
from tests.factories import make_feed, make_user
from tests.html import flat

pytestmark = pytest.mark.django_db
PART = {"HX-Request": "true"}
ROOT = Path(__file__).parents[2]
ON_THIS_PAGE = {name for section in SECTIONS for name in section.settings}
ON_OTHER_PAGES = {
    "FETCH_HOST_SPACING_SECONDS", "FEED_ARTICLE_PAGES", "FEED_ARTICLE_EDITS", "PICTURES_MAX_MEGABYTES",
    "RETENTION_ARTICLES_DAYS", "RETENTION_PAGE_HTML_DAYS", "RETENTION_RETRIEVALS_DAYS",
    "RETENTION_CHECKS_DAYS", "RETENTION_CHANGES_DAYS", "RETENTION_SHOWN_DAYS", "SIGN_UP", "LIMIT_FEEDS",
    "LIMIT_SITES", "LIMIT_REQUESTS_A_DAY", "EMAIL_URL", "MAIL_FROM",
}  # fmt: skip


def variables() -> set[str]:
    """Every name that crawler/settings.py asks the environment for."""
    tree = ast.parse((ROOT / "crawler" / "settings.py").read_text())
    names = {
        str(call.args[0].value)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "environment"
        and call.args
        and isinstance(call.args[0], ast.Constant)
    }
    return {name for name in names if name.isupper()} | {"CELERY_BROKER_URL"}


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(make_user("ops", staff=True))
    return client


def kept(client: Client, **values: str) -> Any:
    return client.post("/settings/more/", values | {"shown": list(values)}, headers=PART)


def test_each_variable_is_choosable_or_left_out_with_a_reason() -> None:
    assert len(variables()) > 60
    tables = (set(CHOOSABLE), set(LEFT_OUT), set(PLANNED))
    assert variables() == set.union(*tables), "add it to chosen.CHOOSABLE or, with the reason, to left_out"
    assert sum(map(len, tables)) == len(set.union(*tables))
    assert all(reason.endswith(".") for reason in LEFT_OUT.values())
    fields = {field.name for field in PlanningRules._meta.get_fields()}
    assert set(PLANNED.values()) <= fields


def test_each_choosable_setting_stands_on_one_page() -> None:
    assert set(CHOOSABLE) == ON_THIS_PAGE | ON_OTHER_PAGES
    assert not ON_THIS_PAGE & ON_OTHER_PAGES


def test_each_default_is_a_value_that_can_be_chosen() -> None:
    for name, choosable in CHOOSABLE.items():
        if name != "FETCH_HOST_SPACING_SECONDS":  # 0 in tests
            assert choosable.read(chosen(name)) == chosen(name), name


def test_a_page_says_where_each_value_is_from_and_when_a_change_holds(operator: Client) -> None:
    choose("FEED_MIN_GAP_SECONDS", 900)
    page = flat(operator.get("/settings/more/").content)
    assert "<b>1</b> of these is set otherwise" in page
    assert "A change holds from the next round of visits." in page
    assert "A change holds after a restart." in page
    assert "As Freshet comes. A change holds at once." in page
    assert 'name="reset" value="FEED_MIN_GAP_SECONDS"' in page
    assert 'max="604800"' in page
    assert 'hx-select-oob="#o-FEED_TICK_SECONDS,#o-FEED_MIN_GAP_SECONDS,' in page
    assert "1 chosen here" in flat(operator.get("/settings/").content)


def test_a_change_is_kept_undone_and_put_back_to_the_default(operator: Client) -> None:
    answer = kept(operator, PIPELINE_FILES="on", MODEL_DAILY_ANSWERS="7")
    assert "Kept. It holds at once." in flat(answer.content)
    assert (chosen("PIPELINE_FILES"), chosen("MODEL_DAILY_ANSWERS")) == (True, 7)
    assert chosen("PIPELINE_STORED") is True, "a switch that the form did not show stays"
    operator.post("/undo/", {"token": operator.session["undo"]["token"]})
    assert not OperatorSetting.objects.exists()
    assert "after a restart" in flat(kept(operator, FEED_TICK_SECONDS="1200").content)
    assert operator.post("/settings/more/", {"reset": "FEED_TICK_SECONDS"}).status_code == 302
    assert origin_of("FEED_TICK_SECONDS") is Origin.DEFAULT


def test_a_switch_goes_off(operator: Client) -> None:
    operator.post("/settings/more/", {"shown": ["PIPELINE_RDFA"]})
    assert chosen("PIPELINE_RDFA") is False


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("FEED_MIN_GAP_SECONDS", "-1", "from 0 to 604800"),
        ("FEED_TICK_SECONDS", "soon", "must be a number"),
        ("MODEL_SECONDS", "1.5", "a whole number"),
        ("CRAWL_LEASE_SLACK_SECONDS", "inf", "from 1 to 3600"),
    ],
)
def test_a_bad_value_gets_a_sentence(operator: Client, name: str, value: str, words: str) -> None:
    answer = operator.post("/settings/more/", {"shown": [name, "PIPELINE_FILES"], name: value})
    page = flat(answer.content)
    assert answer.status_code == 422
    assert words in page
    assert f'value="{value}"' in page
    assert f'id="e-{name}"' in flat(kept(operator, **{name: value}).content)
    assert not OperatorSetting.objects.exists()


def test_the_environment_wins(operator: Client, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    choose("MODEL_DAILY_ANSWERS", 7)
    monkeypatch.setenv("MODEL_DAILY_ANSWERS", "3")
    settings.MODEL_DAILY_ANSWERS = 3
    assert (chosen("MODEL_DAILY_ANSWERS"), origin_of("MODEL_DAILY_ANSWERS")) == (3, Origin.ENVIRONMENT)
    assert "Set by MODEL_DAILY_ANSWERS in the environment" in flat(operator.get("/settings/more/").content)
    kept(operator, MODEL_DAILY_ANSWERS="9")
    operator.post("/settings/more/", {"reset": "MODEL_DAILY_ANSWERS"})
    assert OperatorSetting.objects.get(name="MODEL_DAILY_ANSWERS").value == 7
    with pytest.raises(CommandError, match="environment"):
        call_command("operator_settings", set=["MODEL_DAILY_ANSWERS", "9"])


def test_accounts_are_changed_by_owners_only(operator: Client) -> None:
    assert "OIDC_SIGN_UP" not in operator.get("/settings/more/").content.decode()
    kept(operator, SIGN_IN_MAX_FAILURES="99")
    assert chosen("SIGN_IN_MAX_FAILURES") == 50
    owner = Client()
    owner.force_login(make_user("owner", staff=True, is_superuser=True))
    kept(owner, SIGN_IN_MAX_FAILURES="99")
    assert chosen("SIGN_IN_MAX_FAILURES") == 99


def test_readers_do_not_see_it(client: Client) -> None:
    client.force_login(make_user("ann"))
    assert client.get("/settings/more/").status_code == 403


def test_what_holds_at_once_is_in_force(operator: Client, rf: Any) -> None:
    before = lease_seconds()
    choose("CRAWL_LEASE_SLACK_SECONDS", chosen("CRAWL_LEASE_SLACK_SECONDS") + 100)
    assert lease_seconds() == before + 100
    choose("PIPELINE_FILES", True)
    assert takes_binaries()
    choose("OIDC_SIGN_UP", False)
    request = rf.get("/")
    request.session = {}
    assert not SocialAccountAdapter().is_open_for_signup(request, None)
    choose("SIGN_UP_PER_ADDRESS", 3)
    assert str(app_settings.RATE_LIMITS["signup"]) == "3/d/ip"
    assert Client().get("/.well-known/oauth-protected-resource/mcp").status_code == 200
    choose("ASSISTANTS", False)
    assert Client().get("/.well-known/oauth-protected-resource/mcp").status_code == 404


def test_the_gap_holds_for_the_next_visits() -> None:
    feed = make_feed()
    feed.last_attempt = datetime.now(UTC) - timedelta(minutes=1)
    feed.save()
    choose("FEED_MIN_GAP_SECONDS", 604_800)
    assert retrieve_now(Feed.objects.all(), "asked") == 0
    choose("FEED_MIN_GAP_SECONDS", 0)
    assert retrieve_now(Feed.objects.all(), "asked") == 1


def test_the_length_of_a_round_holds_after_a_restart_of_the_scheduler() -> None:
    entry = {
        "task": "feeds.tasks.tick",
        "schedule": 600.0,
        "options": {"queue": "tick", "expire_seconds": 1800},
    }
    Scheduler.Entry.from_entry("tick", app=app, **entry)
    choose("FEED_TICK_SECONDS", 1200)
    forget()
    assert tick_seconds() == 600
    Scheduler.Entry.from_entry("tick", app=app, **entry)
    forget()
    assert tick_seconds() == 1200
    assert PeriodicTask.objects.get(name="tick").expire_seconds == 3600
    choose("FEED_TICK_SECONDS", None)
    Scheduler.Entry.from_entry("tick", app=app, **entry)
    forget()
    assert tick_seconds() == 600
    forget()


def test_the_command_lists_sets_and_resets() -> None:
    def said(**options: Any) -> str:
        out = io.StringIO()
        call_command("operator_settings", stdout=out, **options)
        return out.getvalue()

    rows = [json.loads(row) for row in said(json=True).splitlines()]
    assert [row["name"] for row in rows] == list(CHOOSABLE)
    assert {row["in_force"] for row in rows} == set(map(str, InForce))
    assert said(set=["FEED_TRAINING_DAYS", "14"]).startswith("FEED_TRAINING_DAYS: 14.0 (chosen;")
    assert said(set=["PIPELINE_RDFA", "no"]).startswith("PIPELINE_RDFA: no (chosen;")
    assert said(reset="FEED_TRAINING_DAYS").startswith("FEED_TRAINING_DAYS: 28.0 (default;")
    choose("EMAIL_URL", "smtp://user:hunter2@mail.example:587/")
    assert "hunter2" not in said() + said(json=True)
    for options, words in (
        ({"set": ["PIPELINE_RDFA", "maybe"]}, "yes or no"),
        ({"set": ["MODEL_SECONDS", "9999"]}, "from 1 to 400"),
        ({"set": ["PORT", "80"]}, "environment only"),
        ({"set": ["FEED_BUDGET", "2"]}, "planning --budget"),
        ({"reset": "NOTHING"}, "no setting"),
    ):
        with pytest.raises(CommandError, match=words):
            said(**options)


def test_switches_are_those_the_environment_knows() -> None:
    assert [read_switch(word) for word in ("yes", "no", "TRUE", "off", True, False)] == [
        True, False, True, False, True, False,
    ]  # fmt: skip
