"""Import of watches from a backup of changedetection.io or a list of addresses, as lists of pages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, BinaryIO

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from crawler.fetching.http.urls import BadUrl, canonical_url
from crawler.web.limits import LimitReached
from crawler.web.sentences import translated
from recrawl.importing.changedetection import ForeignWatch, name_of, watches_of
from recrawl.models import LIST_DEFAULTS, Site, WatchedPage, key_of
from recrawl.visiting.mapping import MAX_CHOSEN, SiteError, add_pages, check_sites

_KEYS_AT_ONCE = 5000


@dataclass(frozen=True, slots=True)
class Problem:
    """A watch that was not taken over, or not with all its settings: its address and a sentence."""

    url: str
    message: str


@dataclass(slots=True)
class Imported:
    """The result of an import: the new lists, the number of their pages and of those watched already."""

    sites: list[Site] = field(default_factory=list)
    added: int = 0
    known: int = 0
    problems: list[Problem] = field(default_factory=list)


def import_watches(file: BinaryIO, user: User | None) -> Imported:
    """Watch what a backup or a list of addresses names. Watches that are set alike become one list.

    A second import of the same file adds nothing. `user` is whose limit holds, None for nobody's.
    Raises BackupError.
    """
    imported = Imported()
    groups: dict[str, dict[str, ForeignWatch]] = {}
    for address, watch in _addresses(watches_of(file), imported):
        group = groups.setdefault(_alike(watch), {})
        if group.setdefault(address, watch) is not watch:
            imported.known += 1
            _name_losses(watch, imported)
    watched = _known([address for group in groups.values() for address in group])
    for group in groups.values():
        unknown = {address: watch for address, watch in group.items() if address not in watched}
        imported.known += len(group) - len(unknown)
        for watch in unknown.values():
            _name_losses(watch, imported)
        for first in range(0, len(unknown), MAX_CHOSEN):
            addresses = list(unknown)[first : first + MAX_CHOSEN]
            try:
                _add(addresses, unknown[addresses[0]], user, imported)
            except LimitReached as error:
                imported.problems.append(Problem(addresses[0], str(error)))
                return imported
            except (SiteError, ValidationError) as error:
                words = error.messages[0] if isinstance(error, ValidationError) else str(error)
                imported.problems.append(Problem(addresses[0], words))
    return imported


def _name_losses(watch: ForeignWatch, imported: Imported) -> None:
    """Note what a watch loses, if anything."""
    if watch.lost:
        parts = ", ".join(map(translated, watch.lost))
        imported.problems.append(Problem(watch.url, _("Not taken over: %(parts)s") % {"parts": parts}))


def _addresses(watches: Sequence[ForeignWatch], imported: Imported) -> Iterator[tuple[str, ForeignWatch]]:
    """Yield the watches with their canonical addresses, and note those that have none or are refused."""
    for watch in watches:
        if watch.refused:
            imported.problems.append(Problem(watch.url[:500], translated(watch.refused)))
            continue
        try:
            yield canonical_url(watch.url), watch
        except BadUrl as error:
            imported.problems.append(Problem(watch.url[:500], translated(error.reason)))


def _alike(watch: ForeignWatch) -> str:
    """Return a key that is the same for watches of one list."""
    title = "" if watch.tags else watch.title
    return json.dumps([watch.tags, title, watch.is_paused, watch.settings], sort_keys=True)


def _known(addresses: Sequence[str]) -> set[str]:
    """Return the addresses that some list watches already."""
    watched: set[str] = set()
    for first in range(0, len(addresses), _KEYS_AT_ONCE):
        keys = [key_of(address) for address in addresses[first : first + _KEYS_AT_ONCE]]
        pages = WatchedPage.objects.filter(key__in=keys, site__kind=Site.Kind.PAGES)
        watched.update(pages.values_list("url", flat=True))
    return watched


def _add(addresses: list[str], watch: ForeignWatch, user: User | None, imported: Imported) -> None:
    """Watch addresses as one list, set as the watch is."""
    if user is not None:
        check_sites(user)
    one_host = len(addresses) == 1 or watch.tags or watch.title
    fields: dict[str, Any] = {**LIST_DEFAULTS, **watch.settings, "added_by": user}
    fields["title"] = name_of(watch) if one_host else _("Imported pages")
    Site(url=addresses[0], **fields).clean_fields(exclude=["host", "crawl"])
    with transaction.atomic():
        site = add_pages(addresses, **fields)
        if watch.is_paused:
            site.visits.all().delete()
            site.state, site.next_visit = Site.State.PAUSED, datetime.now(UTC)
            site.save(update_fields=["state", "next_visit"])
    imported.sites.append(site)
    imported.added += len(addresses)
