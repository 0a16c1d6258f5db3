"""Pictures of saved pages, which stay on this machine's disk."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import TimeoutError as TooLate

from articles.body import body_of, images_of
from articles.models import Article
from crawler.web.pictures.loading import load_picture, picture_cache

MAX_PICTURES = 60
"""Pictures of one page that are kept."""
SECONDS = 30.0
"""Time for one picture; one that comes later is loaded when the page is read."""


def keep_pictures(articles: Iterable[Article]) -> int:
    """Keep the pictures of saved pages on disk, and load those that are not there. Returns their number."""
    cache, count = picture_cache(), 0
    for url in pictures_in(articles):
        cache.keep(url)
        count += 1
        if cache.read(url, "full") is None and (future := load_picture(url)) is not None:
            try:
                future.result(SECONDS)
            except TooLate:
                continue
    return count


def forget_pictures(articles: Iterable[Article]) -> None:
    """Let the pictures of pages that are no longer saved go with their age."""
    for url in pictures_in(articles):
        picture_cache().keep(url, kept=False)


def pictures_in(articles: Iterable[Article]) -> list[str]:
    """Return the addresses of the pictures in articles, each once."""
    urls: dict[str, None] = {}
    for article in articles:
        image_urls = [image.url for image in images_of(body_of(article).shown)][:MAX_PICTURES]
        urls |= dict.fromkeys([*image_urls, *([article.image] if article.image else [])])
    return [url for url in urls if url.startswith(("http://", "https://"))]
