"""Deletion of old rows by the RETENTION_* settings, a few at every tick."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q

from articles.models import Page
from articles.personal.archive import settle_carried_marks
from articles.personal.versions import touch
from crawler.engine.chosen import chosen
from crawler.frontier.models import Body, CrawlUrl
from crawler.operation.site.retention_rules import RETENTIONS, Retention, expirable_articles
from crawler.pipeline.models import Document, PhaseFigure
from crawler.web.models import Attempts
from feeds.models import Tick
from recrawl.models import Version, WatchedPage

AT_ONCE = 5000  # rows a tick, so that no tick is long
KEPT_TICKS_DAYS = 30
KEPT_ATTEMPTS_DAYS = 1


def tidy(now: datetime) -> dict[str, int]:
    """Delete rows older than their retention, and bodies of old pages. Returns changed rows by table."""
    return {
        "attempts": _delete(Attempts.objects.filter(window__lt=now - timedelta(days=KEPT_ATTEMPTS_DAYS))),
        "phases": _delete(PhaseFigure.objects.filter(minute__lt=now - timedelta(days=KEPT_TICKS_DAYS))),
        "ticks": _delete(Tick.objects.filter(started__lt=now - timedelta(days=KEPT_TICKS_DAYS))),
        "articles": _expire_articles(now),
        **{retention.name: _expire(retention, now) for retention in RETENTIONS if retention.whole_rows},
        "bodies": _empty_bodies(now),
        "carried": settle_carried_marks(now),
        "accounts": _delete_accounts(now),
    }


def _expire(retention: Retention, now: datetime) -> int:
    """Delete the rows that are older than their setting allows (0: never). Returns their number."""
    return _delete(retention.older(retention.days, now)) if retention.days else 0


@transaction.atomic
def _expire_articles(now: datetime) -> int:
    """Delete old articles that nobody starred or labelled, and tell readers of their feeds.

    Returns the number of articles.
    """
    days = chosen("RETENTION_ARTICLES_DAYS")
    if not days:
        return 0
    old = expirable_articles().filter(fetched__lt=now - timedelta(days=days))
    feeds = list(old.order_by("pk").values_list("feed_id", flat=True)[:AT_ONCE])
    deleted = _delete(old)
    touch(feeds)
    return deleted


@transaction.atomic
def _delete(rows) -> int:  # type: ignore[no-untyped-def]
    """Delete rows and their dependents, except rows locked by others, which wait for the next tick."""
    free = rows.order_by("pk").select_for_update(skip_locked=True)
    old = list(free.values_list("pk", flat=True)[:AT_ONCE])
    if old:
        rows.model.objects.filter(pk__in=old).delete()
    return len(old)


@transaction.atomic
def _delete_accounts(now: datetime) -> int:
    """Delete accounts whose day of grace is over, but never the last owner's."""
    owners = User.objects.select_for_update().filter(is_superuser=True, is_active=True).order_by("pk")
    leaving = User.objects.filter(account__delete_after__lt=now)
    leaving_keys = set(leaving.values_list("pk", flat=True))
    owner_keys = set(owners.values_list("pk", flat=True))
    if owner_keys and owner_keys <= leaving_keys:
        leaving = leaving.exclude(pk=min(owner_keys))
    return _delete(leaving)


def _empty_bodies(now: datetime) -> int:
    """Drop the HTML, not the text, of pages fetched long ago."""
    days = chosen("RETENTION_PAGE_HTML_DAYS")
    if not days:
        return 0
    old = Page.objects.filter(fetched__lt=now - timedelta(days=days)).filter(~Q(html=b""), requested=False)
    ids = list(old.order_by("fetched").values_list("pk", flat=True)[:AT_ONCE])
    return Page.objects.filter(pk__in=ids).update(html=b"") if ids else 0


def delete_unused_bodies() -> int:
    """Delete contents that no URL, document or watched page has any more. Returns their number."""
    urls = CrawlUrl.objects.filter(body=OuterRef("pk"))
    documents = Document.objects.filter(body=OuterRef("pk"))
    is_used = Q(body=OuterRef("pk")) | Q(picture=OuterRef("pk"))
    pages, versions = WatchedPage.objects.filter(is_used), Version.objects.filter(is_used)
    unused = Body.objects.filter(~Exists(urls), ~Exists(documents), ~Exists(pages), ~Exists(versions))
    return unused._raw_delete(connection.alias)
