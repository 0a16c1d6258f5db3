"""Templates without their indentation.

A list of thirty feeds was 88 kB of HTML, a quarter of it spaces at the start of lines; without them it is
66 kB, and the list of Read 104 in place of 117 (`benchmarks.pages`, 200 feeds). The formatter of templates
sees to it that no page needs these spaces: what is shown as written, in `pre` and `textarea`, are values.
"""

from __future__ import annotations

import re

from django.template import Origin
from django.template.loaders import filesystem

_INDENTATION = re.compile(r"\n[ \t]+")


def without_indentation(source: str) -> str:
    """Return the text of a template without spaces at the start of lines. It has the same lines."""
    return _INDENTATION.sub("\n", source)


class Loader(filesystem.Loader):
    """Loads the templates of the project."""

    def get_contents(self, origin: Origin) -> str:
        """Return the text of a template without its indentation, if it is HTML."""
        contents = super().get_contents(origin)
        return without_indentation(contents) if str(origin.name).endswith(".html") else contents
