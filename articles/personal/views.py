"""The subscriber's own pages: followed feeds and topics, personal feeds, account."""

from __future__ import annotations

import tempfile
from collections import Counter
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.forms.models import model_to_dict
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from articles.models import Article, PersonalFeed, Subscriber, Subscription, Topic
from articles.personal import topics
from articles.personal.account import everything
from articles.personal.archive import MAX_ARCHIVE_BYTES, ArchiveError, read_archive, write_archive
from articles.personal.following import (
    FolderError,
    export_subscriptions,
    folders_of,
    follow,
    follow_offered,
    follow_outlines,
    make_folder,
    refile,
    rename_folder,
    subscriber_of,
    unfollow,
)
from articles.personal.forms import FollowForm, OpmlForm, PersonalFeedForm, SubscriptionForm, TopicForm
from articles.personal.selection import (
    addresses,
    chosen,
    create_personal_feed,
    list_address,
    revoke_address,
    rotate_address,
)
from articles.saved.calls import MAX_FILE
from articles.saved.taking import listed_imports
from crawler.web import undo
from crawler.web.limits import LimitReached, is_near, limit_of
from crawler.web.pages import safe_next
from crawler.web.permissions import person_of
from crawler.web.sentences import translated
from crawler.web.settings_tabs import TABS
from crawler.web.syndication.formats import FORMATS
from crawler.web.throttles import DailyThrottle
from feeds.adding.add import Added, WantedFeed, add_feeds
from feeds.adding.imports import AT_ONCE, start_import, within_limit
from feeds.adding.opml import OpmlError, feeds_in
from feeds.models import Feed

MAX_REFUSALS_SHOWN = 20


@require_http_methods(["GET", "HEAD", "POST"])
def feeds(request: HttpRequest) -> HttpResponse:
    """Show the subscriptions and the form to follow more, or follow the addresses of the form."""
    subscriber = subscriber_of(request.user)
    form = FollowForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        fields = form.cleaned_data
        with transaction.atomic():  # beyond the limit of feeds none is added
            outcomes = add_feeds([WantedFeed(address) for address in fields["addresses"]])
            for outcome in outcomes:
                if outcome.feed is not None:
                    follow(subscriber, outcome.feed, folder=fields["folder"])
        _tell(request, outcomes)
        return redirect("me-feeds")
    return _followed(request, subscriber, form, OpmlForm())


@require_POST
def follow_known(request: HttpRequest, pk: int) -> HttpResponse:
    """Follow a feed that the deployment already has (the button on its page)."""
    feed = get_object_or_404(Feed, pk=pk)
    _subscription, new = follow(subscriber_of(request.user), feed, folder=request.POST.get("folder", ""))
    messages.success(
        request, (_("You now follow %(feed)s.") if new else _("You follow %(feed)s.")) % {"feed": feed}
    )
    return HttpResponseRedirect(safe_next(request, reverse("me-feeds")))


@require_POST
def follow_topic(request: HttpRequest) -> HttpResponse:
    """Follow a keyword, a category or a site."""
    form = TopicForm(request.POST)
    if form.is_valid():
        try:
            topic, new = topics.follow_topic(subscriber_of(request.user), **form.cleaned_data)
            messages.success(
                request,
                (_("You now follow the %(topic)s.") if new else _("You follow the %(topic)s."))
                % {"topic": topic},
            )
        except topics.TopicError as error:
            messages.error(request, _("Refused: %(reason)s.") % {"reason": error})
    else:
        messages.error(request, _("Refused: say what to follow, and its name."))
    return HttpResponseRedirect(safe_next(request, reverse("me-feeds")))


@require_POST
def new_folder(request: HttpRequest) -> HttpResponse:
    """Make a folder that no feed is in yet."""
    try:
        folder = make_folder(subscriber_of(request.user), request.POST.get("folder", ""))
    except FolderError as error:
        messages.error(request, str(error))
    else:
        if folder:
            messages.success(request, _("The folder %(folder)s is there now.") % {"folder": folder})
        else:
            messages.error(request, _("Refused: the folder needs a name."))
    return redirect("me-feeds")


@require_POST
def remove_folder(request: HttpRequest) -> HttpResponse:
    """Remove a folder; feeds in it stay, without a folder."""
    folder = request.POST.get("folder", "")
    if folder and rename_folder(subscriber_of(request.user), folder, ""):
        messages.success(request, _("The folder %(folder)s is removed.") % {"folder": folder})
    return redirect("me-feeds")


@require_POST
def unfollow_topic(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop following a topic."""
    topic = get_object_or_404(Topic, pk=pk, subscriber=subscriber_of(request.user))
    topics.unfollow_topic(topic)
    data = {"kind": topic.kind, "value": topic.value}
    undo.offer(request, _("You no longer follow the %(topic)s.") % {"topic": topic}, "me.follow-topic", data)
    return HttpResponseRedirect(safe_next(request, reverse("me-feeds")))


@require_http_methods(["GET", "HEAD", "POST"])
def subscription(request: HttpRequest, pk: int) -> HttpResponse:
    """Show or change the folder and title of a followed feed."""
    row = _own_subscription(request, pk)
    form = SubscriptionForm(request.POST or None, initial={"title": row.title, "folder": row.folder})
    if request.method == "POST" and form.is_valid():
        refile(row, **form.cleaned_data)
        values = {"feed": row.title or row.feed, "folder": row.folder}
        message = _("%(feed)s is in %(folder)s now.") if row.folder else _("%(feed)s is in no folder now.")
        messages.success(request, message % values)
        return redirect("me-feeds")
    return render(request, "me/subscription.html", {"form": form, "subscription": row})


@require_POST
def unfollow_feed(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop following a feed."""
    row = _own_subscription(request, pk)
    data = {"feed": row.feed_id, "folder": row.folder, "title": row.title}
    unfollow(row)
    undo.offer(
        request, _("You no longer follow %(feed)s.") % {"feed": row.title or row.feed}, "me.follow", data
    )
    return redirect("me-feeds")


@undo.register("me.follow")
def _follow_again(user: User, data: Any) -> str:
    """Follow a feed again, in the folder and under the name that it had."""
    feed = Feed.objects.filter(pk=data["feed"]).first()
    if feed is None:
        return _("The feed was removed meanwhile.")
    follow(subscriber_of(user), feed, folder=data["folder"], title=data["title"])
    return _("You follow %(feed)s again.") % {"feed": data["title"] or feed}


@undo.register("me.follow-topic")
def _follow_topic_again(user: User, data: Any) -> str:
    try:
        topic, _is_new = topics.follow_topic(subscriber_of(user), **data)
    except topics.TopicError as error:  # others were followed meanwhile, as many as may be
        return _("The topic is not followed again: %(error)s.") % {"error": error}
    return _("You follow the %(topic)s again.") % {"topic": topic}


@require_POST
def follow_all_here(request: HttpRequest) -> HttpResponse:
    """Follow all feeds of a deployment that has no more than one can read."""
    follow_offered(subscriber_of(request.user))
    return redirect("read")


@require_POST
def import_opml(request: HttpRequest) -> HttpResponse:
    """Follow every feed of an OPML file."""
    subscriber = subscriber_of(request.user)
    form, status = OpmlForm(request.POST, request.FILES), 400
    if form.is_valid():
        try:
            return _follow_list(request, subscriber, form.cleaned_data["file"])
        except OpmlError as error:
            form.add_error("file", _("Nothing was changed: %(error)s.") % {"error": error})
        except LimitReached as error:
            status = 403
            form.add_error("file", str(error))
    return _followed(request, subscriber, FollowForm(), form, status=status)


def _follow_list(request: HttpRequest, subscriber: Subscriber, file: UploadedFile[Any]) -> HttpResponse:
    """Follow the feeds of a file, those of a long one in the background. Raises OpmlError or LimitReached."""
    outlines = iter(within_limit(subscriber.user, feeds_in(file)))
    first = list(islice(outlines, AT_ONCE + 1))
    if len(first) > AT_ONCE:
        rows = chain(first, outlines)
        feed_import = start_import(subscriber.user, rows, name=file.name or "", makes_folders=False)
        return redirect(feed_import)
    _tell(request, follow_outlines(subscriber, first))
    return redirect("me-feeds")


@require_safe
def export_opml(request: HttpRequest) -> HttpResponse:
    """Return the subscriptions as OPML."""
    headers = {"Content-Disposition": 'attachment; filename="feeds.opml"'}
    return HttpResponse(
        export_subscriptions(subscriber_of(request.user)), "text/x-opml; charset=utf-8", headers=headers
    )


@never_cache
@require_safe
def personal_feeds(request: HttpRequest) -> HttpResponse:
    """Show the subscriber's personal feeds with their addresses."""
    own_feeds = subscriber_of(request.user).personal_feeds.prefetch_related("hub_clients")
    rows = [(row, addresses(row, request), list_address(row, request)) for row in own_feeds]
    return render(
        request, "settings/own.html", {"tab": TABS["own"], "personal_feeds": rows, "formats": FORMATS}
    )


@require_http_methods(["GET", "HEAD", "POST"])
def edit_personal_feed(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    """Create or change a personal feed, with a preview of its current articles."""
    subscriber = subscriber_of(request.user)
    row = None if pk is None else _own_personal_feed(request, pk)
    initial = model_to_dict(row or PersonalFeed(), PersonalFeedForm.base_fields)
    form = PersonalFeedForm(request.POST or None, subscriber=subscriber, personal_feed=row, initial=initial)
    if request.method == "POST" and form.is_valid():
        if row is None:
            personal_feed = create_personal_feed(subscriber, **form.cleaned_data)
            messages.success(
                request,
                _("%(name)s is ready: copy its address into your reader.") % {"name": personal_feed.name},
            )
        else:
            for name, value in form.cleaned_data.items():
                setattr(row, name, value)
            row.save()
            messages.success(request, _("%(name)s was changed.") % {"name": row.name})
        return redirect("me-personal-feeds")
    context = {
        "tab": TABS["own"],
        "form": form,
        "personal_feed": row,
        "folders": folders_of(subscriber),
        "preview": _preview(row) if row else [],
    }
    return render(request, "me/personal_feed.html", context)


@require_POST
def change_address(request: HttpRequest, pk: int, change: str) -> HttpResponse:
    """Rotate or revoke a personal feed's address, or delete the personal feed."""
    row = _own_personal_feed(request, pk)
    if change == "rotate":
        rotate_address(row)
        messages.success(
            request, _("%(name)s has a new address; the old one answers 410 (gone).") % {"name": row.name}
        )
    else:
        revoke_address(row)
        messages.success(
            request, _("The address of %(name)s answers 410 (gone) from now on.") % {"name": row.name}
        )
    if change == "delete":
        row.delete()
    return redirect("me-personal-feeds")


@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Show the numbers of the subscriber's stored data, or delete the subscriber."""
    subscriber = subscriber_of(request.user)
    if request.method == "POST":
        if request.POST.get("sure") != subscriber.user.get_username():
            messages.error(request, _("Nothing was deleted: your name was not typed."))
            return redirect("me-account")
        subscriber.delete()  # the sign-in stays; addresses answer 410 or 404
        messages.success(request, _("All that was kept of you as a subscriber is deleted."))
        return redirect("read")
    return account_page(request, subscriber)


def account_page(
    request: HttpRequest, subscriber: Subscriber, *, file_error: str = "", status: int = 200
) -> HttpResponse:
    """Return the page of the subscriber's data, with an error at the field for saved pages."""
    context = {
        "file_error": file_error,
        "max_file": MAX_FILE >> 20,
        **listed_imports(subscriber),
        "feeds": subscriber.subscriptions.count(),
        "feeds_limit": limit_of(subscriber.user, "LIMIT_FEEDS"),
        "requests_limit": limit_of(subscriber.user, "LIMIT_REQUESTS_A_DAY"),
        "requests_today": DailyThrottle.used_today(subscriber.user),
        "topics": subscriber.topics.count(),
        "personal_feeds": subscriber.personal_feeds.count(),
        "marks": subscriber.marks.count(),
        "events": subscriber.events.count(),
    }
    return render(request, "settings/data.html", context | {"tab": TABS["data"]}, status=status)


@never_cache
@require_safe
def export_account(request: HttpRequest) -> HttpResponse:
    """Return all stored data of the subscriber as JSON."""
    headers = {"Content-Disposition": 'attachment; filename="freshet.json"'}
    return JsonResponse(everything(subscriber_of(request.user), datetime.now(UTC)), headers=headers)


@never_cache
@require_safe
def export_archive(request: HttpRequest) -> FileResponse:
    """Return all that the subscriber owns as a ZIP file."""
    now = datetime.now(UTC)
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the answer
    write_archive(subscriber_of(request.user), file, now)
    file.seek(0)
    name = f"freshet-{now:%Y-%m-%d}.zip"
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")


@require_POST
def import_archive(request: HttpRequest) -> HttpResponse:
    """Take over the ZIP file of another deployment."""
    uploaded_file = request.FILES.get("file")
    if uploaded_file is None:
        messages.error(request, _("Nothing was read: no file was chosen."))
        return redirect("me-account")
    try:
        now, is_staff = datetime.now(UTC), person_of(request).is_staff
        data = uploaded_file.read(MAX_ARCHIVE_BYTES + 1)
        counts = read_archive(subscriber_of(request.user), data, now, makes_articles=is_staff)
    except ArchiveError as error:
        messages.error(request, _("It could not be read: %(error)s.") % {"error": error})
    else:
        messages.success(request, counts.in_words())
    return redirect("me-account")


def _followed(
    request: HttpRequest, subscriber: Subscriber, form: FollowForm, opml_form: OpmlForm, status: int = 200
) -> HttpResponse:
    rows = subscriber.subscriptions.select_related("feed").defer("feed__fingerprints")
    is_full_soon = is_near(subscriber.user, "LIMIT_FEEDS", subscriber.subscriptions.count())
    context = {
        "limit": limit_of(subscriber.user, "LIMIT_FEEDS") if is_full_soon else 0,
        "form": form,
        "opml_form": opml_form,
        "subscriptions": rows.order_by("folder", "id"),
        "empty_folders": sorted({*subscriber.folders} - {*rows.values_list("folder", flat=True)}),
        "topic_form": TopicForm(),
        "topics": subscriber.topics.all(),
    }
    return render(request, "me/feeds.html", context, status=status)


def _own_subscription(request: HttpRequest, pk: int) -> Subscription:
    subscriptions = Subscription.objects.select_related("feed", "subscriber__user")
    return get_object_or_404(subscriptions, pk=pk, subscriber=subscriber_of(request.user))


def _own_personal_feed(request: HttpRequest, pk: int) -> PersonalFeed:
    personal_feeds = PersonalFeed.objects.select_related("subscriber__user")
    return get_object_or_404(personal_feeds, pk=pk, subscriber=subscriber_of(request.user))


def _preview(row: PersonalFeed) -> list[Article]:
    """Return the first articles of a personal feed."""
    keys = chosen(row, 0, 5)
    articles_by_key = (
        Article.objects.select_related("feed").only("id", "title", "published", "feed__title").in_bulk(keys)
    )
    return [articles_by_key[key] for key in keys if key in articles_by_key]


def _tell(request: HttpRequest, outcomes: list[Added]) -> None:
    """Add one message for the followed feeds and one for each refusal."""
    counts = Counter(outcome.outcome for outcome in outcomes)
    if followed_now := counts["added"] + counts["duplicate"]:
        if counts["added"]:
            sentence = ngettext(
                "You follow %(count)d feed more, %(new)d of them new here and visited now.",
                "You follow %(count)d feeds more, %(new)d of them new here and visited now.",
                followed_now,
            )
        else:
            sentence = ngettext(
                "You follow %(count)d feed more.", "You follow %(count)d feeds more.", followed_now
            )
        messages.success(request, sentence % {"count": followed_now, "new": counts["added"]})
    refusals = [outcome.message for outcome in outcomes if outcome.outcome == "refused"]
    for message in refusals[:MAX_REFUSALS_SHOWN]:
        messages.error(request, _("Refused: %(reason)s") % {"reason": translated(message)})
    if len(refusals) > MAX_REFUSALS_SHOWN:
        messages.error(
            request, _("%(count)d more were refused.") % {"count": len(refusals) - MAX_REFUSALS_SHOWN}
        )
