"""Decision whether an article was edited: its text as it was, and as it is now. Pure.

Words count, and the headline; spaces, quotation marks and what stands around an article do not: dates of the
last change, counters of comments, related links, advertisements, boxes to subscribe. What a page has besides
its article differs from its text in three ways, and all three are used: it is no sentence, it is made of
numbers that run, or other pages of the site have the same line. Measured by `benchmarks/edits.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Literal

from cydifflib import SequenceMatcher

from crawler.text.word_differences import Piece, word_difference

Kind = Literal[
    "headline", "number", "name", "words", "sentence added", "sentence removed", "gone", "back"
]  # fmt: skip
KINDS: tuple[Kind, ...] = (
    "headline", "number", "name", "words", "sentence added", "sentence removed", "gone", "back",
)  # fmt: skip
MAX_LINES = 3_000
"""Lines of a text that are compared."""
MAX_WORK = 2_000_000
"""Old lines times new lines; beyond, nothing is said of what changed."""
MIN_WORDS, MIN_SIGNS = 5, 14
"""Words, or signs of Chinese and Japanese, of a line that may be a sentence."""
LONG = 120
"""Characters from which a line is a sentence without a full stop."""
SAME = 0.4
"""Share of equal letters from which one line took the place of another."""
OTHER_PAGE = 0.2
"""Share of the old text that is still there, below which the page shows something else: a notice, a login."""
CUT = 0.6
"""Share of the old text below which a text that only became shorter was cut, as by a paywall."""
EMPTIED = 0.1
HALF = 0.5
MAX_STUCK_WORDS = 8
"""Words of an advertisement or stamp that stands at the end of a line of the article."""
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'",
                         "–": "-", "—": " - ", "‑": "-", "…": "..."})  # fmt: skip
_BULLET = re.compile(r"^[•◦▪‣*·-]\s+")
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_END = re.compile(r"[.!?…。！？:;][\"'”’»)\]]*$")
_COUNTER = re.compile(
    r"\d[\d.,  ]*[km]?\s*(?:comments?|replies|views?|reads?|shares?|likes?|votes?|points?|reactions?"
    r"|subscribers?|followers?|kommentare?|aufrufe|commentaires?|vues|partages|comentarios?|visitas|vistas|min(?:utes?)?"
    r"|sec(?:onds?)?|sekunden?|secondes?|segundos?|hours?|days?|weeks?|months?|years?|stunden?|tagen?"
    r"|heures?|jours?|horas?|d[ií]as?"
    r"|件|回|コメント|分前|時間前|日前)\b",
    re.IGNORECASE,
)
_STAMP = re.compile(
    r"^\W*(?:(?:last|zuletzt|derni[èe]re)\s+)?(?:updated?|modified|edited|published|posted|aktualisiert|stand"
    r"|ver[öo]ffentlicht|ge[äa]ndert|mis à jour|publi[ée]e?|modifi[ée]e?|actualizado|publicado|更新|公開|発表"
    r")\b"
    r".{0,80}$",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"^\W*(?:update|aktualisierung|nachtrag|mise à jour|actualización|更新|追記)\s*[:：]\s*(?P<said>.+)$",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"^\W*(?:\w+\.?,?\s+)?(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}\.?\s+\w+\.?\s+\d{4}|\w+\.?\s+\d{1,2},?\s+\d{4}"
    r"|\d{4}年\d{1,2}月\d{1,2}日)[\s,|·]*(?:\d{1,2}[:.]\d{2}(?:[:.]\d{2})?)?.{0,24}$"
)
_INVITES = re.compile(
    r"^\W*(?:read (?:more|also|next)|related|more (?:on|from|in)|see also|you (?:may|might) also"
    r"|advertisement|sponsored|subscribe|sign up|newsletter|share this|follow us|click here"
    r"|continue reading|lesen sie auch"
    r"|mehr zum thema|anzeige|werbung|lire aussi|à lire|publicité|abonnez|lee también|publicidad|suscr"
    r"|関連記事|広告|続きを読む|あわせて読みたい)",
    re.IGNORECASE,
)
_BOXES = re.compile(
    r"\b(?:inbox|newsletter|subscribe|subscription|sign up|log in|cookies?|posteingang|abonnieren|anmelden"
    r"|bo[îi]te mail|infolettre|s'abonner|bandeja de entrada|bolet[ií]n|suscr[ií]b\w+)\b|メールマガジン|購読",
    re.IGNORECASE,
)
MAX_BOX_WORDS = 20
"""Words of a sentence that may stand in a box to subscribe."""
_NUMBER = re.compile(r"[+-]?\d[\d.,]*%?")
_TAG = re.compile(r"<[^<>]*>")
_HIDDEN = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_TITLE_COUNT = re.compile(
    r"^\(\d+\)\s*|[\s(\[|·:-]*\d[\d.,]*\s*(?:comments?|replies|kommentare?|commentaires?|comentarios?)[)\]]*$"
    r"|[\s(（]*\d+件のコメント[)）]*$",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,' ]?\d{3})+")


@dataclass(frozen=True, slots=True)
class Standing:
    """A text as it stands: the headline, and its paragraphs."""

    title: str
    lines: tuple[str, ...]

    @property
    def length(self) -> int:
        """Characters of all paragraphs."""
        return sum(map(len, self.lines))


@dataclass(slots=True)
class Edit:
    """An edit: its kinds, the most telling first, and how many words and sentences it concerns."""

    kinds: list[Kind] = field(default_factory=list)
    words: int = 0
    added: int = 0
    removed: int = 0
    change: tuple[str, str] = ("", "")
    """The first number or name that became another."""

    def note(self, kind: Kind) -> None:
        """Add a kind once."""
        if kind not in self.kinds:
            self.kinds.append(kind)


def standing(title: str, text: str) -> Standing:
    """Return a title and a text with a line for each paragraph as it is compared."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return Standing(" ".join(title.split()), tuple(line for line in lines if line)[:MAX_LINES])


def edit_of(
    old: Standing, new: Standing, furniture: Collection[str] = (), pages: tuple[str, str] = ("", "")
) -> Edit | None:
    """Return the edit from one standing to the next, None where the article was not edited.

    `furniture` are lines of other pages of the site. `pages` are the two pages' whole texts (`letters_of`): a
    sentence that is still on the page, or was on it before, was only taken for a part of the article once and
    not the other time.
    """
    furniture_lines = {plain(line) for line in furniture}
    before, after = _prose(old, furniture_lines), _prose(new, furniture_lines)
    if _size(before) < HALF * old.length:  # other pages have the article, too: an overview, its print version
        before, after = _prose(old, ()), _prose(new, ())
    edit = Edit()
    if old.title and new.title and _headline(old.title) != _headline(new.title):
        edit.note("headline")
    # A page that shows a login or a notice instead of its article was not edited.
    if _is_another_page(before, after):
        return edit if edit.kinds and before and after and _share(before, after) >= OTHER_PAGE else None
    for removed, added in _blocks(before, after):
        _note_block(edit, removed, added, pages)
    edit.kinds.sort(key=KINDS.index)
    return edit if edit.kinds else None


def is_emptied(old: Standing, new: Standing) -> bool:
    """Return whether hardly anything is left of a text."""
    return old.length > 500 and new.length < EMPTIED * old.length


def letters_of(markup: str) -> str:
    """Return the text of a page's HTML without tags and spaces, to look for sentences in it."""
    return _letters(unescape(_TAG.sub("", _HIDDEN.sub("", markup))))


def _letters(text: str) -> str:
    return "".join(plain(text).split())


def plain(line: str) -> str:
    """Return a line as it is compared: without the kinds of spaces, quotation marks, dashes and bullets."""
    folded = unicodedata.normalize("NFKC", line).translate(_QUOTES)
    visible_text = "".join(sign for sign in folded if unicodedata.category(sign) != "Cf")
    return _BULLET.sub("", " ".join(visible_text.split()))


def is_prose(line: str) -> bool:
    """Return whether a line may be a sentence of an article."""
    if note := _NOTE.match(line):
        return is_prose(note["said"])
    if _STAMP.match(line) or _DATE.match(line) or _INVITES.match(line):
        return False
    size = len(_IDEOGRAPH.findall(line))
    enough = size >= MIN_SIGNS or len(line.split()) >= MIN_WORDS
    if _COUNTER.search(line) and len(line) < LONG and not _END.search(line):
        return False
    return enough and (bool(_END.search(line)) or len(line) >= LONG or size >= 2 * MIN_SIGNS)


def _prose(standing: Standing, furniture: Collection[str]) -> list[str]:
    return [line for each in standing.lines if (line := plain(each)) and line not in furniture]


def _size(lines: Sequence[str]) -> int:
    return sum(map(len, lines))


def _headline(title: str) -> str:
    return _TITLE_COUNT.sub("", plain(title)).casefold()


def _is_another_page(before: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether a page shows something else, or only the beginning of what it showed."""
    if not before or not after:
        return True
    old, new = _size(before), _size(after)
    added = list(Counter(after) - Counter(before))
    boxed = _boxed(added)  # an invitation to pay takes the place of what is cut
    is_cut = new < CUT * old and not any(is_prose(line) and line not in boxed for line in added)
    return is_cut or _share(before, after) < OTHER_PAGE


def _share(before: Sequence[str], after: Sequence[str]) -> float:
    """Return the share of the old sentences that are still there, by their letters."""
    remaining, total = Counter(after), 0
    same = 0
    for line in before:
        total += len(line)
        if remaining[line] > 0:
            remaining[line] -= 1
            same += len(line)
    # By whole sentences first, which is quick; by words only where few are left.
    if same >= OTHER_PAGE * total:
        return same / max(total, 1)
    old, new = " ".join(before)[:20_000].split(), " ".join(after)[:20_000].split()
    common = Counter(old) & Counter(new)
    return sum(common.values()) / max(len(old), 1)


def _blocks(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield what was removed and what was added, without what only stands elsewhere now."""
    if len(before) * len(after) > MAX_WORK:
        return
    moved = Counter(before) & Counter(after)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    operations = [operation for operation in matcher.get_opcodes() if operation[0] != "equal"]
    removed_lines = Counter(line for _, a, b, _, _ in operations for line in before[a:b])
    added_lines = Counter(line for _, _, _, a, b in operations for line in after[a:b])
    # A paragraph that changed its place is no edit.
    elsewhere = removed_lines & added_lines & moved
    for _, a, b, c, d in operations:
        yield (
            [line for line in before[a:b] if line not in elsewhere],
            [line for line in after[c:d] if line not in elsewhere],
        )


def _note_block(edit: Edit, removed: list[str], added: list[str], pages: tuple[str, str]) -> None:
    """Pair lines that took each other's places, and note what differs."""
    remaining = list(added)
    boxed = _boxed(removed) | _boxed(added)
    old_page, new_page = pages
    for old in removed:
        new = _likest(old, remaining)
        if new is None:
            if is_prose(old) and old not in boxed and _letters(old) not in new_page:
                edit.removed += 1
                edit.note("sentence removed")
        else:
            remaining.remove(new)
            _note_line(edit, old, new)
    for new in remaining:
        if is_prose(new) and new not in boxed and _letters(new) not in old_page:
            edit.added += 1
            edit.note("sentence added")


def _boxed(lines: Sequence[str]) -> set[str]:
    """Return the lines of boxes to subscribe and of advertisements: they name it, or stand below it."""
    boxed: set[str] = set()
    is_below = False
    for line in lines:
        is_short = len(line.split()) <= MAX_BOX_WORDS
        if is_short and (is_below or _BOXES.search(line)):
            boxed.add(line)
        is_below = bool(_INVITES.match(line)) or (is_below and is_short and bool(_BOXES.search(line)))
    return boxed


def _likest(line: str, others: Sequence[str]) -> str | None:
    best, share = None, SAME
    # The comparison of letters takes the product of both lengths, and its partner stands near.
    for candidate in others[:200]:
        longer = max(len(line), len(candidate))
        # Lengths that differ by so much cannot share enough letters.
        if min(len(line), len(candidate)) < share * longer * 0.5:
            continue
        matcher = SequenceMatcher(None, line[:2000], candidate[:2000], autojunk=False)
        # A cheap upper bound first; most pairs end here.
        if matcher.real_quick_ratio() > share and (ratio := matcher.ratio()) > share:
            best, share = candidate, ratio
    return best


def _note_line(edit: Edit, old: str, new: str) -> None:
    """Note what differs between two forms of a line, unless it is a stamp or a counter that runs."""
    if _runs(old, new):
        return
    prose = is_prose(old) or is_prose(new)
    removed, added = word_difference(old, new)
    old_pieces, new_pieces = _words_of(removed), _words_of(added)
    if len(old_pieces) == len(new_pieces):
        pairs = [
            (before, after)
            for before, after in zip(old_pieces, new_pieces, strict=True)
            if not _is_same(before, after)
        ]
        old_pieces, new_pieces = [before for before, _ in pairs], [after for _, after in pairs]
    if not old_pieces and not new_pieces:
        return
    if not prose and (len(old.split()) < 3 or not (old_pieces and new_pieces)):  # a label, a link, a button
        return
    edit.words += max(
        sum(len(text.split()) for text in old_pieces), sum(len(text.split()) for text in new_pieces), 1
    )
    for before, after in zip(old_pieces, new_pieces, strict=False):
        kind = _kind_of(before, after)
        edit.note(kind)
        if kind in {"number", "name"} and not edit.change[0]:
            edit.change = (before[:60], after[:60])
    if len(old_pieces) != len(new_pieces):
        edit.note(_surplus(old_pieces, new_pieces))


def _words_of(pieces: Sequence[Piece]) -> list[str]:
    """Return the pieces that differ, without advertisements and stamps that stand within a line."""
    texts = [piece.text.strip(" .,;:") for piece in pieces if piece.differs]
    return [text for text in texts if text and not _is_furniture(text)]


def _is_same(before: str, after: str) -> bool:
    """Return whether two numbers differ in nothing but the sign between their thousands."""
    numbers = [re.sub(r"\D", "", text) for text in (before, after) if _THOUSANDS.fullmatch(text)]
    return len(numbers) == 2 and numbers[0] == numbers[1]


def _is_furniture(text: str) -> bool:
    size = len(text.split())
    if size <= MAX_STUCK_WORDS and (_STAMP.match(text) or _COUNTER.fullmatch(text)):
        return True
    return size <= MAX_BOX_WORDS and bool(_INVITES.match(text))


def _surplus(old_pieces: Sequence[str], new_pieces: Sequence[str]) -> Kind:
    """Return the kind of the pieces that have no counterpart: a sentence where one is whole."""
    longer = new_pieces if len(new_pieces) > len(old_pieces) else old_pieces
    is_sentence = any(len(text.split()) > MIN_WORDS and text[:1].isupper() for text in longer)
    if not is_sentence:
        return "words"
    return "sentence added" if longer is new_pieces else "sentence removed"


def _kind_of(before: str, after: str) -> Kind:
    if _NUMBER.fullmatch(before) and _NUMBER.fullmatch(after):
        return "number"
    old, new = before.split(), after.split()
    is_name = all(word[:1].isupper() for word in (*old, *new)) and len(old) <= 4 and len(new) <= 4
    if is_name and not any(any(sign.isdigit() for sign in word) for word in (*old, *new)):
        return "name"
    return "words"


def _runs(old: str, new: str) -> bool:
    """Return whether two lines differ in nothing but times and counts that run by themselves."""
    is_stamp = _STAMP.match(old) and _STAMP.match(new) and not (is_prose(old) or is_prose(new))
    if is_stamp or (_DATE.match(old) and _DATE.match(new)):
        return True
    if _INVITES.match(old) and _INVITES.match(new):
        return True
    if is_prose(old) and is_prose(new) and min(len(old), len(new)) >= LONG // 2:
        return False  # "within the last 3 years" is no counter
    without = [_COUNTER.sub("#", line) for line in (old, new)]
    return without[0] == without[1]
