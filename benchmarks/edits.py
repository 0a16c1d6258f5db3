"""Which edits of articles are seen, and which changes around them are taken for some.

    python benchmarks/edits.py DIRECTORY... [--half judged] [--show 5]

Reads zips of captured sites. Each page of an article is read twice: as it was captured, and with changes made
to its HTML. Half of the pages get one edit (a word, a number, a name, the headline, a sentence added or taken
away, a paragraph added); all of them get changes of what stands around an article (a date of the last change,
a count of comments, other related links, an advertisement between paragraphs, a box to subscribe, another
menu, other quotation marks and spaces). Precision is the share of edits that were reported and made, recall
the share of those made that were reported. Sites of every other name were tuned on, the others judge.

Sites with weekly states are followed week by week: the truth is whether the sentences within the page's own
element for the article (`article`, `main`, or all of it) differ.
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
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from lxml import etree, html

from articles.edits.deciding import edit_of, is_prose, letters_of, plain, standing
from crawler.reading.documents import PageDocument
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import parse_feed
from crawler.reading.pages import extract_page
from crawler.reading.pages.tree import text_of

MARK = b"<!doctype html><!--changed-->"
"""The beginning of the pages that were changed here, which are UTF-8 whatever they say themselves."""
MOST = 150
"""Pairs of weekly states of one site that are compared."""
PAGES = 24
"""Articles of a site that are read."""
EDITS = ("word", "number", "name", "headline", "sentence added", "sentence removed", "paragraph added")
LINES = (
    "The council of the islands will hear both sides in the spring, the chairwoman said on Friday.",
    "Nobody at the harbour had expected the decision to be taken so soon after the storm.",
    "A second report, which has not been published, is said to come to another conclusion.",
)
NAMES = ("Miller", "Okafor", "Tanaka", "Lindqvist", "Moreau")
RELATED = (
    "Ten harbours that are worth a visit in winter", "How the lamps of the pier were found again",
    "The winter timetable and what it leaves out", "Why the ferry is late on Thursdays",
)  # fmt: skip


def main() -> None:
    """Judge all sites of the directories."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path, nargs="+")
    parser.add_argument("--half", choices=["tuned", "judged", "both"], default="both")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print so many of what is wrong")
    parser.add_argument("--unedited", action="store_true", help="make no edits, change furniture alone")
    parser.add_argument("--pages", type=int, default=PAGES, help="articles of a site that are read")
    options = parser.parse_args()
    files = sorted(
        (file for directory in options.directory for file in directory.glob("*.zip")), key=lambda f: f.stem
    )
    total: Counter[str] = Counter()
    began = time.process_time()
    for place, file in enumerate(files):
        half = "judged" if place % 2 else "tuned"
        if options.half in (half, "both"):
            counts = _site(file, options)
            print(f"{file.stem:20} {half:6} {_figures(counts)}", flush=True)
            total += counts
    print(f"{'all':27} {_figures(total)}")
    for edit in EDITS:
        print(f"  {edit:18} {total[f'seen {edit}']} of {total[f'made {edit}']} seen")
    print(f"{1000 * (time.process_time() - began) / max(total['pages'], 1):.1f} ms a page, read twice")


def _figures(counts: Counter[str]) -> str:
    precision = counts["right"] / max(counts["right"] + counts["invented"], 1)
    recall = counts["right"] / max(counts["made"], 1)
    return (
        f"{counts['pages']:4} pages: precision {precision:.3f}, recall {recall:.3f};"
        f" {counts['invented']} invented of {counts['pages'] - counts['made']} unedited"
    )


def _site(file: Path, options: argparse.Namespace) -> Counter[str]:
    counts: Counter[str] = Counter()
    with zipfile.ZipFile(file) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        if "weeks" in manifest:
            return _weeks(archive, manifest, options)
        captured = [
            page for _, page in zip(range(options.pages), _articles(archive, manifest, ""), strict=False)
        ]
    read = [(url, body, page) for url, body in captured if (page := _read(body, url)) is not None]
    for number, (url, body, page) in enumerate(read):
        dice = random.Random(f"{file.stem}{number}")
        others = [line for _, _, other in read[:7] if other is not page for line in other.text.splitlines()]
        edit = EDITS[number // 2 % len(EDITS)] if number % 2 and not options.unedited else ""
        changed = _changed(body, page, edit, dice)
        if changed is None:
            continue
        after = _read(changed, url)
        if after is None:
            continue
        pages = (
            letters_of(text_of(body, "text/html")),
            letters_of(text_of(changed, "text/html; charset=utf-8")),
        )
        seen = edit_of(standing(page.title, page.text), standing(after.title, after.text), others, pages)
        _count(counts, edit, seen is not None)
        if (seen is not None) != bool(edit) and counts["shown"] < options.show:
            counts["shown"] += 1
            _show(url, edit, seen, page, after)
    return counts


def _count(counts: Counter[str], edit: str, seen: bool) -> None:
    counts["pages"] += 1
    if edit:
        counts["made"] += 1
        counts[f"made {edit}"] += 1
        counts["right"] += seen
        counts[f"seen {edit}"] += seen
    else:
        counts["invented"] += seen


def _show(url: str, edit: str, seen: object, before: PageDocument, after: PageDocument) -> None:
    old, new = before.text.splitlines(), after.text.splitlines()
    print(f"  {url} {edit or 'unedited'}: {seen}")
    print("    -", [line[:90] for line in old if line not in new][:6])
    print("    +", [line[:90] for line in new if line not in old][:6])


def _articles(archive: zipfile.ZipFile, manifest: dict[str, Any], week: str) -> Iterator[tuple[str, bytes]]:
    """Yield the pages of a site that its feeds name."""
    base, names = str(manifest["base_url"]), set(archive.namelist())
    for feed in manifest.get("feeds", ()):
        try:
            document = parse_feed(archive.read(week + feed), url=urljoin(base, feed))
        except (ReadingError, KeyError):
            continue
        for entry in document.entries:
            path = re.sub(r"^https?://[^/]+/", "", entry.url).split("#")[0].split("?")[0]
            for name in (path, f"{path}index.html", f"{path.rstrip('/')}/index.html", f"{path}.html"):
                if week + name in names and name:
                    yield entry.url, archive.read(week + name)
                    break


def _read(body: bytes, url: str) -> PageDocument | None:
    charset = "; charset=utf-8" if body.startswith(MARK) else ""
    try:
        page = extract_page(body, url=url, content_type=f"text/html{charset}")
    except ReadingError:
        return None
    return page if len(page.text) > 600 else None


def _changed(body: bytes, page: PageDocument, edit: str, dice: random.Random) -> bytes | None:
    """Return the page with one edit and with changes around its article, None where no place was found."""
    root: Any = html.document_fromstring(text_of(body, "text/html"))
    lines = {plain(line) for line in page.text.splitlines() if is_prose(plain(line)) and len(line) > 80}
    blocks = [
        each
        for each in root.iter("p", "li", "div", "td")
        if each.text and plain(each.text_content()) in lines
    ]
    if len(blocks) < 3:
        return None
    if edit and not _edited(root, blocks, page, edit, dice):
        return None
    _furnish(root, blocks, dice)
    return MARK + etree.tostring(root, encoding="utf-8", method="html")


def _edited(root: Any, blocks: list[Any], page: PageDocument, edit: str, dice: random.Random) -> bool:
    """Make one edit. Returns False where the page has no place for it."""
    block = dice.choice(blocks)
    if edit == "headline":
        return _renamed(root, page.title)
    if edit == "paragraph added":
        added = etree.Element("p")
        added.text, added.tail = dice.choice(LINES), block.tail
        block.tail = None
        block.addnext(added)
    elif edit == "sentence added":
        block.text = f"{dice.choice(LINES)} {block.text}"
    elif edit == "sentence removed":
        match = re.search(r"^[^.]{40,300}\.\s+(?=\S)", block.text)
        block.text = block.text[match.end() :] if match else block.text
        return match is not None
    else:
        return _replaced(blocks, edit, dice)
    return True


def _renamed(root: Any, title: str) -> bool:
    """Change the headline wherever the page has it."""
    heads = [part for each in root.iter("h1", "h2", "h3") for part in each.iter("a", "span", "strong")]
    changed = False
    for each in [*root.iter("title", "h1", "h2", "h3", "meta"), *heads]:
        text = each.get("content") if each.tag == "meta" else each.text
        value = " ".join((text or "").split())
        if len(title.split()) < 3 or title not in value:
            continue
        changed, new = True, value.replace(title, f"{title} after all")
        if each.tag == "meta":
            each.set("content", new)
        else:
            each.text = new
    return changed


def _replaced(blocks: list[Any], edit: str, dice: random.Random) -> bool:
    """Put another word, number or name in the place of one."""
    patterns = {
        "word": r"\b[a-z]{5,12}\b",
        "number": r"\b\d{1,9}\b",
        "name": r"(?<=[a-z] )[A-Z][a-z]{3,12}\b",
    }
    for each in sorted(blocks, key=lambda _: dice.random()):
        places = list(re.finditer(patterns[edit], each.text))
        if places:
            place = dice.choice(places)
            new = {"word": "altogether", "name": dice.choice(NAMES)}.get(edit) or str(int(place[0]) + 9)
            each.text = each.text[: place.start()] + new + each.text[place.end() :]
            return True
    return False


def _furnish(root: Any, blocks: list[Any], dice: random.Random) -> None:
    """Change what stands around an article."""
    last, first = blocks[-1], blocks[0]
    related = "".join(f"<li><a href='/{line[:3]}'>{line}</a></li>" for line in dice.sample(RELATED, 3))
    extras = [
        f"<p class='date'>Updated {dice.randrange(2, 59)} minutes ago</p>",
        f"<p>{dice.randrange(2, 900)} comments</p>",
        f"<ul class='related'>{related}</ul>",
        f"<div class='ad'><p>Advertisement</p><p><a href='/{dice.random()}'>Buy this lamp</a></p></div>",
        "<div><h4>Subscribe to our newsletter</h4><p>Get the best of the week in your inbox.</p></div>",
        f"<div class='share'><span>{dice.randrange(9, 999)} shares</span> <a href='#'>Tweet</a></div>",
    ]
    for extra in dice.sample(extras, dice.randrange(2, 5)):
        element = html.fragment_fromstring(extra)
        place = dice.choice([first, dice.choice(blocks), last])
        element.tail, place.tail = place.tail, None
        place.addnext(element)
    for link in list(root.iter("nav"))[:1]:
        link.append(html.fragment_fromstring(f"<a href='/new'>New section {dice.randrange(99)}</a>"))
    other = dice.choice(blocks)
    other.text = other.text.replace("'", "’").replace("  ", " ").replace(" - ", " – ")


def _weeks(archive: zipfile.ZipFile, manifest: dict[str, Any], options: argparse.Namespace) -> Counter[str]:
    """Follow the articles of a site from week to week."""
    counts: Counter[str] = Counter()
    names = archive.namelist()
    weeks = sorted({name.split("/")[0] for name in names if re.match(r"w\d+/", name)})
    articles = {path for week in weeks for path in _paths(archive, manifest, f"{week}/")}
    now: dict[str, bytes] = {}
    for week in weeks:
        here = [name for name in names if name.startswith(f"{week}/") and name.partition("/")[2] in articles]
        for name in here:
            path, body = name.partition("/")[2], archive.read(name)
            if path in now and now[path] != body and counts["pages"] < MOST:
                others = [other for key, other in list(now.items())[:6] if key != path]
                _pair(counts, name, (now[path], body), others, options)
            now[path] = body
    return counts


def _pair(
    counts: Counter[str],
    name: str,
    bodies: tuple[bytes, bytes],
    others: list[bytes],
    options: argparse.Namespace,
) -> None:
    before, after = (_read(body, name) for body in bodies)
    if before is None or after is None:
        return
    truth = _words(bodies[0]) != _words(bodies[1])
    furniture = [line for body in others if (page := _read(body, name)) for line in page.text.splitlines()]
    seen = edit_of(standing(before.title, before.text), standing(after.title, after.text), furniture)
    counts["pages"] += 1
    counts["made"] += truth
    counts["right"] += truth and seen is not None
    counts["invented"] += seen is not None and not truth
    if truth != (seen is not None) and counts["shown"] < options.show:
        counts["shown"] += 1
        _show(name, "edited" if truth else "", seen, before, after)


def _paths(archive: zipfile.ZipFile, manifest: dict[str, Any], week: str) -> Iterator[str]:
    """Yield the paths of the articles that the feeds name in a week."""
    for feed in manifest.get("feeds", ()):
        try:
            document = parse_feed(archive.read(week + feed), url=urljoin(str(manifest["base_url"]), feed))
        except (ReadingError, KeyError):
            continue
        for entry in document.entries:
            path = re.sub(r"^https?://[^/]+/", "", entry.url).split("#")[0].split("?")[0].rstrip("/")
            yield from (path, f"{path}/index.html", f"{path}.html")


def _words(body: bytes) -> list[str]:
    """Return the sentences of the element that the page itself marks as its article, by their blocks."""
    root: Any = html.document_fromstring(text_of(body, "text/html"))
    for path in (
        "//article",
        "//main",
        "//*[@role='main']",
        "//*[contains(@class,'post-content')]",
        "//body",
    ):
        found = root.xpath(path)
        if len(found) == 1:
            root = found[0]
            break
    for bad in root.xpath(".//script|.//style|.//nav|.//aside|.//footer|.//time|.//form"):
        bad.drop_tree()
    blocks = (
        plain(each.text_content()) for each in root.iter("p", "li", "pre", "h2", "h3", "td", "blockquote")
    )
    return [line for line in blocks if is_prose(line)]


if __name__ == "__main__":
    main()
