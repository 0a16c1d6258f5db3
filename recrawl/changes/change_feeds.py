"""Changes of a site or a page as RSS, Atom or JSON Feed, at unguessable addresses."""

from __future__ import annotations

import html
import uuid
from datetime import datetime

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from crawler.engine.models import Deployment
from crawler.text.patterns import PatternAllowance, compiled
from crawler.web.syndication.answer import answer, private
from crawler.web.syndication.formats import FORMATS
from crawler.web.syndication.item import Channel, Item, ItemSource, paragraphs, web_url
from recrawl.comparing.differences import Difference
from recrawl.models import Change, ChangeQuerySet, Site, WatchedPage

ITEMS = 50
MAX_LINES = 200


@login_not_required
@require_safe
def site_feed(request: HttpRequest, key: str, kind: str) -> HttpResponseBase:
    """Return the feed of a site's changes in ended visits."""
    site = Site.objects.light().filter(key=key).first()
    if site is None or kind not in FORMATS:
        return _unknown()
    return _feed(request, kind, site.changes.all(), site, name=str(site), home=site.url, since=site.created)


@login_not_required
@require_safe
def page_feed(request: HttpRequest, key: str, page: int, kind: str) -> HttpResponseBase:
    """Return the feed of one page's changes."""
    row = WatchedPage.objects.filter(pk=page, site__key=key).select_related("site").first()
    if row is None or kind not in FORMATS:
        return _unknown()
    name = row.title or row.url
    return _feed(request, kind, row.history.all(), row.site, name=name, home=row.url, since=row.first_seen)


def _unknown() -> HttpResponseBase:
    return private(HttpResponse("There is no such feed.\n", "text/plain", status=404))


def _feed(
    request: HttpRequest,
    kind: str,
    changes: ChangeQuerySet,
    site: Site,
    *,
    name: str,
    home: str,
    since: datetime,
) -> HttpResponseBase:
    rows = changes.counting().with_pages().filter(visit__finished__isnull=False).order_by("-id")[:ITEMS]
    self_url = request.build_absolute_uri(request.path)
    source = ItemSource(
        str(site), request.build_absolute_uri(reverse("site-feed", args=[site.key, kind])), site.url
    )
    allowance = PatternAllowance()
    items = [_item(change, source) for change in rows if not _ignored(change, site, allowance)]
    changed = max((item.updated for item in items), default=since)
    channel = Channel(
        id=uuid.uuid5(Deployment.own_key(), request.path.rpartition(".")[0]).urn,
        title=_("Changes of %(name)s") % {"name": name},
        description=_("What changed on %(home)s, as Freshet saw it.") % {"home": home},
        home_url=web_url(home) or request.build_absolute_uri(site.get_absolute_url()),
        self_url=self_url,
        first_url=self_url,
        next_url="",
        previous_url="",
        updated=changed,
    )
    written = FORMATS[kind]
    return answer(request, written.write(channel, items), written.content_type, changed)


def _ignored(change: Change, site: Site, allowance: PatternAllowance) -> bool:
    """Return whether the site's present rules ignore all lines of the change."""
    gain = Difference.unpacked(bytes(change.difference))
    lines = [*gain.lines_added, *gain.lines_removed]
    patterns = [compiled(pattern) for pattern in site.ignore_patterns]
    return bool(lines) and all(allowance.any_found(patterns, line) for line in lines)


def _item(change: Change, source: ItemSource) -> Item:
    return Item(
        id=change.uid.urn,
        url=web_url(change.page.url),
        title=f"{change.get_kind_display().capitalize()}: {change.title or change.page.url}",
        author="",
        published=change.at,
        updated=change.at,
        summary=paragraphs(change.summary),
        content=_marked(Difference.unpacked(bytes(change.difference))),
        source=source,
        categories=(change.kind,),
    )


def _marked(gain: Difference) -> str:
    """Return the hunks as HTML with removed and added lines marked."""
    out: list[str] = []
    for hunk in gain.hunks:
        for kind, old, new in hunk[:MAX_LINES]:
            before, after = html.escape(old, quote=False), html.escape(new, quote=False)
            if kind == "same":
                out.append(f"<p>{after}</p>")
            if kind in {"edited", "removed"}:
                out.append(f"<p><del>{before}</del></p>")
            if kind in {"edited", "added"}:
                out.append(f"<p><ins>{after}</ins></p>")
        out.append("<hr>")
    return "".join(out[:-1])
