"""The icon of a feed: its own, else that of its site."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from crawler.web.pictures.addresses import is_signed
from crawler.web.pictures.views import icon_answer
from feeds.models import Feed


@login_not_required
@require_safe
def feed_icon(request: HttpRequest, pk: int, signature: str) -> HttpResponseBase:
    """Answer with a feed's icon. Feeds of a site that name none themselves share the site's."""
    if not is_signed("icon", str(pk), signature):
        raise Http404("no icon has this address")
    rows = Feed.objects.only("title", "icon", "image", "site_url", "canonical_url")
    feed = get_object_or_404(rows, pk=pk)
    site, candidates = _site_of(feed), _candidates(feed)
    return icon_answer(request, icon_key(feed), candidates, site, feed.title or feed.canonical_url)


def icon_key(feed: Feed) -> str:
    """Return the key under which a feed's icon is in the cache of pictures."""
    candidates = _candidates(feed)
    return f"icon {candidates[0] if candidates else urlsplit(_site_of(feed)).netloc}"


def _candidates(feed: Feed) -> list[str]:
    return [url for url in (feed.icon, feed.image) if url]


def _site_of(feed: Feed) -> str:
    return feed.site_url or urljoin(feed.canonical_url, "/")
