"""Forms of the pipeline's pages."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy, pgettext_lazy

from crawler.pipeline.models import SavedQuery, Stylesheet
from crawler.reading import detect
from crawler.web.forms import RowForm
from crawler.web.validators import is_pattern

KINDS = [
    (detect.HTML, "HTML"),
    (detect.XHTML, "XHTML"),
    (detect.XML, "XML"),
    (detect.TEXT, gettext_lazy("Plain text")),
    (detect.RSS_0, "RSS 0.9"),
    (detect.RSS_1, "RSS 1.0"),
    (detect.RSS_2, "RSS 2.0"),
    (detect.ATOM, "Atom"),
    (detect.JSON_FEED, "JSON Feed"),
    (detect.OPML, "OPML"),
    (detect.SITEMAP, gettext_lazy("Sitemap")),
    (detect.JSON, "JSON"),
    (detect.JSON_LD, "JSON-LD"),
    (detect.RDF_XML, "RDF/XML"),
    (detect.TURTLE, "Turtle"),
    (detect.TRIG, "TriG"),
    (detect.N_TRIPLES, "N-Triples"),
    (detect.N_QUADS, "N-Quads"),
]
"""Types of documents with their names for people."""


class FilterForm(forms.Form):
    """A rule on addresses."""

    pattern = forms.CharField(
        max_length=500, label=gettext_lazy("Regular expression"), validators=[is_pattern]
    )
    allow = forms.TypedChoiceField(
        choices=[
            ("deny", pgettext_lazy("rule", "deny")),
            ("allow", pgettext_lazy("rule", "allow")),
        ],
        coerce=lambda word: word == "allow",
        label=gettext_lazy("Rule"),
    )


class SavedQueryForm(RowForm):
    """A SPARQL query and the name to save it under."""

    class Meta:
        model = SavedQuery
        fields = ["name", "query"]
        error_messages = {"name": {"unique": gettext_lazy("There is a saved query with this name.")}}


class StylesheetForm(RowForm):
    """An XSLT stylesheet, the documents it is meant for, and one to try it on."""

    types = forms.MultipleChoiceField(
        choices=KINDS,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Only documents of these kinds"),
    )
    document = forms.CharField(
        max_length=4_096,
        required=False,
        label=gettext_lazy("Try it on the document at"),
        help_text=gettext_lazy("Empty: the newest one that fits."),
    )

    class Meta:
        model = Stylesheet
        fields = ["name", "content", "types", "pattern"]
        labels = {
            "name": pgettext_lazy("of a stylesheet", "Name"),
            "content": gettext_lazy("Stylesheet (XSLT 1.0)"),
            "pattern": gettext_lazy("Only addresses with"),
        }
        help_texts = {
            "content": gettext_lazy(
                "It makes RDF/XML of a document, and is given its address as the parameter url."
            ),
            "pattern": gettext_lazy("A regular expression; empty: every address."),
        }
        widgets = {"content": forms.Textarea(attrs={"rows": 14, "spellcheck": "false", "class": "code"})}
        error_messages = {"name": {"unique": gettext_lazy("There is a stylesheet with this name.")}}
