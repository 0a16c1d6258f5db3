"""The state of Freshet for people who read: a sentence for everybody, a few facts for who is signed in.

All of it rests on what the operators' page of health computes; nothing is measured here.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Literal

from django.contrib.auth.models import User
from django.db.models import Count, Max, Min, Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from crawler.engine.models import Pulse
from crawler.engine.pulses import QUEUES
from crawler.engine.ticking import tick_seconds
from crawler.notices.models import Target
from crawler.operation.site.health import OK, Health, check_health_in_time
from crawler.web.deadline import limited_to
from crawler.web.templatetags.freshet import amount
from feeds.mail.models import Mailbox
from feeds.models import Feed, Retrieval, Tick
from feeds.pages.deeds import Deed
from feeds.phrases import duration, moment_words
from feeds.visiting.outage import silent_hosts

State = Literal["well", "late", "offline", "limited"]
Cause = Literal["", "late", "offline", "starting", "database", "folder", "graph", "unknown"]

KEPT_SECONDS = 10.0
"""For how long this process tells everybody the same: many people ask when something does not work."""
QUERY_SECONDS = 1.0
"""For the queries beside those of health."""
SHAPES = {"well": "good", "late": "warn", "offline": "warn", "limited": "warn"}

log = logging.getLogger(__name__)
_last: list[tuple[float, ServiceStanding]] = []


@dataclass(frozen=True, slots=True)
class ServiceStanding:
    """The state of the deployment, its cause, and the moment up to which nothing was missed, if known."""

    state: State
    cause: Cause = ""
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class StatusFact:
    """One part as its user sees it: a name, a shape, its state, and what to do oneself: words or a deed."""

    name: str
    shape: str
    words: str
    nothing: str = ""
    deed: Deed | None = None


def standing(now: datetime) -> ServiceStanding:
    """Return the state of the deployment, asked for once in ten seconds. Raises nothing."""
    if _last and time.monotonic() - _last[0][0] < KEPT_SECONDS:
        return _last[0][1]
    try:
        health = check_health_in_time(now)
        with limited_to(QUERY_SECONDS):
            service = _standing(health, now)
    except Exception:
        log.exception("the status is not known")
        service = ServiceStanding("limited", "unknown")
    _last[:] = [(time.monotonic(), service)]
    return service


def sentence(service: ServiceStanding) -> str:
    """Return the state in one sentence that tells strangers nothing else."""
    return {
        "": _("Freshet works."),
        "late": _("New articles are late."),
        "offline": _("Freshet cannot reach the web at present."),
        "starting": _("Freshet is starting: give it a few minutes."),
        "database": _("Freshet's database does not answer at present; nothing is lost."),
        "folder": _("Freshet cannot store anything at present; nothing is lost."),
        "graph": _("Freshet works, but for questions to the knowledge graph."),
        "unknown": _("Freshet works in part at present; nothing is lost."),
    }[service.cause]


def own_sentence(service: ServiceStanding, last: datetime | None, now: datetime) -> str:
    """Return the state in one sentence for who is signed in; `last` is when their last article came."""
    if service.cause == "offline":
        return _("Freshet cannot reach the web at present; nothing is wrong with your feeds.")
    if service.cause == "late" and last is not None:
        return _("New articles are late: the last came %(duration)s ago.") % {
            "duration": duration(max((now - last).total_seconds(), 0.0))
        }
    return sentence(service)


def complete_until(service: ServiceStanding, now: datetime, zone: tzinfo) -> str:
    """Return up to when articles are complete, "" while they come or where it is not known."""
    if service.cause not in {"late", "offline"} or service.since is None:
        return ""
    local = service.since.astimezone(zone)
    is_today = local.date() == now.astimezone(zone).date()
    moment = f"{local:%H:%M}" if is_today else moment_words(service.since, now, zone)
    return _("Your articles are complete up to %(moment)s.") % {"moment": moment}


def last_came(person: User) -> datetime | None:
    """Return when the last article of the feeds that a person follows came."""
    feeds = Feed.objects.filter(subscriptions__subscriber__user=person)
    latest: datetime | None = feeds.aggregate(latest=Max("last_new"))["latest"]
    return latest


def facts(person: User, service: ServiceStanding, last: datetime | None, now: datetime) -> list[StatusFact]:
    """Return how news, reading, messages and the person's own feeds are; four queries at most."""
    return [_news(service, last, now), _reading(service), *_messages(person), _own_feeds(person, service)]


def _standing(health: Health, now: datetime) -> ServiceStanding:
    if health.database != OK:
        return ServiceStanding("limited", "database")
    if health.status == "starting":
        return ServiceStanding("limited", "starting")
    if health.folder != OK:
        return ServiceStanding("limited", "folder")
    if health.tick != OK or health.workers != OK:
        return ServiceStanding("late", "late", _last_sign(now))
    if silent_hosts(now):
        return ServiceStanding("offline", "offline", _last_answer(now))
    return ServiceStanding("limited", "graph") if health.graph != OK else ServiceStanding("well")


def _last_sign(now: datetime) -> datetime | None:
    """Return the end of the last round, or when a worker that is silent since then answered last."""
    round_ended = Tick.objects.aggregate(at=Max("finished"))["at"]
    answered = Pulse.objects.filter(queue__in=QUEUES).aggregate(at=Min("answered"))["at"]
    return min((at for at in (round_ended, answered) if at is not None and at <= now), default=None)


def _last_answer(now: datetime) -> datetime | None:
    """Return when a site last answered."""
    retrievals = Retrieval.objects.filter(failure="", pushed=False, at__lte=now)
    return retrievals.order_by("-at").values_list("at", flat=True).first()


def _news(service: ServiceStanding, last: datetime | None, now: datetime) -> StatusFact:
    words = (
        _("No article has come yet.")
        if last is None
        else _("The last article came %(duration)s ago.")
        % {"duration": duration(max((now - last).total_seconds(), 0.0))}
    )
    if service.cause == "late":
        nothing = _("Nothing to do: what is published meanwhile comes later.")
        return StatusFact(_("New articles"), "warn", words, nothing)
    if service.cause == "offline":
        nothing = _("Nothing to do: Freshet goes on trying, and articles come later.")
        return StatusFact(_("New articles"), "warn", words, nothing)
    started = Tick.objects.aggregate(at=Max("started"))["at"]
    if started is not None and started <= now:
        ahead = (started + timedelta(seconds=tick_seconds()) - now).total_seconds()
        when = duration(ahead) if ahead > 0 else ""
        next_round = (
            _("The next round is in %(duration)s.") % {"duration": when} if when else _("A round is due now.")
        )
        words = f"{words} {next_round}"
    shape = "good" if service.state == "well" or service.cause == "graph" else "warn"
    return StatusFact(_("New articles"), shape, words, _("Nothing to do: new articles come by themselves."))


def _reading(service: ServiceStanding) -> StatusFact:
    name = _("Reading and searching")
    if service.cause == "graph":
        words = _("Both work; questions to the knowledge graph have no new answers.")
        return StatusFact(name, "warn", words, _("Nothing to do: it catches up by itself."))
    if service.cause == "folder":
        words = _("What is here can be read; what you mark may not be kept.")
        return StatusFact(
            name, "warn", words, _("Nothing to do: the person who runs this Freshet can mend it.")
        )
    return StatusFact(name, "good", _("Both work."), _("Nothing to do."))


def _messages(person: User) -> list[StatusFact]:
    """Return how mail and messages are, nothing for a person who uses neither."""
    fails = Count("pk", filter=Q(failing_since__isnull=False))
    targets = Target.objects.filter(user=person).order_by().aggregate(all=Count("pk"), failing=fails)
    mailboxes = Mailbox.objects.filter(user=person).order_by().aggregate(all=Count("pk"), failing=fails)
    if not targets["all"] and not mailboxes["all"]:
        return []
    name, failing = _("Mail and messages"), targets["failing"] + mailboxes["failing"]
    if not failing:
        return [StatusFact(name, "good", _("They arrive."), _("Nothing to do."))]
    message = ngettext("One place does not work.", "%(count)s places do not work.", failing)
    if targets["failing"]:
        deed = Deed(_("Look at notifications"), reverse("notifications"))
    else:
        deed = Deed(_("Look at newsletters"), reverse("newsletters"))
    return [StatusFact(name, "warn", message % {"count": amount(failing)}, deed=deed)]


def _own_feeds(person: User, service: ServiceStanding) -> StatusFact:
    followed = Feed.objects.active().filter(subscriptions__subscriber__user=person).order_by()
    counts = followed.aggregate(all=Count("pk"), failing=Count("pk", filter=Q(failure_streak__gt=0)))
    name, failing = _("Your feeds"), counts["failing"]
    if not counts["all"]:
        deed = Deed(_("Look at feeds"), reverse("feeds"))
        return StatusFact(name, "", _("You follow none yet."), deed=deed)
    if not failing:
        return StatusFact(name, "good", _("All are read without trouble."), _("Nothing to do."))
    message = ngettext("One has a problem.", "%(count)s have problems.", failing)
    words = message % {"count": amount(failing)}
    if service.cause == "offline":
        later = _("Most of it ends when the web can be reached.")
        words = f"{words} {later}"
    return StatusFact(name, "warn", words, deed=Deed(_("Look at your feeds"), reverse("me-feeds")))
