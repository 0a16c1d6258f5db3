"""Forms of the subscriber's own pages."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from articles.models import PersonalFeed, Subscriber, Topic
from articles.personal.following import folder_named
from articles.personal.selection import keywords
from crawler.web.filters import search_validator
from crawler.web.forms import LinesField

MAX_ADDRESSES = 100


class FollowForm(forms.Form):
    """A form for addresses to follow, one a line, and their folder."""

    addresses = LinesField(
        limit=MAX_ADDRESSES,
        too_many=gettext_lazy("{lines} addresses are too many at once; up to {most}, or an OPML file."),
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": "https://example.org/"}),
        label=gettext_lazy("Addresses"),
        help_text=gettext_lazy("One a line; the address of a site is fine, its feed is found."),
    )
    folder = forms.CharField(
        max_length=400,
        required=False,
        label=gettext_lazy("Folder"),
        help_text=gettext_lazy('Such as "News" or "News/Technology"; may be empty.'),
    )

    def clean_addresses(self) -> list[str]:
        return list(dict.fromkeys(self.cleaned_data["addresses"]))


class TopicForm(forms.Form):
    """A form for a topic to follow."""

    kind = forms.ChoiceField(choices=Topic.Kind.choices, label=gettext_lazy("What"))
    value = forms.CharField(
        max_length=200,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("A word or phrase, a category, or a site's address."),
    )


class SubscriptionForm(forms.Form):
    """A form for the folder and the subscriber's own title of a followed feed."""

    title = forms.CharField(
        max_length=400,
        required=False,
        label=gettext_lazy("Own title"),
        help_text=gettext_lazy("Empty: the feed's own."),
    )
    folder = forms.CharField(max_length=400, required=False)


class OpmlForm(forms.Form):
    """A form for a list of feeds from another reader."""

    file = forms.FileField(
        label=gettext_lazy("OPML file"),
        help_text=gettext_lazy("Exported by another feed reader; up to 20 MB."),
    )


class KeywordsFormField(forms.CharField):
    """A field for words and phrases, separated by commas or lines, as a list."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, max_length=10_000, **kwargs)

    def clean(self, value: Any) -> list[str]:
        return keywords(super().clean(value))

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value


class PersonalFeedForm(forms.Form):
    """A form for the filter and order of a personal feed, and how much of each article it shows."""

    name = forms.CharField(max_length=200)
    folder = forms.CharField(
        max_length=400,
        required=False,
        label=gettext_lazy("Folder"),
        help_text=gettext_lazy("Only this folder and those inside it; empty: everything."),
    )
    query = forms.CharField(
        max_length=300,
        required=False,
        label=gettext_lazy("Search"),
        help_text=gettext_lazy(
            "Then it holds what this search finds in all articles, also of feeds you do not follow."
        ),
        validators=[search_validator],
    )
    include = KeywordsFormField(
        widget=forms.Textarea(attrs={"rows": 2}),
        label=gettext_lazy("Only articles about"),
        help_text=gettext_lazy(
            "Words or phrases, separated by commas or lines; one of them is enough. Empty: all."
        ),
    )
    exclude = KeywordsFormField(
        widget=forms.Textarea(attrs={"rows": 2}),
        label=gettext_lazy("Never articles about"),
        help_text=gettext_lazy("Words or phrases; an article with any of them is left out."),
    )
    categories = KeywordsFormField(
        label=gettext_lazy("Only in categories"),
        help_text=gettext_lazy("Names separated by commas; one of them is enough. Empty: all."),
    )
    order = forms.ChoiceField(
        choices=PersonalFeed.Order.choices,
        widget=forms.RadioSelect,
        label=gettext_lazy("Order"),
        required=False,
        help_text=gettext_lazy(
            "By interest: what you are likely to open first; one place in ten goes to something new."
        ),
    )
    body = forms.ChoiceField(
        choices=PersonalFeed.Body.choices, widget=forms.RadioSelect, label=gettext_lazy("Of each article")
    )

    def __init__(
        self, *args: Any, subscriber: Subscriber, personal_feed: PersonalFeed | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._others = PersonalFeed.objects.filter(subscriber=subscriber)
        if personal_feed is not None:
            self._others = self._others.exclude(pk=personal_feed.pk)

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if self._others.filter(name=name).exists():
            raise forms.ValidationError(gettext_lazy("You have a personal feed of this name already."))
        return name

    def clean_folder(self) -> str:
        return folder_named(self.cleaned_data["folder"])

    def clean_order(self) -> str:
        return self.cleaned_data["order"] or PersonalFeed.Order.NEWEST
