"""The four walks of docs/papers.md: the systems operated by pages, by the admin, by the API, by command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from crawler.frontier.models import Crawl
from crawler.pipeline.models import LinkQuery, UriFilter
from feeds.models import Feed
from feeds.visiting.rules import rules
from recrawl.models import Site
from tests.factories import make_feed, make_token, make_user
from tests.servers import Reply, WebServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("terminal_on_loopback")]
KNOWS = "http://xmlns.com/foaf/0.1/knows"


@pytest.fixture
def web() -> Iterator[WebServer]:
    """A site of two pages, each linked from the other."""
    with WebServer() as server:
        for path, other in (("/", "/b"), ("/b", "/")):
            page = f"<html><title>A page</title><p>Some words that stay.</p><a href='{other}'>on</a></html>"
            server.replies[path] = Reply(page.encode(), headers={"Content-Type": "text/html"})
        yield server


@pytest.fixture
def operator(client: Client) -> Client:
    user = make_user(staff=True)
    user.is_superuser = True
    user.save()
    client.force_login(user)
    return client


def posted(client: Client, address: str, **fields: Any) -> None:
    answer = client.post(address, fields, follow=True)
    assert answer.status_code == 200, (address, answer.context["form"].errors if answer.context else "")


def test_by_pages(operator: Client, web: WebServer) -> None:
    posted(operator, "/planning/", policy="advarss", budget="0.5")
    assert (rules().policy, rules().budget) == ("advarss", 0.5)
    posted(
        operator,
        "/crawls/start/",
        seeds=f"{web.origin}/",
        strategy="link-score",
        max_wait="30",
        max_pages="100",
        into_graph="on",
        keep_bodies="on",
    )
    crawl = Crawl.objects.get()
    posted(operator, f"/crawls/{crawl.pk}/change/", action="stop")
    crawl.refresh_from_db()
    assert (crawl.strategy, crawl.state) == ("link-score", "paused")
    posted(operator, "/pipeline/links/change/", action="add", pattern="/private/", allow="deny")
    assert UriFilter.objects.filter(pattern="/private/", allow=False).exists()
    call_command("add_site", f"{web.origin}/")
    site = Site.objects.get()
    form = operator.get(f"/sites/{site.pk}/").context["form"]
    given = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False)}
    posted(operator, f"/sites/{site.pk}/settings/", **(given | {"method": "C"}))
    site.refresh_from_db()
    assert site.method == "C"


def test_by_the_admin(operator: Client) -> None:
    operator.get("/admin/feeds/planningrules/")
    posted(operator, "/admin/feeds/planningrules/add/", policy="round-robin", budget="0.25")
    assert rules().policy == "round-robin"
    feed = make_feed()
    posted(operator, "/admin/feeds/feed/", action="pause_feeds", _selected_action=[feed.pk])
    assert Feed.objects.get(pk=feed.pk).status == "paused"
    crawl = Crawl.objects.create(seeds=["http://a.example/"])
    posted(operator, "/admin/frontier/crawl/", action="stop", _selected_action=[crawl.pk])
    posted(operator, "/admin/frontier/crawl/", action="go_on", _selected_action=[crawl.pk])
    crawl.refresh_from_db()
    assert crawl.state == "running"
    posted(
        operator,
        "/admin/pipeline/linkquery/add/",
        name="friends",
        predicates=KNOWS,
        weight="0.5",
        enabled="on",
    )
    assert LinkQuery.objects.filter(name="friends").exists()
    site = Site.objects.create(url="http://b.example/", host=feed.host, state="watched")
    posted(operator, "/admin/recrawl/site/", action="stop", _selected_action=[site.pk])
    site.refresh_from_db()
    assert site.state == "paused"


def test_by_the_api(operator: Client, web: WebServer) -> None:
    token = {"HTTP_AUTHORIZATION": make_token(make_user(staff=True))}

    def send(verb: str, address: str, **content: Any) -> dict[str, Any]:
        answer = getattr(Client(), verb)(address, content, content_type="application/json", **token)
        assert answer.status_code < 300, (address, answer.content)
        return answer.json() if answer.content else {}

    assert send("patch", "/api/planning/", policy="advarss", active_only=True)["in_force"]["active_only"]
    crawl = send("post", "/api/crawls/", seeds=[f"{web.origin}/"], strategy="breadth-first")
    send("patch", f"/api/crawls/{crawl['id']}/", state="paused")
    assert Client().get(f"/api/crawls/{crawl['id']}/", **token).json()["state"] == "paused"
    query = send("post", "/api/link-queries/", name="friends", predicates=[KNOWS])
    send("patch", f"/api/link-queries/{query['id']}/", enabled=False)
    assert not LinkQuery.objects.get(pk=query["id"]).enabled
    site = send("post", "/api/sites/", url=web.origin, method="breadth-first", budget=1.0)
    assert send("patch", f"/api/sites/{site['id']}/", method="adaptive")["method"] == "adaptive"


def test_by_command(web: WebServer) -> None:
    def told(*arguments: str) -> str:
        out = StringIO()
        call_command(*arguments, stdout=out)
        return out.getvalue()

    assert json.loads(told("planning", "--policy", "round-robin", "--json"))["policy"] == "round-robin"
    crawl = json.loads(told("crawl", f"{web.origin}/", "--strategy", "known-rank", "--graph", "--json"))
    assert crawl["crawled"] == 2
    assert "known-rank" in told("crawl_strategies", "--crawl", str(Crawl.objects.get().pk))
    told("change_crawl", str(Crawl.objects.get().pk), "--requeue")
    assert "transform" in told("pipeline", "--crawl", str(Crawl.objects.get().pk))
    told("add_site", f"{web.origin}/")
    told("visit_sites")
    assert Site.objects.get().visits.count() >= 1
