"""The icon of a feed: its own, else that of its site."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from crawler.pictures.addresses import is_signed
from crawler.pictures.views import icon_answer
from feeds.models import Feed


@login_not_required
@require_safe
def feed_icon(request: HttpRequest, pk: int, signature: str) -> HttpResponseBase:
    """Answer with a feed's icon. Feeds of a site that name none themselves share the site's."""
    if not is_signed("icon", str(pk), signature):
        raise Http404("no icon has this address")
    rows = Feed.objects.only("title", "icon", "image", "site_url", "canonical_url")
    feed = get_object_or_404(rows, pk=pk)
    site = feed.site_url or urljoin(feed.canonical_url, "/")
    candidates = [url for url in (feed.icon, feed.image) if url]
    key = f"icon {candidates[0] if candidates else urlsplit(site).netloc}"
    return icon_answer(request, key, candidates, site, feed.title or feed.canonical_url)
