"""Form fields that several apps use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError

# Django's own class takes no type parameter at run time.
if TYPE_CHECKING:
    RowForm = forms.ModelForm[Any]
else:
    RowForm = forms.ModelForm

MOST_LINES = 1000


class LinesField(forms.CharField):
    """A text of lines, as the list of those that are not blank."""

    widget = forms.Textarea(attrs={"rows": 4, "spellcheck": "false"})

    def to_python(self, value: object) -> list[str]:  # type: ignore[override]
        lines = [line.strip() for line in str(value or "").splitlines() if line.strip()]
        if len(lines) > MOST_LINES:
            raise ValidationError(f"At most {MOST_LINES} lines.")
        return lines

    def validate(self, value: list[str]) -> None:
        if self.required and not value:
            raise ValidationError(self.error_messages["required"], code="required")

    def run_validators(self, value: list[str]) -> None:
        """None are for lists."""

    def prepare_value(self, value: object) -> object:
        return "\n".join(value) if isinstance(value, list) else value
