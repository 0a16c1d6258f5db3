"""Entries of a page, chosen by rules: for each of them its title, link, date, picture and summary. Pure.

A rule is a CSS selector or an XPath (`xpath:...`), as for watched pages. Only the rule for entries is needed:
what no rule chooses is looked for in the entry itself, and in what follows it where pages put a date or a
summary beside a title instead of around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from lxml import etree, html

from crawler.reading.addresses import absolute
from crawler.reading.choosing import chosen_of_page
from crawler.reading.dates import Dates
from crawler.reading.documents import SourceRules
from crawler.reading.errors import ReadingError
from crawler.reading.feeds.fragment import image_address, largest_offered
from crawler.reading.limits import LIMITS
from crawler.reading.lines import SelectorFault
from crawler.reading.pages.dates import moment_in_url
from crawler.reading.pages.tree import UNREAD, read_text
from crawler.reading.parts import language_and_expression
from crawler.text.characters import one_line

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
MAX_TITLE = 300
"""Characters of a title; a card whose whole text is its link would have a paragraph as its title."""
MAX_SUMMARY = 1_000
_AROUND = 12
"""Elements beside an entry that may belong to it."""
_INSIDE = 400
"""Elements of an entry that are looked at."""
_FOREIGN_DATES = 60
"""Dates of one page that are read by dateparser: some 4 ms each."""
_DATED = re.compile(r"date|time|posted|publish|meta|day|datum|fecha|byline|created|updated", re.IGNORECASE)
_TITLED = re.compile(r"(?:^|[\s_-])(?:title|headline|entry-name|p-name|subject|titel|titre)", re.IGNORECASE)
_END = frozenset({"nav", "footer", "form", "hr", *HEADINGS})
"""Elements at which what belongs to the last entry of a page ends."""
_MORE = re.compile(
    r"\W*(?:read|more|continue|weiter|mehr|lire|suite|leer|más|seguir|leia|mais|leggi|"
    r"читать|далее|続き|もっと|全文|阅读|閱讀|更多|더|자세히)[^.!?]{0,30}\W*",
    re.IGNORECASE,
)
_DAY_IN_TEXT = re.compile(
    r"\d{4}\s?[-/.年년]\s?\d{1,2}\s?[-/.月월]\s?\d{1,2}\s?[日일]?"
    r"|\d{1,2}(?:\.|st|nd|rd|th)?\s+(?:de\s+|of\s+)?[^\W\d_]{3,12}\.?,?\s+(?:de\s+)?\d{4}"
    r"|[^\W\d_]{3,12}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4}"
    r"|\d{1,2}[./]\s?\d{1,2}[./]\s?\d{4}"
)
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})(?![\d/])")
DAY_FIRST, MONTH_FIRST = "day", "month"
_ICON = re.compile(r"avatar|icon|emoji|logo|gravatar|pixel|spacer", re.IGNORECASE)
_MAX_DATED = 200
"""Characters of a text in which a date is looked for; longer ones are sentences that mention a day."""
_PICTURES = ("img", "amp-img")
_MAX_STYLE = 2_000
_BACKGROUND = re.compile(r"background(?:-image)?\s*:[^;:]*?url\(\s*[\"']?([^\"')]+)", re.IGNORECASE)
_TIME_NAME = re.compile(r"data-[\w-]*(?:date|time|stamp|publish)[\w-]*")
"""Attributes in which scripts find a time that the page shows as "2 hours ago"."""


@dataclass(slots=True)
class ChosenEntry:
    """An entry of a page. `published` is seconds since the epoch, None where no date was found."""

    title: str
    url: str
    published: float | None = None
    image: str = ""
    summary: str = ""


def chosen_entries(root: html.HtmlElement, url: str, rules: SourceRules) -> list[ChosenEntry]:
    """Return the entries that the rules choose in a page at `url`, each once, in the order of the page.

    Raises ReadingError(malformed) for a rule that cannot be read.
    """
    result = map(_element_of, _chosen(root, "entry", rules.entry))
    elements = [node for node in dict.fromkeys(result) if node is not None and not _is_template(node)]
    base = base_of(root, url)
    reader = EntryReader(base, rules, order_of_days(root))
    pairs = with_neighbours(elements[: LIMITS.entries])
    entries = distinct(entry for node, beside in pairs if (entry := reader.read(node, beside)) is not None)
    # A watched part without links is a list of its lines.
    if not entries and not (rules.title or rules.link):
        titles = dict.fromkeys(
            filter(None, (line_of(node)[:MAX_TITLE] for node in elements[: LIMITS.entries]))
        )
        return [ChosenEntry(title, "") for title in titles]
    return entries


def distinct(entries: Iterable[ChosenEntry]) -> list[ChosenEntry]:
    """Return each entry once, by its address, or by its title where it has none or all have the same."""
    entries = list(entries)
    is_shared = has_one_address(entries)
    once: dict[tuple[str, str], ChosenEntry] = {}
    for entry in entries:
        once.setdefault((entry.url, entry.title if is_shared or not entry.url else ""), entry)
    return list(once.values())


def has_one_address(entries: Sequence[ChosenEntry]) -> bool:
    """Return whether several entries all lead to one page, which then tells none of them from the others."""
    return len(entries) > 1 and len({entry.url for entry in entries}) == 1


def _element_of(result: Any) -> html.HtmlElement | None:
    """Return a chosen element, or that of a chosen attribute or text."""
    if isinstance(result, html.HtmlElement):
        return result
    parent = result.getparent() if hasattr(result, "getparent") else None
    return parent if isinstance(parent, html.HtmlElement) else None


def _is_template(element: html.HtmlElement) -> bool:
    """Return whether an element is what scripts make entries from."""
    return element.tag == "template" or next(element.iterancestors("template"), None) is not None


def next_page(root: html.HtmlElement, url: str, rules: SourceRules) -> str:
    """Return the address of the next page of a list, "" without one."""
    for result in _chosen(root, "next", rules.next) if rules.next else ():
        href = result.get("href") if isinstance(result, html.HtmlElement) else result
        if address := absolute(base_of(root, url), str(href or "")):
            return address
    return ""


def order_of_days(root: html.HtmlElement) -> str:
    """Return DAY_FIRST or MONTH_FIRST, whichever all slashed dates of a page allow; "" where both or none do.

    05/01/2018 alone may be of either order, beside 23/01/2018 it is of one.
    """
    firsts, seconds = set(), set()
    for node in islice(root.iter(), LIMITS.elements):
        for text in (node.text, node.tail):
            if text and "/" in text:
                for slashed in islice(_SLASHED.finditer(text[:_MAX_DATED]), 2):
                    firsts.add(int(slashed[1]))
                    seconds.add(int(slashed[2]))
    is_day_first, is_month_first = max(firsts, default=0) > 12, max(seconds, default=0) > 12
    if is_day_first == is_month_first:
        return ""
    return DAY_FIRST if is_day_first else MONTH_FIRST


def base_of(root: html.HtmlElement, url: str) -> str:
    """Return the address with which relative addresses of a page are joined."""
    element = root.find(".//base[@href]")
    return (absolute(url, element.get("href") or "") if element is not None else "") or url


def with_neighbours(
    elements: Sequence[html.HtmlElement],
) -> Iterator[tuple[html.HtmlElement, list[html.HtmlElement]]]:
    """Yield each entry with the elements after it that belong to it: those before the next entry beside it.

    Of the last entry as many are taken as the others have at most. Where nothing follows the last one and
    each has as many elements before it, such as a row with its day, these are taken.
    """
    chosen = set(elements)
    if leading := _before_each(elements, chosen):
        yield from zip(elements, leading, strict=True)
        return
    max_beside = 0
    for element in elements:
        beside: list[html.HtmlElement] = []
        closed = False
        for sibling in islice(element.itersiblings(), _AROUND):
            if sibling in chosen:
                closed = True
                break
            if sibling.tag in _END or not isinstance(sibling.tag, str):
                break
            beside.append(sibling)
        if closed:
            max_beside = max(max_beside, len(beside))
        yield element, beside if closed else beside[:max_beside]


def _before_each(
    elements: Sequence[html.HtmlElement], chosen: set[html.HtmlElement]
) -> list[list[html.HtmlElement]]:
    """Return the elements before each entry, [] unless all have equal ones and the last has none after it."""
    if len(elements) < 2 or len({node.getparent() for node in elements}) > 1:
        return []
    after = elements[-1].getnext()
    if after is not None and after.tag not in ("nav", "footer", "form", "hr"):
        return []
    leading: list[list[html.HtmlElement]] = []
    size = 0
    for element in reversed(elements):
        beside: list[html.HtmlElement] = []
        for sibling in islice(element.itersiblings(preceding=True), size or _AROUND):
            if sibling in chosen:
                break
            beside.append(sibling)
        size = size or len(beside)
        if not size or [node.tag for node in beside] != [node.tag for node in (leading or [beside])[0]]:
            return []
        leading.append(beside)
    return leading[::-1]


class EntryReader:
    """A reader of a page's entries: its address, the rules for their parts, and the page's order of days."""

    def __init__(self, base: str, rules: SourceRules, order: str = "") -> None:
        self._order = order
        self._base = base
        self._rules = rules
        self._dates = Dates(_FOREIGN_DATES)

    def read(self, element: html.HtmlElement, beside: Sequence[html.HtmlElement]) -> ChosenEntry | None:
        """Return the entry of an element and its neighbours, None if it has neither title nor address."""
        scope = [element, *beside]
        title_element, title = self._title(element)
        link = self._link(element, title_element)
        if not title and link:
            heading = title_in(element) if self._rules.title else None
            title = (line_of(element if heading is None else heading) or _label_of(element))[:MAX_TITLE]
        if not title or (not link and self._rules.link):
            return None
        published = self._published(scope, title)
        # The address comes last: it names the day of the first publication at best.
        if published is None and link:
            published = moment_in_url(link)
        return ChosenEntry(title, link, published, self._image(scope), self._summary(scope, title))

    def _title(self, element: html.HtmlElement) -> tuple[html.HtmlElement | None, str]:
        """Return the element of the title, and its text on one line."""
        if self._rules.title:
            for result in _chosen(element, "title", self._rules.title):
                if text := value_of(result)[:MAX_TITLE]:
                    return (result if isinstance(result, html.HtmlElement) else None), text
            return None, ""
        result = title_in(element)
        return result, line_of(result)[:MAX_TITLE] if result is not None else ""

    def _link(self, element: html.HtmlElement, title: html.HtmlElement | None) -> str:
        """Return the address of the entry: that of its title, else the first one in it, else around it."""
        if self._rules.link:
            for result in _chosen(element, "link", self._rules.link):
                if not isinstance(result, html.HtmlElement):
                    address = absolute(self._base, str(result))
                else:
                    raw = result.get("href") or result.get("data-href") or ""
                    address = absolute(self._base, raw) or self._address_in(result)
                if address:
                    return address
            return ""
        for place in (title, element):
            if place is not None and (address := self._address_in(place)):
                return address
        return next((a for node in element.iterancestors("a") if (a := self._address(node))), "")

    def _address_in(self, place: html.HtmlElement) -> str:
        around = [place, *islice(place.iterancestors(), 3)] if place.tag != "a" else [place]
        for node in around[:4]:
            if node.tag == "a" and (address := self._address(node)):
                return address
        return next((a for node in islice(place.iter("a"), 20) if (a := self._address(node))), "")

    def _address(self, link: html.HtmlElement) -> str:
        href = (link.get("href") or "").strip()
        if not href or href.startswith(("#", "javascript:", "mailto:", "tel:")):
            return ""
        return absolute(self._base, href)

    def _published(self, scope: Sequence[html.HtmlElement], title: str) -> float | None:
        """Return when an entry was published: by the rule, else by its `time` elements, else by its words."""
        if self._rules.date:
            chosen = [result for node in scope for result in _chosen(node, "date", self._rules.date)]
            if (moment := self._first(text for result in chosen for text in dates_of(result))) is not None:
                return moment
        marked, plain = _dates_in(scope)
        if (moment := self._first(marked)) is not None:
            return moment
        return self._first(
            match[0]
            for text in plain
            # A title that mentions a day ("Elections of 3 May 2026") is no date of the article.
            if title not in text and len(text) <= _MAX_DATED and any(c.isdigit() for c in text)
            for match in islice(_DAY_IN_TEXT.finditer(text), 2)
        )

    def _first(self, texts: Iterable[str]) -> float | None:
        """Return the first of some texts that is a date."""
        return next((moment for text in texts if (moment := self._moment(text)) is not None), None)

    def _moment(self, text: str) -> float | None:
        text = one_line(text, 200)
        if not any(c.isdigit() for c in text):
            return None
        if self._order and (slashed := _SLASHED.fullmatch(text)):
            parts = slashed.groups() if self._order == DAY_FIRST else (slashed[2], slashed[1], slashed[3])
            day, month, year = parts
            return self._dates.epoch(f"{year}-{int(month):02}-{int(day):02}")
        return self._dates.epoch(text)

    def _image(self, scope: Sequence[html.HtmlElement]) -> str:
        """Return the address of an entry's picture, "" without one."""
        if self._rules.image:
            for node in scope:
                for result in _chosen(node, "image", self._rules.image):
                    is_element = isinstance(result, html.HtmlElement)
                    address = picture_of(result) if is_element else _picture_in(str(result))
                    if address := absolute(self._base, address):
                        return address
            return ""
        for node in scope:
            for picture in islice(node.iter(*_PICTURES), 5):
                if not _is_small(picture) and (address := absolute(self._base, picture_of(picture))):
                    return address
        grounds = (ground for node in scope for ground in islice(node.iter(), _INSIDE) if ground.get("style"))
        return next((a for ground in grounds if (a := absolute(self._base, _background_of(ground)))), "")

    def _summary(self, scope: Sequence[html.HtmlElement], title: str) -> str:
        """Return the text that an entry shows beside its title: its longest paragraph."""
        if self._rules.summary:
            result = [
                value_of(node) for part in scope for node in _chosen(part, "summary", self._rules.summary)
            ]
            return " ".join(text for text in result if text)[:MAX_SUMMARY]
        paragraphs = []
        for node in scope:
            for inner in islice(node.iter("p", "div", "span", "dd", "blockquote"), _INSIDE):
                if inner.find("./p") is None and inner.find("./div") is None:
                    text = line_of(inner)
                    # Shorter ones are names, counts and buttons.
                    if len(text) >= 40 and title not in text and not _MORE.fullmatch(text):
                        paragraphs.append(text)
        return max(paragraphs, key=len, default="")[:MAX_SUMMARY]


def _dates_in(scope: Sequence[html.HtmlElement]) -> tuple[list[str], list[str]]:
    """Return texts of an entry that are marked as dates, and others that may hold one."""
    marked: list[str] = []
    plain: list[str] = []
    for node in scope:
        for inner in islice(node.iter(), _INSIDE):
            if inner.tag in UNREAD:
                continue
            is_marked = inner.get("datetime") or inner.get("itemprop") in ("datePublished", "dateCreated")
            if is_marked or inner.tag == "time":
                marked += dates_of(inner)
            elif _DATED.search(f"{inner.get('class', '')} {inner.get('id', '')}"):
                marked += [inner.get("title") or "", *_times_of(inner)]
                plain.append(line_of(inner)[:120])
            else:
                marked += _times_of(inner)
            plain += [piece for piece in (inner.text, inner.tail if inner is not node else "") if piece]
    if len(scope) == 1 and scope[0].tail:
        plain.append(scope[0].tail)
    return marked, plain


def title_in(element: html.HtmlElement) -> html.HtmlElement | None:
    """Return the part of an entry that is its title: a heading, what is named so, or its longest link."""
    if element.tag in HEADINGS:
        return element
    for heading in islice(element.iter(*HEADINGS), 5):
        if line_of(heading):
            return heading
    for inner in islice(element.iter(), _INSIDE):
        names = f"{inner.get('class', '')} {inner.get('itemprop', '')}"
        if inner.tag not in UNREAD and _TITLED.search(names) and line_of(inner):
            return inner
    links = [
        node for node in islice(element.iter("a"), 30) if line_of(node) and not _MORE.fullmatch(line_of(node))
    ]
    return max(links, key=lambda node: len(line_of(node)), default=None)


def line_of(element: html.HtmlElement) -> str:
    """Return the text of an element on one line."""
    return one_line(read_text(element, apart=True), 2_000)


def value_of(result: Any) -> str:
    """Return a chosen element or value as one line of text."""
    return line_of(result) if isinstance(result, etree._Element) else one_line(str(result), 2_000)


def dates_of(result: Any) -> list[str]:
    """Return the texts of a chosen element or value that may be a date, the most exact first."""
    if not isinstance(result, etree._Element):
        return [str(result)]
    attributes = [result.get(name) or "" for name in ("datetime", "content", "title")]
    return [text for text in [*attributes, *_times_of(result), line_of(result)[:120]] if text]


def _times_of(element: html.HtmlElement) -> list[str]:
    """Return the values of an element's attributes that are named as times."""
    return [value for name, value in element.attrib.items() if _TIME_NAME.fullmatch(str(name))]


def picture_of(element: html.HtmlElement) -> str:
    """Return the address of a picture as it is written, also of one that is loaded late."""
    picture = element if element.tag in _PICTURES else next(element.iter(*_PICTURES), None)
    if picture is None:
        return element.get("content") or element.get("href") or _background_of(element)
    return image_address(picture)


def _picture_in(value: str) -> str:
    """Return the address of a picture in a chosen value: a source, a set of them or a style."""
    background = _BACKGROUND.search(value[:_MAX_STYLE])
    return background[1].strip() if background else largest_offered(value) or value


def _background_of(element: html.HtmlElement) -> str:
    """Return the address of the picture behind an element as it is written, "" without one."""
    result = _BACKGROUND.search((element.get("style") or "")[:_MAX_STYLE])
    return result[1].strip() if result else ""


def _label_of(element: html.HtmlElement) -> str:
    """Return what stands for an entry without text: its label, or the words for its picture."""
    for inner in islice(element.iter("a", *_PICTURES, element.tag), 30):
        for name in ("aria-label", "title", "alt"):
            if label := one_line(inner.get(name) or "", MAX_TITLE):
                return label
    return ""


def _is_small(picture: html.HtmlElement) -> bool:
    """Return whether a picture is an icon or a face by its size or its name."""
    for side in ("width", "height"):
        digits = re.match(r"\d{1,5}", picture.get(side) or "")
        if digits and int(digits[0]) < 64:
            return True
    return bool(_ICON.search(f"{picture.get('class', '')} {picture_of(picture)}"))


def _chosen(element: html.HtmlElement, part: str, rule: str) -> Iterable[Any]:
    language, expression = language_and_expression(rule)
    try:
        return chosen_of_page(element, part, language, expression)
    except SelectorFault as error:
        raise ReadingError("malformed", f"{part}: {error}") from error
