"""The tabs of Settings: one table for the sidebar, the list on phones, and the bar of each page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib.auth.models import AnonymousUser, User
from django.utils.translation import gettext_lazy, pgettext_lazy

from crawler.web.roles import OPERATOR, OWNER, READER, is_at_least

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


@dataclass(frozen=True, slots=True)
class Tab:
    """A page of Settings: its key, name, icon and view, and the lowest role that sees it."""

    key: str
    name: _StrPromise
    icon: str
    view: str
    role: str = READER

    @property
    def is_for_everyone(self) -> bool:
        """True when what it sets holds for everyone here."""
        return self.role != READER


GROUPS: tuple[tuple[_StrPromise, tuple[Tab, ...]], ...] = (
    (
        pgettext_lazy("group of settings", "You"),
        (
            Tab("reading", gettext_lazy("Reading"), "text", "settings-reading"),
            Tab("language", gettext_lazy("Language and time"), "globe", "settings-language"),
            Tab("account", gettext_lazy("Account"), "user", "account-security"),
        ),
    ),
    (
        pgettext_lazy("group of settings", "Around you"),
        (
            Tab("rules", pgettext_lazy("about articles", "Rules"), "sort", "rules"),
            Tab("notifications", gettext_lazy("Notifications"), "bell", "notifications"),
            Tab("interests", gettext_lazy("Interests"), "heart", "interest-learned"),
            Tab("apps", gettext_lazy("Apps and keys"), "phone", "me-readers"),
            Tab("newsletters", gettext_lazy("Newsletters"), "mail", "newsletters"),
            Tab("own", gettext_lazy("Your own feeds"), "feeds", "me-personal-feeds"),
            Tab("data", gettext_lazy("Your data"), "download", "me-account"),
        ),
    ),
    (
        pgettext_lazy("group of settings", "For everyone here"),
        (
            Tab("budget", gettext_lazy("Budget and pace"), "gauge", "settings-budget", OPERATOR),
            Tab("retention", gettext_lazy("Retention"), "box", "settings-retention", OPERATOR),
            Tab("mail", gettext_lazy("Mail"), "send", "settings-mail", OPERATOR),
            Tab("more", gettext_lazy("More settings"), "sliders", "settings-more", OPERATOR),
            Tab("signup", gettext_lazy("Sign-up"), "door", "settings-signup", OWNER),
        ),
    ),
)
TABS = {tab.key: tab for _, tabs in GROUPS for tab in tabs}


def groups_for(user: User | AnonymousUser) -> list[tuple[str, list[Tab]]]:
    """Return the groups of tabs that a person may open, each with its title."""
    visible_groups = [
        (str(title), [tab for tab in tabs if is_at_least(user, tab.role)]) for title, tabs in GROUPS
    ]
    return [(title, tabs) for title, tabs in visible_groups if tabs]
