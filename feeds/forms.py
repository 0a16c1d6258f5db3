"""Forms that change feeds: addition by address or OPML, and actions on the feeds picked in a table."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError

from crawler.web.forms import LinesField
from feeds.adding import Added, WantedFeed, add_feeds
from feeds.categories import category_at, path_of
from feeds.filters import folder_choices
from feeds.opml import MAX_BYTES, import_opml

MAX_LINES = 200


class AddFeedsForm(forms.Form):
    """A form for addresses, one to a line, or an OPML file, and the folder to add them to."""

    addresses = LinesField(
        most=MAX_LINES,
        too_many="{lines} lines are too many here: give at most {most}, or an OPML file.",
        required=False,
        max_length=MAX_LINES * 2100,
        label="Addresses, one to a line",
        help_text="A feed's address, or a site's: then the feed that the site names is taken.",
        widget=forms.Textarea(
            attrs={
                "rows": 6,
                "placeholder": "https://example.org/feed.xml\nexample.net",
                "spellcheck": "false",
            }
        ),
    )
    opml = forms.FileField(
        required=False,
        label="or an OPML file",
        help_text="A list from another reader. Its folders are kept.",
        widget=forms.ClearableFileInput(attrs={"accept": ".opml,.xml,text/x-opml,text/xml,application/xml"}),
    )
    category = forms.CharField(
        required=False,
        max_length=400,
        label="Folder (optional)",
        help_text="Such as News / Technology; made where it is missing.",
        widget=forms.TextInput(attrs={"list": "categories", "autocomplete": "off"}),
    )

    follow = forms.BooleanField(
        required=False, initial=True, label="Follow them", help_text="Their articles appear under Read."
    )

    def clean_opml(self) -> bytes | None:
        """Return the bytes of the file. Raises ValidationError for a file larger than OPML files may be."""
        file = self.cleaned_data["opml"]
        if file is None:
            return None
        if file.size > MAX_BYTES:
            raise ValidationError(f"The file is larger than {MAX_BYTES // 1_000_000} MB.")
        content: bytes = file.read()
        return content

    def clean(self) -> None:
        """Require addresses or a file."""
        super().clean()
        if not self.errors and not self.cleaned_data["addresses"] and not self.cleaned_data["opml"]:
            raise ValidationError("Give at least one address, or choose an OPML file.")

    def add(self) -> list[Added]:
        """Add the feeds to the category, which is created where missing.

        Raises OpmlError for an unreadable file; no feed is added then.
        """
        fields = self.cleaned_data
        category = category_at(path_of(fields["category"]))
        from_file = import_opml(fields["opml"], category=category).outcomes if fields["opml"] else []
        key = category.pk if category else None
        return [*from_file, *add_feeds([WantedFeed(line, category=key) for line in fields["addresses"]])]


class PickedFeedsForm(forms.Form):
    """A form for an action on picked feeds."""

    action = forms.ChoiceField(choices=[(name, name) for name in ("pause", "resume", "retrieve", "move")])
    feed = forms.TypedMultipleChoiceField(coerce=int)
    category = forms.ChoiceField(required=False)
    next = forms.CharField(required=False, max_length=4000)

    def __init__(self, data: object) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        picked = data.getlist("feed") if hasattr(data, "getlist") else []
        keys = [key for key in picked if key.isascii() and key.isdecimal() and len(key) < 19]
        self.fields["feed"].choices = [(key, key) for key in keys]  # type: ignore[attr-defined]
        self.fields["category"].choices = [("", "none"), *folder_choices()]  # type: ignore[attr-defined]
