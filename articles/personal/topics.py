"""Topics that subscribers follow besides feeds: keywords, categories, sites."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from articles.models import Subscriber, Topic
from articles.personal.following import renew_outputs
from crawler.fetching.http.urls import BadUrl, canonical_url, host_key

MAX_TOPICS = 200


class TopicError(ValueError):
    """Error for a topic that cannot be followed; the message says why."""


@transaction.atomic
def follow_topic(subscriber: Subscriber, kind: str, value: str) -> tuple[Topic, bool]:
    """Follow a topic; following it again changes nothing. Returns the topic and whether it is new.

    A site is given by its address or its host name. Raises TopicError.
    """
    plain = " ".join(value.replace("\0", "").split())[:200]
    if kind not in Topic.Kind.values:
        raise TopicError(
            _("%(kind)s is none of %(values)s")
            % {"kind": f"{kind!r}", "values": ", ".join(Topic.Kind.values)}
        )
    if not plain:
        raise TopicError(_("nothing was given to follow"))
    if kind == Topic.Kind.SITE:
        try:
            plain = host_key(canonical_url(plain if "://" in plain else f"https://{plain}"))
        except BadUrl as error:
            raise TopicError(
                _("%(plain)s is no site: %(error)s") % {"plain": f"{plain!r}", "error": error}
            ) from error
    # The subscriber's row is locked so that two requests at once do not go beyond the limit.
    Subscriber.objects.select_for_update().get(pk=subscriber.pk)
    existing = subscriber.topics.filter(kind=kind, value=plain).first()
    if existing is not None:
        return existing, False
    if subscriber.topics.count() >= MAX_TOPICS:
        raise TopicError(
            _("%(topics)s topics are the most that one subscriber follows") % {"topics": MAX_TOPICS}
        )
    topic = Topic.objects.create(subscriber=subscriber, kind=kind, value=plain)
    renew_outputs(subscriber)
    return topic, True


@transaction.atomic
def unfollow_topic(topic: Topic) -> None:
    """Stop following a topic."""
    topic.delete()
    renew_outputs(topic.subscriber)
