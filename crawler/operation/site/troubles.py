"""Groups of all that does not work, by who must act and by cause, each with its deed.

Feeds are grouped here; mail, notifications, the disk and the parts of the deployment in `site.own_troubles`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Literal

from django.db.models import Max
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from crawler.failures import Failure
from crawler.reading.sources.kinds import LISTS
from crawler.web.templatetags.freshet import amount
from feeds.models import Feed
from feeds.pages.deeds import LOST, NO_FEED, Deed, deeds_for
from feeds.phrases import advice, began, cause_of, failure_words, last_article, tries_again
from feeds.visiting.outage import silent_hosts

Who = Literal["you", "waits", "ended"]

MAX_FEEDS = 1000
"""Failing feeds that are grouped, the longest failing first."""
SHOWN = 6
"""Feeds of a group that its list names."""
LOST_AFTER = timedelta(days=1)
"""Time after which a person is asked for the new address of a feed that is not found."""
PATIENCE = {"throttled", "robots"}
"""Failures after which asking at once would be impolite."""
ALIKE = {"refused": "timeout", "gone": "http-410"}
"""Failures that people are told of in the same words as of another."""
NAMED = 2
"""Feeds that a group names in its title."""
_WAITING_FOR_PEOPLE = NO_FEED | {
    "http-401", "list-missing", "part-missing", "proxy", "no-browser", "blocked-address", "blocked-port",
    "bad-url", "bad-scheme",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Member:
    """A feed of a group: its name and address, a few words, and its own deed where the group has none."""

    name: str
    address: str
    words: str
    deed: Deed | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Troubles of one cause: who must act, the cause, whom it is about, and what can be done.

    `named` is an address that is shown after the text, `feeds` are the keys of its feeds.
    """

    key: str
    who: Who
    cause: str
    about: str
    text: str
    deeds: tuple[Deed, ...] = ()
    members: tuple[Member, ...] = ()
    feeds: tuple[int, ...] = ()
    named: str = ""
    all_address: str = ""
    shape: str = "bad"

    @property
    def is_each_on_its_own(self) -> bool:
        """True if its feeds have a deed each, not one for all."""
        return any(member.deed for member in self.members)


@dataclass(frozen=True, slots=True)
class _Moment:
    now: datetime
    zone: tzinfo
    may_edit: bool


def feed_groups(now: datetime, zone: tzinfo, *, may_edit: bool) -> list[Group]:
    """Return the groups of feeds that fail or rest, those for a person first; six queries at most."""
    moment = _Moment(now, zone, may_edit)
    lean = Feed.objects.select_related("host").defer("fingerprints", "description")
    failing = list(lean.failing().filter(status=Feed.Status.ACTIVE)[:MAX_FEEDS])
    resting = list(
        lean.filter(status__in=[Feed.Status.GONE, Feed.Status.PAUSED]).order_by("-last_attempt", "id")[
            :MAX_FEEDS
        ]
    )
    silent = silent_hosts(now)
    buckets: dict[str, list[Feed]] = {}
    for feed in (*failing, *resting):
        buckets.setdefault(_key_of(feed, now, is_outage=bool(silent)), []).append(feed)
    groups = [_group(key, feeds, moment) for key, feeds in buckets.items() if key != "outage"]
    if silent:
        groups.append(_outage(silent, buckets.get("outage", []), moment))
    order = {"you": 0, "waits": 1, "ended": 2}
    return sorted(groups, key=lambda group: (order[group.who], _rank(group)))


def verdict(groups: Sequence[Group], now: datetime) -> tuple[str, str, str]:
    """Return a shape and the two sentences that say how things are; the second may be empty."""
    yours = sum(group.who == "you" for group in groups)
    others = sum(len(group.feeds) or 1 for group in groups if group.who == "waits")
    if yours:
        message = ngettext("One thing waits for you.", "%(count)s things wait for you.", yours)
        return "warn", message % {"count": amount(yours)}, mends_itself(others, is_more=True)
    if others:
        return "good", _("Nothing waits for you."), mends_itself(others, is_more=False)
    return "good", _("Nothing fails."), _all_read(now)


def mends_itself(feeds: int, *, is_more: bool) -> str:
    """Return a sentence about failing feeds for which nobody here can do anything, "" without any."""
    if not feeds:
        return ""
    if is_more:
        message = ngettext(
            "One other mends itself, or its publisher must.",
            "%(count)s others mend themselves, or their publishers must.",
            feeds,
        )
    else:
        message = ngettext(
            "One feed mends itself, or its publisher must.",
            "%(count)s feeds mend themselves, or their publishers must.",
            feeds,
        )
    return message % {"count": amount(feeds)}


def whom(feeds: Sequence[Feed]) -> str:
    """Return whom a group is about: the names of one or two feeds, else their number, and their one host."""
    if len(feeds) <= NAMED:
        return ", ".join(str(feed)[:60] for feed in feeds)
    hosts = {feed.host.name for feed in feeds}
    if len(hosts) == 1:
        message = ngettext("%(count)s feed of %(host)s", "%(count)s feeds of %(host)s", len(feeds))
        return message % {"count": amount(len(feeds)), "host": hosts.pop()}
    return ngettext("%(count)s feed", "%(count)s feeds", len(feeds)) % {"count": amount(len(feeds))}


def deed_address(group: str, action: str) -> str:
    """Return the address to which the one deed of a group posts."""
    return reverse("health-deed", args=[group, action])


def _all_read(now: datetime) -> str:
    read = Feed.objects.active().filter(last_success__isnull=False)
    count, latest = read.count(), read.aggregate(latest=Max("last_success"))["latest"]
    if not count or latest is None:
        return ""
    message = ngettext(
        "The one feed was read at its last visit.",
        "All %(count)s feeds were read at their last visit.",
        count,
    )
    return message % {"count": amount(count)}


def _rank(group: Group) -> tuple[int, str]:
    """Return what orders groups of one kind: what can be done at once first, then the biggest."""
    return (
        0 if group.key in {"outage", "moved", "list"} else 1,
        f"{10**6 - len(group.feeds):07d}{group.key}",
    )


def _key_of(feed: Feed, now: datetime, *, is_outage: bool) -> str:
    """Return the group that a failing or resting feed belongs to."""
    label = ALIKE.get(feed.failure, feed.failure)
    is_old = feed.failing_since is not None and now - feed.failing_since >= LOST_AFTER
    found_list = bool(feed.proposed) and feed.kind in LISTS and feed.failure == "list-missing"
    keys = (
        (feed.status == Feed.Status.PAUSED, "paused"),
        (bool(feed.proposed.get("url")), "moved"),
        (feed.status == Feed.Status.GONE, "gone"),
        (found_list, "list"),
        (is_outage and _is_ours(feed.failure), "outage"),
        (label.startswith("http-5"), "http-5xx"),
        (is_old and _is_lost(label), f"lost-{label}"),
        (True, label),
    )
    return next(key for applies, key in keys if applies)


def _who_acts(key: str) -> Who:
    if key in {"gone", "paused"}:
        return "ended"
    if key in {"moved", "list", "outage"} or key in _WAITING_FOR_PEOPLE or key.startswith("lost-"):
        return "you"
    return "waits"


def _is_lost(label: str) -> bool:
    return label in LOST or (label.startswith("http-4") and label not in {"http-401", "http-403", "http-429"})


def _is_ours(label: str) -> bool:
    try:
        return Failure.of(label).ours
    except ValueError:
        return False


def _group(key: str, feeds: Sequence[Feed], moment: _Moment) -> Group:
    if key in {"gone", "paused"}:
        return _resting(key, feeds, moment)
    actor = _who_acts(key)
    makers: dict[str, Callable[[], tuple[str, str]]] = {
        "moved": lambda: (
            _("Moved"),
            ngettext("Its site names a new address.", "Their sites name new addresses.", len(feeds)),
        ),
        "list": lambda: (
            _("Its page has changed"),
            _("Another list of the page has articles that Freshet knows from here."),
        ),
    }
    cause, text = makers.get(key, lambda: (cause_of(feeds[0].failure), _text(actor, feeds, moment)))()
    labels = {feed.failure for feed in feeds}
    return Group(
        key=key,
        who=actor,
        cause=cause,
        about=whom(feeds),
        text=_begun(feeds, moment) + text if key in {"moved", "list"} else text,
        deeds=_deeds(key, actor, feeds) if moment.may_edit else (),
        members=_members(key, actor, feeds, moment),
        feeds=tuple(feed.pk for feed in feeds),
        named=feeds[0].proposed.get("url", "") if len(feeds) == 1 else "",
        all_address=_all_failing(labels),
        shape="bad" if actor == "you" else "warn",
    )


def _begun(feeds: Sequence[Feed], moment: _Moment) -> str:
    """Return since when the only feed of a group fails and how, "" for several."""
    if len(feeds) > 1 or not feeds[0].failure_streak:
        return ""
    return failure_words(feeds[0].failure, feeds[0].failing_since, moment.now) + ". "


def _text(actor: Who, feeds: Sequence[Feed], moment: _Moment) -> str:
    """Return since when a group fails, what to do about it, and when Freshet tries again."""
    since = min((feed.failing_since for feed in feeds if feed.failing_since), default=None)
    sentences = [began(since, moment.now) if since else "", advice(feeds[0].failure)]
    ahead = [feed.not_before for feed in feeds if feed.not_before > moment.now]
    if actor == "waits" and ahead:
        sentences.append(tries_again(min(ahead), moment.now, moment.zone))
    return " ".join(sentence for sentence in sentences if sentence)


def _deeds(key: str, actor: Who, feeds: Sequence[Feed]) -> tuple[Deed, ...]:
    """Return what an editor can do about all feeds of a group, the likeliest first."""
    if key == "moved":
        several = ngettext("Use %(count)s new address", "Use %(count)s new addresses", len(feeds))
        words = _("Use the new address") if len(feeds) == 1 else several % {"count": amount(len(feeds))}
        return (Deed(words, deed_address(key, "address"), is_post=True), *_removal(feeds))
    if key == "list":
        words = _("Use the list that was found") if len(feeds) == 1 else _("Use the lists that were found")
        return (Deed(words, deed_address(key, "list"), is_post=True),)
    again = Deed(_("Try again now"), deed_address(key, "retrieve"), is_post=True)
    if actor == "waits":
        return () if key in PATIENCE else (again,)
    if key == "http-401" and len({feed.host_id for feed in feeds}) == 1:
        address = f"{reverse('logins')}?{urlencode({'url': feeds[0].url})}"
        return (Deed(_("Give a login"), address), again)
    first = [deed for deed in deeds_for(feeds[0]) if not deed.is_post][:1] if len(feeds) == 1 else []
    return (*first, again, *_removal(feeds)) if first else (again,)


def _removal(feeds: Sequence[Feed]) -> tuple[Deed, ...]:
    """Return the removal of the only feed of a group."""
    if len(feeds) > 1:
        return ()
    query = urlencode([("only", feeds[0].pk), ("action", "remove")])
    return (Deed(_("Remove it"), f"{reverse('feeds-change')}?{query}", is_post=True, is_lasting=True),)


def _members(key: str, actor: Who, feeds: Sequence[Feed], moment: _Moment) -> tuple[Member, ...]:
    """Return the feeds that a group's list names; none where its title names the only one."""
    if len(feeds) < NAMED:
        return ()
    own_deeds = moment.may_edit and actor == "you" and key not in {"moved", "list", "outage"}
    return tuple(
        Member(
            str(feed),
            feed.get_absolute_url(),
            feed.proposed.get("url", "") if key == "moved" else last_article(feed.last_new, moment.now),
            next((deed for deed in deeds_for(feed) if not deed.is_post), None) if own_deeds else None,
        )
        for feed in feeds[:SHOWN]
    )


def _resting(key: str, feeds: Sequence[Feed], moment: _Moment) -> Group:
    """Return the group of feeds that nobody visits: gone, or paused by a person."""
    count = len(feeds)
    again = Deed(_("Try again now"), deed_address(key, "resume"), is_post=True)
    if key == "gone":
        cause = _("Ended by its publisher") if count == 1 else _("Ended by their publishers")
        text = ngettext(
            "Freshet does not ask any more. Its articles stay.",
            "Freshet does not ask any more. Their articles stay.",
            count,
        )
        several = ngettext("Remove %(count)s feed", "Remove all %(count)s", count)
        words = _("Remove it") if count == 1 else several % {"count": amount(count)}
        deeds: tuple[Deed, ...] = (
            again,
            Deed(words, deed_address(key, "remove"), is_post=True, is_lasting=True),
        )
    else:
        cause = pgettext("state of a feed", "Paused")
        text = ngettext(
            "Somebody paused it. Freshet looks again once it is resumed.",
            "Somebody paused them. Freshet looks again once they are resumed.",
            count,
        )
        several = ngettext("Resume %(count)s feed", "Resume all %(count)s", count)
        words = _("Resume it") if count == 1 else several % {"count": amount(count)}
        deeds = (Deed(words, deed_address(key, "resume"), is_post=True),)
    return Group(
        key=key,
        who="ended",
        cause=cause,
        about=whom(feeds),
        text=text,
        deeds=deeds if moment.may_edit else (),
        members=_members(key, "ended", feeds, moment),
        feeds=tuple(feed.pk for feed in feeds),
        all_address=f"{reverse('feeds')}?{urlencode({'status': key})}",
        shape="warn",
    )


def _outage(hosts: int, feeds: Sequence[Feed], moment: _Moment) -> Group:
    """Return the group of an outage on our side: nearly all hosts that were asked are silent."""
    message = ngettext("%(count)s site", "%(count)s sites", hosts) % {"count": amount(hosts)}
    deeds = (Deed(_("Try again now"), deed_address("outage", "retrieve"), is_post=True),)
    return Group(
        key="outage",
        who="you",
        cause=_("The network here seems to be down"),
        about=message,
        text=_(
            "Nearly everything that Freshet asked did not answer, so no feed is blamed. Look whether this"
            " machine reaches the internet; Freshet goes on trying."
        ),
        deeds=deeds if moment.may_edit and feeds else (),
        members=_members("outage", "you", feeds, moment),
        feeds=tuple(feed.pk for feed in feeds),
        all_address=f"{reverse('feeds')}?failing=yes",
    )


def _all_failing(labels: Iterable[str]) -> str:
    """Return the address of the table of feeds with these failures: with its filter where there is one."""
    names = sorted(set(labels))
    query = {"status": "active", "failing": "yes"} | ({"failure": names[0]} if len(names) == 1 else {})
    return f"{reverse('feeds')}?{urlencode(query)}"
