"""Troubles beside those of feeds: parts of the deployment, the disk, mail, notifications and mailboxes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from articles.meaning.filling import trouble
from articles.modelled.asking import recent_failure
from crawler.notices.models import Target
from crawler.notices.watching import LITTLE_ROOM
from crawler.operation.site.health import Health
from crawler.operation.site.phrases import parts
from crawler.operation.site.troubles import Group
from crawler.web.sentences import translated
from crawler.web.templatetags.freshet import amount, size
from feeds.mail.looking import PAUSE_AFTER_REFUSAL
from feeds.mail.models import Mailbox
from feeds.pages.deeds import Deed
from feeds.phrases import began, tries_again

FEW_DAYS = 14
"""Days before the disk is full from which a person is told."""
MAX_ROWS = 20
MAIL = "mail"


def own_groups(
    person: User,
    health: Health,
    room: tuple[float, int | None],
    now: datetime,
    zone: tzinfo,
    *,
    operates: bool,
) -> list[Group]:
    """Return what waits for this person beside feeds; `room` is free bytes and in how many days it is full.

    The disk, the models and the mail server are told to those who operate Freshet (`operates`).
    """
    groups = failing_parts(health)
    if operates:
        groups += _disk(*room)
        groups += _model(now)
        groups += _meaning(now)
    groups += _targets(person, now, operates=operates)
    return groups + _mailboxes(person, now, zone)


def failing_parts(health: Health) -> list[Group]:
    """Return the parts of the deployment that do not work, with what to do."""
    return [
        Group(key="part", who="you", cause=part.name, about="", text=part.words)
        for part in parts(health)
        if part.shape == "bad"
    ]


def _disk(free_bytes: float, days: int | None) -> list[Group]:
    is_full = free_bytes < LITTLE_ROOM
    if not is_full and (days is None or days > FEW_DAYS):
        return []
    text = _("%(free)s are free.") % {"free": size(free_bytes)}
    if days is not None:
        message = ngettext(
            "At this pace it is full in %(count)s day.", "At this pace it is full in %(count)s days.", days
        )
        text = f"{text} {message % {'count': amount(days)}}"
    return [
        Group(
            key="disk",
            who="you",
            cause=_("The disk is nearly full"),
            about="",
            text=text,
            deeds=(Deed(_("Keep less"), reverse("settings-retention")),),
            shape="bad" if is_full else "warn",
        )
    ]


def _model(now: datetime) -> list[Group]:
    """Return that the language model fails, if its last questions all did."""
    row = recent_failure(now) if settings.MODEL_URL else None
    if row is None:
        return []
    return [
        Group(
            key="model",
            who="you",
            cause=_("The language model does not answer"),
            about=row.model,
            text=_sentence(row.finished, row.failure, now),
            shape="warn",
        )
    ]


def _meaning(now: datetime) -> list[Group]:
    """Return that articles are not found by meaning, if PostgreSQL or the embeddings endpoint is why."""
    since, failure = trouble() if settings.EMBEDDINGS_URL else (None, "")
    if not failure:
        return []
    return [
        Group(
            key="meaning",
            who="you",
            cause=_("Searches do not find by meaning"),
            about=settings.EMBEDDINGS_MODEL,
            text=_sentence(since, failure, now),
            shape="warn",
        )
    ]


def _targets(person: User, now: datetime, *, operates: bool) -> list[Group]:
    """Return the targets of this person that fail; and, for who operates Freshet, all that get mail."""
    whose = Q(user=person) | Q(kind=MAIL) if operates else Q(user=person)
    rows = list(Target.objects.filter(whose, failing_since__isnull=False)[:MAX_ROWS])
    by_mail = [target for target in rows if target.kind == MAIL and operates]
    groups = [_of_mail(by_mail, now)] if by_mail else []
    return groups + [
        Group(
            key=f"target-{target.pk}",
            who="you",
            cause=_("Notifications do not arrive"),
            about=target.name,
            text=_sentence(target.failing_since, target.failure, now),
            deeds=(Deed(_("Look at notifications"), reverse("notifications")),),
            shape="warn",
        )
        for target in rows
        if target not in by_mail
    ]


def _of_mail(targets: Sequence[Target], now: datetime) -> Group:
    count = len(targets)
    if count == 1:
        about = targets[0].name
    else:
        about = ngettext("%(count)s address", "%(count)s addresses", count) % {"count": amount(count)}
    return Group(
        key=MAIL,
        who="you",
        cause=_("The mail server refuses messages"),
        about=about,
        text=_sentence(targets[0].failing_since, targets[0].failure, now),
        deeds=(Deed(_("Look at mail"), reverse("settings-mail")),),
        shape="warn",
    )


def _mailboxes(person: User, now: datetime, zone: tzinfo) -> list[Group]:
    """Return this person's mailboxes that cannot be read; one that only does not answer waits."""
    groups = []
    for mailbox in Mailbox.objects.filter(user=person, failing_since__isnull=False)[:MAX_ROWS]:
        is_refused = bool(mailbox.last_look and mailbox.next_look - mailbox.last_look >= PAUSE_AFTER_REFUSAL)
        text = _sentence(mailbox.failing_since, mailbox.failure, now)
        if not is_refused and mailbox.next_look > now:
            text = f"{text} {tries_again(mailbox.next_look, now, zone)}"
        groups.append(
            Group(
                key=f"mailbox-{mailbox.pk}",
                who="you" if is_refused else "waits",
                cause=_("A mailbox refuses its password") if is_refused else _("A mailbox cannot be read"),
                about=str(mailbox),
                text=text,
                deeds=(Deed(_("Give it again"), reverse("newsletters")),) if is_refused else (),
                shape="warn",
            )
        )
    return groups


def _sentence(since: datetime | None, failure: str, now: datetime) -> str:
    """Return since when and why something fails."""
    why = translated(failure)
    parts_of_it = [began(since, now) if since else "", f"{why[:1].upper()}{why[1:]}." if why else ""]
    return " ".join(part for part in parts_of_it if part).replace("..", ".")
