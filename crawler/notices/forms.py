"""Forms of notifications: a rule as a sentence, and the address of a target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.forms import BoundField
from django.utils.dates import WEEKDAYS
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from articles.models import Subscription, Topic
from articles.personal.following import folders_of, subscriber_of
from crawler.engine.mailing import has_mail
from crawler.notices.models import RULE_ABOUT, RULE_FIELDS, Rule, Target, target_kinds
from crawler.notices.rules.matching import check_expression
from crawler.notices.targets import KINDS
from crawler.notices.targets.base import AddressError, AddressField
from crawler.notices.targets.mail import MailTarget
from crawler.notices.wording import unknown_places
from crawler.text.patterns import PatternError
from crawler.web.forms import RowForm
from crawler.web.roles import OPERATOR, is_at_least
from feeds.models import Feed
from recrawl.models import Site, WatchedPage

MAX_FEEDS_OFFERED = 300
HOURS = [(hour, f"{hour:02d}:00") for hour in range(24)]
_DEFAULTS = {
    "hour": 8,
    "weekday": 0,
    "feeds_at_least": 3,
    "lines_at_least": 1,
    "most_an_hour": 10,
    "pace": Rule.Pace.NOW,
}


class AboutForm(RowForm):
    """The parts of a form that say what a rule is about, and what an article must be for it."""

    about = forms.ChoiceField(required=False, label=gettext_lazy("About"))
    with_sites = True
    user: User

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
        rows_of_sites = Site.objects.order_by("url")[:MAX_FEEDS_OFFERED] if self.with_sites else []
        sites = [(site.pk, str(site)) for site in rows_of_sites]
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

    def clean_expression(self) -> str:
        """Check a regular expression."""
        return _checked_expression(self.cleaned_data["expression"])

    def clean_without_expression(self) -> str:
        """Check a regular expression."""
        return _checked_expression(self.cleaned_data["without_expression"])


class RuleForm(AboutForm):
    """A rule: when, about what, how often, where to."""

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
        fields = tuple(name for name in RULE_FIELDS if name not in RULE_ABOUT)
        widgets = {"targets": forms.CheckboxSelectMultiple, "text_template": forms.Textarea({"rows": 3})}

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user
        whens = [choice for choice in Rule.When.choices if choice[0] not in Rule.OPERATORS or _operates(user)]
        self.fields["when"].choices = whens  # type: ignore[attr-defined]
        self.fields["weekday"].widget = forms.Select(choices=list(WEEKDAYS.items()))
        self.fields["targets"].queryset = Target.objects.filter(user=user)  # type: ignore[attr-defined]
        if not settings.MODEL_URL:
            del self.fields["with_brief"]
        self.own_address = own_address(user)
        for name in _DEFAULTS:
            self.fields[name].required = False
        self.fields["about"].choices = self._abouts()  # type: ignore[attr-defined]
        self.initial.setdefault("about", about_of(self.instance))

    def clean(self) -> dict[str, Any]:
        """Check that the parts fit together."""
        fields: dict[str, Any] = super().clean() or {}
        if fields.get("condition") in Rule.BOUNDS and fields.get("number") is None:
            self.add_error("number", _("Write the number that it is compared with."))
        for name in ("title_template", "text_template"):
            if unknown := unknown_places(fields.get(name) or ""):
                self.add_error(name, _("$%(name)s is not known.") % {"name": unknown[0]})
        for name, value in _DEFAULTS.items():
            if fields.get(name) in (None, ""):
                fields[name] = value
        kind = fields.get("about", "")
        of_articles = fields.get("when") in Rule.OF_ARTICLES
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
            saved.targets.add(mail_target(self.user, self.own_address))
        return saved


def _checked_expression(expression: str) -> str:
    """Return an expression that can be used. Raises ValidationError, which says what is wrong with it."""
    try:
        check_expression(expression)
    except PatternError as error:
        raise ValidationError(_("This is no regular expression: %(why)s") % {"why": error}) from error
    return expression


def own_address(user: User) -> str:
    """Return the mail address that is offered to a person who has no place for messages yet, else ""."""
    is_offered = has_mail() and not Target.objects.filter(user=user).exists()
    return user.email if is_offered else ""


def mail_target(user: User, address: str) -> Target:
    target = Target(user=user, kind=MailTarget.key, name=address)
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


@dataclass(frozen=True, slots=True)
class TargetFormSection:
    """The part of a target's form for one kind: its fields, those that are folded, and a hint below."""

    kind: str
    fields: list[BoundField]
    group: str
    grouped: list[BoundField]
    hint: str


class TargetForm(forms.Form):
    """A target of any kind but a device, which a browser makes by itself."""

    kind = forms.ChoiceField(choices=lambda: [row for row in target_kinds() if KINDS[row[0]].fields])
    name = forms.CharField(max_length=100, required=False, label=gettext_lazy("Name"))

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for kind in KINDS.values():
            self.fields |= {field.name: _form_field(field) for field in kind.fields}

    def sections(self) -> Iterator[TargetFormSection]:
        """Yield what is asked for each kind."""
        for key, kind in KINDS.items():
            if not kind.fields:
                continue
            plain = [self[field.name] for field in kind.fields if not field.group]
            group = next((field.group for field in kind.fields if field.group), "")
            grouped = [self[field.name] for field in kind.fields if field.group]
            hint = mark_safe(_(kind.hint)) if kind.hint else ""  # noqa: S308 - of the sources
            yield TargetFormSection(key, plain, group, grouped, hint)

    def clean(self) -> dict[str, Any]:
        """Check the fields of the chosen kind, and make the address of them."""
        fields: dict[str, Any] = super().clean() or {}
        kind = fields.get("kind", "")
        if kind not in KINDS:
            return fields | {"address": ""}
        try:
            fields["address"], name = KINDS[kind].address_of(fields)
        except AddressError as error:
            words = _(error.message) % {key: _(label) for key, label in error.names.items()}
            self.add_error(kind if kind in self.fields else None, words)
            return fields
        except ValidationError as error:
            self.add_error(kind if kind in self.fields else None, error)
            return fields
        fields["name"] = fields.get("name") or name
        return fields


def _form_field(field: AddressField) -> forms.Field:
    options: dict[str, Any] = {"required": False, "label": gettext_lazy(field.label)}
    if field.choices:
        return forms.ChoiceField(choices=field.choices, **options)
    options |= {"max_length": field.max_length, "help_text": gettext_lazy(field.help) if field.help else ""}
    return forms.URLField(assume_scheme="https", **options) if field.is_url else forms.CharField(**options)
