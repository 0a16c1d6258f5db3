"""How much of hand-marked article pages survives extraction: text, headings, images, code, tables, links.

    python -m benchmarks.extraction ../shared/data/world [--half tune|judge] [--pages]

`marked_pages.json` says for each page where its article is (XPath) and what in it is none. Kept is the share
of the marked article's elements that stand in what Freshet makes of the page; boilerplate is the share of the
words made that do not stand in the marked article.
"""

from __future__ import annotations

import argparse
import json
import time
import zipfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any
from urllib.parse import urldefrag

from lxml import etree, html

from crawler.reading.addresses import absolute
from crawler.reading.pages import extract_page
from crawler.reading.pages.structure import words_of
from crawler.reading.pages.tree import UNREAD

MARKS = Path(__file__).with_name("marked_pages.json")
PARTS = ("headings", "images", "code", "tables", "lists", "links")


@dataclass(frozen=True, slots=True)
class Article:
    """The words and the elements of an article: for each part a multiset of what tells its elements apart."""

    words: Counter[str]
    parts: dict[str, Counter[Any]]


def article_of(roots: Iterable[Any], base: str) -> Article:
    """Return the words and elements in these trees; addresses are joined with `base`."""
    words: Counter[str] = Counter()
    parts: dict[str, Counter[Any]] = {part: Counter() for part in PARTS}
    for root in roots:
        words.update(words_of(text_of(root)))
        for element in root.iter():
            name = element.tag
            if not isinstance(name, str):
                continue
            text = words_of(text_of(element))
            if name in {"h1", "h2", "h3", "h4", "h5", "h6"} and text:
                parts["headings"][text] += 1
            elif name == "img" and absolute(base, element.get("src") or ""):
                parts["images"][absolute(base, element.get("src"))] += 1
            elif name == "pre" and text:
                parts["code"][text] += 1
            elif name == "table" and text and element.find(".//pre") is None:
                parts["tables"][text[:20]] += 1
            elif name == "li" and text:
                parts["lists"][text[:12]] += 1
            elif name == "a" and not element.get("href", "#").startswith("#") and text:
                parts["links"][urldefrag(absolute(base, element.get("href")))[0]] += 1
    return Article(words, parts)


def text_of(element: Any) -> str:
    """Return the element's text, with a space where an element begins or ends."""
    return " ".join(element.itertext())


def marked_article(body: bytes, mark: dict[str, Any], base: str) -> Article:
    """Return the article as a person marked it: all elements are looked up before any of them is removed."""
    try:
        body.decode()
        parser = html.HTMLParser(encoding="utf-8")
    except UnicodeDecodeError:
        parser = html.HTMLParser()
    root: Any = html.document_fromstring(body, parser=parser)
    roots = root.xpath(mark["include"])
    for node in [node for path in mark["exclude"] for node in root.xpath(path)]:
        if isinstance(node, str):
            setattr(node.getparent(), "text" if node.is_text else "tail", None)  # type: ignore[attr-defined]
        else:
            node.drop_tree()
    for element in [element for kept in roots for element in kept.iter(*UNREAD, "noscript", etree.Comment)]:
        element.drop_tree()
    for image in [image for kept in roots for image in kept.iter("img", "amp-img")]:
        image.tag = "img"
        image.set("src", image.get("data-src") or image.get("src") or "")
    return article_of(roots, base)


def shared(one: Counter[Any], other: Counter[Any]) -> int:
    """Return the number of elements that two multisets have in common."""
    return (one & other).total()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, help="with the archives of sites")
    parser.add_argument("--half", choices=["tune", "judge"], help="only these pages")
    parser.add_argument("--pages", action="store_true", help="a line for each page")
    options = parser.parse_args()
    marks = [mark for mark in json.loads(MARKS.read_text()) if options.half in {None, mark["half"]}]
    shares: dict[str, list[float]] = {part: [] for part in PARTS}
    scores, boilerplate, seconds = [], [], []
    for mark in marks:
        with zipfile.ZipFile(options.folder / mark["zip"]) as archive:
            body = archive.read(mark["member"])
        began = time.process_time()
        page = extract_page(body, url=mark["url"], content_type="text/html")
        seconds.append(time.process_time() - began)
        made = article_of([html.fromstring(f"<div>{page.content}</div>")], mark["url"])
        marked = marked_article(body, mark, mark["url"])
        common = shared(marked.words, made.words)
        precision = common / max(made.words.total(), 1)
        recall = common / max(marked.words.total(), 1)
        scores.append(2 * precision * recall / max(precision + recall, 1e-9))
        boilerplate.append(1 - precision)
        line = []
        for part in PARTS:
            count, total = shared(marked.parts[part], made.parts[part]), marked.parts[part].total()
            if total:
                shares[part].append(count / total)
            line.append(f"{part} {count}/{total}+{made.parts[part].total() - count}")
        if options.pages:
            print(f"{scores[-1]:.3f} r{recall:.2f} p{precision:.2f}", mark["zip"], mark["member"][:60], *line)
    print(
        f"{len(marks)} pages, F1 of the text {mean(scores):.3f}, boilerplate {100 * mean(boilerplate):.1f} %",
        end=" ",
    )
    print(f"of the words made, {1000 * mean(seconds):.0f} ms a page")
    for part in PARTS:
        print(
            f"{part}: {100 * mean(shares[part]):.1f} % kept, mean of {len(shares[part])} pages that have any"
        )


if __name__ == "__main__":
    main()
