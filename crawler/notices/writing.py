"""Messages written from notices: at once, or together in a digest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Any
from urllib.parse import urljoin

from django.conf import settings
from django.contrib.auth.models import User
from django.core.signing import Signer
from django.db import transaction
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.dateformat import format as format_date
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from crawler.accounts.models import Account
from crawler.notices.briefs import DigestBrief, brief_for, prepare_brief
from crawler.notices.models import Notice, Notification, Rule, Target
from crawler.notices.times import HOUR, after_quiet_hours, last_slot
from crawler.notices.wording import MAX_TEXT, MAX_TITLE, filled
from crawler.text.characters import one_line
from crawler.web.pictures.addresses import picture_address
from crawler.web.zones import zone_named

MAX_IN_DIGEST = 60
TITLE, TEXT = "$title", "$text\n\n$url"


def write(rule: Rule, now: datetime) -> int:
    """Write the messages of a rule that are to be written now. Returns their number.

    Running twice writes nothing twice: messages have keys, and notices are marked in the same transaction.
    """
    language, zone = choices_of(rule.user)
    with translation.override(language), timezone.override(zone):
        if rule.pace == Rule.Pace.NOW:
            return _write_alerts(rule, now, zone)
        prepare_brief(rule, now, zone)
        return _write_digest(rule, now, zone, brief_for(rule, now))


def choices_of(user: User) -> tuple[str, tzinfo]:
    """Return the language and the time zone that a person chose, English and UTC if nothing was."""
    account = Account.objects.filter(user=user).first()
    language = account.language if account else ""
    return language or settings.LANGUAGE_CODE, zone_named(account.zone if account else "")


@transaction.atomic
def _write_alerts(rule: Rule, now: datetime, zone: tzinfo) -> int:
    notices = list(_untold(rule).select_for_update(skip_locked=True).order_by("at", "id"))
    targets = list(rule.targets.all())
    if not notices or not targets:
        return 0
    sent_count = rule.notices.filter(told__gt=now - HOUR).count()
    room = max(rule.most_an_hour - sent_count, 0)
    held_keys = [notice.pk for notice in notices[room:]]
    Notice.objects.filter(pk__in=held_keys).update(held=Notice.Held.LIMIT)
    due = after_quiet_hours(now, rule.quiet_from, rule.quiet_until, zone)
    rows = [_alert(rule, notice, target, due) for notice in notices[:room] for target in targets]
    Notification.objects.bulk_create(rows, ignore_conflicts=True)
    Notice.objects.filter(pk__in=[notice.pk for notice in notices[:room]]).update(told=now)
    return len(rows)


def _alert(rule: Rule, notice: Notice, target: Target, due: datetime) -> Notification:
    title, text = texts_of(rule, notice)
    return Notification(
        user=rule.user,
        rule=rule,
        target=target,
        target_name=target.name,
        key=f"{rule.pk}:{notice.key}",
        title=title,
        text=text,
        facts=facts_of(rule, notice),
        due=due,
    )


def texts_of(rule: Rule, notice: Notice) -> tuple[str, str]:
    """Return the title and the text of a message about a notice."""
    values = {
        "title": notice.title,
        "text": notice.text,
        "source": notice.source,
        "url": notice.url or absolute(notice.path),
        "link": absolute(notice.path),
        "date": format_date(timezone.localtime(notice.at), pgettext("date format", "j F Y")),
        "rule": str(rule),
    }
    title = filled(rule.title_template or TITLE, values, MAX_TITLE)
    text = filled(rule.text_template or TEXT, values, MAX_TEXT).strip()
    return one_line(title, MAX_TITLE) or one_line(notice.title, MAX_TITLE), text or notice.title


def facts_of(rule: Rule, notice: Notice) -> dict[str, Any]:
    """Return what programs get of a notice."""
    return {
        "when": rule.when,
        "rule": str(rule),
        "key": notice.key,
        "title": notice.title,
        "text": notice.text,
        "url": notice.url,
        "link": absolute(notice.path),
        "source": notice.source,
        "at": notice.at.isoformat(),
    }


@transaction.atomic
def _write_digest(rule: Rule, now: datetime, zone: tzinfo, brief: DigestBrief | None) -> int:
    weekday = rule.weekday if rule.pace == Rule.Pace.WEEKLY else None
    slot = last_slot(now, rule.hour, weekday, zone)
    if slot <= max(rule.digested or rule.created, rule.created):
        return 0
    if not Rule.objects.filter(pk=rule.pk, digested=rule.digested).update(digested=slot):
        return 0  # another process has just written it
    notices = list(_untold(rule).filter(at__lte=now).order_by("-at", "-id")[:MAX_IN_DIGEST])
    remaining_count = _untold(rule).count() - len(notices)
    targets = list(rule.targets.all())
    if not notices or not targets:
        return 0
    title, text, html = digest(rule, notices, remaining_count, brief)
    facts = {"when": rule.when, "rule": str(rule), "items": [facts_of(rule, notice) for notice in notices]}
    rows = [
        Notification(
            user=rule.user,
            rule=rule,
            target=target,
            target_name=target.name,
            key=f"{rule.pk}:digest:{slot:%Y%m%d%H%M}",
            title=title,
            text=text,
            html=html,
            facts=facts,
            due=now,
        )
        for target in targets
    ]
    Notification.objects.bulk_create(rows, ignore_conflicts=True)
    _untold(rule).update(told=now)
    return len(rows)


def digest(
    rule: Rule, notices: Sequence[Notice], remaining_count: int = 0, brief: DigestBrief | None = None
) -> tuple[str, str, str]:
    """Return the title, the text and the HTML of a digest: the brief, then stories, then by source."""
    number = len(notices) + remaining_count
    message = ngettext("%(name)s: %(count)d piece of news", "%(name)s: %(count)d pieces of news", number)
    title = one_line(message % {"name": rule, "count": number}, MAX_TITLE)
    first = {notice.story for notice in notices if notice.story}
    sections: dict[str, list[Notice]] = {}
    for notice in sorted(notices, key=lambda notice: notice.story not in first):
        heading = _("Told by several") if notice.story in first else notice.source
        sections.setdefault(heading, []).append(notice)
    context = {
        "rule": rule,
        "title": title,
        "sections": [(name, [_piece(notice) for notice in rows]) for name, rows in sections.items()],
        "rest": remaining_count,
        "brief": brief,
        "public_url": settings.PUBLIC_URL,
        "stop": stop_address(rule),
        "home": absolute(reverse("read")),
        "language": translation.get_language(),
    }
    text = render_to_string("notices/digest.txt", context)
    return title, text, render_to_string("notices/digest.html", context)


def _piece(notice: Notice) -> dict[str, str]:
    picture = picture_address(notice.image, "thumbnail") if notice.image and settings.PUBLIC_URL else ""
    return {
        "title": notice.title,
        "text": notice.text,
        "source": notice.source,
        "url": notice.url or absolute(notice.path),
        "link": absolute(notice.path),
        "picture": absolute(picture),
    }


def write_test(rule: Rule, notice: Notice, now: datetime) -> list[Notification]:
    """Write a message of an unsaved notice to each target of a rule, past all limits."""
    language, zone = choices_of(rule.user)
    with translation.override(language), timezone.override(zone):
        title, text = texts_of(rule, notice)
        html = ""
        if rule.pace != Rule.Pace.NOW:
            title, text, html = digest(rule, [notice])
    rows = [
        Notification(
            user=rule.user,
            rule=rule,
            target=target,
            target_name=target.name,
            title=title,
            text=text,
            html=html,
            key=f"{rule.pk}:test:{now.timestamp():.3f}",
            facts=facts_of(rule, notice) | {"test": True},
            due=now,
        )
        for target in rule.targets.all()
    ]
    return Notification.objects.bulk_create(rows)


def stop_token(rule: Rule) -> str:
    """Return the secret part of the address that stops a rule's messages without a sign-in."""
    return Signer(salt="crawler.notices.stop").sign(str(rule.pk))


def stop_address(rule: Rule) -> str:
    """Return the address that stops a rule's messages, "" where the deployment has no public address."""
    return absolute(reverse("notification-stop", args=[stop_token(rule)])) if settings.PUBLIC_URL else ""


def absolute(path: str) -> str:
    """Return the address of a page of this deployment for others, "" if it has no public address."""
    return urljoin(f"{settings.PUBLIC_URL}/", path.lstrip("/")) if path and settings.PUBLIC_URL else ""


def _untold(rule: Rule) -> QuerySet[Notice]:
    return rule.notices.filter(told__isnull=True, held="")
