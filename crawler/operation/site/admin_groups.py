"""The admin's index in five groups of what people look for; every other model comes with *Show all groups*.

Only the lists of models are regrouped: addresses, permissions and the pages of apps are Django's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

SHOWS_ALL = "admin-shows-all-groups"
"""The key of the session under which *Show all groups* is kept."""


@dataclass(frozen=True, slots=True)
class ModelGroup:
    """A group of models of several apps.

    Its heading leads to the page of the app `home`, whose other models follow when all groups are shown.
    Models are listed by label, with a name for the list or None for the model's own.
    """

    name: Promise
    home: str
    models: Mapping[str, Promise | None]


GROUPS = (
    ModelGroup(
        gettext_lazy("People"),
        "auth",
        {
            "auth.User": None,
            "auth.Group": None,
            "account.EmailAddress": gettext_lazy("Mail addresses"),
            "mfa.Authenticator": gettext_lazy("Sign-in codes"),
            "accounts.Invitation": gettext_lazy("Invitations"),
            "articles.Subscriber": gettext_lazy("Subscribers"),
        },
    ),
    ModelGroup(
        gettext_lazy("Feeds"),
        "feeds",
        {
            "feeds.Feed": gettext_lazy("Feeds"),
            "feeds.Category": gettext_lazy("Folders"),
            "websub.HubSubscription": gettext_lazy("Hub subscriptions"),
            "feeds.Retrieval": gettext_lazy("Visits"),
            "feeds.PlanningRules": gettext_lazy("Planning rules"),
            "mail.Newsletter": gettext_lazy("Newsletters"),
            "mail.MailAddress": gettext_lazy("Addresses for newsletters"),
            "mail.Mailbox": gettext_lazy("Mailboxes"),
        },
    ),
    ModelGroup(
        gettext_lazy("Articles"),
        "articles",
        {
            "articles.Article": gettext_lazy("Articles"),
            "articles.Page": gettext_lazy("Pages"),
            "enrichment.Story": gettext_lazy("Stories"),
            "articles.Topic": gettext_lazy("Topics"),
            "articles.PersonalFeed": gettext_lazy("Personal feeds"),
            "enrichment.Enrichment": gettext_lazy("Enrichment"),
        },
    ),
    ModelGroup(
        gettext_lazy("Sites"),
        "recrawl",
        {
            "recrawl.Site": gettext_lazy("Sites"),
            "recrawl.Source": gettext_lazy("Sources"),
            "recrawl.Change": gettext_lazy("Changes"),
            "recrawl.WatchedPage": gettext_lazy("Watched pages"),
            "recrawl.Version": gettext_lazy("Versions"),
        },
    ),
    ModelGroup(
        gettext_lazy("Crawls"),
        "frontier",
        {
            "frontier.Crawl": gettext_lazy("Crawls"),
            "frontier.CrawlUrl": gettext_lazy("URLs of crawls"),
        },
    ),
)


class GroupedAdminSite(AdminSite):
    """Django's admin with its models in five groups, and the others only when asked for."""

    site_header = site_title = "Freshet"
    index_title = gettext_lazy("Administration")

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Return the groups of what a person may see, with all others if their session shows all.

        Returns the one app for the page of an app, as Django does.
        """
        app_list = super().get_app_list(request, app_label)
        if app_label is not None:
            return app_list
        groups, others = grouped(app_list)
        if not request.session.get(SHOWS_ALL):
            return groups
        return with_others(groups, others)

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Show the index, after `?all=1` with all groups until the session ends or `?all=0` hides them."""
        wish = request.GET.get("all")
        if wish == "1":
            request.session[SHOWS_ALL] = True
        elif wish == "0":
            request.session.pop(SHOWS_ALL, None)
        context = dict(extra_context or {})
        _, others = grouped(super().get_app_list(request))
        if others:
            context["groups_shown"] = "all" if request.session.get(SHOWS_ALL) else "five"
        return super().index(request, context)


def grouped(app_list: list[Any]) -> tuple[list[Any], list[Any]]:
    """Split Django's list of apps into the groups that are not empty and the apps with the other models."""
    apps = {app["app_label"]: app for app in app_list}
    rows = {row["model"]._meta.label: (app, row) for app in app_list for row in app["models"]}
    groups = []
    for group in GROUPS:
        members = [(*rows.pop(label), name) for label, name in group.models.items() if label in rows]
        if members:
            # A person who may see nothing of the home app would find no page of it.
            home = apps.get(group.home, members[0][0])
            models = [row | ({"name": name} if name else {}) for _, row, name in members]
            groups.append(home | {"name": group.name, "app_label": group.home, "models": models})
    others = [
        app | {"models": models}
        for app in app_list
        if (models := [row for row in app["models"] if row["model"]._meta.label in rows])
    ]
    return groups, others


def with_others(groups: list[Any], others: list[Any]) -> list[Any]:
    """Return the groups, each with the other models of its home app, and then the other apps."""
    other_models = {app["app_label"]: app["models"] for app in others}
    labels = {group["app_label"] for group in groups}
    return [
        *(group | {"models": group["models"] + other_models.get(group["app_label"], [])} for group in groups),
        *(app for app in others if app["app_label"] not in labels),
    ]
