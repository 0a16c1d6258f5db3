"""Encoding of pictures from the web as WebP: a full size, a thumbnail and an icon, without metadata. Pure.

Only formats of pixels are read; SVG, which may hold scripts, and documents that are no pictures are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import BytesIO
from urllib.parse import urljoin

from msgspec import Struct
from PIL import Image, ImageOps, ImageSequence

from crawler.failures import Failure

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "AVIF", "BMP", "ICO")
MAX_PIXELS = 40_000_000
"""Pixels of one picture. A larger JPEG is decoded at a fraction of its size, others are refused."""
MAX_SIDE = 65_000
FULL = (1600, 8000)
"""Maximum width and height of the full size."""
THUMBNAIL = (176, 152)
"""Twice the size at which lists show it, for screens with small pixels."""
ICON = (64, 64)
MAX_FRAMES, MAX_FRAME_PIXELS = 80, 12_000_000
"""Of an animation, all frames together; a larger one keeps its first frame."""
QUALITY = 80
MAX_ICON_LINKS = 6
_LINK = re.compile(rb"<link\b[^>]{1,2000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    rb"""\b(rel|href|sizes|type)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""", re.IGNORECASE
)


class PictureError(Exception):
    """A picture that cannot be shown: `kind` is a failure's name, `detail` a sentence."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail = kind, detail


class Rendered(Struct, frozen=True):
    """A picture as WebP in its sizes; `icon` is at most 64 pixels wide and high."""

    full: bytes
    thumbnail: bytes
    icon: bytes


def render(body: bytes) -> Rendered:
    """Encode a picture anew. Raises PictureError for what is none or is too large."""
    image = _opened(body)
    try:
        frames = _frames(image)
        first = _upright(frames[0] if frames else image)
    except PictureError:
        raise
    except Exception as error:  # nothing says what decoders raise on bytes that were made to break them
        raise PictureError(Failure.MALFORMED, f"{type(error).__name__}: {error}"[:200]) from error
    full = _animated(frames, image) if len(frames) > 1 else _encoded(_within(first, FULL))
    thumbnail = _encoded(ImageOps.fit(first, THUMBNAIL, Image.Resampling.BILINEAR))
    return Rendered(full, thumbnail, _encoded(_within(first, ICON)))


def icon_links(body: bytes, url: str) -> list[str]:
    """Return the addresses of icons that a page or a web app's manifest names.

    Those that need not be made larger come first, the nearest in size before the others.
    """
    candidates = _manifest_icons(body) if body.lstrip()[:1] == b"{" else _page_icons(body)
    icons: list[tuple[bool, int, str]] = []
    for pixels, href in candidates:
        try:
            icons.append((pixels < ICON[0], abs(pixels - ICON[0]), urljoin(url, href)))
        except ValueError:
            continue
    return [address for _, _, address in sorted(icons)][:MAX_ICON_LINKS]


def manifest_link(body: bytes, url: str) -> str:
    """Return the address of the web app's manifest that a page names, "" for none."""
    for values in _links(body):
        if "manifest" in values.get(b"rel", "").lower().split() and (href := values.get(b"href", "").strip()):
            try:
                return urljoin(url, href)
            except ValueError:
                return ""
    return ""


def _links(body: bytes) -> Iterator[dict[bytes, str]]:
    """Yield the attributes of each link of a page."""
    for link in _LINK.findall(body[:300_000]):
        yield {
            name.lower(): (quoted or single or bare).decode("utf-8", "replace")
            for name, quoted, single, bare in _ATTRIBUTE.findall(link)
        }


def _page_icons(body: bytes) -> Iterator[tuple[int, str]]:
    """Yield the width in pixels and the address of each icon that a page names."""
    for values in _links(body):
        words = values.get(b"rel", "").lower().split()
        href = values.get(b"href", "").strip()
        if not href or "svg" in values.get(b"type", "") or href.lower().endswith(".svg"):
            continue
        if "icon" in words or "apple-touch-icon" in words:
            size = re.match(r"(\d{1,4})x", values.get(b"sizes", "").lower())
            pixels = int(size[1]) if size else 180 if "apple-touch-icon" in words else 32
            yield pixels, href


def _manifest_icons(body: bytes) -> Iterator[tuple[int, str]]:
    """Yield the width in pixels and the address of each icon of a web app's manifest."""
    try:
        icons = json.loads(body[:300_000]).get("icons")
    except (ValueError, RecursionError, AttributeError):
        return
    for icon in icons[:50] if isinstance(icons, list) else ():
        source = icon.get("src") if isinstance(icon, dict) else None
        if (
            not isinstance(source, str)
            or "svg" in str(icon.get("type", ""))
            or source.lower().endswith(".svg")
        ):
            continue
        size = re.match(r"(\d{1,4})x", str(icon.get("sizes", "")).lower())
        yield int(size[1]) if size else 192, source


def _opened(body: bytes) -> Image.Image:
    Image.MAX_IMAGE_PIXELS = None  # the check below is the same with a name for the failure
    try:
        image = Image.open(BytesIO(body), formats=FORMATS)
    except Exception as error:
        raise PictureError(Failure.UNSUPPORTED_TYPE, "this is no picture of a known format") from error
    width, height = image.size
    if width < 1 or height < 1 or max(width, height) > MAX_SIDE:
        raise PictureError(Failure.TOO_LARGE, f"{width} x {height} pixels")
    if image.format == "JPEG":
        image.draft("RGB", (FULL[0], max(FULL[0] * height // width, 1)))
    if image.size[0] * image.size[1] > MAX_PIXELS:
        raise PictureError(Failure.TOO_LARGE, f"{width} x {height} pixels")
    return image


def _frames(image: Image.Image) -> list[Image.Image]:
    """Return the frames of a small animation, an empty list for anything else."""
    count = getattr(image, "n_frames", 1)
    if count < 2 or image.format == "ICO" or count > MAX_FRAMES:
        return []
    if count * image.size[0] * image.size[1] > MAX_FRAME_PIXELS:
        return []
    return [frame.convert("RGBA") for frame in ImageSequence.Iterator(image)]


def _upright(image: Image.Image) -> Image.Image:
    """Return the picture turned as its camera says, in RGB or, where parts are transparent, RGBA."""
    turned = ImageOps.exif_transpose(image) or image
    transparent = "A" in turned.getbands() or "transparency" in turned.info
    return turned.convert("RGBA" if transparent else "RGB")


def _within(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    smaller = image.copy()
    smaller.thumbnail(size)
    return smaller


def _encoded(image: Image.Image) -> bytes:
    out = BytesIO()
    image.save(out, "WEBP", quality=QUALITY, method=2)
    return out.getvalue()


def _animated(frames: list[Image.Image], image: Image.Image) -> bytes:
    small = [_within(frame, FULL) for frame in frames]
    duration = max(int(image.info.get("duration") or 100), 20)
    out = BytesIO()
    small[0].save(
        out,
        "WEBP",
        save_all=True,
        append_images=small[1:],
        duration=duration,
        loop=0,
        quality=QUALITY,
        method=0,
    )
    return out.getvalue()
