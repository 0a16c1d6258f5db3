"""Checks of a model's answer: the numbers of its sources, and its quotations letter by letter. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

import msgspec

from articles.enrichment.words import sentences, words
from crawler.text.search import CJK

MIN_QUOTED_WORDS = 3
"""Quotations of fewer words are not looked for: they are names and single words."""
MIN_PART_WORDS = 2
"""Words that each part of a quotation with an omission needs: single words prove nothing."""
MAX_QUOTED_SENTENCES = 8
TAKEN_OUT = "\ue003"
"""A private character where a quotation stood that is in no article."""

_NUMBERS = re.compile(
    r"\s*[\[【]\s*(?:[Aa]rticles?\s*)?([0-9]{1,3}(?:\s*[,;–-]\s*\[?[0-9]{1,3})*)\s*[\]】](?!\w)", re.ASCII
)
_LEADING_NUMBERS = re.compile(rf"(?:{_NUMBERS.pattern})+[.,;]?", re.ASCII)
_RANGE = re.compile(r"([0-9]+)\s*[–-]\s*([0-9]+)|([0-9]+)")
_BULLET = re.compile(r"^(?:[-*•#>]+\s+)+")
_BEFORE_SIGN = re.compile(r"\s+([.,;:!?])")
_ABBREVIATION = re.compile(r"(?:^|[\s.(])(?:[^\W\d_]|[A-ZÄÖÜ][a-zäöü]{1,2}|[0-9]{1,2})\.$")
"""The end of what looks like a sentence and is none: "Dr.", "U.S.", "3." of a German date."""
_QUOTATION = re.compile(
    r"“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|»([^«»]+)«|\"([^\"]+)\"|「([^「」]+)」|『([^『』]+)』"
    r"|(?<!\w)‘(.+?)’(?!\w)|[“„«»\"「『]([^“”„«»\"「」『』]+)$"
)
_OMISSION = re.compile(r"\s*(?:\[(?:…|\.\.\.)\]|\((?:…|\.\.\.)\)|…|\.\.\.)\s*")
_SAME = str.maketrans(
    dict.fromkeys("“”„‟«»「」『』″", '"') | dict.fromkeys("‘’‚‛‹›′`´", "'") | dict.fromkeys("‐‑‒–—―−", "-")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", "")
)  # fmt: skip
_OUTER = " \"'.,;:!?"
_CJK_LETTER = re.compile(f"[{CJK}]")


class CheckedSentence(msgspec.Struct, frozen=True):
    """A sentence of an answer, and the numbers of its sources from 1; without any, nothing stands behind it.

    `text` has TAKEN_OUT where a quotation stood that is in no article. `is_corrected` is true if its
    quotations are in other articles than it said. `begins` is true for the first sentence of a paragraph.
    """

    text: str
    sources: list[int]
    begins: bool = False
    is_corrected: bool = False


class CheckedAnswer(msgspec.Struct, frozen=True):
    """The sentences of an answer, and how many quotations were taken out of it."""

    sentences: list[CheckedSentence]
    taken_out: int = 0


def check(answer_text: str, texts: Sequence[str]) -> CheckedAnswer:
    """Check an answer against the texts of its articles, which are numbered from 1."""
    plain_texts = [plain(text) for text in texts]
    checked, taken_out = [], 0
    for line in answer_text.replace(TAKEN_OUT, "").splitlines():
        begins = True
        for sentence in split(_BULLET.sub("", line.strip()).replace("**", "")):
            checked_sentence = _check_sentence(sentence, plain_texts, begins=begins)
            if not checked_sentence.text:
                continue
            checked.append(checked_sentence)
            taken_out += checked_sentence.text.count(TAKEN_OUT)
            begins = False
    return CheckedAnswer(checked, taken_out)


def split(line: str) -> list[str]:
    """Return the sentences of a line, each with the numbers behind it, and no quotation torn apart."""
    whole: list[str] = []
    pieces = sentences(line)
    for index, piece in enumerate(pieces):
        remainder = piece
        if whole and _is_torn(whole[-1], pieces[index : index + MAX_QUOTED_SENTENCES]):
            whole[-1] += " " + piece
            continue
        leading = _LEADING_NUMBERS.match(remainder)
        if whole and leading and (leading.end() == len(remainder) or not _NUMBERS.search(whole[-1])):
            whole[-1] += " " + leading[0].strip()
            remainder = remainder[leading.end() :].strip()
        if remainder:
            whole.append(remainder)
    return whole


def plain(text: str) -> str:
    """Return a text with one kind of quotation marks, dashes and blanks."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_SAME).split())


def holds(text: str, quotation: str) -> bool:
    """Return whether a plain text has a quotation, letter by letter and between whole words.

    What a quotation leaves out ("…") may stand between its parts.
    """
    parts = [part for part in (plain(each).strip(_OUTER) for each in _OMISSION.split(quotation)) if part]
    if not parts or (len(parts) > 1 and any(len(words(part)) < MIN_PART_WORDS for part in parts)):
        return False
    place = 0
    for part in parts:
        begin = next(_places(text, part, place), -1)
        if begin < 0:
            return False
        place = begin + len(part)
    return True


def _check_sentence(sentence: str, texts: Sequence[str], *, begins: bool) -> CheckedSentence:
    cited_numbers = [number for number in _numbers_in(sentence) if 1 <= number <= len(texts)]
    body = _BEFORE_SIGN.sub(r"\1", _NUMBERS.sub("", sentence)).strip()
    if not any(character.isalnum() for character in body):
        body = ""
    proven: list[int] = []
    elsewhere: list[int] = []

    def look(match: re.Match[str]) -> str:
        quotation = next(group for group in match.groups() if group is not None)
        if len(words(quotation)) < MIN_QUOTED_WORDS:
            return match[0]
        number = next((each for each in cited_numbers if holds(texts[each - 1], quotation)), 0)
        if number:
            proven.append(number)
            return match[0]
        number = next((each for each, text in enumerate(texts, 1) if holds(text, quotation)), 0)
        if not number:
            return TAKEN_OUT
        elsewhere.append(number)
        return match[0]

    text = _QUOTATION.sub(look, body)
    valid_numbers = cited_numbers if proven or not elsewhere else []
    return CheckedSentence(text, list(dict.fromkeys([*valid_numbers, *elsewhere])), begins, bool(elsewhere))


def _numbers_in(sentence: str) -> list[int]:
    """Return the numbers of sources in a sentence, each once."""
    numbers: list[int] = []
    for listed in _NUMBERS.finditer(sentence):
        for first, last, single in _RANGE.findall(listed[1]):
            numbers += [int(single)] if single else range(int(first), int(last) + 1)
    return list(dict.fromkeys(numbers))


def _is_torn(text: str, following: Sequence[str]) -> bool:
    """Return whether a piece ends with an abbreviation, or in a quotation that the following close."""
    if not _has_open_quotation(text):
        return bool(_ABBREVIATION.search(text))
    return any(
        not _has_open_quotation(" ".join([text, *following[: count + 1]])) for count in range(len(following))
    )


def _has_open_quotation(text: str) -> bool:
    return any(match[9] is not None for match in _QUOTATION.finditer(text))


def _places(text: str, part: str, start: int) -> Iterator[int]:
    """Yield where a part stands in a text between whole words."""
    begin = text.find(part, start)
    while begin >= 0:
        end = begin + len(part)
        if not (_joins(text[begin - 1 : begin], part[0]) or _joins(part[-1], text[end : end + 1])):
            yield begin
        begin = text.find(part, begin + 1)


def _joins(first: str, second: str) -> bool:
    """Return whether two neighbouring characters belong to one word."""
    both = first.isalnum() and second.isalnum()
    return both and not (_CJK_LETTER.match(first) or _CJK_LETTER.match(second))
