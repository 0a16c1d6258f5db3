"""What is kept and for how long: the RETENTION_* settings, applied a little at every tick."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from articles.interest.models import Event
from articles.models import Article, Page
from articles.personal.versions import touch
from crawler.engine.models import Attempts, Tick
from crawler.pipeline.models import PhaseFigure
from feeds.models import Retrieval
from recrawl.models import Change, Check

AT_ONCE = 5000  # rows a tick, so that no tick is long
KEPT_TICKS_DAYS = 30
KEPT_ATTEMPTS_DAYS = 1


def tidy(now: datetime) -> dict[str, int]:
    """Delete what is older than its retention, and bodies of old pages; rows changed by table."""
    return {
        "attempts": _delete(Attempts.objects.filter(window__lt=now - timedelta(days=KEPT_ATTEMPTS_DAYS))),
        "phases": _delete(PhaseFigure.objects.filter(minute__lt=now - timedelta(days=KEPT_TICKS_DAYS))),
        "ticks": _delete(Tick.objects.filter(started__lt=now - timedelta(days=KEPT_TICKS_DAYS))),
        "retrievals": _expire(Retrieval.objects, "at", settings.RETENTION_RETRIEVALS_DAYS, now),
        "articles": _expire_articles(now),
        "checks": _expire(Check.objects, "at", settings.RETENTION_CHECKS_DAYS, now),
        "changes": _expire(Change.objects, "at", settings.RETENTION_CHANGES_DAYS, now),
        "shown": _expire(
            Event.objects.filter(kind=Event.Kind.SHOWN), "at", settings.RETENTION_SHOWN_DAYS, now
        ),
        "bodies": _empty_bodies(now),
    }


def _expire(rows, column: str, days: int, now: datetime) -> int:  # type: ignore[no-untyped-def]
    """Rows whose `column` is older than `days` (0: kept for ever)."""
    return _delete(rows.filter(**{f"{column}__lt": now - timedelta(days=days)})) if days else 0


@transaction.atomic
def _expire_articles(now: datetime) -> int:
    """Old articles; readers of their feeds see that something went."""
    if not settings.RETENTION_ARTICLES_DAYS:
        return 0
    old = Article.objects.filter(fetched__lt=now - timedelta(days=settings.RETENTION_ARTICLES_DAYS))
    feeds = list(old.order_by("pk").values_list("feed_id", flat=True)[:AT_ONCE])
    done = _delete(old)
    touch(feeds)
    return done


@transaction.atomic
def _delete(rows) -> int:  # type: ignore[no-untyped-def]
    """Rows that somebody works on stay until the next tick: what hangs on a row goes before it does."""
    free = rows.order_by("pk").select_for_update(skip_locked=True)
    old = list(free.values_list("pk", flat=True)[:AT_ONCE])
    if old:
        rows.model.objects.filter(pk__in=old).delete()
    return len(old)


def _empty_bodies(now: datetime) -> int:
    """Drop the HTML, not the text, of pages fetched long ago."""
    days = settings.RETENTION_PAGE_HTML_DAYS
    if not days:
        return 0
    old = Page.objects.filter(fetched__lt=now - timedelta(days=days)).filter(~Q(html=b""))
    ids = list(old.order_by("fetched").values_list("pk", flat=True)[:AT_ONCE])
    return Page.objects.filter(pk__in=ids).update(html=b"") if ids else 0
