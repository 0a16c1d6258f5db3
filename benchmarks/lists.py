"""The lists of articles that are found in pages without help, on captured sites, and how they last.

    python benchmarks/lists.py DIRECTORY... [--half judged] [--show SITE]

Reads zips of captured sites (files with a `manifest.json` that names their feeds). On home and section pages
the entries of the site's feeds that stand on the page are the truth: precision is the share of found entries
that are such or stand in the same folders as such, recall the share of the truth that is in the first list.
Entries that stand on most pages of a site, as those of a sidebar do, count on its home page alone. On
articles of the site, a list is an invention. Sites of every other name were tuned on, the others judge.

For sites with weekly states (`weeks` in the manifest) the list of the home page is followed from the first
week on: each article must come once, and a list that has moved must be proposed again.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from crawler.reading.documents import SourceRules
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import parse_feed
from crawler.reading.pages.tree import page_tree, text_of
from crawler.reading.sources.find import FoundList, find_lists
from crawler.reading.sources.kinds import PAGE
from crawler.reading.sources.read import Received, read_source

_SECTION = re.compile(
    r"/(archives?|blogs?|news|posts?|tags?|categor\w*|page/?\d+|author|articles?|topics?|[a-z]{2}|talks?|press|events?"
    r"|\d{4}|\d{4}/\d\d)(/[^/]+)?(/page/?\d+)?/?(index\.html?)?$|/page\d*/?\d+/?$|archives?\.html$",
    re.IGNORECASE,
)
_OVERVIEW = re.compile(r"/(tags?|categor\w+|authors?|archives?|page)(/[^/]*)?$", re.IGNORECASE)
_NO_PAGE = (".xml", ".json", ".rss", ".atom", ".txt", ".rdf")
SECTIONS, ARTICLES = 10, 6
"""Pages of a site that are looked at: sections, and articles on which no list is to be found."""


@dataclass
class Counts:
    """Found and missed entries, and lists where there are none."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    pages: int = 0
    articles: int = 0
    invented: int = 0

    def add(self, other: Counts) -> None:
        """Add the counts of a site."""
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def __str__(self) -> str:
        precision = self.right / max(self.right + self.wrong, 1)
        recall = self.right / max(self.right + self.missed, 1)
        return (
            f"{self.pages:4} pages: precision {precision:.3f}, recall {recall:.3f}; lists on "
            f"{self.invented} of {self.articles} articles"
        )


@dataclass
class CapturedSite:
    """A captured site: its pages by address with the entries of its feeds that each of them links to."""

    name: str
    base: str
    entries: set[str]
    pages: list[tuple[str, bytes, set[str]]] = field(default_factory=list)


def main() -> None:
    """Judge all sites of the directories."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path, nargs="+")
    parser.add_argument("--half", choices=["tuned", "judged", "both"], default="both")
    parser.add_argument("--show", default="", metavar="SITE", help="print what is wrong on this site")
    options = parser.parse_args()
    files = sorted(file for directory in options.directory for file in directory.glob("*.zip"))
    began, total = time.process_time(), Counts()
    for place, file in enumerate(sorted(files, key=lambda one: one.stem)):
        half = "judged" if place % 2 else "tuned"
        if options.half in (half, "both"):
            counts = _judged(_captured(file), shown=options.show == file.stem)
            print(f"{file.stem:20} {half:6} {counts}", flush=True)
            total.add(counts)
    print(f"{'all':27} {total}; {time.process_time() - began:.1f} s of processor time")
    for file in files:
        with zipfile.ZipFile(file) as archive:
            if "weeks" in (manifest := json.loads(archive.read("manifest.json"))):
                print(f"{file.stem:20} {_followed(archive, manifest)}")


def _captured(file: Path) -> CapturedSite:
    with zipfile.ZipFile(file) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        base, week = manifest["base_url"], "w00/" if "weeks" in manifest else ""
        entries: set[str] = set()
        for name in manifest.get("feeds", ()):
            try:
                document = parse_feed(archive.read(week + name), url=urljoin(base, name))
            except (ReadingError, KeyError):
                continue
            entries |= {_plain(entry.url) for entry in document.entries if entry.url}
        site = CapturedSite(manifest["name"], base, {url for url in entries if not _OVERVIEW.search(url)})
        for name in archive.namelist():
            if name.startswith(week) and name != "manifest.json" and not name.endswith(_NO_PAGE):
                body = archive.read(name)
                url = urljoin(base, re.sub(r"(^|/)index\.(html?|xhtml)$", r"\1", name.removeprefix(week)))
                if re.search(rb"<(html|body|!doctype)", body[:3000], re.IGNORECASE):
                    site.pages.append((url, body, _links(url, body) & site.entries))
    return site


def _links(url: str, body: bytes) -> set[str]:
    try:
        root = page_tree(text_of(body, "text/html"))
    except ReadingError:
        return set()
    found = set()
    for link in root.iter("a") if root is not None else ():
        try:
            found.add(_plain(urljoin(url, link.get("href") or "")))
        except ValueError:
            continue
    return found - {_plain(url)}


def _judged(site: CapturedSite, *, shown: bool) -> Counts:
    home = _plain(site.base)
    often = Counter(entry for _, _, on_page in site.pages for entry in on_page)
    everywhere = {entry for entry, count in often.items() if count > max(0.3 * len(site.pages), 8)}
    sections, articles = [], []
    for url, body, on_page in site.pages:
        truth = on_page if _plain(url) == home else on_page - everywhere
        if _plain(url) in site.entries:
            articles.append((url, body))
        elif len(truth) >= 3 and (_plain(url) == home or _SECTION.search(urlsplit(url).path)):
            sections.append((url, body, truth))
    chance = random.Random(1)
    chance.shuffle(sections)
    chance.shuffle(articles)
    sections.sort(key=lambda one: _plain(one[0]) != home)
    folders, counts = {_folder(entry) for entry in site.entries}, Counts()
    for url, body, truth in sections[: SECTIONS + 1]:
        found = {_plain(entry.url) for one in _lists(url, body)[:1] for entry in one.entries}
        wrong = {one for one in found - truth if one not in site.entries and _folder(one) not in folders}
        counts.add(Counts(len(found & truth), len(wrong), len(truth - found), 1))
        if shown and (wrong or truth - found):
            print(f"  {url}: wrong {sorted(wrong)[:5]}, missed {sorted(truth - found)[:5]}")
    for url, body in articles[:ARTICLES]:
        lists = _lists(url, body)
        counts.add(Counts(articles=1, invented=bool(lists)))
        if shown and lists:
            print(f"  {url}: {[(one.rules.entry, one.score) for one in lists]}")
    return counts


def _lists(url: str, body: bytes) -> list[FoundList]:
    try:
        root = page_tree(text_of(body, "text/html"))
    except ReadingError:
        return []
    return find_lists(root, url) if root is not None else []


def _followed(archive: zipfile.ZipFile, manifest: dict[str, Any]) -> str:
    """Follow the list of a home page week by week. Returns how often each article came, in a sentence."""
    url, rules, known = manifest["base_url"], SourceRules(), b""
    came: Counter[str] = Counter()
    moves = lost = weeks = 0
    for body in _home_pages(archive, manifest):
        weeks += 1
        if not rules.entry:
            lists = _lists(url, body)
            if not lists:
                return "no list on its home page"
            rules = lists[0].rules
        read = read_source(Received(body, url, "text/html"), PAGE, rules, known)
        if read.document is None and read.proposal is not None:
            moves, rules = moves + 1, read.proposal
            read = read_source(Received(body, url, "text/html"), PAGE, rules, known)
        if read.document is None:
            lost += 1
            continue
        known = read.document.fingerprints
        came.update(entry.url for entry in read.document.entries)
    twice = sum(count > 1 for count in came.values())
    return f"{weeks} weeks, {len(came)} articles, {twice} twice; proposed again {moves} times, lost {lost}"


def _home_pages(archive: zipfile.ZipFile, manifest: dict[str, Any]) -> Iterator[bytes]:
    names, body = set(archive.namelist()), b""
    for number in range(len(manifest["weeks"])):
        name = f"w{number:02}/{manifest.get('top', 'index.html')}"
        body = archive.read(name) if name in names else body
        yield body


def _plain(url: str) -> str:
    """Return an address without what differs between a feed's links and a page's."""
    parts = urlsplit(url.strip())
    path = re.sub(r"/index\.(html?|php)$", "/", unquote(parts.path)).rstrip("/")
    host = (parts.hostname or "").removeprefix("www.")
    return host + re.sub(r"\.html?$", "", path) + (f"?{parts.query}" if parts.query else "")


def _folder(address: str) -> str:
    return re.sub(r"\d+", "0", address.rpartition("/")[0])


if __name__ == "__main__":
    main()
