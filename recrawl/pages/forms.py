"""Forms that watch a site or chosen pages, and change how they are watched."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from crawler.fetching.browser.look import missing
from crawler.web.forms import LinesField, RowForm
from crawler.web.sentences import translated
from crawler.web.validators import is_pattern
from recrawl.importing.browser_steps import lines_of_steps, steps_of_lines
from recrawl.models import LIST_DEFAULTS, SETTINGS, Site, is_part, is_region, is_selector
from recrawl.pages.telling import TellingWish
from recrawl.visiting.mapping import MAX_CHOSEN, SiteError, checked_addresses

EVERY = [
    (1 / 24, gettext_lazy("every hour")),
    (0.25, gettext_lazy("every six hours")),
    (1.0, gettext_lazy("every day")),
    (7.0, gettext_lazy("every week")),
    (30.0, gettext_lazy("every 30 days")),
]
BUDGETS = [
    (0.1, gettext_lazy("a tenth of the pages at most, the likeliest to have changed")),
    (0.25, gettext_lazy("a quarter of the pages at most, the likeliest to have changed")),
    (0.5, gettext_lazy("half of the pages at most, the likeliest to have changed")),
    (1.0, gettext_lazy("all pages, each time")),
]


class ChoiceNumber(forms.FloatField):
    """A number that is chosen from some with words; another present value stays among the choices."""

    widget = forms.Select

    def __init__(self, choices: list[tuple[float, Any]], words: Any, **options: Any) -> None:
        """Choose from `choices`; `words` say what an empty choice means, %s in it a value without words."""
        super().__init__(required=False, **options)
        self._choices, self._words = choices, words
        self.widget.choices = [("", words), *((repr(value), text) for value, text in choices)]

    def prepare_value(self, value: Any) -> Any:
        try:
            number = float(value)
        except (TypeError, ValueError):
            return value
        if number not in dict(self._choices):
            self.widget.choices = [*self.widget.choices, (repr(number), f"{number:g}")]
        return repr(number)


class StepsField(LinesField):
    """A field for the steps of a browser, one to a line."""

    def to_python(self, value: object) -> Any:
        if isinstance(value, list):
            return value
        try:
            return steps_of_lines(super().to_python(value))
        except ValueError as error:
            raise ValidationError(translated(str(error))) from error

    def run_validators(self, value: Any) -> None:
        """Leave it: the steps were checked as they were read."""

    def has_changed(self, initial: Any, data: Any) -> bool:
        return True

    def prepare_value(self, value: object) -> object:
        if isinstance(value, list) and all(isinstance(step, dict) for step in value):
            return "\n".join(lines_of_steps(value))
        return value


class SettingsForm(RowForm):
    """The settings of a watch: how often, how many pages, what of them counts, what is reported.

    A field that is not sent keeps its value.
    """

    every = ChoiceNumber(
        EVERY,
        gettext_lazy("as usual: a site every week, chosen pages every day"),
        label=gettext_lazy("How often"),
    )
    budget = ChoiceNumber(
        BUDGETS,
        gettext_lazy("as usual: a quarter of a site, all chosen pages"),
        label=gettext_lazy("How many pages each time"),
    )
    parts = LinesField(
        required=False,
        validators=[is_part],
        label=gettext_lazy("Only these parts"),
        help_text=gettext_lazy(
            "One to a line: css:SELECTOR or xpath:EXPRESSION in pages, jsonpath:EXPRESSION or jq:EXPRESSION "
            "in JSON. Without any the whole page counts."
        ),
    )
    ignore_selectors = LinesField(
        required=False,
        validators=[is_selector],
        label=gettext_lazy("Ignore elements"),
        help_text=gettext_lazy("CSS selectors, one to a line. What they match does not count as a change."),
    )
    ignore_patterns = LinesField(
        required=False,
        validators=[is_pattern],
        label=gettext_lazy("Ignore lines of text"),
        help_text=gettext_lazy("Regular expressions, one to a line. Lines that match do not count."),
    )
    trigger_patterns = LinesField(
        required=False,
        validators=[is_pattern],
        label=gettext_lazy("Only if a changed line has"),
        help_text=gettext_lazy("Words or regular expressions, one to a line; one of them is enough."),
    )

    steps = StepsField(
        required=False,
        label=gettext_lazy("Steps before it is read"),
        help_text=gettext_lazy(
            "One to a line: click SELECTOR, type SELECTOR = TEXT, wait SECONDS, wait for SELECTOR, scroll."
        ),
    )
    visual_ignored = LinesField(
        required=False,
        validators=[is_region],
        label=gettext_lazy("Regions of the picture that do not count"),
        help_text=gettext_lazy("One to a line: left, top, width, height in pixels."),
    )

    class Meta:
        model = Site
        fields = list(SETTINGS)
        labels = {
            "method": gettext_lazy("Method"),
            "max_pages": gettext_lazy("Pages at most"),
            "minimum_change": gettext_lazy("Smallest change, in characters"),
            "compared": gettext_lazy("Compare"),
            "direction": gettext_lazy("Tell of"),
            "minimum_percent": gettext_lazy("Smallest change, in percent of the text"),
            "number_rule": gettext_lazy("Only if the price or first number"),
            "number": gettext_lazy("Number"),
            "keep_copies": gettext_lazy("Keep the bytes"),
            "browser": gettext_lazy("Open it in a browser"),
            "visual_percent": gettext_lazy("Also if the picture looks different, in percent"),
        }
        help_texts = dict.fromkeys(
            ("compared", "direction", "minimum_change", "minimum_percent", "number_rule", "number"), ""
        )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in SETTINGS:
            self.fields[name].required = False

    @property
    def no_browser(self) -> str:
        """Return why this machine has no browser, an empty text if it has one."""
        return missing()

    @property
    def is_list(self) -> bool:
        """True if the watch is of chosen pages."""
        return bool(self.instance.is_list)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        usual = LIST_DEFAULTS if self.is_list else {}
        for name in SETTINGS:
            if name in self.errors:
                continue
            field: Any = Site._meta.get_field(name)
            if name in self.data and cleaned.get(name) in (None, "") and not field.empty_strings_allowed:
                cleaned[name] = usual.get(name, field.get_default())
            elif name not in self.data:
                is_new = self.instance.pk is None
                cleaned[name] = (
                    usual.get(name, field.get_default()) if is_new else getattr(self.instance, name)
                )
        return cleaned


class PagesField(LinesField):
    """A field for the addresses of chosen pages."""

    def __init__(self, **options: Any) -> None:
        super().__init__(limit=MAX_CHOSEN, **options)

    def validate(self, value: list[str]) -> None:
        super().validate(value)
        if value:
            try:
                checked_addresses(value)
            except SiteError as error:
                raise ValidationError(str(error)) from error


class ListForm(SettingsForm):
    """The settings of a list, and the addresses of its pages."""

    pages = PagesField(
        label=gettext_lazy("Its pages"), help_text=gettext_lazy("Their addresses, one to a line.")
    )

    field_order = ["pages"]


class SiteForm(SettingsForm):
    """The addresses and the settings of a new watch."""

    url = LinesField(
        limit=MAX_CHOSEN,
        label=gettext_lazy("Address"),
        widget=forms.Textarea(
            attrs={
                "rows": 1, "placeholder": "https://example.org/", "inputmode": "url", "spellcheck": "false",
                "autocapitalize": "off",
            }
        ),
    )  # fmt: skip
    kind = forms.ChoiceField(
        required=False,
        label=gettext_lazy("What to watch"),
        choices=[
            ("site", gettext_lazy("the whole site, or the section below this address")),
            ("pages", gettext_lazy("only this page; of several addresses, one to a line, only these pages")),
        ],
        initial="site",
        widget=forms.RadioSelect,
    )

    field_order = ["url", "kind"]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.data.get("kind") == Site.Kind.PAGES:
            self.instance.kind = Site.Kind.PAGES

    def clean_url(self) -> list[str]:
        """Return the addresses: of a site one."""
        addresses: list[str] = self.cleaned_data["url"]
        if not self.is_list and len(addresses) > 1:
            raise ValidationError(_("A site has one address. Several addresses are a list of pages."))
        return addresses


class WatchForm(SiteForm):
    """The form of a new watch: its addresses, the parts picked on a page, and when to tell of them.

    `part` are selectors of picked parts, an empty one the whole page; more can be written in `parts`.
    """

    part = forms.MultipleChoiceField(required=False)
    when = forms.ChoiceField(
        required=False,
        choices=[
            (name, name)
            for name in ("any", "added", "removed", "words", "below", "above", "falls", "available")
        ],
    )
    below = forms.FloatField(required=False)
    above = forms.FloatField(required=False)
    words = forms.CharField(required=False, max_length=300)
    places = forms.MultipleChoiceField(required=False)
    own_mail = forms.BooleanField(required=False)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in ("part", "places"):
            sent = self.data.getlist(name) if hasattr(self.data, "getlist") else []
            self.fields[name].choices = [(value, value) for value in sent]  # type: ignore[attr-defined]

    def clean_part(self) -> list[str]:
        """Return the picked parts, none if the whole page was picked."""
        picked: list[str] = self.cleaned_data["part"]
        for part in filter(None, picked):
            is_part(part)
        return [] if "" in picked else picked[:20]

    def clean_places(self) -> list[int]:
        """Return the primary keys of places."""
        places: list[str] = self.cleaned_data["places"]
        return [int(key) for key in places[:50] if key.isascii() and key.isdecimal() and len(key) < 18]

    def clean(self) -> dict[str, Any]:
        """Put the picked parts beside those that were written, and require what a choice needs."""
        fields = super().clean()
        when = fields.get("when", "")
        if when in {"below", "above"} and fields.get(when) is None and when not in self.errors:
            self.add_error(when, _("Write the number that it is compared with."))
        if "parts" in fields:
            fields["parts"] = list(dict.fromkeys([*fields.get("part", []), *fields["parts"]]))
        if when == "added":
            fields["direction"] = Site.Direction.ADDED
        if when == "removed":
            fields["direction"] = Site.Direction.REMOVED
        if when == "words":
            self._require_words(fields)
        return fields

    def _require_words(self, fields: dict[str, Any]) -> None:
        """Report a change only if a changed line has one of the words that were given, in any case."""
        words = [word.strip() for word in fields.get("words", "").split(",") if word.strip()]
        if not words and "words" not in self.errors:
            self.add_error("words", _("Write the words that it is to have."))
        written = fields.get("trigger_patterns", [])
        fields["trigger_patterns"] = [*written, *(f"(?i){re.escape(word)}" for word in words)]

    @property
    def wish(self) -> TellingWish:
        """Return when and where the person wants to be told."""
        fields, when = self.cleaned_data, self.cleaned_data["when"]
        condition = "" if when in {"any", "added", "removed", "words"} else when
        number = fields.get(condition) if condition in {"below", "above"} else None
        return TellingWish(condition, number, tuple(fields["places"]), fields["own_mail"])


def settings_form(site: Site, data: Any = None) -> SettingsForm:
    """Return the form of a watch's settings, of a list with its pages."""
    if not site.is_list:
        return SettingsForm(data, instance=site)
    pages = list(site.pages.order_by("id").values_list("url", flat=True))
    return ListForm(data, instance=site, initial={"pages": pages})
