"""The main content of a page as HTML with its structure: headings, images, code, tables and lists kept.

trafilatura decides which words belong to the article (`maintext`), for it decides well; the HTML that it
writes loses images, code and links. So the page's own tree is cut down instead. It keeps blocks whose words
occur in that text, plus images, formulas, code and tables between the first and the last of them, and
pictures, notes and references after the last. The rest of the tree is removed.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from lxml import etree, html

from crawler.reading.addresses import absolute
from crawler.reading.embeds import drop, replace_embed
from crawler.reading.pages.tree import UNREAD

MIN_RATIO, MAX_RATIO = 0.85, 1.6
"""Bounds of the length of the cut tree's text against the main text; outside them paragraphs are shown."""
MAX_TEXT = 400_000
"""Characters of a main text; a longer one is shown in paragraphs."""
MAX_WEIGHT = 30_000
"""Elements and attributes of a page, likewise."""
MIN_SHARE = 0.6
"""Share of a block's runs of words that must stand in the main text."""
RUN = 4
"""Words of a run."""
CONTAINER_SHARE = 0.97
MAX_LEAD_DISTANCE = 50
"""Elements by which a picture may stand before the first paragraph."""
MAX_LINK_SHARE = 0.6
MAX_CAPTION_WORDS = 40
MAX_CARD_WORDS = 300
MAX_LOOKED_AT = 60
"""Elements after a heading among which its part's text must begin."""

_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
    "hgroup", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot",
    "th", "thead", "tr", "ul",
})  # fmt: skip
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_MEDIA = frozenset({"img", "picture", "video", "audio", "iframe", "math", "figure", "object", "embed"})
_PARTS = frozenset(
    {"pre", "figure", "figcaption", "td", "th", "tr", "tbody", "thead", "tfoot", "caption", "table", "li"}
)
_ROWS = frozenset({"li", "dd", "td", "th"})
_WHOLE = frozenset({"p", "pre", "table", "ul", "ol", "figure", "blockquote", "li", "tbody"})
_LISTS = frozenset({"ul", "ol", "dl"})
_WRITTEN = frozenset({"p", "blockquote", "dd", "dt", "summary", "details"})
_GONE = UNREAD | {
    "form", "button", "select", "input", "textarea", "nav", "dialog", "menu", "canvas", "link", "meta",
    "label",
}  # fmt: skip
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+", re.UNICODE)
_FURNITURE = re.compile(
    r"(?:^|[\s_-])(?:share|sharing|social|related|recommend(?:ed|ations?)?|newsletter|subscribe|sign-?up|promo"
    r"|breadcrumbs?|pagination|pager|sidebar|comments?|respond|disqus|cookie|consent|advert(?:isement)?|ads?"
    r"|byline|author-?(?:box|bio|info|card)|post-?(?:meta|footer|nav(?:igation)?|tags)|entry-?(?:meta|footer)"
    r"|article-?(?:meta|footer)|tag-?list|tags-links|screen-reader-text|sr-only|visually-hidden"
    r"|skip-link|toc|table-of-contents|edit-(?:link|page|this-page)|avatar|modal|donate)(?:[\s_-]|$)",
    re.IGNORECASE,
)
_ANCHOR = re.compile(
    r"anchor|permalink|headerlink|heading-?link|hash-?link|header-link|direct-link", re.IGNORECASE
)
_ANCHOR_SIGNS = frozenset({"", "#", "¶", "§", "🔗", "link", "permalink", "anchor", "\u200b"})
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:lang(?:uage)?-|highlight-(?:source-|text-)?|brush:\s*)([\w+#.-]{1,30})", re.I
)
_NOTES = re.compile(
    r"(?:^|[\s_-])(?:footnotes?|endnotes?|references?|bibliography)(?:[\s_-]|$)", re.IGNORECASE
)
_CARD = re.compile(r"(?:link|blog|bookmark|embed|kg)[_-]?card|(?:^|[\s_-])card(?:[\s_-]|$)", re.IGNORECASE)
_TINY = re.compile(r"^\s*[01](?:px)?\s*$")
Words = tuple[str, ...]


def main_html(root: html.HtmlElement, text: str, title: str = "", base: str = "") -> str:
    """Return the page's article as HTML, to be sanitised by the caller; "" when there is no main text.

    `text` is the page's main text, a line for each paragraph, `title` the title that is shown above it and is
    left out here, `base` the address that tells which links leave the site. The tree is not changed. Where
    too much or too little of it matches the text, the lines of the text are returned as paragraphs.
    """
    if not text.strip():
        return ""
    is_large = len(text) > MAX_TEXT or sum(1 + len(element.attrib) for element in root.iter()) > MAX_WEIGHT
    cut = None if is_large else _cut_tree(root, text, title, base)
    if cut is not None:
        length, expected = _length(_readable(cut)), max(_length(text), 1)
        # The text of a short article is mostly its title, which the tree leaves out.
        if length <= MAX_RATIO * expected and length + _length(title) >= MIN_RATIO * expected:
            return str(etree.tostring(cut, encoding="unicode", method="html", with_tail=False))
    return paragraphs(text)


def base_of(root: html.HtmlElement, url: str) -> str:
    """Return the address with which relative addresses are joined: the base element's, else the page's."""
    base = root.find("head/base[@href]")
    return (absolute(url, base.get("href") or "") or url) if base is not None else url


def paragraphs(text: str) -> str:
    """Return the lines of a text as paragraphs of HTML."""
    return "".join(f"<p>{_escaped(line)}</p>" for line in text.split("\n") if line.strip())


class _MainText:
    """The runs of words of a main text, in which blocks of the page are looked up."""

    def __init__(self, text: str) -> None:
        self._runs: set[Words] = set()
        self._lines = {words_of(line) for line in text.split("\n")}
        words = words_of(text)
        for start in range(len(words)):
            for length in range(1, RUN + 1):
                self._runs.add(words[start : start + length])

    def share(self, words: Words) -> float:
        """Return the share of the runs of `words` that stand in the text, from 0 to 1."""
        if len(words) < RUN:
            return 1.0 if words in self._lines or (len(words) > 1 and words in self._runs) else 0.0
        runs = [words[start : start + RUN] for start in range(len(words) - RUN + 1)]
        return sum(run in self._runs for run in runs) / len(runs)


def words_of(text: str) -> Words:
    """Return the words of a text in lower case; a Chinese, Japanese or Korean sign is a word of its own."""
    return tuple(_WORD.findall(text.lower()))


def _cut_tree(root: html.HtmlElement, text: str, title: str, base: str) -> html.HtmlElement | None:
    body = root.find("body")
    if body is None:
        return None
    body = copy.deepcopy(body)
    _remove_unread(body)
    main_text = _MainText(text)
    matched = {block for block, words in _own_words(body) if words and main_text.share(words) >= MIN_SHARE}
    if not matched:
        return None
    container = _container(body, matched)
    cover = _cover(body, container)
    _remove_others(container, matched, words_of(title), _host(base))
    if cover is not None and not _pictures(cover) & _pictures(container):
        container.text, cover.tail = None, container.text
        container.insert(0, cover)
    _tidy(container)
    return container


def _remove_unread(body: html.HtmlElement) -> None:
    """Remove scripts, forms, and headers and footers of the page; noscript stays, which may hold an image."""
    for image in body.iter("amp-img"):
        image.tag = "img"
    for element in list(body.iter(*_GONE)):
        drop(element)
    for element in list(body.iter("header", "footer", "aside")):
        is_inner = element.tag != "aside" and _is_within(
            element, ("article", "main", "section", "blockquote")
        )
        if not is_inner and not element.xpath("boolean(.//h1 | .//article)"):
            drop(element)


def _is_within(element: html.HtmlElement, tags: Sequence[str]) -> bool:
    return next(element.iterancestors(*tags), None) is not None


def _own_words(body: html.HtmlElement) -> Iterator[tuple[html.HtmlElement, Words]]:
    """Yield each block with the words in it that stand in no block inside of it."""
    stack: list[tuple[html.HtmlElement, list[str]]] = []
    walk = etree.iterwalk(body, events=("start", "end"))
    for event, element in walk:
        is_block = element.tag in _BLOCKS
        if event == "start":
            if is_block:
                stack.append((element, [element.text or ""]))
            elif element.tag == "noscript":
                walk.skip_subtree()
            elif stack:
                stack[-1][1].append(("\n" if element.tag == "br" else "") + (element.text or ""))
            continue
        if is_block and stack and stack[-1][0] is element:
            block, pieces = stack.pop()
            yield block, words_of("".join(pieces))
        if stack and element is not body:
            stack[-1][1].append((" " if is_block else "") + (element.tail or ""))


def _container(body: html.HtmlElement, matched: set[html.HtmlElement]) -> html.HtmlElement:
    """Return the innermost element that holds nearly all words of the matched blocks."""
    weights: Counter[html.HtmlElement] = Counter()
    for block, words in _own_words(body):
        if block in matched:
            for element in (block, *block.iterancestors()):
                weights[element] += len(words)
    container, total = body, weights[body]
    while True:
        inner = next((child for child in container if weights[child] >= CONTAINER_SHARE * total), None)
        if inner is None or inner.tag in _WHOLE:
            return container
        container = inner


_COVER = re.compile(
    r"(?:^|[\s_-])(?:cover|featured|hero|banner|lead|thumbnail|post-image|wp-post-image|header-image)(?:[\s_-]|$)",
    re.I,
)


def _cover(body: html.HtmlElement, container: html.HtmlElement) -> html.HtmlElement | None:
    """Return a copy of the picture before the article that is named as its cover, None without one."""
    frame = next(container.iterancestors("article", "main"), body)
    for image in frame.iter("img"):
        if any(ancestor is container for ancestor in image.iterancestors()):
            return None
        holders = [image, *image.iterancestors()][:4]
        names = " ".join(f"{holder.get('class') or ''} {holder.get('id') or ''}" for holder in holders)
        if _COVER.search(names) and not _is_decoration(image) and not any(map(_is_furniture, holders)):
            figure = next(image.iterancestors("figure"), image)
            picture = copy.deepcopy(figure)
            picture.tail = None
            return picture
    return None


def _pictures(element: html.HtmlElement) -> set[str]:
    return {image.get("src") or image.get("data-src") or "" for image in element.iter("img")}


def _remove_others(
    container: html.HtmlElement, matched: set[html.HtmlElement], title: Words, host: str
) -> None:
    """Remove from the container what does not belong to the article.

    In the order of the document: before the first matched block only pictures near it stay, after the last
    one pictures, notes and references; between them go furniture and blocks of other words.
    """
    order = {element: number for number, element in enumerate(container.iter())}
    blocks = [block for block in matched if block in order and block is not container]
    if not blocks:
        return
    blocks.sort(key=order.__getitem__)
    first, end = order[blocks[0]], max(order[element] for element in blocks[-1].iter())
    holders = {ancestor for block in matched for ancestor in (block, *block.iterancestors())}
    kinds = _Kinds(holders)
    ending = _notes(container) | _ending(container, blocks[-1], kinds, host)
    for element in list(container.iterdescendants()):
        if not _is_attached(element, container) or _is_within(element, ("pre", "math")):
            continue
        if element in holders:
            is_kept = element not in matched or not _is_title(element, title)
        elif not isinstance(element.tag, str):
            is_kept = False
        elif order[element] > end and not _is_in_line(element, matched):
            is_kept = element in ending
        elif order[element] < first and not _is_in_line(element, matched):
            is_kept = _is_lead_picture(element, first - order[element]) or _is_inline(element, holders)
        else:
            is_kept = not _is_other(element, matched, kinds)
        if not is_kept:
            drop(element)


class _Kinds:
    """The kinds, by name and class, of the blocks of the article that stand beside each other."""

    def __init__(self, holders: set[html.HtmlElement]) -> None:
        self._kinds = {(block.getparent(), block.tag, block.get("class")) for block in holders}
        self._numbers = Counter(block.getparent() for block in holders)
        self._parents = {block.getparent() for block in holders if block.tag in _WRITTEN | _HEADINGS}

    def have(self, element: html.HtmlElement) -> bool:
        """Return whether an element is written like those beside it: one of their kind, or without a class.

        Markup that authors write has no classes, or everywhere the same; lists of related articles, of tags
        and of shares have their own.
        """
        parent = element.getparent()
        if (parent, element.tag, element.get("class")) in self._kinds:
            return True
        is_written = element.tag in _WRITTEN | _HEADINGS | _LISTS and parent in self._parents
        return is_written and not element.get("class")

    def have_most_of(self, block: html.HtmlElement | None) -> bool:
        """Return whether most parts of a list are the article's."""
        return block is not None and 2 * self._numbers[block] > len(block)


def _is_in_line(element: html.HtmlElement, matched: set[html.HtmlElement]) -> bool:
    """Return whether an element stands among the own words of a matched block, as links do."""
    return element.tag not in _BLOCKS and next(element.iterancestors(*_BLOCKS), None) in matched


def _notes(container: html.HtmlElement) -> set[html.HtmlElement]:
    """Return the elements that are named as notes or references, with what stands in them and around them."""
    notes: set[html.HtmlElement] = set()
    for element in container.iter("section", "div", "ol", "ul", "dl", "aside"):
        if _NOTES.search(f"{element.get('class') or ''} {element.get('id') or ''}"):
            notes.update(element.iter())
            notes.update(element.iterancestors())
    return notes


def _ending(
    container: html.HtmlElement, last: html.HtmlElement, kinds: _Kinds, host: str
) -> set[html.HtmlElement]:
    """Return the elements behind the last words that belong to the article: pictures and references.

    trafilatura leaves out lists and lines that are mostly links, and the last item of many a list.
    """
    ending: set[html.HtmlElement] = set()
    for place in (last, *last.iterancestors()):
        if place is container:
            break
        headings: list[html.HtmlElement] = []
        is_list_kept = kinds.have_most_of(place.getparent())
        for sibling in place.itersiblings():
            if _is_furniture(sibling) or sibling.tag in {"hr", "footer"}:
                return ending
            has_words = bool(words_of(_readable(sibling))) and sibling.tag not in {"pre", "figure", "table"}
            if has_words and not kinds.have(sibling):
                return ending
            if sibling.tag in _HEADINGS:
                headings.append(sibling)
            elif not has_words or (sibling.tag == "li" and is_list_kept) or _leads_elsewhere(sibling, host):
                ending.update(inner for kept_element in (*headings, sibling) for inner in kept_element.iter())
                headings = []
            else:
                return ending
    return ending


def _leads_elsewhere(element: html.HtmlElement, host: str) -> bool:
    """Return whether most of an element's links lead to other sites, as references do.

    A link with the site's own host in its address shares the page.
    """
    targets = [link.get("href") or "" for link in element.iter("a")]
    far = [target for target in targets if _host(target) and not (host and host in target.lower())]
    return 2 * len(far) > len(targets)


def _host(address: str) -> str:
    """Return the host in an address without its www., "" for one that is relative or broken."""
    try:
        return (urlsplit(address.strip()).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _is_attached(element: html.HtmlElement, container: html.HtmlElement) -> bool:
    return element is container or any(ancestor is container for ancestor in element.iterancestors())


def _is_title(element: html.HtmlElement, title: Words) -> bool:
    return element.tag in {"h1", "h2"} and bool(title) and words_of(_readable(element)) == title


def _is_lead_picture(element: html.HtmlElement, distance: int) -> bool:
    """Return whether an element before the article's first words is its picture, or holds it.

    `distance` is the number of elements between it and the first words.
    """
    if _is_furniture(element):
        return False
    pictures = [element] if element.tag in _MEDIA else list(element.iter("img", "video", "iframe"))
    if not pictures or all(_is_decoration(picture) for picture in pictures if picture.tag == "img"):
        return element.tag in {"source", "noscript"} and _is_within(element, ("picture", "video", "figure"))
    is_near = element.tag in _MEDIA or distance <= MAX_LEAD_DISTANCE
    return is_near and len(pictures) <= 2 and len(words_of(_readable(element))) <= MAX_CAPTION_WORDS


def _is_inline(element: html.HtmlElement, holders: set[html.HtmlElement]) -> bool:
    """Return whether an element before the first words is an inline part of a block that stays."""
    parent = element.getparent()
    if parent is None:
        return False
    is_inside = parent in holders and parent.tag in _BLOCKS - {"div"}
    return parent.tag in _MEDIA or (element.tag not in _BLOCKS and is_inside)


def _is_other(element: html.HtmlElement, matched: set[html.HtmlElement], kinds: _Kinds) -> bool:
    """Return whether an element between the article's blocks does not belong to it."""
    if element.tag == "img":
        return _is_decoration(element)
    if _is_furniture(element) and element.tag not in {"pre", "code", "math"}:
        return True
    if element.tag not in _BLOCKS or element.tag in _PARTS:
        return False
    words = len(words_of(_readable(element)))
    if element.tag in _HEADINGS:
        return words > 0 and not _has_content_after(element, matched)
    if element.tag in _LISTS:
        return _link_share(element) > MAX_LINK_SHARE and _leads_only_inside(element)
    is_alike = element.tag in _WRITTEN and (kinds.have(element) or element.getparent().tag in _ROWS)
    return words > 0 and not is_alike and _are_other_words(element, words, matched)


def _are_other_words(element: html.HtmlElement, words: int, matched: set[html.HtmlElement]) -> bool:
    """Return whether a block of words that are not in the main text says something else than the article."""
    has_headings = next(element.iter(*_HEADINGS), None) is not None  # their parts are looked at one by one
    pictures = sum(1 for _ in element.iter(*_MEDIA - {"figure", "picture"}))
    is_caption = words <= MAX_CAPTION_WORDS * pictures
    if has_headings or is_caption or _is_card(element, words):
        return False
    has_links = _link_share(element) > MAX_LINK_SHARE
    if any(ancestor in matched for ancestor in element.iterancestors(*_BLOCKS)):
        return has_links and words > MAX_CAPTION_WORDS
    return element.tag not in _WRITTEN or has_links or words < 2


def _is_card(element: html.HtmlElement, words: int) -> bool:
    """Return whether an element is a card that shows one other page, or stands inside of one."""
    cards = [card for card in (element, *element.iterancestors()) if _CARD.search(card.get("class") or "")]
    is_short = words <= MAX_CARD_WORDS
    return is_short and any(len({link.get("href") for link in card.iter("a")}) == 1 for card in cards)


def _leads_only_inside(element: html.HtmlElement) -> bool:
    """Return whether all links of an element lead to places of the same page, as those of contents do."""
    return all((link.get("href") or "#").startswith("#") for link in element.iter("a"))


def _has_content_after(heading: html.HtmlElement, matched: set[html.HtmlElement]) -> bool:
    """Return whether the part below a heading, up to the next one of its level, has a matched block."""
    for number, element in enumerate(_following(heading)):
        if element in matched:
            return True
        if number == MAX_LOOKED_AT or (element.tag in _HEADINGS and element.tag <= heading.tag):
            return False
    return False


def _following(element: html.HtmlElement) -> Iterator[html.HtmlElement]:
    """Yield the elements after an element and outside of it, in the order of the document."""
    place: html.HtmlElement | None = element
    while place is not None:
        for sibling in place.itersiblings():
            yield from sibling.iter()
        place = place.getparent()


def _is_furniture(element: html.HtmlElement) -> bool:
    if element.tag in {"nav", "aside"}:
        return True
    names = f"{element.get('class') or ''} {element.get('id') or ''} {element.get('role') or ''}"
    return bool(names.strip()) and bool(_FURNITURE.search(names))


def _is_decoration(image: html.HtmlElement) -> bool:
    """Return whether an image is a tracking pixel, an avatar or an emoji rather than a picture."""
    if _TINY.match(image.get("width") or "") or _TINY.match(image.get("height") or ""):
        return True
    names = " ".join(image.get(name) or "" for name in ("class", "id"))
    return bool(
        re.search(
            r"(?:^|[\s_-])(?:avatar|emoji|gravatar|smiley|icon|tracking|wp-smiley)(?:[\s_-]|$)", names, re.I
        )
    )


def _link_share(element: html.HtmlElement) -> float:
    """Return the share of an element's characters that stand in links."""
    total = _length(_readable(element))
    return sum(_length(_readable(link)) for link in element.iter("a")) / total if total else 0.0


def _tidy(container: html.HtmlElement) -> None:
    """Turn embeds into links, name languages of code, prefix ids, and remove anchors and empty elements."""
    for link in list(container.iter("a")):
        if _is_anchor(link):
            _unwrap_anchor(link)
    for frame in list(container.iter("iframe", "embed", "object")):
        replace_embed(frame)
    for code in container.iter("code", "pre", "div"):
        _name_language(code)
    _simplify(container)
    names = {element.get("id") for element in container.iter() if element.get("id")}
    for element in container.iter():
        if not isinstance(element.tag, str):
            continue
        if name := element.get("id"):
            element.set("id", f"a-{name}")
        target = element.get("href") or ""
        if element.tag == "a" and target.startswith("#") and target[1:] in names:
            element.set("href", f"#a-{target[1:]}")
    _remove_empty(container)


def _is_anchor(link: html.HtmlElement) -> bool:
    """Return whether a link only marks the place of a heading."""
    target = link.get("href") or ""
    if "#" not in target and target:
        return False
    if link.xpath("boolean(.//img | .//picture)"):
        return False
    text = _readable(link).strip().lower()
    return text in _ANCHOR_SIGNS or (
        bool(_ANCHOR.search(link.get("class") or "")) and len(text) <= 12 and not any(map(str.isalnum, text))
    )


def _unwrap_anchor(link: html.HtmlElement) -> None:
    name = link.get("id") or link.get("name")
    parent = link.getparent()
    if name and parent is not None and not parent.get("id"):
        parent.set("id", name)
    drop(link)


def _name_language(code: html.HtmlElement) -> None:
    """Keep of an element's classes the name of a programming language, in the form `language-python`."""
    language = _LANGUAGE.search(code.get("class") or "")
    if "class" in code.attrib:
        del code.attrib["class"]
    if language and code.tag in {"code", "pre"} and language[1].lower() not in {"none", "plaintext", "text"}:
        code.set("class", f"language-{language[1].lower()}")
    if language and code.tag == "div":
        for inner in code.iter("pre"):
            if not inner.get("class"):
                inner.set("class", f"language-{language[1].lower()}")


def _simplify(container: html.HtmlElement) -> None:
    """Unwrap spans that say nothing, and tables that only number the lines of code."""
    for table in list(container.iter("table")):
        blocks = table.xpath(".//pre")
        if blocks and _length(_readable(table)) <= 1.25 * max(_length(_readable(pre)) for pre in blocks) + 40:
            code = max(blocks, key=lambda pre: _length(_readable(pre)))
            parent = table.getparent()
            if parent is not None and table is not container:
                code.tail = table.tail
                parent.replace(table, code)
    for table in list(container.iter("table")):
        if _is_layout(table, container):
            for part in list(table.iter("table", "tbody", "tr", "td")):
                if next(part.iterancestors("table"), table) is table and part is not container:
                    part.tag = "div"
    for span in list(container.iter("span", "font")):
        if not (span.get("id") or span.get("dir") or span.get("lang")):
            span.drop_tag()


def _is_layout(table: html.HtmlElement, container: html.HtmlElement) -> bool:
    """Return whether a table only places parts of the page: it holds others, and most of the text."""
    if table.get("role") == "presentation":
        return True
    if next((part for part in table.iter("table") if part is not table), None) is None:
        return False
    return 2 * _length(_readable(table)) > _length(_readable(container))


_FULL = _MEDIA | {"br", "hr", "source", "track", "col", "td", "th", "wbr", "noscript"}


def _remove_empty(container: html.HtmlElement) -> None:
    """Remove elements without text and media, from the inside out."""
    for element in reversed(list(container.iterdescendants())):
        if not isinstance(element.tag, str) or element.tag in _FULL or len(element):
            continue
        if not (element.text or "").strip() and not (element.tag in {"code", "span"} and element.text):
            if name := element.get("id"):
                parent = element.getparent()
                if parent is not None and not parent.get("id"):
                    parent.set("id", name)
            drop(element)


def _readable(element: html.HtmlElement) -> str:
    """Return the text of an element without scripts, styles and the fallbacks of lazy images."""
    pieces: list[str] = []
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, inner in walk:
        if event == "end":
            if inner is not element:
                pieces.append((" " if inner.tag in _BLOCKS else "") + (inner.tail or ""))
        elif inner.tag in UNREAD or inner.tag == "noscript":
            walk.skip_subtree()
        else:
            pieces.append(inner.text or "")
    return "".join(pieces)


def _length(text: str) -> int:
    return sum(not sign.isspace() for sign in text)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
