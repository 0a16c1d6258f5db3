"""Actions on feeds: pause, resume, check now, move, rename and remove; what can be undone offers it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from crawler.engine.wake import wake_controller
from crawler.fetching.http.urls import BadUrl
from crawler.reading.lines import SelectorFault
from crawler.reading.sources.kinds import LISTS
from crawler.text.reasons import Reason
from crawler.web import undo
from crawler.web.pages import safe_next
from crawler.web.permissions import needs
from crawler.web.roles import EDITOR
from crawler.web.sentences import translated
from feeds import removal, signals
from feeds.addresses import choose_list, move_to
from feeds.categories import category_at, path_of
from feeds.models import Feed, FeedQuerySet
from feeds.pages.forms import NameAndFolderForm, PickedFeedsForm
from feeds.pausing import pause, resume
from feeds.rules import source_in
from feeds.visiting.selection import retrieve_now


@needs(EDITOR)
@require_POST
def change(request: HttpRequest) -> HttpResponse:
    """Do something with the picked feeds, then redirect to the page they were picked on.

    The menu of one row says `only` and `action` in the address, because its boxes may be ticked as well. With
    `to`, the table is next: the page of a removed feed is gone.
    """
    data = request.POST.copy()
    if only := request.GET.get("only"):
        data.setlist("feed", [only])
    if action := request.GET.get("action"):
        data["action"] = action
    form = PickedFeedsForm(data)
    back = reverse("feeds") if request.GET.get("to") else safe_next(request, reverse("feeds"))
    if not form.is_valid():
        messages.error(request, _("Nothing was changed: pick at least one feed and an action."))
        return HttpResponseRedirect(back)
    feeds = Feed.objects.filter(id__in=form.cleaned_data["feed"])
    ACTIONS[form.cleaned_data["action"]](request, feeds, form)
    return HttpResponseRedirect(back)


@needs(EDITOR)
@require_POST
def choose_rules(request: HttpRequest, pk: int) -> HttpResponse:
    """Take another list of a page for a feed: the one that was sent, or the one that was found anew."""
    feed = get_object_or_404(Feed, pk=pk, kind__in=LISTS)
    try:
        line = request.POST.get("feed", "")
        choose_list(feed, source_in(line)[1] if line else feed.proposed)
    except SelectorFault as fault:
        messages.error(request, _("Nothing was changed: %(fault)s.") % {"fault": translated(str(fault))})
        return HttpResponseRedirect(feed.get_absolute_url())
    wake_controller()
    messages.success(request, _("Freshet reads this list now."))
    return HttpResponseRedirect(feed.get_absolute_url())


@needs(EDITOR)
@require_POST
def use_new_address(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a lost feed the address under which it was found anew."""
    feed = get_object_or_404(Feed, pk=pk)
    address = feed.proposed.get("url", "")
    if not address:
        raise Http404("no other address was found")
    feed.status, feed.proposed = Feed.Status.ACTIVE, {}
    final_feed = move_to(feed, address)
    if final_feed.url != address:
        messages.error(request, _("Another feed has this address already: %(feed)s.") % {"feed": final_feed})
        return HttpResponseRedirect(final_feed.get_absolute_url())
    wake_controller()
    messages.success(request, _("It is read from its new address now."))
    return HttpResponseRedirect(final_feed.get_absolute_url())


def use_what_was_found(request: HttpRequest, feeds: FeedQuerySet) -> None:
    """Give lost feeds the addresses, and lists the rules, under which they were found anew."""
    outcomes = [_use_proposal(feed) for feed in feeds.exclude(proposed={}).order_by("pk")]
    wake_controller()
    success_count = sum(outcomes)
    if success_count:
        message = ngettext(
            "%(count)d feed is read from where it is now.",
            "%(count)d feeds are read from where they are now.",
            success_count,
        )
        messages.success(request, message % {"count": success_count})
    if failure_count := len(outcomes) - success_count:
        message = ngettext(
            "%(count)d feed stays as it was: another has its address, or what was found does not fit.",
            "%(count)d feeds stay as they were: others have their addresses, or what was found does not fit.",
            failure_count,
        )
        messages.error(request, message % {"count": failure_count})


def _use_proposal(feed: Feed) -> bool:
    """Give a feed what was found for it. Returns whether it has it now: another may have its address."""
    address = feed.proposed.get("url", "")
    try:
        if not address:
            choose_list(feed, feed.proposed)
            return True
        feed.status, feed.proposed = Feed.Status.ACTIVE, {}
        return bool(move_to(feed, address).url == address)
    except (SelectorFault, BadUrl):
        return False


@needs(EDITOR)
@require_POST
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a feed a name and a folder; without a name it has its own again."""
    feed = get_object_or_404(Feed, pk=pk)
    form = NameAndFolderForm({name: request.POST.get(f"{name}-{pk}") for name in ("title", "folder")})
    if not form.is_valid():
        messages.error(request, _("Nothing was changed: the name or the folder is too long."))
        return HttpResponseRedirect(safe_next(request, reverse("feeds")))
    title, folder = form.cleaned_data["title"].strip(), category_at(path_of(form.cleaned_data["folder"]))
    earlier = {"title": feed.title, "renamed": feed.renamed, "category": feed.category_id}
    is_renamed = bool(title) and (feed.renamed or title != feed.title)
    rows = Feed.objects.filter(pk=pk)
    rows.update(title=title or feed.title, renamed=is_renamed, category=folder)
    if folder != feed.category:
        signals.moved.send(Feed, user=request.user, feeds=list(rows.only("pk", "category")))
    name = title or str(feed)
    if folder == feed.category:
        message = _("Renamed to %(name)s.")
    elif folder is None:
        message = _("%(name)s is in no folder now.")
    else:
        message = _("%(name)s is in %(folder)s now.")
    message %= {"name": name, "folder": folder}
    undo.offer(request, message, "feeds.edit", {"pk": pk, **earlier})
    return HttpResponseRedirect(safe_next(request, reverse("feeds")))


def _pause(request: HttpRequest, feeds: FeedQuerySet, form: PickedFeedsForm) -> None:
    keys = list(feeds.active().values_list("pk", flat=True))
    count = pause(feeds)
    message = ngettext(
        "Paused %(count)d feed: no visits until resumed.",
        "Paused %(count)d feeds: no visits until resumed.",
        count,
    ) % {"count": count}
    undo.offer(request, message, "feeds.resume", keys)


def _resume(request: HttpRequest, feeds: FeedQuerySet, form: PickedFeedsForm) -> None:
    count = resume(feeds)
    message = ngettext(
        "Resumed %(count)d feed: the schedule says when it is visited next.",
        "Resumed %(count)d feeds: the schedule says when each is visited next.",
        count,
    )
    messages.success(request, message % {"count": count})


def _retrieve(request: HttpRequest, feeds: FeedQuerySet, form: PickedFeedsForm) -> None:
    chosen, selected = feeds.count(), retrieve_now(feeds, Reason("asked for by {0}", request.user))
    wake_controller()
    skipped = chosen - selected
    message = ngettext("%(count)d feed to be checked now.", "%(count)d feeds to be checked now.", selected)
    message %= {"count": selected}
    if skipped:
        others = ngettext(
            "%(count)d feed not: paused, on the way already, or visited moments ago.",
            "%(count)d feeds not: paused, on the way already, or visited moments ago.",
            skipped,
        )
        message = f"{message} {others % {'count': skipped}}"
    messages.success(request, message)


def _move(request: HttpRequest, feeds: FeedQuerySet, form: PickedFeedsForm) -> None:
    target = form.target()
    earlier = [[pk, category] for pk, category in feeds.values_list("pk", "category")]
    count = feeds.update(category=target)
    if target is None:
        message = ngettext("Moved %(count)d feed to no folder.", "Moved %(count)d feeds to no folder.", count)
    else:
        message = ngettext(
            "Moved %(count)d feed to %(folder)s.", "Moved %(count)d feeds to %(folder)s.", count
        )
    message %= {"count": count, "folder": target}
    signals.moved.send(Feed, user=request.user, feeds=list(feeds.only("pk", "category")))
    undo.offer(request, message, "feeds.move", earlier)


def _remove(request: HttpRequest, feeds: FeedQuerySet, form: PickedFeedsForm) -> None:
    names = [str(feed) for feed in feeds.only("title", "url")[:2]]
    keys = removal.remove(feeds, datetime.now(UTC))
    if len(keys) == 1:
        message = _("%(name)s is removed.") % {"name": names[0]}
    else:
        message = ngettext("%(count)d feed is removed.", "%(count)d feeds are removed.", len(keys))
        message %= {"count": len(keys)}
    undo.offer(request, message, "feeds.restore", keys)


ACTIONS: dict[str, Callable[[HttpRequest, FeedQuerySet, PickedFeedsForm], None]] = {
    "pause": _pause,
    "resume": _resume,
    "retrieve": _retrieve,
    "move": _move,
    "remove": _remove,
}


@undo.register("feeds.resume")
def _undo_pause(user: User, keys: Any) -> str:
    count = resume(Feed.objects.filter(pk__in=keys))
    return ngettext("Resumed %(count)d feed.", "Resumed %(count)d feeds.", count) % {"count": count}


@undo.register("feeds.restore")
def _undo_removal(user: User, keys: Any) -> str:
    count = removal.restore(keys)
    return ngettext("%(count)d feed is back.", "%(count)d feeds are back.", count) % {"count": count}


@undo.register("feeds.move")
def _undo_move(user: User, earlier: Any) -> str:
    folders: dict[int | None, list[int]] = {}
    for pk, category in earlier:
        folders.setdefault(category, []).append(pk)
    for category, keys in folders.items():
        Feed.objects.filter(pk__in=keys).update(category=category)
    feeds = Feed.objects.filter(pk__in=[pk for pk, _category in earlier]).only("pk", "category")
    signals.moved.send(Feed, user=user, feeds=list(feeds))
    count = len(earlier)
    return ngettext("Moved %(count)d feed back.", "Moved %(count)d feeds back.", count) % {"count": count}


@undo.register("feeds.edit")
def _undo_edit(user: User, earlier: Any) -> str:
    rows = Feed.objects.filter(pk=earlier["pk"])
    rows.update(title=earlier["title"], renamed=earlier["renamed"], category=earlier["category"])
    signals.moved.send(Feed, user=user, feeds=list(rows.only("pk", "category")))
    return _("The feed has its earlier name and folder again.")
