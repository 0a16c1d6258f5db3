"""The admin's index: five groups, all others when asked for, and nothing that a person may not see."""

import re

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import translation

from crawler.operation.site.admin_groups import GROUPS, GroupedAdminSite
from tests.factories import make_user

pytestmark = pytest.mark.django_db
FIVE = ["People", "Feeds", "Articles", "Sites", "Crawls"]
HIDDEN = {
    "Apps", "Auth Token", "Axes", "Crawler", "Enrichment", "Interest", "Periodic Tasks", "Pipeline",
    "Social Accounts", "User Sessions",
}  # fmt: skip


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(make_user("root", staff=True, is_superuser=True))
    return client


def groups_of(client: Client, address: str = "/admin/") -> dict[str, list[str]]:
    """The names of the groups on a page of the admin, each with the names of its models."""
    context = client.get(address).context
    listed = context["app_list"] if "app_list" in context else context["available_apps"]
    return {str(group["name"]): [str(model["name"]) for model in group["models"]] for group in listed}


def staff_with(*permissions: str) -> Client:
    user = make_user("helper", staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def test_the_index_shows_five_groups(root: Client) -> None:
    groups = groups_of(root)
    assert list(groups) == FIVE
    assert groups["People"][:4] == ["Users", "Groups", "Mail addresses", "Sign-in codes"]
    assert groups["Feeds"][:3] == ["Feeds", "Folders", "Hub subscriptions"]
    assert groups["Articles"][:3] == ["Articles", "Pages", "Stories"]
    assert groups["Sites"][:3] == ["Sites", "Sources", "Changes"]
    assert groups["Crawls"][0] == "Crawls"
    page = root.get("/admin/").content.decode()
    assert '<a href="?all=1">Show all groups</a>' in page
    assert "/admin/axes/" not in page


def test_all_groups_are_shown_until_they_are_hidden_again(root: Client) -> None:
    everything = groups_of(root, "/admin/?all=1")
    assert list(everything)[:5] == FIVE
    assert set(everything) >= HIDDEN
    assert {"Checks", "Visits"} < set(everything["Sites"])
    assert everything["Enrichment"] == ["Classifiers"]
    assert groups_of(root) == groups_of(root, "/admin/auth/user/") == everything  # the list at the side, too
    assert '<a href="?all=0">Show five groups</a>' in root.get("/admin/").content.decode()
    assert list(groups_of(root, "/admin/?all=0")) == list(groups_of(root)) == FIVE


def test_showing_all_groups_lists_every_model_once(root: Client) -> None:
    groups = root.get("/admin/?all=1").context["app_list"]
    models = [row["model"] for group in groups for row in group["models"]]
    assert len(models) == len(set(models))
    assert set(models) == set(admin.site._registry)


def test_changelists_keep_their_own_wish_for_all_rows(root: Client) -> None:
    root.get("/admin/auth/user/?all=")
    assert list(groups_of(root)) == FIVE


def test_every_heading_and_the_pages_of_apps_open(root: Client) -> None:
    for group in root.get("/admin/?all=1").context["app_list"]:
        assert root.get(group["app_url"]).status_code == 200, group["name"]
    root.get("/admin/?all=0")
    for app in ("axes", "recrawl", "account", "greader"):
        assert root.get(f"/admin/{app}/").status_code == 200


def test_staff_see_only_what_they_may() -> None:
    client = staff_with("view_emailaddress", "view_feed")
    groups = groups_of(client)
    assert groups == {"People": ["Mail addresses"], "Feeds": ["Feeds"]}
    assert groups_of(client, "/admin/?all=1") == groups
    page = client.get("/admin/").content.decode()
    assert "Show all groups" not in page
    assert "Show five groups" not in page
    for group in client.get("/admin/").context["app_list"]:
        assert client.get(group["app_url"]).status_code == 200
    assert client.get("/admin/auth/user/").status_code == 403


def test_staff_find_hidden_models_that_they_may_see() -> None:
    client = staff_with("view_feed", "view_host")
    assert list(groups_of(client)) == ["Feeds"]
    assert groups_of(client, "/admin/?all=1") == {"Feeds": ["Feeds"], "Crawler": ["Hosts"]}
    assert client.get("/admin/crawler/host/").status_code == 200


def test_groups_name_models_that_are_registered_and_apps_that_exist(root: Client) -> None:
    assert isinstance(admin.site, GroupedAdminSite)
    root.get("/admin/")  # registers them
    for group in GROUPS:
        assert apps.get_app_config(group.home)
        for label in group.models:
            assert admin.site.is_registered(apps.get_model(label)), label


def test_the_theme_is_linked_after_the_tokens_and_nothing_is_inline(root: Client) -> None:
    for address in ("", "?all=1", "feeds/", "auth/user/", "auth/user/add/"):
        response = root.get(f"/admin/{address}")
        page = response.content.decode()
        sheets = re.findall(r'<link rel="stylesheet" href="[^"]*?([\w-]+)(?:\.[\da-f]+)?\.css"', page)
        assert [name for name in sheets if name in {"base", "dark_mode", "tokens", "admin-theme"}] == [
            "base", "dark_mode", "tokens", "admin-theme",
        ]  # fmt: skip
        assert "admin/js/theme" not in page
        assert not re.search(r"<style|<[a-z]+[^>]*\s(style|on[a-z]+)=|<script(?![^>]*src=)", page), address
        assert "'unsafe-inline'" not in response.headers["Content-Security-Policy"]


def test_tools_come_first_among_the_links_of_the_head(root: Client) -> None:
    tools = root.get("/admin/auth/user/").content.decode().split('id="user-tools"')[1]
    assert re.search(r"<a [^>]*>[^<]*</a>", tools)[0] == '<a href="/tools/">‹ Tools</a>'
    link = re.search(r'<a [^>]*href="/admin/"[^>]*>', root.get("/tools/").content.decode())
    assert link is not None
    assert "target" not in link[0]


def test_groups_have_names_in_the_language_of_the_reader(root: Client) -> None:
    with translation.override("de"):
        assert [str(group.name) for group in GROUPS[:3]] == ["Personen", "Feeds", "Artikel"]


def test_people_who_are_not_signed_in_sign_in_with_ours(client: Client) -> None:
    response = client.get("/admin/", follow=True)
    assert response.redirect_chain[-1][0].startswith("/accounts/login/")
