"""Write the pages of docs that are made from the code: `python docs/reference.py`.

Settings are the lines of crawler/settings.py that read the environment, with the comments above them;
commands are those of our apps, with their help.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from argparse import SUPPRESS, ArgumentParser
from collections import Counter
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DATABASE_URL", "none")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings")
import django
from django.core.management import get_commands, load_command_class

OURS = ("crawler", "feeds", "articles", "recrawl")
GENERAL = {
    "version", "verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks",
    "help",
}  # fmt: skip
SETTINGS_HEAD = """# Settings

All come from the environment. A bad value is refused at the start, by name. This page is made from
[crawler/settings.py](../crawler/settings.py) by `python docs/reference.py`.

What a variable leaves open, operators choose under *Settings*: requests a day and pace, retention, the mail
server, who may sign up and what one person may have, and under *More settings* nearly all else that is no
secret and no address (`crawler/engine/chosen.py`; `crawler/engine/left_out.py` has the others, with the
reasons). The page says when a change holds: at once, from the next round of visits, or after a restart.
`manage.py operator_settings` does the same. A variable that is set wins.
"""
LICENCES_HEAD = """# Licences

Freshet is under the Apache License 2.0 ([LICENSE](../LICENSE)). It is installed with these packages, each
under its own; none forbids what that licence allows. Fonts and scripts of the pages have theirs beside them.
This page is made by `python docs/reference.py`, with Python 3.11.
"""
QUESTIONS_HEAD = """# Twelve questions to the graph

All that was read is one graph: who wrote what, and which page links to which. These questions have pages
with their answers (`/graph/questions/`), are asked by the command `ask NAME`, and are listed by
`/api/graph/questions/`. Each is a way to begin one of your own: the page `/graph/query/` takes the query to
be changed, `ask --file FILE` answers it where there is no browser, and programs send it to `/graph/sparql`.

A document's statements are in a graph with the document's address as its name, so `GRAPH ?page { ... }` also
says where something stands; without it, all documents count as one. `<urn:crawl:meta>` says of each document
when it was read. Tests ask the twelve of a small recorded world
([test_questions.py](../tests/crawler/pipeline/test_questions.py)). This page is made by
`python docs/reference.py`.
"""
REPORTS_HEAD = """# Reports of others, tried here

What went wrong for the users of other readers, watchers and crawlers, by their public trackers: each report
is rebuilt as a small input and is a line of [tests/reports](../tests/reports), with its source and the value
that is right. One test runs them all. *Held* went right when it was first tried, *mended* went wrong or was
missing. This page is made by `python docs/reference.py`.
"""
KINDS = {
    "apps": "Apps and their interface (Fever, Google Reader)",
    "archives": "WARC archives",
    "article_rules": "Rules about articles, and filters of other programs",
    "assistants": "Assistants: words of strangers, schemas, sign-in",
    "caching": "Caching, 304 and 429",
    "charsets": "Character sets",
    "content": "Content of feeds",
    "dates": "Dates",
    "discovery": "Finding the feed of a site",
    "edits": "Edits of articles, and what is none",
    "exports": "Exported lists: CSV, JSON, Markdown, WARC, BibTeX, RIS",
    "feeds": "Feeds: RSS, Atom, JSON Feed, RDF",
    "files": "What pictures and PDF files say of themselves",
    "fulltext": "Full text of articles",
    "highlights": "Highlights: where quotes stand, and whether they still do",
    "histories": "Histories and versions of watched pages",
    "http": "HTTP and redirects",
    "identity": "Identity and edits of articles",
    "json_lists": "Lists of articles in JSON",
    "led_crawls": "Order, depth, limits and scope of crawls, and crawls led by a query",
    "lists": "Lists of articles in pages without a feed",
    "logins": "Pages and feeds behind a login",
    "marks": "Marks and what is kept",
    "moving": "Moving from other readers and watchers",
    "newsletters": "Newsletters and other mail",
    "news_sitemaps": "Sitemaps read as feeds",
    "notifications": "Notifications",
    "opml": "OPML of other readers",
    "pages": "Pages: settings, lists, health, sign-up",
    "pictures": "Pictures",
    "planning": "Planning of visits",
    "podcasts": "Podcasts and films",
    "prices": "Prices, stock and structured data of goods",
    "robots": "robots.txt",
    "rules": "Rules and filters",
    "saved_imports": "Files of saved pages from other programs",
    "saving": "Saving pages: addresses, doubles, tags, highlights",
    "scripted": "Pages made by scripts",
    "search": "Search, in many languages",
    "sitemaps": "Sitemaps",
    "social": "Social feeds",
    "structured": "Structured data for the graph",
    "urls": "Addresses and traps",
    "watching": "Watched pages and documents",
}
REPORTS_LEFT = """
## Left, and why

- **Prices.** A page that is only a list of goods states no price: which of them is meant would be a guess, a
  watch with a part says it. JSON-LD whose strings hold quotes that nobody escaped is lost as a block; the
  other blocks of the page count.
- **Lists.** "2 hours ago" is no date without another one in an attribute. What a page hides may be what a
  button shows later: it counts. Two entries with one address are one, unless all entries have that address.
- **Dates.** Day and month of `03/04/2026` cannot be told apart: no date is better than a wrong one.
- **Watched pages.** That only lines count which were never there before, and the sorting of lines, are
  settings of changedetection.io which Freshet does not have: an import names them. XPath is 1.0; functions
  of later versions are refused when the part is set. A page with lines of `pre` may tell one change when an
  older installation is renewed, since its lines were one before.
- **HTTP.** A server that answers 304 to a tag of its own although its document changed is believed.
- **Identity.** An article that gets another address and another guid is another article, as the maintainers
  of those readers decided.
- **Pages made by scripts.** An article that stands only in the JSON of a page's program, and neither in its
  HTML nor in its JSON-LD, has no text unless it is opened in a browser.
- **Newsletters.** One that a person forwards by hand is theirs: whose it was before, only words in many
  languages tell.
"""
COMMANDS_HEAD = """# Commands

In a clone `.venv/bin/python manage.py COMMAND`, in an installation `freshet COMMAND`. `COMMAND --help` says
the same. Django's own (`migrate`, `createsuperuser`, `shell` ...) are there, too. This page is made by
`python docs/reference.py`.
"""


def settings_page() -> str:
    """Return the page of all settings, by the sections of the file."""
    text = (ROOT / "crawler" / "settings.py").read_text()
    nodes = {node.lineno: node for node in ast.parse(text).body}
    page, comments = [SETTINGS_HEAD], [""]
    for number, line in enumerate(text.splitlines(), start=1):
        if heading := re.fullmatch(r"# --- (.+?) -+", line):
            page.append(f"\n## {heading[1]}\n")
        elif line.startswith("# "):
            comments.append(line[2:])
        for name, default in _variables(nodes[number]) if number in nodes else []:
            shown, words = f" ({default})" if default else "", " ".join(comments)
            page.append(f"- **`{name}`**{shown}{': ' if words else ''}{words}")
        if not line.startswith("# "):
            comments = []
    return re.sub(r"\n## [^\n]+\n\n(?=\n## |$)", "", "\n".join(page)) + "\n"


def _variables(node: ast.stmt) -> list[tuple[str, str]]:
    """Return the variables of the environment that a statement reads, with their defaults."""
    calls = [
        call
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "environment"
    ]
    read: dict[str, str] = {}
    for call in calls:
        name = str(call.args[0].value) if call.args and isinstance(call.args[0], ast.Constant) else ""
        if re.fullmatch("[A-Z_]+", name):
            default = ast.unparse(call.args[1]) if len(call.args) > 1 else ""
            read.setdefault(name, _plain(default))
    if "CELERY_BROKER_URL" in ast.unparse(node).partition("=")[0]:
        read = {"CELERY_BROKER_URL": ""}
    return list(read.items())


def _plain(default: str) -> str:
    """Return a default as people write it in the environment, empty for one that is computed."""
    words = {"True": "yes", "False": "no", "''": "", "()": ""}
    if default in words:
        return words[default]
    if re.fullmatch(r"\d+( \* \d+)+", default):
        return f"{eval(default):,}"  # noqa: S307 - numbers and stars
    if re.fullmatch(r"-?[\d.]+", default):
        return default
    if quoted := re.fullmatch(r"'([^']*)'", default):
        return quoted[1]
    if listed := re.fullmatch(r"\(('[^']*'(?:, '[^']*')*),?\)", default):
        return listed[1].replace("'", "")
    return ""


def commands_page() -> str:
    """Return the page of all commands of our apps."""
    django.setup()
    page = [COMMANDS_HEAD]
    for name, app in sorted(get_commands().items()):
        if str(app).split(".")[0] in OURS and name != "makemessages":  # for who works on this code
            command = load_command_class(str(app), name)
            parser = command.create_parser("freshet", name)
            page += [f"\n## {name}\n", " ".join(str(parser.description or "").split()) + "\n"]
            page += _arguments(parser)
    return "\n".join(page) + "\n"


def _arguments(parser: ArgumentParser) -> list[str]:
    rows = []
    for action in parser._actions:
        if action.dest in GENERAL or action.help == SUPPRESS:
            continue
        name = ", ".join(action.option_strings) or str(action.metavar or action.dest)
        if action.option_strings and action.nargs != 0:
            choices = "{" + ",".join(map(str, action.choices or ())) + "}"
            value = action.metavar or (choices if action.choices else action.dest.upper())
            name += f" {' '.join(value) if isinstance(value, tuple) else value}"
        words = " ".join(str(action.help or "").split()) % {"default": action.default, "prog": parser.prog}
        rows.append(f"- `{name}`{': ' if words else ''}{words}")
    return rows


def questions_page() -> str:
    """Return the page of the questions to the graph, with their SPARQL."""
    django.setup()
    from crawler.pipeline.sparql.questions import QUESTIONS  # noqa: PLC0415 - after the set-up

    page, audience = [QUESTIONS_HEAD], ""
    for question in QUESTIONS.values():
        if str(question.audience) != audience:
            audience = str(question.audience)
            page.append(f"\n## {audience}\n")
        page.append(f"### {question.text}\n\n{question.explanation} `ask {question.slug}`\n")
        page.append(f"```sparql\n{question.query}\n```\n")
    return "\n".join(page)


def licences() -> dict[str, str]:
    """Return the licence of each package that Freshet runs on here, as it names it."""
    names = re.findall(r"(?m)^([\w.-]+)(?:\[[^\]]*\])?==", (ROOT / "requirements" / "base.txt").read_text())
    by_package = {}
    for name in sorted(set(names)):
        try:
            about = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            continue  # of another system, or of another Python
        classes = [
            line.rpartition(":: ")[2] for line in about.get_all("Classifier", []) if "License ::" in line
        ]
        licence = about.get("License-Expression") or "; ".join(classes) or about.get("License") or ""
        by_package[name] = licence.partition("\n")[0]
    return by_package


def reports_page() -> str:
    """Return the page of the public reports in tests/reports: a row for each kind, and what is left."""
    page = [REPORTS_HEAD, "| kind | tried | held | mended | most from |", "|---|---:|---:|---:|---|"]
    total = Counter[str]()
    for file in sorted((ROOT / "tests" / "reports").glob("*.jsonl")):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        first = Counter("held" if line["at_first"] == "right" else "mended" for line in lines)
        numbered = (re.match(r"(?:([\w.-]+)/)?([\w.-]+) #?\d", line["source"]) for line in lines)
        projects = Counter(match[1] if match[2] == "v2" else match[2] for match in numbered if match)
        named = ", ".join(project for project, _ in projects.most_common(4))
        page.append(f"| {KINDS[file.stem]} | {len(lines)} | {first['held']} | {first['mended']} | {named} |")
        total += first
    page.append(f"| **all** | {total.total()} | {total['held']} | {total['mended']} | |")
    return "\n".join(page) + "\n" + REPORTS_LEFT


def licences_page() -> str:
    """Return the page of the licences of all packages."""
    rows = "\n".join(f"| {name} | {licence} |" for name, licence in licences().items())
    return f"{LICENCES_HEAD}\n| package | licence |\n|---|---|\n{rows}\n"


def main() -> None:
    """Write the pages."""
    (ROOT / "docs" / "licences.md").write_text(licences_page())
    (ROOT / "docs" / "settings.md").write_text(settings_page())
    (ROOT / "docs" / "commands.md").write_text(commands_page())
    (ROOT / "docs" / "questions.md").write_text(questions_page())
    (ROOT / "docs" / "reports.md").write_text(reports_page())


if __name__ == "__main__":
    main()
