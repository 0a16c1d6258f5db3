"""Details of an entry beside its text: pictures, episodes, comments, sources, places; clean and bounded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from urllib.parse import urlsplit

from crawler.reading.documents import CategoryTerm, Details, Enclosure, FileLink
from crawler.reading.feeds.raw import RawDetails, RawEntry, RawLink
from crawler.reading.feeds.titles import plain_line
from crawler.reading.language_tags import language_tag
from crawler.reading.limits import Limits
from crawler.text.characters import storable

MAX_LISTED = 20
"""Transcripts, contributors, related links and terms of one entry."""
MAX_SECONDS = 1_000_000
MAX_PIXELS = 99_999
MAX_COUNT = 10**15
"""Of bytes, minutes and whatever else a feed counts."""
_NAME_LENGTH = 300
_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,4}):(\d{1,2})(?:\.\d+)?")
_SECONDS = re.compile(r"(\d{1,7})(?:\.\d*)?")
# "1 hr 2 min", "62 min", and ISO 8601's PT1H2M3S.
_SPELLED = re.compile(
    r"(?:PT)?(?:(\d{1,3})\s*h(?:(?:ou)?rs?)?\.?)?[\s,]*(?:(\d{1,4})\s*m(?:in(?:ute)?s?)?\.?)?[\s,]*"
    r"(?:(\d{1,5})\s*s(?:ec(?:ond)?s?)?\.?)?",
    re.IGNORECASE,
)
_TYPES = {
    "aac": "audio/aac", "flac": "audio/flac", "m4a": "audio/mp4", "m4b": "audio/mp4", "mp3": "audio/mpeg",
    "oga": "audio/ogg", "ogg": "audio/ogg", "opus": "audio/ogg", "wav": "audio/wav",
    "m4v": "video/mp4", "mov": "video/quicktime", "mp4": "video/mp4", "webm": "video/webm",
    "avif": "image/avif", "gif": "image/gif", "jpeg": "image/jpeg", "jpg": "image/jpeg", "png": "image/png",
    "webp": "image/webp", "pdf": "application/pdf",
}  # fmt: skip
"""Media types by the ending of a file's name, for feeds that name none, or that of any file."""
_UNTOLD = re.compile(r"[^/]*|(?:application|binary)/(?:octet-stream|x-download|force-download|unknown)", re.I)
_MEDIA = {"image", "audio", "video", "document", "executable"}
_EPISODE_TYPES = {"full", "trailer", "bonus"}
_DETAIL_LINKS = {"replies", "via", "related"}
_EXPLICIT = {"true": True, "yes": True, "explicit": True, "false": False, "no": False, "clean": False}

Resolve = Callable[[str], str]
"""Returns the absolute address of a reference, "" when it has none."""


def details_of(entry: RawEntry, updated: float | None, resolve: Resolve, limits: Limits) -> Details:
    """Return the details of an entry. `updated` is the time of its last change in epoch seconds."""
    if entry.details is None and not any(link.rel in _DETAIL_LINKS for link in entry.links):
        return Details(updated=_time(updated))  # most entries
    raw = entry.details or RawDetails()
    image = _image(raw.images, resolve)
    latitude, longitude = _point(raw.point)
    return Details(
        image=image[0],
        image_width=image[1],
        image_height=image[2],
        updated=_time(updated),
        duration=seconds(raw.duration),
        episode=_line(raw.episode, 40),
        season=_line(raw.season, 40),
        episode_type=_one_of(raw.episode_type, _EPISODE_TYPES),
        explicit=_EXPLICIT.get(raw.explicit.strip().lower()),
        transcripts=_files(raw.transcripts, resolve),
        chapters=next(iter(_files(raw.chapters, resolve)), None),
        comments=resolve(_unless_words(raw.comments)) or _first(entry.links, "replies", resolve, pages=True),
        comment_count=whole_number(count, 10**9)
        if (count := raw.comment_count.strip()).isdecimal()
        else None,
        comments_feed=resolve(raw.comments_feed) or _first(entry.links, "replies", resolve, pages=False),
        source_title=_line(raw.source_title, limits.title),
        source_url=resolve(raw.source_url),
        via=_addresses(entry.links, "via", resolve),
        related=_addresses(entry.links, "related", resolve),
        contributors=tuple(dict.fromkeys(filter(None, (_line(name) for name in raw.contributors))))[
            :MAX_LISTED
        ],
        terms=_terms(raw.terms, limits),
        rights=_line(raw.rights, limits.title),
        latitude=latitude,
        longitude=longitude,
    )


def enclosure_of(link: RawLink, url: str) -> Enclosure:
    """Return the media file of a link, whose absolute address is `url`."""
    return Enclosure(
        url,
        _type_of(link.type, url),
        whole_number(link.length, MAX_COUNT),
        _one_of(link.medium, _MEDIA),
        _line(link.title),
        seconds(link.duration),
        whole_number(link.width, MAX_PIXELS),
        whole_number(link.height, MAX_PIXELS),
    )


def _type_of(published: str, url: str) -> str:
    """Return the media type of a file: the published one, or by its name where that says nothing.

    An episode without a type, of "file" or of "application/octet-stream", could not be listened to
    (music-assistant 5692, escapepod 93).
    """
    published = storable(published.strip())[:100]
    if not _UNTOLD.fullmatch(published):
        return published
    name = urlsplit(url).path.rpartition("/")[2]
    return _TYPES.get(name.rpartition(".")[2].lower(), published)


def seconds(text: str) -> int:
    """Return a duration in seconds; 0 for what is none.

    It is written as seconds, as H:MM:SS or MM:SS, with units, or in ISO 8601.
    """
    text = text.strip()
    if number := _SECONDS.fullmatch(text):
        # AntennaPod 4162: an empty duration, or one with fractions, must not fail.
        return min(int(number[1]), MAX_SECONDS)
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, remainder = (int(part or 0) for part in clock.groups())
        return min(hours * 3600 + minutes * 60 + remainder, MAX_SECONDS)
    if spelled := _SPELLED.fullmatch(text):
        hours, minutes, remainder = (int(part or 0) for part in spelled.groups())
        return min(hours * 3600 + minutes * 60 + remainder, MAX_SECONDS)
    return 0


def _image(images: Iterable[RawLink], resolve: Resolve) -> tuple[str, int, int]:
    """Return address, width and height of the largest image; the first counts if no sizes are given."""
    sized = [
        (url, whole_number(image.width, MAX_PIXELS), whole_number(image.height, MAX_PIXELS))
        for image in images
        if (url := resolve(image.href))
    ]
    # Lists show the picture large, and feeds often name small thumbnails beside it.
    return max(sized, key=lambda image: image[1], default=("", 0, 0))


def _unless_words(address: str) -> str:
    """Return an address, "" for words: some feeds write these where the page of comments belongs."""
    return "" if len(address.split()) > 1 else address


def _files(files: Iterable[tuple[str, str, str]], resolve: Resolve) -> tuple[FileLink, ...]:
    links = (
        FileLink(url, _line(kind, 100), language_tag(language))
        for address, kind, language in files
        if (url := resolve(address))
    )
    return tuple(dict.fromkeys(links))[:MAX_LISTED]


def _addresses(links: Iterable[RawLink], rel: str, resolve: Resolve) -> tuple[str, ...]:
    urls = (resolve(link.href) for link in links if link.rel == rel)
    return tuple(dict.fromkeys(filter(None, urls)))[:MAX_LISTED]


def _first(links: Iterable[RawLink], rel: str, resolve: Resolve, *, pages: bool) -> str:
    """Return the first link of a kind that is a page, or the first that is a feed."""
    urls = (
        resolve(link.href)
        for link in links
        if link.rel == rel and pages != ("xml" in link.type and "xhtml" not in link.type)
    )
    return next(filter(None, urls), "")


def _terms(terms: Iterable[tuple[str, str, str]], limits: Limits) -> tuple[CategoryTerm, ...]:
    """Return the categories that have a scheme, or a label beside their term."""
    cleaned = (
        CategoryTerm(_line(term, limits.name), _line(scheme, limits.name), _line(label, limits.name))
        for term, scheme, label in terms
        # A bare term is in the article's categories already.
        if scheme.strip() or (label.strip() and label.strip() != term.strip())
    )
    return tuple(dict.fromkeys(term for term in cleaned if term.term))[:MAX_LISTED]


def _point(point: tuple[str, str]) -> tuple[float | None, float | None]:
    """Return latitude and longitude in degrees, None for both if one is missing or impossible."""
    try:
        latitude, longitude = (float(part) for part in point)
    except ValueError:
        return None, None
    return (latitude, longitude) if abs(latitude) <= 90 and abs(longitude) <= 180 else (None, None)


def _time(at: float | None) -> str:
    if at is None:
        return ""
    try:
        return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
    # Years beyond 9999, which some feeds do claim.
    except (OverflowError, ValueError, OSError):
        return ""


def _one_of(text: str, words: set[str]) -> str:
    word = text.strip().lower()
    return word if word in words else ""


def _line(text: str, longest: int = _NAME_LENGTH) -> str:
    return storable(plain_line(text)[:longest]) if text else ""


def whole_number(text: str, limit: int) -> int:
    """Return a whole number up to `limit`, 0 for anything else."""
    text = text.strip()
    # isdigit alone lets superscripts through, which int refuses.
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 and int(text) <= limit else 0
