"""The type of texts for people, which may be translated only when they are shown."""

from __future__ import annotations

from django.utils.functional import Promise

Words = str | Promise
