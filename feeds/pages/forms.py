"""Forms that change feeds: addition by address or OPML, and actions on the feeds picked in a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy

from crawler.engine.logins import keep_login, login_header
from crawler.engine.models import SiteLogin
from crawler.fetching.http.logins import MAX_VALUE, LoginError, without_login
from crawler.fetching.http.urls import BadUrl
from crawler.reading.lines import SelectorFault
from crawler.web.forms import LinesField
from crawler.web.sentences import translated
from feeds.adding.add import Added
from feeds.adding.imports import start_import
from feeds.adding.opml import MAX_BYTES, Outline, at_once, feeds_in, import_outlines
from feeds.categories import category_at, path_of
from feeds.models import Category, FeedImport
from feeds.pages.filters import folder_choices
from feeds.rules import source_in

MAX_LINES = 200


class AddFeedsForm(forms.Form):
    """A form for addresses, one to a line, or an OPML file, and the folder to add them to."""

    addresses = LinesField(
        limit=MAX_LINES,
        too_many=gettext_lazy("{lines} lines are too many here: give at most {most}, or an OPML file."),
        required=False,
        max_length=MAX_LINES * 4200,
        label=gettext_lazy("Addresses, one to a line"),
        help_text=gettext_lazy("A feed's address, or a site's: then the feed that the site names is taken."),
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
        label=gettext_lazy("or an OPML file"),
        help_text=gettext_lazy("A list from another reader. Its folders are kept."),
        widget=forms.ClearableFileInput(attrs={"accept": ".opml,.xml,text/x-opml,text/xml,application/xml"}),
    )
    category = forms.CharField(
        required=False,
        max_length=400,
        label="Folder (optional)",
        help_text=gettext_lazy("Such as News / Technology; made where it is missing."),
        widget=forms.TextInput(attrs={"list": "categories", "autocomplete": "off"}),
    )

    follow = forms.BooleanField(
        required=False,
        initial=True,
        label=gettext_lazy("Follow them"),
        help_text=gettext_lazy("Their articles appear under Read."),
    )

    login_kind = forms.ChoiceField(
        choices=SiteLogin.Kind.choices, required=False, label=gettext_lazy("Kind of login")
    )
    login_name = forms.CharField(
        required=False,
        max_length=200,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("Your name there, or that of the header. A cookie or a token needs none."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false"}),
    )
    login_secret = forms.CharField(
        required=False,
        max_length=MAX_VALUE,
        strip=False,
        label=gettext_lazy("Password, or value"),
        help_text=gettext_lazy("It is stored encrypted and never shown again."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    share = forms.BooleanField(
        required=False,
        label=gettext_lazy("Everybody here may read it"),
        help_text=gettext_lazy("Otherwise it is yours alone."),
    )

    def clean_opml(self) -> UploadedFile[Any] | None:
        """Return the file. Raises ValidationError for a file larger than OPML files may be."""
        file: UploadedFile[Any] | None = self.cleaned_data["opml"]
        if file is not None and (file.size or 0) > MAX_BYTES:
            raise ValidationError(
                gettext_lazy("The file is larger than %(most)s MB.") % {"most": MAX_BYTES // 1000000}
            )
        return file

    def clean(self) -> None:
        """Require addresses or a file, and rules that can be used where there are some."""
        super().clean()
        try:
            for line in self.cleaned_data.get("addresses", ()):
                source_in(line)
        except SelectorFault as fault:
            raise ValidationError(translated(str(fault))) from fault
        if secret := self.cleaned_data.get("login_secret"):
            try:
                login_header(self._login_kind(), secret, self.cleaned_data["login_name"])
            except LoginError as error:
                self.add_error("login_secret", translated(str(error)))
        if not self.errors and not self.cleaned_data["addresses"] and not self.cleaned_data["opml"]:
            raise ValidationError(gettext_lazy("Give at least one address, or choose an OPML file."))

    def _login_kind(self) -> str:
        return self.cleaned_data.get("login_kind") or SiteLogin.Kind.BASIC

    def outlines(self) -> Iterator[Outline]:
        """Yield the feeds of the file, then those of the field. Raises OpmlError for an unreadable file."""
        fields = self.cleaned_data
        if fields["opml"]:
            yield from feeds_in(fields["opml"])
        for line in fields["addresses"]:
            kind, rules, address = source_in(line)
            has_login = bool(self.cleaned_data["login_secret"])
            is_own = has_login and not self.cleaned_data["share"]
            yield Outline(address, kind=kind, rules=rules, is_own=is_own)

    def _keep_logins(self, user: User) -> None:
        """Keep the login that was given for each of the addresses; that of a bad one is not."""
        data = self.cleaned_data
        for line in data["addresses"] if data["login_secret"] else ():
            owner = None if data["share"] else user.pk
            with suppress(BadUrl):
                bare = without_login(source_in(line)[2])[0]
                keep_login(bare, self._login_kind(), data["login_secret"], data["login_name"], owner)

    def start_import(self, user: User) -> FeedImport:
        """Add the feeds to the folder, which is made where missing, for this person to follow.

        Raises OpmlError for an unreadable file, and LimitReached for too many feeds; none is added then.
        """
        fields, file = self.cleaned_data, self.files.get("opml")
        self._keep_logins(user)
        return start_import(
            user,
            self.outlines(),
            name=file.name or "" if file else "",
            folder=fields["category"],
            follows=fields["follow"],
        )

    def add(self) -> list[Added]:
        """Add the feeds to the folder, for nobody to follow. Raises OpmlError as `start_import` does."""
        base = path_of(self.cleaned_data["category"])
        outlines = at_once(self.outlines())
        return import_outlines(
            [replace(outline, folder=(*base, *outline.folder)) for outline in outlines]
        ).outcomes


class PickedFeedsForm(forms.Form):
    """A form for an action on picked feeds. A folder is given by its key, or by its name in `folder`."""

    action = forms.ChoiceField(
        choices=[(name, name) for name in ("pause", "resume", "retrieve", "move", "remove")]
    )
    feed = forms.TypedMultipleChoiceField(coerce=int)
    category = forms.ChoiceField(required=False)
    folder = forms.CharField(required=False, max_length=400)
    next = forms.CharField(required=False, max_length=4000)

    def __init__(self, data: object) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        picked = data.getlist("feed") if hasattr(data, "getlist") else []
        keys = [key for key in picked if key.isascii() and key.isdecimal() and len(key) < 19]
        self.fields["feed"].choices = [(key, key) for key in keys]  # type: ignore[attr-defined]
        self.fields["category"].choices = [("", "none"), *folder_choices()]  # type: ignore[attr-defined]

    def target(self) -> Category | None:
        """Return the folder to move to, which is made where its name is new; None for no folder."""
        if name := self.cleaned_data["folder"]:
            return category_at(path_of(name))
        return Category.objects.filter(pk=self.cleaned_data["category"] or 0).first()


class NameAndFolderForm(forms.Form):
    """A form for a feed's name and folder."""

    title = forms.CharField(required=False, max_length=400, label=gettext_lazy("Name"))
    folder = forms.CharField(required=False, max_length=400)
