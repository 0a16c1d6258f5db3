"""Forms of notifications: a rule as a sentence, and targets of each kind."""

from __future__ import annotations

import json
import secrets as random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from articles.models import Subscription, Topic
from articles.personal.following import folders_of, subscriber_of
from crawler.notices.models import Rule, Target
from crawler.notices.program import LOCAL_SERVICES
from crawler.notices.wording import unknown_places
from crawler.web.forms import RowForm
from crawler.web.roles import OPERATOR, is_at_least
from feeds.models import Feed
from recrawl.models import Site, WatchedPage

MAX_FEEDS_OFFERED = 300
HOURS = [(hour, f"{hour:02d}:00") for hour in range(24)]
READ_LATER = (
    ("wallabag", "Wallabag"),
    ("linkding", "Linkding"),
    ("karakeep", "Karakeep"),
    ("readwise", "Readwise Reader"),
    ("instapaper", "Instapaper"),
)


_DEFAULTS = {
    "hour": 8,
    "weekday": 0,
    "feeds_at_least": 3,
    "lines_at_least": 1,
    "most_an_hour": 10,
    "pace": Rule.Pace.NOW,
}


class RuleForm(RowForm):
    """A rule: when, about what, how often, where to."""

    about = forms.ChoiceField(required=False, label=gettext_lazy("About"))
    hour = forms.TypedChoiceField(choices=HOURS, coerce=int, required=False, empty_value=None)
    quiet_from = forms.TypedChoiceField(
        choices=[("", pgettext_lazy("hours", "none")), *HOURS], coerce=int, required=False, empty_value=None
    )
    quiet_until = forms.TypedChoiceField(
        choices=[("", pgettext_lazy("hours", "none")), *HOURS], coerce=int, required=False, empty_value=None
    )

    own_mail = forms.BooleanField(required=False)

    class Meta:
        model = Rule
        fields = (
            "name",
            "when",
            "query",
            "feeds_at_least",
            "lines_at_least",
            "words",
            "without_words",
            "once_a_story",
            "pace",
            "hour",
            "weekday",
            "most_an_hour",
            "quiet_from",
            "quiet_until",
            "title_template",
            "text_template",
            "targets",
        )
        widgets = {"targets": forms.CheckboxSelectMultiple, "text_template": forms.Textarea({"rows": 3})}

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user
        whens = [choice for choice in Rule.When.choices if choice[0] not in Rule.OPERATORS or _operates(user)]
        self.fields["when"].choices = whens  # type: ignore[attr-defined]
        self.fields["weekday"].widget = forms.Select(choices=list(WEEKDAYS.items()))
        self.fields["targets"].queryset = Target.objects.filter(user=user)  # type: ignore[attr-defined]
        self.own_address = _own_address(user)
        for name in _DEFAULTS:
            self.fields[name].required = False
        self.fields["about"].choices = self._abouts()  # type: ignore[attr-defined]
        self.initial.setdefault("about", about_of(self.instance))

    def _abouts(self) -> list[tuple[str, Any]]:
        """Return what a rule can be about: all, a folder, a feed, a watched site, or a page of one."""
        subscriber = subscriber_of(self.user)
        rows = Subscription.objects.filter(subscriber=subscriber).select_related("feed")
        names = [
            (row.feed_id, row.title or str(row.feed))
            for row in rows.only("title", "feed__title", "feed__url")
        ]
        feeds = sorted(names, key=lambda row: row[1].casefold())[:MAX_FEEDS_OFFERED]
        rule, choices = self.instance, []
        if rule.feed_id and rule.feed_id not in dict(feeds):
            feeds.insert(0, (rule.feed_id, str(rule.feed)))
        sites = [(site.pk, str(site)) for site in Site.objects.order_by("url")[:MAX_FEEDS_OFFERED]]
        groups: list[tuple[Any, Sequence[tuple[str, str]]]] = [
            (_("Folders"), [(f"folder:{name}", name) for name in folders_of(subscriber)]),
            (_("Feeds"), [(f"feed:{key}", name) for key, name in feeds]),
            (_("Topics"), [(f"topic:{topic.pk}", topic.value) for topic in subscriber.topics.all()]),
            (_("Watched sites"), [(f"site:{key}", name) for key, name in sites]),
        ]
        if rule.page_id:
            groups.append((_("Pages"), [(f"page:{rule.page_id}", str(rule.page))]))
        choices = [(name, rows) for name, rows in groups if rows]
        return [("", _("everything")), *choices]

    def clean_about(self) -> str:
        """Set what the rule is about."""
        kind, _sign, value = str(self.cleaned_data["about"]).partition(":")
        rule = self.instance
        rule.folder = value if kind == "folder" else ""
        rule.feed = Feed.objects.get(pk=value) if kind == "feed" else None
        rule.topic = Topic.objects.get(pk=value) if kind == "topic" else None
        rule.site = Site.objects.get(pk=value) if kind == "site" else None
        rule.page = WatchedPage.objects.get(pk=value) if kind == "page" else None
        return kind

    def clean(self) -> dict[str, Any]:
        """Check that the parts fit together."""
        fields: dict[str, Any] = super().clean() or {}
        for name in ("title_template", "text_template"):
            if unknown := unknown_places(fields.get(name) or ""):
                self.add_error(name, _("$%(name)s is not known.") % {"name": unknown[0]})
        for name, value in _DEFAULTS.items():
            if fields.get(name) in (None, ""):
                fields[name] = value
        kind = fields.get("about", "")
        of_articles = fields.get("when") in (Rule.When.ARTICLE, Rule.When.STORY, Rule.When.FEED)
        if (kind in {"site", "page"} and of_articles) or (
            kind == "topic" and fields["when"] == Rule.When.FEED
        ):
            self.add_error("about", _("Choose a folder or a feed."))
        if kind in {"folder", "feed", "topic"} and not of_articles:
            self.add_error("about", _("Choose a watched site."))
        if not fields.get("targets") and not (self.own_address and fields.get("own_mail")):
            self.add_error("targets", self._without_place())
        return fields

    def _without_place(self) -> str:
        """Return the words that ask for a place: a rule without one would tell nobody."""
        if self.own_address or self.fields["targets"].queryset.exists():  # type: ignore[attr-defined]
            return _("Choose where messages go first.")
        return _("Messages need a place to go to: add one with “Another place”.")

    def save(self, commit: bool = True) -> Rule:
        """Store the rule, from now on for what happens from now on."""
        rule: Rule = self.instance
        rule.user = self.user
        if rule.pk is None:
            rule.looked = datetime.now(UTC)
        saved: Rule = super().save(commit)
        if self.own_address and self.cleaned_data["own_mail"]:
            saved.targets.add(_mail_target(self.user, self.own_address))
        return saved


def _own_address(user: User) -> str:
    """Return the mail address that is offered to a person who has no place for messages yet, else ""."""
    is_offered = settings.EMAIL_URL and not Target.objects.filter(user=user).exists()
    return user.email if is_offered else ""


def _mail_target(user: User, address: str) -> Target:
    target = Target(user=user, kind=Target.Kind.MAIL, name=address)
    target.address = address
    target.save()
    return target


def about_of(rule: Rule) -> str:
    """Return the choice that says what a rule is about."""
    if rule.page_id:
        return f"page:{rule.page_id}"
    if rule.site_id:
        return f"site:{rule.site_id}"
    if rule.feed_id:
        return f"feed:{rule.feed_id}"
    if rule.topic_id:
        return f"topic:{rule.topic_id}"
    return f"folder:{rule.folder}" if rule.folder else ""


def _operates(user: User) -> bool:
    return is_at_least(user, OPERATOR)


class TargetForm(forms.Form):
    """A target of any kind but a device, which a browser makes by itself."""

    kind = forms.ChoiceField(choices=[choice for choice in Target.Kind.choices if choice[0] != "push"])
    name = forms.CharField(max_length=100, required=False, label=gettext_lazy("Name"))
    mail = forms.CharField(max_length=254, required=False, label=gettext_lazy("Mail address"))
    service = forms.CharField(
        max_length=2000,
        required=False,
        label=gettext_lazy("Address of the service"),
        help_text=gettext_lazy("As apprise writes it, such as ntfy://my-topic or tgram://TOKEN/CHAT."),
    )
    webhook = forms.URLField(
        max_length=2000, required=False, label=gettext_lazy("Web address"), assume_scheme="https"
    )
    read_later = forms.ChoiceField(choices=READ_LATER, required=False, label=gettext_lazy("Service"))
    url = forms.URLField(
        max_length=2000, required=False, label=gettext_lazy("Address of its server"), assume_scheme="https"
    )
    login = forms.CharField(max_length=200, required=False, label=gettext_lazy("Your name there"))
    token = forms.CharField(max_length=1000, required=False, label=gettext_lazy("Token or password"))
    client = forms.CharField(max_length=200, required=False, label=gettext_lazy("Client id (Wallabag)"))
    secret = forms.CharField(max_length=200, required=False, label=gettext_lazy("Client secret (Wallabag)"))

    def clean(self) -> dict[str, Any]:
        """Check the fields of the chosen kind, and make the address of them."""
        fields: dict[str, Any] = super().clean() or {}
        kind = fields.get("kind", "")
        try:
            fields["address"], name = _ADDRESSES[kind](fields) if kind in _ADDRESSES else ("", "")
        except ValidationError as error:
            self.add_error(kind if kind in self.fields else None, error)
            return fields
        fields["name"] = fields.get("name") or name
        return fields


def _mail_address(fields: dict[str, Any]) -> tuple[str, str]:
    validate_email(fields.get("mail", ""))
    return fields["mail"], fields["mail"]


def _service_address(fields: dict[str, Any]) -> tuple[str, str]:
    address = str(fields.get("service", "")).strip()
    scheme = urlsplit(address).scheme.lower() if "://" in address else ""
    if not scheme:
        raise ValidationError(_("Such an address begins with the name of a service, as in ntfy://my-topic."))
    if scheme in LOCAL_SERVICES:
        raise ValidationError(_("This service reaches the machine itself, which is not allowed."))
    return address, scheme.rstrip("s") if scheme.endswith("s") and len(scheme) > 4 else scheme


def _webhook_address(fields: dict[str, Any]) -> tuple[str, str]:
    address = fields.get("webhook", "")
    if not address:
        raise ValidationError(_("Give its web address."))
    parcel = {"url": address, "secret": random.token_urlsafe(24)}
    return json.dumps(parcel), urlsplit(address).hostname or address


def _save_address(fields: dict[str, Any]) -> tuple[str, str]:
    service = fields.get("read_later") or ""
    needed = {"wallabag": ("url", "login", "token", "client", "secret"), "instapaper": ("login", "token")}
    names = needed.get(service, ("token",) if service == "readwise" else ("url", "token"))
    if missing := [name for name in names if not fields.get(name)]:
        raise ValidationError(_("Fill in: %(name)s.") % {"name": TargetForm.base_fields[missing[0]].label})
    parcel = {"service": service, **{name: fields[name] for name in names if name != "login"}}
    if "login" in names:
        parcel["name"] = fields["login"]
    return json.dumps(parcel), dict(READ_LATER)[service]


_ADDRESSES = {
    "mail": _mail_address,
    "service": _service_address,
    "webhook": _webhook_address,
    "save": _save_address,
}
