"""The pages, the API, the admin and the feeds of watched sites."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import feedparser  # type: ignore[import-untyped]
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from recrawl.inline import work_off
from recrawl.models import Change, Check, Site, WatchedPage
from tests.factories import make_token, make_user
from tests.html import flat
from tests.recrawl.sites import Paper, visit, watch
from tests.servers import Reply

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("terminal_on_loopback", "tried_again_soon"),
]


@pytest.fixture
def paper() -> Iterator[Paper]:
    with Paper() as web:
        yield web


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(make_user(staff=True, is_superuser=True))
    return client


@pytest.fixture
def site(paper: Paper) -> Site:
    """A site with three visits behind it: nothing, a change with markup in it, a page gone."""
    made = watch(paper)
    visit(made)
    paper.write("/news/b", "Story b", "What b &lt;b&gt;did&lt;/b&gt; &amp; why", ["/news/"])
    paper.built = "2026-03-03 12:00"
    visit(made)
    del paper.replies["/news/c"]
    visit(made)
    made.refresh_from_db()
    return made


def pages_of(site: Site) -> list[str]:
    change = Change.objects.filter(kind="edited").get()
    return [
        "/sites/", "/sites/report/", f"/sites/{site.pk}/", f"/sites/{site.pk}/pages/?state=live&q=story",
        f"/sites/{site.pk}/pages/{change.page_id}/", f"/sites/{site.pk}/visits/2/?outcome=changed",
        f"/sites/{site.pk}/changes/", f"/sites/{site.pk}/changes/?kind=template",
        f"/sites/{site.pk}/changes/{change.pk}/", f"/sites/{site.pk}/changes/{change.pk}/?view=side",
    ]  # fmt: skip


def test_a_site_is_added_on_the_page_and_its_bad_fields_are_named(paper: Paper, staff: Client) -> None:
    fields = {
        "url": paper.origin, "method": "C", "every": "1", "budget": "0.5", "max_pages": "100",
        "ignore_selectors": "h1", "ignore_patterns": "^Ad", "minimum_change": "0",
    }  # fmt: skip
    answer = staff.post(
        "/sites/add/", fields | {"ignore_selectors": "h1[", "ignore_patterns": "(", "every": "0"}
    )
    assert answer.status_code == 422
    assert b"no CSS selector" in answer.content
    assert b"no regular expression" in answer.content
    answer = staff.post("/sites/add/", fields)
    made = Site.objects.get()
    assert answer.headers["Location"] == f"/sites/{made.pk}/"
    assert b"for the first time" in staff.get(answer.headers["Location"]).content
    work_off([made])
    assert staff.post("/sites/add/", fields).status_code == 422


def test_pages_show_what_changed(site: Site, staff: Client) -> None:
    for path in pages_of(site):
        answer = staff.get(path)
        assert answer.status_code == 200, path
    inline, side = (flat(staff.get(path).content) for path in pages_of(site)[-2:])
    for shown in (inline, side):
        assert "<del><bdi>What b did</bdi></del>" in shown
        assert "<ins><bdi>What b &lt;b&gt;did&lt;/b&gt; &amp; why</bdi></ins>" in shown
    whole = staff.get(f"/sites/{site.pk}/").content.decode()
    assert "gone" in whole
    assert "How it is divided" in whole
    assert "tells of" in staff.get(f"/sites/{site.pk}/visits/2/").content.decode()
    assert b"hx-get" not in staff.get(f"/sites/{site.pk}/", headers={"HX-Request": "true"}).content


def test_pages_of_other_sites_are_not_found(site: Site, staff: Client) -> None:
    change = Change.objects.filter(kind="edited").get()
    for path in (f"pages/{change.page_id}/", "visits/1/", f"changes/{change.pk}/", ""):
        assert staff.get(f"/sites/{site.pk + 1}/{path}").status_code == 404
    assert staff.get(f"/sites/{site.pk}/visits/99/").status_code == 404


def test_whoever_has_an_account_reads_and_staff_alone_changes(site: Site, client: Client) -> None:
    for path in pages_of(site):
        assert client.get(path).status_code == 302
    client.force_login(make_user("reader"))
    for path in pages_of(site):
        assert client.get(path).status_code == 200
    for path in ("/sites/add/", f"/sites/{site.pk}/act/", f"/sites/{site.pk}/settings/"):
        assert client.post(path, {"action": "delete"}).status_code == 403
    token = {"Authorization": make_token(make_user("other"))}
    assert client.post("/api/sites/", {"url": "https://a.example/"}, headers=token).status_code == 403
    assert client.delete(f"/api/sites/{site.pk}/", headers=token).status_code == 403
    assert client.post(f"/api/sites/{site.pk}/visit-now/", headers=token).status_code == 403
    assert client.get("/api/changes/", headers=token).status_code == 200
    assert Client().get("/api/sites/").status_code == 401
    assert Site.objects.count() == 1


def test_a_site_is_paused_resumed_visited_changed_and_deleted_on_its_page(site: Site, staff: Client) -> None:
    def act(action: str) -> Site:
        staff.post(f"/sites/{site.pk}/act/", {"action": action})
        return Site.objects.get(pk=site.pk)

    assert act("pause").state == "paused"
    assert act("visit").state == "paused"
    assert act("resume").state == "watched"
    assert act("visit").next_visit <= datetime.now(UTC)
    settings = {
        "method": "history", "every": "2", "budget": "0.1", "max_pages": "50", "ignore_selectors": "",
        "ignore_patterns": "^Built", "minimum_change": "5",
    }  # fmt: skip
    staff.post(f"/sites/{site.pk}/settings/", settings | {"budget": "7"})
    assert Site.objects.get().method == "breadth-first"
    staff.post(f"/sites/{site.pk}/settings/", settings)
    changed = Site.objects.get()
    assert (changed.method, changed.every, changed.ignore_patterns) == ("history", 2.0, ["^Built"])
    staff.post(f"/sites/{site.pk}/act/", {"action": "delete"})
    assert not Site.objects.exists()
    assert not WatchedPage.objects.exists()


@pytest.mark.parametrize("kind", ["rss", "atom", "json"])
def test_changes_are_feeds_at_addresses_of_their_own(site: Site, client: Client, kind: str) -> None:
    address = f"/sites/feed/{site.key}.{kind}"
    answer = client.get(address)
    assert answer.status_code == 200
    titles = ["Gone: Story c", "Changed: Story b"]
    if kind == "json":
        items = json.loads(answer.content)["items"]
        assert [item["title"] for item in items] == titles
        assert "<ins>What b &lt;b&gt;did&lt;/b&gt; &amp; why</ins>" in items[1]["content_html"]
    else:
        found = feedparser.parse(answer.content)
        assert not found.bozo
        assert [entry.title for entry in found.entries] == titles
        assert len({entry.id for entry in found.entries}) == 2
    again = client.get(address, headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304
    edited = Change.objects.get(kind="edited")
    own = client.get(f"/sites/feed/{site.key}/{edited.page_id}.{kind}")
    assert own.status_code == 200
    assert b"Gone: Story c" not in own.content
    Site.objects.update(ignore_patterns=["^What b "])
    assert b"Changed: Story b" not in client.get(address).content


def test_feeds_of_changes_cannot_be_guessed(site: Site, client: Client) -> None:
    page = WatchedPage.objects.filter(site=site).earliest("id").pk
    for path in (
        f"/sites/feed/{site.pk}.rss",
        "/sites/feed/x.rss",
        f"/sites/feed/{site.key}.exe",
        f"/sites/feed/x/{page}.rss",
    ):
        assert client.get(path).status_code == 404
    assert len(site.key) >= 32


def test_the_api_does_all_of_it(paper: Paper, client: Client) -> None:
    token = {"Authorization": make_token(make_user(staff=True))}

    def post(path: str, content: dict[str, Any] | None = None) -> Any:
        return client.post(path, content or {}, content_type="application/json", headers=token)

    assert post("/api/sites/", {"url": "not an address"}).json()["url"]
    assert "ignore_selectors" in post("/api/sites/", {"url": paper.origin, "ignore_selectors": ["["]}).json()
    answer = post("/api/sites/", {"url": paper.origin, "method": "breadth-first", "budget": 1.0})
    assert (answer.status_code, answer.json()["state"]) == (201, "mapping")
    assert post("/api/sites/", {"url": paper.origin}).status_code == 400
    site = Site.objects.get()
    assert post(f"/api/sites/{site.pk}/visit-now/").status_code == 400
    work_off([site])
    paper.write("/about", "About", "Who we are now", ["/"])
    assert post(f"/api/sites/{site.pk}/visit-now/").status_code == 202
    work_off([site])
    (change,) = client.get("/api/changes/?kind=edited", headers=token).json()["results"]
    assert change["url"] == f"{paper.origin}/about"
    hunks = client.get(f"/api/changes/{change['id']}/", headers=token).json()["hunks"]
    assert {"kind": "edited", "old": "Who we are", "new": "Who we are now"} in hunks[0]
    (done,) = client.get(f"/api/sites/{site.pk}/visits/?page_size=1", headers=token).json()["results"]
    assert (done["fetched"], done["changed"], done["rate"]) == (8, 1, 1 / 8)
    found = client.get(f"/api/pages/?site={site.pk}&state=live", headers=token).json()
    assert found["count"] == 8
    checks = client.get(f"/api/pages/{change['page']}/checks/", headers=token).json()["results"]
    assert [check["outcome"] for check in checks] == ["changed"]

    def patch(**content: Any) -> Any:
        path = f"/api/sites/{site.pk}/"
        return client.patch(path, content, content_type="application/json", headers=token)

    assert patch(state="paused", budget=0.5).json()["state"] == "paused"
    assert patch(state="watched").json()["budget"] == 0.5
    assert patch(budget=2).status_code == 400
    assert post(f"/api/sites/{site.pk}/map-again/").json()["state"] == "mapping"
    assert client.delete(f"/api/sites/{site.pk}/", headers=token).status_code == 204


def test_the_admin_lists_and_changes_sites(site: Site, staff: Client) -> None:
    for name in ("site", "visit", "watchedpage", "check", "change", "source"):
        assert staff.get(f"/admin/recrawl/{name}/").status_code == 200
    path = f"/admin/recrawl/site/{site.pk}/change/"
    assert staff.get(path).status_code == 200
    fields = {
        "title": "Ours", "method": "A", "every": "3", "budget": "0.2", "max_pages": "10",
        "ignore_selectors": "p,h1", "ignore_patterns": "a{1,3}\nb", "minimum_change": "1",
    }  # fmt: skip
    assert staff.post(path, fields).status_code == 302
    site.refresh_from_db()
    assert (site.title, site.ignore_patterns) == ("Ours", ["a{1,3}", "b"])
    staff.post("/admin/recrawl/site/", {"action": "stop", "_selected_action": site.pk})
    assert Site.objects.get().state == "paused"


def test_the_commands_add_and_visit(paper: Paper) -> None:
    def call(*arguments: object) -> str:
        out = StringIO()
        call_command(*map(str, arguments), stdout=out)
        return out.getvalue()

    assert "the workers map it" in call(
        "add_site", paper.origin, "--method", "B", "--every", 2, "--budget", 0.5
    )
    assert "8 pages" in call("visit_sites")
    told = json.loads(call("visit_sites", f"{paper.origin}/", "--json"))
    assert (told[0]["pages"], told[0]["visit"]["number"], told[0]["state"]) == (8, 2, "watched")
    assert "[]" in call("visit_sites", "--due", "--json")
    for wrong in (["--budget", "3"], ["--ignore", "p["], ["--every", "0"]):
        with pytest.raises(CommandError):
            call("add_site", "https://elsewhere.example/", *wrong)
    with pytest.raises(CommandError, match="watched already"):
        call("add_site", paper.origin)
    with pytest.raises(CommandError, match="no site"):
        call("visit_sites", Site.objects.get().pk + 1)


def test_chosen_pages_are_watched_by_the_page(paper: Paper, staff: Client) -> None:
    assert f"{paper.origin}/about" in staff.get(f"/sites/add/?url={paper.origin}/about").content.decode()
    fields = {"kind": "pages", "url": f"{paper.origin}/about\n{paper.origin}/news/a", "parts": "css:p"}
    answer = staff.post("/sites/add/", fields)
    made = Site.objects.get()
    assert answer.headers["Location"] == f"/sites/{made.pk}/"
    assert (made.kind, made.every, made.budget, made.parts) == ("pages", 1.0, 1.0, ["css:p"])
    work_off([made])
    shown = staff.get(f"/sites/{made.pk}/").content.decode()
    assert f"{paper.origin}/news/a" in shown
    staff.post(f"/sites/{made.pk}/settings/", {"pages": f"{paper.origin}/about", "every": "0.25"})
    made.refresh_from_db()
    assert (made.every, made.parts, made.pages.count()) == (0.25, ["css:p"], 1)
    for wrong in (
        {"parts": "css:["},
        {"pages": ""},
        {"pages": "x y"},
        {"trigger_patterns": "("},
        {"number": "x"},
    ):
        staff.post(f"/sites/{made.pk}/settings/", {"pages": f"{paper.origin}/about"} | wrong)
    made.refresh_from_db()
    assert (made.parts, made.pages.count()) == (["css:p"], 1)


def test_a_site_has_one_address_and_a_list_at_least_one(staff: Client) -> None:
    several = "https://a.example/\nhttps://b.example/"
    answer = staff.post("/sites/add/", {"url": several})
    assert answer.status_code == 422 and b"A site has one address" in answer.content
    assert staff.post("/sites/add/", {"url": "", "kind": "pages"}).status_code == 422
    assert staff.post("/sites/add/", {"url": "ftp://a.example/", "kind": "pages"}).status_code == 422
    assert not Site.objects.exists()


def test_the_api_and_the_command_watch_chosen_pages(paper: Paper, client: Client) -> None:
    token = {"Authorization": make_token(make_user(staff=True))}

    def send(method: str, path: str, content: Any) -> Any:
        return getattr(client, method)(path, content, content_type="application/json", headers=token)

    assert send("post", "/api/sites/", {"kind": "pages"}).json() == {"pages": ["This field is required."]}
    assert send("post", "/api/sites/", {}).json() == {"url": ["This field is required."]}
    assert "pages" in send("post", "/api/sites/", {"kind": "pages", "pages": ["no address"]}).json()
    wanted = {
        "kind": "pages",
        "pages": [f"{paper.origin}/about"],
        "parts": ["xpath://p"],
        "direction": "added",
    }
    made = send("post", "/api/sites/", wanted)
    assert (made.status_code, made.json()["kind"], made.json()["every"]) == (201, "pages", 1.0)
    path = f"/api/sites/{made.json()['id']}/"
    assert send("patch", path, {"pages": [f"{paper.origin}/news/a"]}).status_code == 200
    assert WatchedPage.objects.get().url == f"{paper.origin}/news/a"
    assert "parts" in send("patch", path, {"parts": ["xpath://["]}).json()
    site = Site.objects.get()
    work_off([site])
    out = StringIO()
    call_command("add_site", "--pages", f"{paper.origin}/about", "--part", "css:p", "--now", stdout=out)
    assert Site.objects.filter(kind="pages", state="watched", budget=1.0).count() == 2
    with pytest.raises(CommandError, match="one address"):
        call_command("add_site", "https://a.example/", "https://b.example/")


def test_a_page_that_fails_is_told_where_people_look(paper: Paper, staff: Client) -> None:
    made = watch(paper)
    paper.replies["/about"] = Reply(status=403)
    visit(made)
    shown = staff.get(f"/sites/{made.pk}/visits/1/?outcome=failed").content.decode()
    assert "403 Forbidden" in shown
    assert Check.objects.get(outcome="failed").failure == "http-403"
