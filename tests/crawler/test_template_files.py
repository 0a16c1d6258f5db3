"""Tests of the files of templates."""

import re
from pathlib import Path

from django.conf import settings
from django.template import TemplateDoesNotExist
from django.template.loader import get_template

from crawler.web.template_files import without_indentation


def test_lines_stay_and_their_indentation_goes():
    assert without_indentation("<ul>\n  <li>a  b</li>\n\n\t</ul>\n") == "<ul>\n<li>a  b</li>\n\n</ul>\n"


def test_no_template_holds_text_that_is_shown_as_written():
    """What stands in `pre` and `textarea` begins at once and is a value: indentation there would be seen."""
    shown = re.compile(r"<(pre|textarea)\b.*?</\1>", re.DOTALL)
    found = 0
    for path in Path(settings.SHARED_DIR / "templates").rglob("*.html"):
        for match in shown.finditer(path.read_text()):
            text = re.sub(r"{%.*?%}|{{.*?}}", "", match[0])
            assert "\n" not in re.sub(r"<[^>]*>", "", text), f"{path}: {text}"
            found += 1
    assert found > 3


def test_every_template_that_another_includes_is_there():
    named = re.compile(r'{%\s*(?:include|extends)\s+"([^"]+)"')
    folder = Path(settings.SHARED_DIR / "templates")
    missing = [
        f"{path.relative_to(folder)}: {name}"
        for path in folder.rglob("*.*")
        for name in named.findall(path.read_text())
        if not _is_there(name)
    ]
    assert missing == []


def _is_there(name: str) -> bool:
    try:
        get_template(name)
    except TemplateDoesNotExist:
        return False
    return True
