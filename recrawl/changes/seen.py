"""The changes that a person has seen and has not: one row for each person, whatever the number of changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Max, Q

from recrawl.models import Change, ChangeQuerySet, SeenChanges, Site

MAX_KEYS = 5000
"""Single keys that a row holds before it is written anew."""

MAX_SITES = 200
"""Sites in the sidebar."""

Marks = tuple[int, list[int], list[int]]
"""The fields of a row: `up_to`, `unseen`, `seen`."""


def marks_of(user: User) -> SeenChanges:
    """Return a person's row, made with the first use: changes from before the account are seen."""
    row = SeenChanges.objects.filter(user=user).first()
    if row is None:
        last = Change.objects.filter(at__lt=user.date_joined).aggregate(last=Max("id"))["last"]
        row, _ = SeenChanges.objects.get_or_create(user=user, defaults={"up_to": last or 0})
    return row


def unseen_changes(marks: SeenChanges) -> ChangeQuerySet:
    """Return the changes that count and have not been seen."""
    after = Q(id__gt=marks.up_to) & ~Q(id__in=marks.seen)
    return Change.objects.counting().filter(after | Q(id__in=marks.unseen) if marks.unseen else after)


def is_seen(marks: SeenChanges, key: int) -> bool:
    """Return whether a change has been seen."""
    return key in marks.seen or (key <= marks.up_to and key not in marks.unseen)


def mark_seen(user: User, keys: Iterable[int], *, seen: bool = True) -> SeenChanges:
    """Mark changes as seen, or as not seen. Returns the person's row."""
    marks_of(user)
    with transaction.atomic():
        marks = SeenChanges.objects.select_for_update().get(user=user)
        before, after = set(marks.unseen), set(marks.seen)
        for key in keys:
            if key <= marks.up_to:
                before.discard(key) if seen else before.add(key)
            else:
                after.add(key) if seen else after.discard(key)
        marks.unseen, marks.seen = sorted(before), sorted(after)
        if len(marks.seen) > MAX_KEYS:
            _compact(marks)
        marks.save()
    return marks


def mark_all_seen(user: User, site: int | None = None, newest: int | None = None) -> tuple[int, Marks]:
    """Mark all unseen changes, or those of one site, as seen. Returns their number and the marks before.

    With `newest`, those after it stay as they are: what came since the page was made, nobody has seen.
    """
    marks = marks_of(user)
    before = (marks.up_to, list(marks.unseen), list(marks.seen))
    changes = Change.objects.filter(id__lte=newest) if newest is not None else Change.objects.all()
    last = changes.aggregate(last=Max("id"))["last"] or 0
    unseen = unseen_changes(marks).filter(id__lte=last)
    if site is not None:
        keys = list(unseen.filter(site=site).order_by().values_list("id", flat=True))
        mark_seen(user, keys)
        return len(keys), before
    count = unseen.count()
    later, seen = ([key for key in keys if key > last] for keys in (marks.unseen, marks.seen))
    up_to = max(last, marks.up_to)
    SeenChanges.objects.filter(user=user).update(up_to=up_to, unseen=later, seen=seen)
    return count, before


def newest_change() -> int:
    """Return the key of the newest change, which a page sends with what it marks."""
    return Change.objects.aggregate(last=Max("id"))["last"] or 0


def restore_marks(user: User, marks: Marks) -> None:
    """Set a person's marks back to what they were."""
    up_to, unseen, seen = marks
    SeenChanges.objects.filter(user=user).update(up_to=up_to, unseen=unseen, seen=seen)


def unseen_by_site(marks: SeenChanges) -> dict[int, int]:
    """Return the number of unseen changes of each site that has some."""
    rows = unseen_changes(marks).order_by().values_list("site")
    return dict(rows.annotate(count=Count("id")))


def watched_tree(marks: SeenChanges) -> dict[str, Any]:
    """Return the watched sites for the sidebar, each with the number of its unseen changes."""
    unseen = unseen_by_site(marks)
    sites = list(Site.objects.light().order_by("title", "url")[:MAX_SITES])
    for site in sites:
        site.unseen = unseen.get(site.pk, 0)  # type: ignore[attr-defined]
    return {"watched_sites": sites, "unseen": sum(unseen.values())}


def _compact(marks: SeenChanges) -> None:
    """Move `up_to` to the last seen key, and keep as unseen the keys before it that were not."""
    last = marks.seen[-1]
    unseen = unseen_changes(marks).filter(id__lte=last).order_by("-id").values_list("id", flat=True)
    marks.unseen = sorted(unseen[:MAX_KEYS])
    marks.up_to, marks.seen = last, []
