"""Pages as tests compare them: without the line breaks that only make a template readable."""

from __future__ import annotations

import re


def flat(page: str | bytes) -> str:
    """Return a page with each element on one line.

    A line break beside a tag goes with the space around it, any other becomes one space.
    """
    text = page.decode() if isinstance(page, bytes) else page
    text = re.sub(r"(?<=>)\s*\n\s*|\s*\n\s*(?=[<>])", "", text)
    return re.sub(r"\s*\n\s*", " ", text)
