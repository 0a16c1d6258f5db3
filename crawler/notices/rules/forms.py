"""The form of a rule about articles: what an article must be, and what is then done."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from articles.personal.labels import MAX_LABELS, label_named
from crawler.notices.forms import AboutForm, about_of
from crawler.notices.models import ARTICLE_CONDITIONS, Rule, Target


class LabelsField(forms.CharField):
    """Labels separated by commas."""

    def to_python(self, value: object) -> list[str]:  # type: ignore[override]
        names = (label_named(name) for name in re.split(r"[,\n]", str(value or "")))
        return sorted({name for name in names if name})

    def run_validators(self, value: object) -> None:
        """Check nothing more."""

    def prepare_value(self, value: object) -> object:
        return ", ".join(value) if isinstance(value, list) else value


class ArticleRuleForm(AboutForm):
    """A rule that does something to articles."""

    with_sites = False
    deeds = forms.MultipleChoiceField(
        choices=Rule.Deed.choices, required=False, widget=forms.CheckboxSelectMultiple
    )
    labels = LabelsField(required=False, max_length=1000, label=gettext_lazy("Labels"))

    class Meta:
        model = Rule
        fields = (
            "name", "query", "words", "without_words", *ARTICLE_CONDITIONS, "deeds", "labels", "targets",
        )  # fmt: skip
        widgets = {"targets": forms.CheckboxSelectMultiple}

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user
        self.fields["targets"].queryset = Target.objects.filter(user=user)  # type: ignore[attr-defined]
        self.fields["targets"].required = False
        self.fields["about"].choices = self._abouts()  # type: ignore[attr-defined]
        self.initial.setdefault("about", about_of(self.instance))

    def clean(self) -> dict[str, Any]:
        """Require a deed, its labels, and some condition."""
        fields: dict[str, Any] = super().clean() or {}
        deeds = set(fields.get("deeds", ()))
        if fields.get("labels"):
            deeds.add(Rule.Deed.LABEL)
        if Rule.Deed.LABEL in deeds and not fields.get("labels"):
            self.add_error("labels", _("Write the label that it gets."))
        if len(fields.get("labels", ())) > MAX_LABELS:
            self.add_error("labels", _("%(most)d labels are enough.") % {"most": MAX_LABELS})
        fields["deeds"] = [deed for deed in Rule.Deed.values if deed in deeds]
        if not deeds:
            self.add_error("deeds", _("Choose what is done to the article."))
        return fields

    def save(self, commit: bool = True) -> Rule:
        """Store the rule, for articles that come from now on."""
        rule: Rule = self.instance
        rule.user, rule.when = self.user, Rule.When.ARTICLE
        if rule.pk is None:
            rule.looked = rule.acted = datetime.now(UTC)
        saved: Rule = super().save(commit)
        return saved
