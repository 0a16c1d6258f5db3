"""The body of an article as people read it: the feed's own HTML or the page's, and the media in it."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, Literal

from lxml import etree, html

from articles.models import Article
from articles.pictures import attached_picture, first_picture
from crawler.web.syndication.item import AS_FULL, attachment, paragraphs, stored_details, web_url

Source = Literal["feed", "page", ""]
WORDS_PER_MINUTE = 230
SIGNS_PER_MINUTE = 500
"""Chinese, Japanese and Korean signs."""
MAX_IMAGES = 1000
MAX_ATTACHED = 20
"""Attached pictures that are shown below the text."""
_AVATAR = re.compile(r"https?://[^/]*gravatar\.com/")
"""Pictures of authors, which WordPress names as media of each post."""
_FILMS = {
    "YouTube": re.compile(
        r"https://(?:www\.|m\.)?youtube\.com/(?:watch\?v=|shorts/|live/)[\w-]{5,20}|https://youtu\.be/"
    ),
    "Vimeo": re.compile(r"https://(?:www\.)?vimeo\.com/\d{4,12}"),
}


@dataclass(frozen=True, slots=True)
class Image:
    """A picture of an article; `width` and `height` in pixels are 0 if they are not known."""

    url: str
    alt: str = ""
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True)
class ArticleBody:
    """An article's body as sanitised HTML: from the feed, from its page, and the one that is shown.

    `source` says where `shown` comes from; it is "" when there is no body.
    """

    feed: str
    page: str
    source: Source

    @property
    def shown(self) -> str:
        """The HTML that is shown first."""
        return self.page if self.source == "page" else self.feed


_PEERTUBE = re.compile(
    r"https://([a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?)/(?:w|videos/watch|videos/embed)/([\w-]{20,40})", re.A
)


def peertube_player(url: str) -> str:
    """Return the address of the player of a PeerTube film's page, "" for any other address."""
    film = _PEERTUBE.fullmatch(url)
    return f"https://{film[1]}/videos/embed/{film[2]}?autoplay=1&p2p=0" if film else ""


def body_of(article: Article) -> ArticleBody:
    """Return the body of an article, whose page is loaded.

    The feed's HTML is shown if it has nearly all of the text, for a publisher wrote it to be read in a
    reader; else the page's.
    """
    feed = article.content or article.summary
    page = article.page
    from_page = (page.content or paragraphs(page.text)) if page else ""
    is_whole = bool(feed) and len(text_of(feed)) >= AS_FULL * len(text_of(from_page))
    feed = _with_media(feed, article)
    if not feed and not from_page:
        return ArticleBody("", "", "")
    if not from_page:
        return ArticleBody(feed, "", "feed")
    # The page of a film is its player's frame, and its text is that of other films.
    return ArticleBody(feed, from_page, "feed" if is_whole or film_of(article.url) else "page")


def film_of(url: str) -> str:
    """Return the name of the service whose film is at an address, "" for any other address."""
    return next((name for name, pattern in _FILMS.items() if pattern.match(url)), "")


def _with_media(body: str, article: Article) -> str:
    """Return a feed's HTML with the media that it names beside it: a film above it, or pictures below.

    Mastodon's feeds name the pictures of a post only there, YouTube's the picture of the film (issue 57).
    """
    if name := film_of(article.url):
        picture = web_url(stored_details(article.details).image)
        image_html = f'<img src="{escape(picture)}" alt="">' if picture and picture not in body else ""
        link = f'<a class="embed" href="{escape(article.url)}">{escape(article.title or name)}</a>'
        return f"<figure>{image_html}<figcaption>{link}</figcaption></figure>{body}"
    if "<img" in body:
        return body
    return body + "".join(
        f'<figure><img src="{escape(media["url"])}" alt="{escape(media["title"])}"></figure>'
        for media in media_of(article)[:MAX_ATTACHED]
        if (media["medium"] == "image" or media["type"].startswith("image/"))
        and not _AVATAR.match(media["url"])
    )


def text_of(body: str) -> str:
    """Return the text of HTML, blanks as they are."""
    root = _tree(body)
    return "".join(root.itertext()) if root is not None else ""


def images_of(body: str) -> list[Image]:
    """Return the pictures of HTML with absolute addresses, each address once."""
    root = _tree(body)
    if root is None:
        return []
    images: dict[str, Image] = {}
    for element in root.iter("img"):
        url = web_url(element.get("src") or "")
        if url and url not in images and len(images) < MAX_IMAGES:
            size = (_pixels(element.get("width")), _pixels(element.get("height")))
            images[url] = Image(url, element.get("alt") or "", *size)
    return list(images.values())


def lead_image(article: Article, body: str) -> str:
    """Return the address of the picture that stands for an article, "" without one.

    It is the first picture of the body that is large enough, else the one that the feed names or attaches,
    else the preview picture that the page names.
    """
    preview = web_url(article.page.image) if article.page else ""
    image_url = web_url(stored_details(article.details).image)
    return first_picture(body) or image_url or attached_picture(article.enclosures) or preview


def media_of(article: Article) -> list[dict[str, Any]]:
    """Return the files that the feed attaches: `url`, `type`, `length` in bytes, `medium`, `title`,
    `duration` in seconds, `width` and `height` in pixels (0: unknown).
    """
    files = (attachment(enclosure) for enclosure in article.enclosures)
    return [asdict(file) for file in files if file is not None]


def audio_of(article: Article) -> dict[str, Any] | None:
    """Return the first attached file that can be listened to, None without one."""
    return next((media for media in media_of(article) if media["type"].startswith("audio/")), None)


def reading_seconds(text: str) -> int:
    """Return how long an average reader needs for a text."""
    signs = sum("\u3040" <= sign <= "\u9fff" or "\uac00" <= sign <= "\ud7af" for sign in text)
    # Blanks in Chinese and Japanese separate no words.
    words = len(text.split()) if signs * 2 < len(text) else 0
    return round(60 * (words / WORDS_PER_MINUTE + signs / SIGNS_PER_MINUTE))


def _tree(body: str) -> html.HtmlElement | None:
    if not body.strip():
        return None
    try:
        return html.fragment_fromstring(body, create_parent="div")
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return None


def _pixels(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) <= 5 else 0
