"""Storage of messages: each once, as an article of the newsletter's feed if the person follows it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import cast
from uuid import uuid4

from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from crawler.engine.models import Host
from crawler.engine.work import discover
from crawler.messages import Harvest
from crawler.reading.documents import Entry, FeedDocument, RetrievedFeed
from crawler.reading.mail import Mail
from crawler.reading.sources.kinds import MAIL
from crawler.text.characters import indexable, one_line, storable
from crawler.text.keys import digest
from crawler.web.limits import LimitReached
from feeds.mail.models import MailAddress, Mailbox, Newsletter, SubscriptionRequest
from feeds.mail.programs import ReadMail
from feeds.models import Feed
from feeds.signals import added, arrived, links_mailed, mailed
from feeds.visiting import posting
from feeds.visiting.visits import FeedVisit, StoredEntries

MAX_PER_HOUR = 200
"""Messages that one address takes within an hour."""
KEPT_SUBJECTS = 3
MAX_LINKS = 20
MAX_WORDS = 200
"""Words beside its addresses with which a message to oneself is still one that saves pages."""
_LINK = re.compile(r"https?://[^\s<>\"]{4,2000}")
_DOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?")
_NO_DOMAIN = "unknown.invalid"
_MAX_KEY = 300


def take_turn(address: MailAddress, now: datetime) -> bool:
    """Count a message to an address. Returns False, and counts nothing, for more than MAX_PER_HOUR."""
    hour = now.replace(minute=0, second=0, microsecond=0)
    rows = MailAddress.objects.filter(pk=address.pk)
    if rows.filter(hour=hour, taken__lt=MAX_PER_HOUR).update(taken=F("taken") + 1):
        return True
    # An hour in the past, or none; of two at this moment the second counts in the first one's hour.
    if rows.exclude(hour=hour).update(hour=hour, taken=1):
        return True
    return bool(rows.filter(hour=hour, taken__lt=MAX_PER_HOUR).update(taken=F("taken") + 1))


@transaction.atomic
def deliver(address: MailAddress, letter: ReadMail, now: datetime) -> None:
    """Store a message to a person's own address. Its newsletter is followed: the address was made for it."""
    user = address.user
    MailAddress.objects.filter(pk=address.pk).update(last_message=now)
    if _is_request(user, letter, now):
        return
    if urls := _links_to_oneself(user, letter.mail):
        note = letter.mail.subject if not _LINK.search(letter.mail.subject) else ""
        links_mailed.send(sender=MailAddress, user=user, urls=urls, note=note)
        return
    newsletter = _newsletter(user, letter, None)
    if newsletter.state == Newsletter.State.OFFERED:
        _follow(newsletter)
    _keep(newsletter, letter, now)


@transaction.atomic
def deliver_found(mailbox: Mailbox, uid: int, letter: ReadMail | None, now: datetime) -> None:
    """Store a message that was found in a mailbox, and note in the same transaction that it was read.

    One of a newsletter that nobody has decided about is only counted. `letter` is None for a message that
    cannot be read.
    """
    row = Mailbox.objects.select_for_update().select_related("user").filter(pk=mailbox.pk).first()
    if row is None or row.uid_validity != mailbox.uid_validity or uid <= row.last_uid:
        return  # it was removed meanwhile, or another process has been here
    is_new = uid > row.counted_uid
    Mailbox.objects.filter(pk=row.pk).update(
        last_uid=uid,
        counted_uid=max(uid, row.counted_uid),
        unread=F("unread") + int(letter is None and is_new),
    )
    if letter is None or _is_request(row.user, letter, now):
        return
    if not _is_newsletter(letter.mail):
        return
    newsletter = _newsletter(row.user, letter, row)
    if newsletter.state == Newsletter.State.FOLLOWED:
        _keep(newsletter, letter, now)
    elif newsletter.state == Newsletter.State.OFFERED and is_new:
        _count(newsletter, letter.mail, now)


def _links_to_oneself(user: User, mail: Mail) -> list[str]:
    """Return the addresses in a message that a person sends to an address of their own, to save the pages.

    It is one from the address of their account, of no list, and with hardly more in it than addresses.
    """
    own_addresses = {address.casefold() for address in (user.email, *_verified_addresses(user)) if address}
    if mail.sender_address.casefold() not in own_addresses or _is_newsletter(mail):
        return []
    words = f"{mail.subject}\n{mail.text}"
    urls = [url.rstrip(".,;)>") for url in _LINK.findall(words)]
    others = _LINK.sub("", words).split()
    return list(dict.fromkeys(urls))[:MAX_LINKS] if len(others) <= MAX_WORDS else []


def _verified_addresses(user: User) -> list[str]:
    rows = EmailAddress.objects.filter(user=user, verified=True)
    return list(rows.values_list("email", flat=True))


def _is_newsletter(mail: Mail) -> bool:
    """Return whether a message is of a list or newsletter: letters between people stay where they are."""
    return bool(mail.list_id or mail.unsubscribe_url or mail.unsubscribe_mail)


@transaction.atomic
def follow_newsletter(newsletter: Newsletter) -> None:
    """Follow a newsletter that was offered; its mailbox is read again from some days ago.

    Raises LimitReached for more feeds than one person may follow.
    """
    row = Newsletter.objects.select_for_update().get(pk=newsletter.pk)
    if row.state == Newsletter.State.FOLLOWED:
        return
    # Counted anew from the articles that are stored.
    row.messages = 0
    _follow(row, is_strict=True)
    if row.mailbox_id:
        Mailbox.objects.filter(pk=row.mailbox_id).update(last_uid=0, next_look=datetime.now(UTC))


def refuse_newsletter(newsletter: Newsletter) -> None:
    """Note that a person does not want a newsletter; nothing of it is kept."""
    Newsletter.objects.filter(pk=newsletter.pk, state=Newsletter.State.OFFERED).update(
        state=Newsletter.State.REFUSED, subjects=[], messages=0
    )


def _is_request(user: User, letter: ReadMail, now: datetime) -> bool:
    """Keep a message that asks to confirm a subscription by a link. Returns whether it was one."""
    mail = letter.mail
    if not mail.is_confirmation or not mail.confirm_url.startswith(("https://", "http://")):
        return False
    SubscriptionRequest.objects.get_or_create(
        user=user,
        message=digest(mail.message_id),
        defaults={
            "source": digest(letter.source),
            "name": one_line(mail.list_name or mail.sender_name, 300),
            "sender": mail.sender_address[:320],
            "subject": mail.subject,
            "confirm_url": mail.confirm_url,
            "authentication": mail.authentication,
            "authenticated_domain": mail.authenticated_domain,
            "received": _moment(mail, now),
        },
    )
    return True


def _newsletter(user: User, letter: ReadMail, mailbox: Mailbox | None) -> Newsletter:
    """Return the locked newsletter of a message, with what the message says of it."""
    mail = letter.mail
    Newsletter.objects.get_or_create(
        user=user,
        source=digest(letter.source),
        defaults={"source_key": letter.source, "mailbox": mailbox, **_description(mail)},
    )
    newsletter = Newsletter.objects.select_for_update().get(user=user, source=digest(letter.source))
    if newsletter.state == Newsletter.State.FOLLOWED and not _has_feed(newsletter):
        newsletter.state = Newsletter.State.REFUSED  # its feed was removed
        newsletter.save(update_fields=["state"])
    SubscriptionRequest.objects.filter(user=user, source=newsletter.source, done__isnull=True).update(
        done=datetime.now(UTC)
    )
    return newsletter


def _has_feed(newsletter: Newsletter) -> bool:
    return Feed.objects.filter(newsletter=newsletter).exists()


def _description(mail: Mail) -> dict[str, object]:
    return {
        "name": one_line(mail.list_name or mail.sender_name or mail.sender_address, 300),
        "sender": mail.sender_address[:320],
        "unsubscribe_url": mail.unsubscribe_url,
        "unsubscribe_one_click": mail.unsubscribe_one_click,
        "unsubscribe_mail": mail.unsubscribe_mail,
        "authentication": mail.authentication,
        "authenticated_domain": mail.authenticated_domain,
    }


def _follow(newsletter: Newsletter, *, is_strict: bool = False) -> None:
    """Make a newsletter's feed, which its person follows. Not strict, a limit leaves it unfollowed."""
    user = newsletter.user
    newsletter.feed = _feed(newsletter)
    newsletter.state = Newsletter.State.FOLLOWED
    newsletter.save(update_fields=["feed", "state", "messages"])
    try:
        with transaction.atomic():
            added.send(sender=Newsletter, user=user, feeds=[newsletter.feed], folders={})
    except LimitReached:
        if is_strict:
            raise


def _feed(newsletter: Newsletter) -> Feed:
    domain = newsletter.sender.rpartition("@")[2].lower()
    host = domain if _DOMAIN.fullmatch(domain) else _NO_DOMAIN
    key = newsletter.source_key if len(newsletter.source_key) <= _MAX_KEY else str(newsletter.source)
    feed, _ = Feed.with_removed.get_or_create(
        canonical_url=f"mail:{newsletter.user_id}:{key}",
        defaults={
            "url": f"mailto:{newsletter.sender}",
            "kind": MAIL,
            "owner_id": newsletter.user_id,
            "host_id": Host.objects.named({host})[host],
            "title": indexable(newsletter.name),
            "format": MAIL,
        },
    )
    if feed.removed is not None:
        Feed.with_removed.filter(pk=feed.pk).update(removed=None)
        feed.removed = None
    return feed


def _keep(newsletter: Newsletter, letter: ReadMail, now: datetime) -> None:
    """Store a message as an article of a newsletter that is followed, unless it is stored already."""
    if newsletter.state != Newsletter.State.FOLLOWED:
        return
    feed = Feed.objects.select_for_update(no_key=True).get(newsletter=newsletter)
    moment = _moment(letter.mail, now)
    visit = _visit(feed, letter.mail, now, moment)
    stored: dict[int, StoredEntries] = {}
    discover()  # those who keep entries
    for _, entries in arrived.send(sender=FeedVisit, visits=[visit]):
        stored |= cast(dict[int, StoredEntries], entries)
    if not stored.get(feed.pk, StoredEntries()).new:
        return
    _count(newsletter, letter.mail, now)
    _learn(feed, moment)
    language = letter.mail.language[:20] or feed.language
    Feed.objects.filter(pk=feed.pk).update(last_new=max(moment, feed.last_new or moment), language=language)
    mailed.send(sender=Feed, stored=stored)


def _visit(feed: Feed, mail: Mail, now: datetime, moment: datetime) -> FeedVisit:
    entry = Entry(
        identity=mail.message_id,
        url=mail.view_url,
        title=mail.subject,
        author=mail.author,
        published=moment.timestamp(),
        summary=mail.summary,
        content=mail.html,
        text=mail.text,
        language=mail.language,
    )
    document = FeedDocument(MAIL, title=feed.title, language=mail.language, entries=(entry,), size=1)
    harvest = Harvest("feed", feed.pk, now.timestamp(), feed.url, payload=RetrievedFeed(document))
    return FeedVisit(feed, harvest, uuid4(), None)


def _learn(feed: Feed, moment: datetime) -> None:
    """Enter an issue into the feed's posting history, with the time since the one before it."""
    if feed.last_new is None or moment - feed.last_new < timedelta(seconds=1):
        return
    at = moment.timestamp()
    posting.observe([feed.pk], [feed.last_new.timestamp()], [at], [1], [[at]], first=[False])


def _count(newsletter: Newsletter, mail: Mail, now: datetime) -> None:
    """Count a message of a newsletter, and keep what the newest one says."""
    moment = _moment(mail, now)
    newsletter.messages += 1
    if newsletter.last_message is None or moment >= newsletter.last_message:
        newsletter.last_message = moment
        newsletter.subjects = [storable(mail.subject, 300), *newsletter.subjects][:KEPT_SUBJECTS]
        if _may_describe(newsletter, mail):
            for name, value in _description(mail).items():
                setattr(newsletter, name, value)
    newsletter.save()


def _may_describe(newsletter: Newsletter, mail: Mail) -> bool:
    """Return whether a message may say who sends a newsletter and how it ends.

    A List-Id is easily forged, so that after an authenticated sender only the same one may.
    """
    return newsletter.authentication != "pass" or (
        mail.authentication == "pass" and mail.authenticated_domain == newsletter.authenticated_domain
    )


def _moment(mail: Mail, now: datetime) -> datetime:
    """Return when a message was sent, at the latest now."""
    return min(datetime.fromtimestamp(mail.sent, UTC), now) if mail.sent is not None else now
