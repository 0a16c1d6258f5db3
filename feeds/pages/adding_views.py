"""Pages that add feeds: one field with a preview of what was found, and the progress of what was added."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from crawler.engine.pulses import worker_alive
from crawler.engine.wake import wake_controller
from crawler.fetching.http.logins import without_login
from crawler.fetching.http.urls import BadUrl, canonical_url
from crawler.reading.lines import SelectorFault
from crawler.reading.parts import check_part
from crawler.reading.sources.kinds import PAGE
from crawler.text.reasons import Reason
from crawler.web.limits import LimitReached
from crawler.web.pages import wants_part
from crawler.web.permissions import needs, person_of
from crawler.web.roles import EDITOR
from crawler.web.sentences import translated
from feeds.adding import imports
from feeds.adding.add import known_feeds
from feeds.adding.discovery import MAX_ADDRESSES, BusyError, Look, WantedSources, look_at
from feeds.adding.opml import OpmlError
from feeds.addresses import choose_list
from feeds.models import Feed, FeedImport, ImportLine
from feeds.pages.filters import folder_choices
from feeds.pages.forms import AddFeedsForm
from feeds.phrases import failure_words
from feeds.rules import PARTS, checked_rules, rules_in, source_in, source_key

SHOWN_LINES = 200
LOGIN_FIELDS = ("login_kind", "login_name", "login_secret", "share")
EACH_LINE = 50
"""Lines up to which an import shows each of them, also those that are fine."""
_ADDRESS = re.compile(
    r"^(?:feed:)?(?:https?:/)?/?[^\s/]*[^\s./]\.[^\s./]\S*$|^https?://\S+$|^localhost\b", re.IGNORECASE
)


@needs(EDITOR)
@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest) -> HttpResponse:
    """Show what is behind the addresses in `url`, or add what was chosen and show its progress.

    Words that are no address lead to the search.
    """
    if request.method == "POST":
        return _added(request)
    # What a phone shares stands in one of two fields, depending on the app that shares it.
    text = (request.GET.get("url") or request.GET.get("text", "")).strip()
    addresses = addresses_in(text)
    if text and not addresses:
        target = f"{reverse('search')}?{urlencode({'q': text[:300]})}"
        if wants_part(request):
            return HttpResponse(headers={"HX-Redirect": target})
        return HttpResponseRedirect(target)
    kind = PAGE if request.GET.get("kind") == PAGE else ""
    context: dict[str, Any] = {"text": text, "folders": folder_choices(), "lists_wanted": bool(kind)}
    context["in_place_of"] = _number(request.GET.get("feed", ""))
    context["form"] = form = AddFeedsForm()
    context["login_fields"] = [form[name] for name in LOGIN_FIELDS]
    if addresses:
        context |= _found(addresses, kind)
    if wants_part(request):
        response = render(request, "feeds/_found.html", context)
    else:
        context |= {"imports": imports.recent_imports(person_of(request))}
        response = render(request, "feeds/add.html", context)
    patch_vary_headers(response, ["HX-Request"])
    return response


def add_here(request: HttpRequest) -> HttpResponse:
    """Lead from the page's earlier address to its new one; what is sent there is added all the same."""
    if request.method in {"GET", "HEAD"}:
        query = request.GET.urlencode()
        return HttpResponseRedirect(f"{reverse('add')}?{query}" if query else reverse("add"))
    return add(request)


def addresses_in(text: str) -> list[str]:
    """Return the addresses in what a person typed or pasted, each once; [] where it is words."""
    words = [word.strip("<>()[]\"',;") for word in re.split(r"[\s,]+", text)]
    addresses = list(dict.fromkeys(word for word in words if word and _ADDRESS.match(word)))
    is_words = len(addresses) < len([word for word in words if word]) / 2
    return [] if is_words else addresses


def _found(addresses: list[str], kind: str) -> dict[str, Any]:
    # A look has no login to show: an address that holds one is read at its first visit.
    shown_addresses = [address for address in addresses if without_login(address)[1] is None][:MAX_ADDRESSES]
    remaining = [
        (address, without_login(address)[0]) for address in addresses if address not in shown_addresses
    ]
    try:
        looks = look_at(shown_addresses, WantedSources(kind)) if shown_addresses else []
    except BusyError:
        return {"busy": True}
    feeds = [feed for look in looks for feed in look.feeds]
    others = [feed for look in looks for feed in look.others if not look.lists]
    list_looks = [look for look in looks if look.lists]
    existing_feeds = _known(looks)
    now = datetime.now(UTC)
    return {
        "looks": looks,
        "rest": remaining,
        "known": existing_feeds,
        "posts": {feed.key: feed.posts(now) for feed in feeds},
        "number": len(feeds),
        "chosen": sum(feed.is_chosen and feed.key not in existing_feeds for feed in others)
        + len(list_looks)
        + len(remaining),
        "asks_login": any(look.asks_login for look in looks),
        "refused": any(look.problem for look in looks),
        "only_login": len(looks) == 1 and looks[0].asks_login and not remaining,
        "only_list": len(looks) == len(list_looks) == 1 and not remaining,
    }


def _known(looks: list[Look]) -> dict[str, Any]:
    keys: dict[str, str] = {}
    for look in looks:
        for feed in look.feeds:
            try:
                keys[feed.key] = source_key(canonical_url(feed.url), feed.kind, feed.rules)
            except BadUrl:
                continue
    rows = known_feeds(keys.values())
    return {url: rows[key] for url, key in keys.items() if key in rows}


def _added(request: HttpRequest) -> HttpResponse:
    data = request.POST.copy()
    lists = [str(data[name]) for name in data if name.startswith("list") and name[4:].isdecimal()]
    if lists and (feed := Feed.objects.filter(pk=_number(data.get("in_place_of", "")), kind=PAGE).first()):
        return _replaced(request, feed, lists[0])
    if chosen := [*data.getlist("feed"), *lists]:
        data["addresses"] = "\n".join([*chosen, data.get("addresses", "")])
    form, status = AddFeedsForm(data, request.FILES), 422
    if form.is_valid():
        try:
            feed_import = form.start_import(person_of(request))
            return HttpResponseRedirect(feed_import.get_absolute_url())
        except OpmlError as error:
            form.add_error("opml", _("Nothing was added: %(error)s") % {"error": error})
        except LimitReached as error:
            status = 403
            form.add_error("opml" if request.FILES else "addresses", str(error))
    context = {"form": form, "folders": folder_choices(), "text": data.get("addresses", "")}
    context["login_fields"] = [form[name] for name in LOGIN_FIELDS]
    return render(request, "feeds/add.html", context, status=status)


@needs(EDITOR)
@require_safe
def rules(request: HttpRequest) -> HttpResponse:
    """Show what rules choose in a page, to be followed as a feed or to be used by one that exists."""
    address = request.GET.get("url", "").strip()
    feed = Feed.objects.filter(pk=_number(request.GET.get("feed", ""))).first()
    rule_texts = {part: request.GET[part] for part in PARTS if request.GET.get(part)}
    context: dict[str, Any] = {
        "address": address,
        "parts": _rule_fields(rule_texts),
        "feed_id": feed and feed.pk,
    }
    context["browser"] = bool(rule_texts.get("browser"))
    context["more_given"] = any(part != "entry" for part in rule_texts)
    context["target"] = reverse("feed-rules", args=[feed.pk]) if feed else reverse("add")
    near = request.GET.get("near", "")
    if address and (rule_texts or near):
        try:
            sources = WantedSources(PAGE, rules_in(checked_rules(PAGE, rule_texts)), near=_checked_part(near))
            (look,) = look_at([address], sources)
            context["look"] = look
            if near and look.lists:
                context["parts"] = _rule_fields(look.lists[0].rules)
        except SelectorFault as fault:
            context["problem"] = capfirst(f"{translated(str(fault))}.")
        except BusyError:
            context["problem"] = _("Freshet is looking at other addresses. Try once more.")
    return render(request, "feeds/rules.html", context)


def _checked_part(part: str) -> str:
    """Return a part of a page, "" without one. Raises SelectorFault."""
    if part:
        check_part(part)
    return part


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def _rule_fields(rule_texts: Mapping[str, str]) -> list[tuple[str, str, str, str]]:
    """Return name, label, help and value of the fields for rules."""
    labels = {
        "entry": (_("An article"), _("What chooses all articles of the list, and nothing else.")),
        "title": (_("Its title"), ""),
        "link": (_("Its link"), ""),
        "date": (_("Its date"), ""),
        "image": (_("Its picture"), ""),
        "summary": (_("Its short text"), ""),
        "next": (_("The next page"), _("The link to older articles, where the list goes on.")),
    }
    return [(part, *words, rule_texts.get(part, "")) for part, words in labels.items()]


def _replaced(request: HttpRequest, feed: Feed, line: str) -> HttpResponse:
    """Give a feed whose list has gone another list of its page."""
    try:
        choose_list(feed, source_in(line)[1])
    except SelectorFault as fault:
        messages.error(request, _("Nothing was changed: %(fault)s.") % {"fault": translated(str(fault))})
    else:
        wake_controller()
        messages.success(request, _("Freshet reads this list now."))
    return HttpResponseRedirect(feed.get_absolute_url())


@never_cache
@require_safe
def import_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how far an import is, and what needs a person."""
    feed_import = _own(request, pk)
    context = _progress(feed_import)
    name = "feeds/_import.html" if wants_part(request) else "feeds/import.html"
    response = render(request, name, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@needs(EDITOR)
@require_POST
def mend(request: HttpRequest, pk: int, line: int) -> HttpResponse:
    """Retry, correct or drop a line of an import."""
    feed_import = _own(request, pk)
    row = get_object_or_404(feed_import.lines.select_related("feed", "source"), pk=line)
    action, problem = request.POST.get("action"), ""
    if action == "retry":
        imports.retry(row, Reason("asked for by {0}", request.user))
    elif action == "drop":
        imports.drop(row)
    elif action == "correct":
        try:
            imports.correct(row, request.POST.get("address", "").strip())
        except BadUrl as error:
            problem = f"{capfirst(translated(error.reason))}."
    else:
        raise Http404("there is no such button")
    wake_controller()
    if not wants_part(request):
        return HttpResponseRedirect(feed_import.get_absolute_url())
    context = _progress(feed_import) | {"problem_line": row.pk, "problem": problem}
    return render(request, "feeds/_import.html", context)


def _own(request: HttpRequest, pk: int) -> FeedImport:
    return get_object_or_404(FeedImport, pk=pk, user=request.user)


def _progress(feed_import: FeedImport) -> dict[str, Any]:
    progress, now = imports.progress_of(feed_import), datetime.now(UTC)
    failing = list(imports.failing_lines(feed_import)[:SHOWN_LINES])
    lines: list[tuple[ImportLine, str]] = []
    if progress.total <= EACH_LINE:
        rows = feed_import.lines.select_related("feed").defer("feed__fingerprints")
        lines = [(line, imports.state_of_line(line)) for line in rows if line not in failing]
    return {
        "import": feed_import,
        "progress": progress,
        "failing": [(line, _reason(line, now)) for line in failing],
        "lines": lines,
        "known": feed_import.lines.filter(outcome=ImportLine.Outcome.DUPLICATE).select_related("feed")[
            :SHOWN_LINES
        ],
        "worker": not progress.open or worker_alive("fetch", now),
    }


def _reason(line: ImportLine, now: datetime) -> str:
    if line.feed is None:
        return capfirst(translated(line.message))
    return failure_words(line.feed.failure, None, now)
