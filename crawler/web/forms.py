"""Form fields that several apps use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy

from crawler.text.words import Words

# Django's own class takes no type parameter at run time.
if TYPE_CHECKING:
    RowForm = forms.ModelForm[Any]
else:
    RowForm = forms.ModelForm

MAX_LINES = 1000


_TOO_MANY = gettext_lazy("At most {most} lines.")


class LinesField(forms.CharField):
    """A text field whose value is the list of its non-blank lines; validators check each line."""

    widget = forms.Textarea(attrs={"rows": 4, "spellcheck": "false"})

    def __init__(
        self,
        *,
        limit: int = MAX_LINES,
        too_many: Words = _TOO_MANY,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._limit, self._too_many = limit, too_many

    def to_python(self, value: object) -> list[str]:  # type: ignore[override]
        lines = [line.strip() for line in str(value or "").splitlines() if line.strip()]
        if len(lines) > self._limit:
            raise ValidationError(str(self._too_many).format(lines=len(lines), most=self._limit))
        return lines

    def validate(self, value: list[str]) -> None:
        if self.required and not value:
            raise ValidationError(self.error_messages["required"], code="required")

    def run_validators(self, value: list[str]) -> None:
        """Validate every line by itself."""
        for line in value:
            super().run_validators(line)

    def prepare_value(self, value: object) -> object:
        return "\n".join(value) if isinstance(value, list) else value
