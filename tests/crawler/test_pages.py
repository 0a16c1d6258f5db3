"""Overview, health page, sign-in, and what holds for every page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from articles.models import Page
from crawler.engine.models import Pulse
from feeds.models import Retrieval, Tick
from tests.factories import make_article, make_feed, make_user
from tests.html import flat

pytestmark = pytest.mark.django_db

# Hubs and feed readers have no account; what they may do is in the token of their address.
OPEN = {
    "login",
    "forgotten-password",
    "join",
    "account_login",
    "account_signup",
    "account_inactive",
    "account_confirm_email",
    "account_email_verification_sent",
    "account_reset_password",
    "account_reset_password_done",
    "account_reset_password_from_key",
    "account_reset_password_from_key_done",
    "mfa_authenticate",
    "mfa_login_webauthn",
    "socialaccount_login_cancelled",
    "socialaccount_login_error",
    "socialaccount_signup",
    "openid_connect_login",
    "openid_connect_callback",
    "healthz",
    "status",
    "api-status",
    "picture",
    "feed-icon",
    "manifest",
    "worker",
    "personal-feed",
    "collection-feed",
    "feedback",
    "notification-stop",
    "fever",
    "greader-compatibility",
    "fever-freshrss",
    "site-feed",
    "site-page-feed",
    "websub",
    "inbound-mail",
    "websub-hub",
    "personal-list",
    "admin:login",
    "oauth-server",
    "oauth-server-mcp",
    "oauth-resource",
    "oauth-resource-mcp",
    "idp:oidc:token",
    "idp:oidc:revoke",
    "idp:oidc:client_registration",
}
ARGUMENTS = {
    "kind": "training",
    "token": "x" * 43,
    "change": "rotate",
    "app_label": "feeds",
    "format": "json",
}


@pytest.fixture
def reader(client: Client) -> Client:
    client.force_login(make_user())
    return client


def paths(resolver: URLResolver, prefix: str = "/", space: str = "") -> Iterator[tuple[str, str]]:
    """Name and an example path of every pattern of the project."""
    for pattern in resolver.url_patterns:
        route = prefix + example(str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from paths(pattern, route, inner)
        elif isinstance(pattern, URLPattern):
            yield f"{space}{pattern.name}", route


def example(route: str) -> str:
    """A path that a route or a regular expression matches."""
    route = re.sub(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)", lambda m: ARGUMENTS.get(m[1], "1"), route)
    route = re.sub(r"<(?:\w+:)?(\w+)>", lambda m: ARGUMENTS.get(m[1], "1"), route)
    return re.sub(r"[\^$]|\\Z", "", route).replace("/?", "/").replace("\\", "")


def test_every_address_is_closed_to_people_who_are_not_signed_in(client: Client) -> None:
    seen = 0
    for name, path in paths(get_resolver()):
        if name in OPEN or name in {"admin:jsi18n", "admin:None"}:
            continue
        answer = client.get(path)
        allowed = {302, 401, 403, 404} if path.startswith(("/admin/", "/api/")) else {302, 401, 405}
        assert answer.status_code in allowed, f"{name} at {path} answered {answer.status_code}"
        if answer.status_code == 302:
            assert "/login/" in answer["Location"]
        seen += 1
    assert seen > 60


def test_signing_in_leads_to_the_page_that_was_asked_for(client: Client) -> None:
    make_user("ada")
    asked = client.get("/feeds/?q=x")
    assert asked["Location"] == "/accounts/login/?next=/feeds/%3Fq%3Dx"
    answer = client.post(asked["Location"], {"username": "ada", "password": "water", "next": "/feeds/?q=x"})
    assert answer["Location"] == "/feeds/?q=x"


def test_a_wrong_password_is_refused_in_words(client: Client) -> None:
    make_user("ada")
    answer = client.post("/accounts/login/", {"username": "ada", "password": "wine"})
    assert "do not fit together" in answer.content.decode()


def test_a_part_of_a_page_after_the_session_ended_reloads_the_page(client: Client) -> None:
    answer = client.get("/overview/tiles/", headers={"HX-Request": "true"}, follow=True)
    assert answer.headers["HX-Refresh"] == "true"


def test_signing_out_takes_a_post(reader: Client) -> None:
    assert reader.get("/accounts/logout/").status_code == 405
    assert reader.post("/accounts/logout/")["Location"] == "/accounts/login/"
    assert reader.get("/tools/").status_code == 302


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/feeds/",
        "/articles/",
        "/tools/",
        "/tools/health/",
        "/tools/health/details/",
        "/lab/",
        "/crawls/",
    ],
)
def test_no_page_has_inline_scripts_or_styles(reader: Client, path: str) -> None:
    feed = make_feed(failure="dns", failure_streak=2, failing_since=datetime.now(UTC))
    make_article(feed)
    html = reader.get(path).content.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|<style|\son\w+=|javascript:", html)


def test_the_overview_of_an_empty_deployment_says_what_to_do(client: Client) -> None:
    client.force_login(make_user(staff=True))
    html = client.get("/tools/").content.decode()
    assert "Add the first feeds" in html
    assert "starting" in html or "failing" in html


def test_the_overview_says_all_well_when_tick_and_workers_answer(reader: Client) -> None:
    now = datetime.now(UTC)
    Tick.objects.create(started=now, finished=now, policy="freshness")
    for queue in ("fetch", "store"):
        Pulse.objects.create(queue=queue, sent=now, answered=now)
    assert "All is well." in reader.get("/overview/tiles/").content.decode()


def test_failures_by_kind_link_to_the_feeds_behind_them(reader: Client) -> None:
    since = datetime.now(UTC) - timedelta(hours=2)
    broken = make_feed(failure="http-404", failure_streak=1, failing_since=since, title="Broken")
    make_feed(title="Sound")
    for address in ("/overview/tiles/", "/tools/health/details/"):
        html = reader.get(address).content.decode()
        link = re.search(r'href="(/feeds/\?[^"]*failure=http-404)"', html)
        assert link
        rows = reader.get(link[1].replace("&amp;", "&")).context["feeds"]
        assert rows == [broken]


def test_the_hours_count_retrievals_articles_and_failures(reader: Client) -> None:
    now = datetime.now(UTC)
    feed = make_feed()
    for outcome, new in (("new", 3), ("not-modified", 0), ("failed", 0)):
        Retrieval.objects.create(feed=feed, at=now, outcome=outcome, new=new)
    Retrieval.objects.create(feed=feed, at=now - timedelta(hours=30), outcome="new", new=50)
    series = reader.get("/overview/hours.json").json()
    assert len(series["x"]) == 24
    assert {each["label"]: each["values"][-1] for each in series["series"]} == {
        "retrievals": 3,
        "new articles": 3,
        "failures": 1,
    }
    assert sum(series["series"][1]["values"]) == 3


def test_the_next_visits_come_soonest_first(reader: Client) -> None:
    now = datetime.now(UTC)
    later, sooner = (make_feed(training_due=now + timedelta(minutes=m), last_success=now) for m in (45, 15))
    make_feed(status="paused")
    assert [feed for feed, _ in reader.get("/overview/visits/").context["visits"]] == [sooner, later]


def test_the_details_of_health_name_failures_hosts_and_next_tries(reader: Client) -> None:
    now = datetime.now(UTC)
    feed = make_feed("https://broken.example/rss", title="Broken", failure="tls", failure_streak=3)
    feed.failing_since, feed.not_before = now - timedelta(days=1), now + timedelta(hours=3)
    feed.failure_detail = "certificate has expired"
    feed.save()
    make_feed(status="gone", title="Closed for good")
    assert "Its certificate is not valid" in reader.get("/tools/health/").content.decode()
    html = reader.get("/tools/health/details/").content.decode()
    for words in (
        "No secure connection",
        "broken.example",
        "certificate has expired",
        "in 3 h",
        "Closed for good",
    ):
        assert words in html


def test_pages_that_failed_are_counted_by_cause_and_lead_to_their_articles(reader: Client) -> None:
    article = make_article(make_feed(), title="Without a page")
    make_article(article.feed, title="Another")
    article.page = Page.objects.create(
        url=article.url, url_key=uuid4(), host=article.feed.host, status="failed", failure="http-404"
    )
    article.save()
    (trouble,) = reader.get("/tools/health/details/").context["pages"]
    assert (trouble.failure, trouble.given_up, trouble.waiting) == ("http-404", 1, 0)
    assert list(reader.get("/articles/?page_failure=http-404").context["articles"]) == [article]


def test_the_health_page_of_a_sound_deployment_says_so(reader: Client) -> None:
    make_feed()
    assert "Nothing fails." in reader.get("/tools/health/").content.decode()


def test_an_unknown_address_is_answered_in_words(reader: Client) -> None:
    answer = reader.get("/nowhere/")
    assert answer.status_code == 404
    assert "There is no page at" in answer.content.decode()


@pytest.mark.parametrize(
    ("path", "current"),
    [
        ("/tools/", "Overview"),
        ("/add/", "Feeds"),
        ("/search/", "Search"),
        ("/tools/health/", "Health"),
        ("/tools/kept/", "Overview"),
        ("/lab/", "Lab"),
    ],
)
def test_the_navigation_says_where_one_is(client: Client, path: str, current: str) -> None:
    client.force_login(make_user(staff=True))
    side = flat(client.get(path).content).partition("</header>")[0]
    links = re.findall(r"<a [^>]*aria-current=[^>]*>(.*?)</a>", side)
    assert [re.sub(r"<[^>]*>", "", link) for link in links] == [current]
