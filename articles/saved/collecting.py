"""Collections: articles that several people gather, who may add to them, and their feed.

An article of one person's own, such as a saved page, is shown to the others within the collection alone: its
owner has put it there. Every query here therefore names its collection, and reads its articles through it.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection as Some
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.urls import reverse
from django.utils.html import escape
from django.utils.translation import gettext as _

from articles.body import body_of
from articles.models import Article, Subscriber
from articles.personal.following import subscriber_of
from articles.personal.labels import label_named
from articles.saved.models import MAX_NOTE, Collection, CollectionItem, CollectionMember
from crawler.engine.models import Deployment
from crawler.text.characters import storable
from crawler.web.limits import LimitReached
from crawler.web.syndication.item import Channel, Item, ItemSource, language_tag, title_of, web_url

MAX_COLLECTIONS, MAX_MEMBERS, MAX_ITEMS = 200, 100, 10_000
FEED_ITEMS = 50


class CollectionError(ValueError):
    """Error for a change that cannot be made; the message is a sentence for people."""


def collections_of(subscriber: Subscriber) -> QuerySet[Collection]:
    """Return the collections that a person owns or is a member of, with their numbers of articles."""
    mine = Q(owner=subscriber) | Q(members__subscriber=subscriber)
    rows = Collection.objects.filter(pk__in=Collection.objects.filter(mine).values("pk"))
    return (
        rows.select_related("owner__user").annotate(size=Count("items", distinct=True)).order_by("name", "id")
    )


def names_to_add_to(subscriber: Subscriber) -> list[tuple[int, str]]:
    """Return the keys and names of the collections to which a person may add."""
    mine = Q(owner=subscriber) | Q(members__subscriber=subscriber, members__may_add=True)
    return list(Collection.objects.filter(mine).order_by("name", "pk").values_list("pk", "name").distinct())


def may_add(collection: Collection, subscriber: Subscriber) -> bool:
    """Return whether a person may add articles to a collection."""
    is_owner = collection.owner_id == subscriber.pk
    return is_owner or collection.members.filter(subscriber=subscriber, may_add=True).exists()


def make_collection(owner: Subscriber, name: str, about: str = "") -> Collection:
    """Make a collection, or return the one of this name. Raises CollectionError and LimitReached."""
    clean_name = label_named(name)
    if not clean_name:
        raise CollectionError(_("A collection needs a name."))
    collection = Collection.objects.filter(owner=owner, name=clean_name).first()
    if collection is not None:
        return collection
    if owner.collections.count() >= MAX_COLLECTIONS:
        raise LimitReached(
            _("One person can have %(count)d collections at most.") % {"count": MAX_COLLECTIONS}
        )
    return Collection.objects.create(owner=owner, name=clean_name, about=storable(about, MAX_NOTE))


def share(collection: Collection, username: str, *, adds: bool) -> CollectionMember:
    """Share a collection with a person, or change what they may do. Raises CollectionError."""
    user = User.objects.filter(username=username.strip(), is_active=True).first()
    if user is None:
        raise CollectionError(_("Nobody here has this name."))
    subscriber = subscriber_of(user)
    if subscriber.pk == collection.owner_id:
        raise CollectionError(_("The collection is yours already."))
    if collection.members.count() >= MAX_MEMBERS:
        raise CollectionError(_("It is shared with as many people as one collection can have."))
    return CollectionMember.objects.update_or_create(
        collection=collection, subscriber=subscriber, defaults={"may_add": adds}
    )[0]


@transaction.atomic
def add_to(
    collection: Collection, subscriber: Subscriber, articles: Some[int], now: datetime, note: str = ""
) -> int:
    """Add articles that a person may see. Returns how many are new; may raise LimitReached."""
    if not may_add(collection, subscriber):
        raise CollectionError(_("You can read this collection, not add to it."))
    visible_articles = Article.objects.filter(pk__in=list(articles)).filter(
        Q(owner__isnull=True) | Q(owner=subscriber.user_id)
    )
    keys = list(visible_articles.order_by("pk").values_list("pk", flat=True))
    before = collection.items.count()
    if before + len(keys) > MAX_ITEMS:
        raise LimitReached(_("A collection can have %(count)d articles at most.") % {"count": MAX_ITEMS})
    text = storable(note, MAX_NOTE).strip()
    CollectionItem.objects.bulk_create(
        [
            CollectionItem(collection=collection, article_id=key, added_by=subscriber, note=text, added=now)
            for key in keys
        ],
        ignore_conflicts=True,
    )
    Collection.objects.filter(pk=collection.pk).update(changed=now)
    return collection.items.count() - before


def remove_from(collection: Collection, subscriber: Subscriber, articles: Some[int]) -> int:
    """Remove articles: the owner any, others those they have added. Returns their number."""
    items = collection.items.filter(article__in=list(articles))
    if collection.owner_id != subscriber.pk:
        items = items.filter(added_by=subscriber)
    return items.delete()[0]


def items_of(collection: Collection) -> QuerySet[CollectionItem]:
    """Return the articles of a collection with who added them, the latest first."""
    rows = collection.items.select_related("article__feed", "article__page", "added_by__user")
    return rows.order_by("-added", "-id").defer(
        "article__search", "article__page__html", "article__feed__fingerprints"
    )


def collection_page(collection: Collection, self_url: str, root_url: str) -> tuple[Channel, list[Item]]:
    """Return the collection's feed: its latest articles."""
    deployment = Deployment.own_key()
    items = [_item(row, deployment) for row in items_of(collection)[:FEED_ITEMS]]
    channel = Channel(
        id=uuid.uuid5(deployment, f"collection:{collection.pk}").urn,
        title=collection.name,
        description=collection.about or _("A collection of articles"),
        home_url=root_url.rstrip("/") + reverse("collection", args=[collection.pk]),
        self_url=self_url,
        first_url=self_url,
        next_url="",
        previous_url="",
        updated=max((item.updated for item in items), default=collection.created),
    )
    return channel, items


def _item(row: CollectionItem, deployment: uuid.UUID) -> Item:
    article = row.article
    body = body_of(article).shown
    return Item(
        id=uuid.uuid5(deployment, f"article:{article.pk}").urn,
        url=web_url(article.url),
        title=title_of(article.title, article.text),
        author=article.author,
        published=row.added,
        updated=row.added,
        summary=escape(row.note or article.text[:300]),
        content=body,
        source=ItemSource(article.feed.title, article.feed.url, article.feed.site_url),
        language=language_tag(article.language),
        categories=tuple(article.categories),
        image=web_url(article.image),
    )
