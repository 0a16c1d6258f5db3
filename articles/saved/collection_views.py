"""Pages of collections, their files, and their feeds at secret addresses."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from articles.body import body_of
from articles.exporting.answers import export_page
from articles.exporting.querying import article_rows, keys_in
from articles.models import Subscriber, new_token
from articles.personal.following import subscriber_of
from articles.reader.lists import source_of
from articles.saved.collecting import (
    CollectionError,
    add_to,
    collection_page,
    collections_of,
    items_of,
    make_collection,
    may_add,
    remove_from,
    share,
)
from articles.saved.models import MAX_NOTE, Collection
from crawler.text.characters import storable
from crawler.web.limits import LimitReached
from crawler.web.pages import safe_next
from crawler.web.pagination import page_of
from crawler.web.syndication.answer import answer
from crawler.web.syndication.formats import FORMATS

ITEMS = 50


@require_http_methods(["GET", "HEAD", "POST"])
def collections(request: HttpRequest) -> HttpResponse:
    """Show a person's collections and those shared with them, or make one."""
    subscriber = subscriber_of(request.user)
    if request.method == "POST":
        try:
            new_collection = make_collection(
                subscriber, request.POST.get("name", ""), request.POST.get("about", "")
            )
        except (CollectionError, LimitReached) as error:
            messages.error(request, str(error))
            return redirect("collections")
        return redirect("collection", new_collection.pk)
    context = {"rows": collections_of(subscriber), "subscriber": subscriber}
    return render(request, "saved/collections.html", context)


@require_safe
def collection(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the articles of a collection, and with whom it is shared."""
    subscriber, row = _collection(request, pk)
    page = page_of(request, items_of(row), size=ITEMS)
    context = {
        "collection": row,
        "page": page,
        "lines": [(item, source_of(item.article, {})) for item in page],
        "is_owner": row.owner_id == subscriber.pk,
        "may_add": may_add(row, subscriber),
        "subscriber": subscriber,
        "members": row.members.select_related("subscriber__user").order_by("subscriber__user__username"),
        "feed_address": request.build_absolute_uri(reverse("collection-feed", args=[row.token])),
    }
    return render(request, "saved/collection.html", context)


@require_safe
def item(request: HttpRequest, pk: int, article: int) -> HttpResponse:
    """Show an article of a collection, to everybody with whom the collection is shared."""
    _subscriber, row = _collection(request, pk)
    entry = get_object_or_404(items_of(row), article=article)
    context = {
        "collection": row,
        "item": entry,
        "article": entry.article,
        "body": body_of(entry.article).shown,
        "source_name": source_of(entry.article, {}),
    }
    return render(request, "saved/collection_item.html", context)


@require_POST
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Rename, describe, share, unshare, leave or delete a collection, or make a new address for its feed."""
    subscriber, row = _collection(request, pk)
    if "leave" in request.POST:
        row.members.filter(subscriber=subscriber).delete()
        return redirect("collections")
    if row.owner_id != subscriber.pk:
        raise Http404("only its owner changes a collection")
    if "delete" in request.POST:
        row.delete()
        messages.success(request, _("The collection is deleted. Its articles stay where they are."))
        return redirect("collections")
    if "address" in request.POST:
        Collection.objects.filter(pk=row.pk).update(token=new_token())
        messages.success(request, _("The feed has a new address; the one before leads nowhere."))
    elif key := request.POST.get("unshare", ""):
        row.members.filter(subscriber__user__username=key).delete()
    elif "person" in request.POST:
        try:
            share(row, request.POST["person"], adds=request.POST.get("role") == "add")
            messages.success(request, _("Shared."))
        except CollectionError as error:
            messages.error(request, str(error))
    else:
        about = storable(request.POST.get("about", ""), MAX_NOTE).strip()
        Collection.objects.filter(pk=row.pk).update(about=about)
    return redirect("collection", row.pk)


@require_POST
def gather(request: HttpRequest, pk: int) -> HttpResponse:
    """Add an article to a collection (`collection`, or `name` for a new one), or remove it (`remove`)."""
    subscriber = subscriber_of(request.user)
    back = HttpResponseRedirect(safe_next(request, reverse("read-article", args=[pk])))
    try:
        if key := request.POST.get("remove", ""):
            row = _collection(request, int(key) if key.isdecimal() and len(key) < 10 else 0)[1]
            remove_from(row, subscriber, [pk])
            return back
        key = request.POST.get("collection", "")
        if key.isdecimal() and len(key) < 10:
            row = _collection(request, int(key))[1]
        else:
            row = make_collection(subscriber, request.POST.get("name", ""))
        count = add_to(row, subscriber, [pk], datetime.now(UTC), request.POST.get("note", ""))
    except (CollectionError, LimitReached) as error:
        messages.error(request, str(error))
        return back
    added = ngettext("Added to %(name)s.", "Added to %(name)s.", count) % {"name": row.name}
    messages.success(request, added if count else _("It is in %(name)s already.") % {"name": row.name})
    return back


@require_safe
def export(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Return a collection as a file."""
    subscriber, row = _collection(request, pk)
    keys = keys_in(row.items.order_by("-added", "-id"), "article_id")
    return export_page(request, lambda form: article_rows(keys, subscriber, form, shared=True), row.name)


@login_not_required
@require_safe
def feed(request: HttpRequest, token: str) -> HttpResponseBase:
    """Return the feed of a collection at its secret address, as Atom, or as ?as= says (rss, json)."""
    row = get_object_or_404(Collection, token=token)
    form = FORMATS.get(request.GET.get("as", "atom"), FORMATS["atom"])
    root = request.build_absolute_uri("/")
    channel, items = collection_page(row, request.build_absolute_uri(request.path), root)
    return answer(request, form.write(channel, items), form.content_type, channel.updated)


def _collection(request: HttpRequest, pk: int) -> tuple[Subscriber, Collection]:
    """Return who asks and the collection, if it is theirs or shared with them; 404 for any other."""
    subscriber = subscriber_of(request.user)
    return subscriber, get_object_or_404(collections_of(subscriber), pk=pk)
