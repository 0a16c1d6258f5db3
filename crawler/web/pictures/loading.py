"""Loading of pictures and icons into the cache, a few at a time and each once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from urllib.parse import urljoin, urlsplit

from django.conf import settings

from crawler.database.threads import ConnectionThreads
from crawler.engine.chosen import chosen
from crawler.failures import Failure
from crawler.web.pictures import client
from crawler.web.pictures.cache import PictureCache
from crawler.web.pictures.render import PictureError, Rendered

log = logging.getLogger(__name__)

THREADS = 6
MAX_WAITING = 200
"""Pictures that wait for a thread; beyond it a request is answered with "later"."""
TRIM_EVERY = 200

_lock = threading.Lock()
_waiting: dict[str, Future[str]] = {}
_loaded = 0


def picture_cache() -> PictureCache:
    """Return the cache of this machine."""
    return PictureCache(settings.DATA_DIR / "pictures", chosen("PICTURES_MAX_MEGABYTES") * 1_000_000)


USUAL_ICONS = ("/apple-touch-icon.png", "/favicon.ico")
"""Where icons are that no page names."""
FEW_ICONS = 2
"""A page that names fewer is asked for its manifest, too."""


@cache
def _threads() -> ConnectionThreads:
    return ConnectionThreads(THREADS, thread_name_prefix="picture")


def load_picture(url: str) -> Future[str] | None:
    """Begin to load a picture. Returns the future name of its failure ("" for none).

    Returns None when too many pictures wait.
    """
    return _begin(f"picture {url}", lambda: client.rendered(client.fetched(url)[0]), url)


def load_icon(key: str, candidates: Sequence[str], site: str) -> Future[str] | None:
    """Begin to load a site's icon: of the candidates, of the icons that its page names, or /favicon.ico.

    `key` is the address under which it is stored. Returns as load_picture does.
    """
    return _begin(f"icon {key}", lambda: _icon(candidates, site), key)


def _begin(name: str, load: Callable[[], Rendered], key: str) -> Future[str] | None:
    with _lock:
        if name in _waiting:
            return _waiting[name]
        if len(_waiting) >= MAX_WAITING:
            return None
        future = _waiting[name] = _threads().submit(_load, name, load, key)
    return future


def _load(name: str, load: Callable[[], Rendered], key: str) -> str:
    """Load one picture into the cache. Returns the name of the failure, "" for none."""
    global _loaded  # noqa: PLW0603 - counts for all threads
    try:
        picture = load()
        picture_cache().write(
            key, {"full": picture.full, "thumbnail": picture.thumbnail, "icon": picture.icon}
        )
    except PictureError as error:
        if error.kind != Failure.BUSY:
            picture_cache().fail(key, str(error))
        return error.kind
    except Exception:
        log.exception("a picture could not be loaded")
        return "error"
    finally:
        with _lock:
            _waiting.pop(name, None)
            _loaded += 1
            full = _loaded % TRIM_EVERY == 0
        if full:
            picture_cache().trim()
    return ""


def _icons_of_manifest(url: str) -> list[str]:
    """Return the addresses of the icons of a web app's manifest. Raises PictureError."""
    body, final = client.fetched(url)
    return client.icon_links(body, final)


def _icon(candidates: Sequence[str], site: str) -> Rendered:
    """Return the first icon that can be had. Raises PictureError."""
    for url in candidates:
        try:
            return client.rendered(client.fetched(url)[0])
        except PictureError:
            continue
    if not urlsplit(site).hostname:
        raise PictureError(Failure.BAD_URL, "the feed names no site")
    icon_urls: list[str] = []
    manifest, final = "", site
    try:
        page, final = client.fetched(site)
        icon_urls = client.icon_links(page, final)
        manifest = client.manifest_link(page, final)
    except PictureError:
        pass
    if manifest and len(icon_urls) < FEW_ICONS:
        with suppress(PictureError):
            icon_urls = [*_icons_of_manifest(manifest), *icon_urls]
    for url in (*icon_urls, *(urljoin(final, path) for path in USUAL_ICONS)):
        try:
            return client.rendered(client.fetched(url)[0])
        except PictureError as error:
            last = error
    raise last
