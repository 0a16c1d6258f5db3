"""Pages of notifications: rules, targets, the log, and the address that stops a rule's messages."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.core.signing import BadSignature, Signer
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from articles.models import Article, Topic
from crawler.engine.mailing import has_mail
from crawler.notices import push
from crawler.notices.forms import RuleForm, TargetForm
from crawler.notices.models import Notice, Notification, Rule, Target
from crawler.notices.targets.base import AddressError
from crawler.notices.targets.push import PushTarget
from crawler.notices.tasks import send
from crawler.notices.watching import Happening, preview
from crawler.notices.writing import texts_of, write_test
from crawler.web.pages import safe_next
from crawler.web.pagination import page_of
from crawler.web.permissions import person_of
from crawler.web.settings_tabs import TABS
from feeds.models import Feed
from recrawl.models import Site, WatchedPage

MAX_RULES, MAX_TARGETS = 1_000, 50
MAX_SUBSCRIPTION_BYTES = 4000


@never_cache
@require_safe
def notifications(request: HttpRequest) -> HttpResponse:
    """Show the rules and the targets of a person."""
    user = person_of(request)
    rules = (
        Rule.objects.telling()
        .filter(user=user)
        .select_related("feed", "topic", "site", "page")
        .prefetch_related("targets")
    )
    week = datetime.now(UTC) - timedelta(days=7)
    sent = Notification.objects.filter(user=user, state=Notification.State.SENT)
    context = {
        "tab": TABS["notifications"],
        "active": sum(not rule.paused for rule in rules),
        "sent_week": sent.filter(sent__gte=week).count(),
        "rules": rules.annotate(sent=Count("messages", filter=Q(messages__state=Notification.State.SENT))),
        "targets": Target.objects.filter(user=user).annotate(used=Count("rules")),
        "push_key": push.public_key(),
        "has_mail": has_mail(),
    }
    return render(request, "notices/notifications.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def rule_page(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    """Show, make or change a rule, and send a test of it."""
    user = person_of(request)
    rule = get_object_or_404(Rule, pk=pk, user=user) if pk else _new_rule(request, user)
    if request.POST.get("place"):
        query = urlencode({"next": _begun(request, rule)})
        return HttpResponseRedirect(f"{reverse('target-new')}?{query}")
    form = RuleForm(user, request.POST or None, instance=rule)
    if request.method == "POST" and form.is_valid():
        if rule.pk is None and Rule.objects.filter(user=user).count() >= MAX_RULES:
            form.add_error(
                None, _("%(most)d notifications are enough: delete one first.") % {"most": MAX_RULES}
            )
        else:
            return _kept(request, form.save())
    targets = list(Target.objects.filter(user=user))
    # The only place there is goes without saying.
    is_only = len(targets) == 1 and rule.pk is None and request.method != "POST"
    context = {
        "tab": TABS["notifications"],
        "form": form,
        "rule": rule,
        "targets": targets,
        "chosen": {targets[0].pk} if is_only else _chosen(form),
        "tells_nobody": rule.pk and not rule.targets.exists(),
        "examples": _examples(rule) if rule.pk else [],
        **_tests(rule, request.GET.get("test", "")),
    }
    return render(request, "notices/rule.html", context, status=422 if form.errors else 200)


def _begun(request: HttpRequest, rule: Rule) -> str:
    """Return the address at which the form of a rule stands as far as it was filled in."""
    if rule.pk:
        return rule.get_absolute_url()
    kind, _sign, about = request.POST.get("about", "").partition(":")
    begun = {"when": request.POST.get("when", ""), "q": request.POST.get("query", ""), kind: about}
    return f"{reverse('notification-new')}?{urlencode({name: text for name, text in begun.items() if text})}"


def _kept(request: HttpRequest, rule: Rule) -> HttpResponse:
    if not request.POST.get("test"):
        messages.success(request, _("It is kept: you are told of what happens from now on."))
        return redirect("notifications")
    now = datetime.now(UTC)
    written = write_test(rule, _example(rule, now), now)
    if not written:
        messages.error(request, _("Choose where messages go first."))
        return HttpResponseRedirect(rule.get_absolute_url())
    send.delay()
    return HttpResponseRedirect(f"{rule.get_absolute_url()}?test={written[0].key.rpartition(':')[2]}#test")


@never_cache
@require_safe
def test_state(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how the messages of a test went, asked for every second until they have gone."""
    rule = get_object_or_404(Rule, pk=pk, user=person_of(request))
    context = {"rule": rule, **_tests(rule, request.GET.get("test", ""))}
    return render(request, "notices/_tests.html", context)


@require_POST
def change_rule(request: HttpRequest, pk: int, action: str) -> HttpResponse:
    """Pause, resume, duplicate or delete a rule."""
    user = person_of(request)
    rule = get_object_or_404(Rule, pk=pk, user=user)
    if action == "resume" and not rule.targets.exists():
        messages.error(request, _("Choose where messages go first."))
        return HttpResponseRedirect(rule.get_absolute_url())
    if action in {"pause", "resume"}:
        Rule.objects.filter(pk=pk).update(paused=action == "pause", looked=datetime.now(UTC))
        messages.success(request, _("It is paused.") if action == "pause" else _("Notifications resumed."))
    elif action == "copy":
        targets = list(rule.targets.all())
        rule.pk, rule.name, rule.paused = None, _("Copy of %(name)s") % {"name": rule}, True
        rule._state.adding, rule.looked, rule.digested = True, datetime.now(UTC), None
        rule.save()
        rule.targets.set(targets)
        messages.success(request, _("The copy is paused until you resume it."))
        return HttpResponseRedirect(rule.get_absolute_url())
    elif action == "delete":
        rule.delete()
        messages.success(request, _("%(name)s is deleted.") % {"name": rule})
    else:
        raise Http404("there is no such button")
    return redirect("notifications")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new_target(request: HttpRequest) -> HttpResponse:
    """Make a target: a mail address, a service, a program, or a read-later service."""
    user = person_of(request)
    initial = {"kind": request.GET.get("kind", "mail"), "mail": user.email}
    form = TargetForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        if Target.objects.filter(user=user).count() >= MAX_TARGETS:
            form.add_error(None, _("%(most)d targets are enough: delete one first.") % {"most": MAX_TARGETS})
        else:
            fields = form.cleaned_data
            target = Target(user=user, kind=fields["kind"], name=fields["name"][:100])
            target.address = fields["address"]
            target.save()
            if secret := target.target_kind.secret_of(fields["address"]):
                message = _("Its secret, shown only now, signs each message: %(secret)s")
                messages.warning(request, message % {"secret": secret})
            messages.success(request, _("Messages can go to %(name)s now.") % {"name": target.name})
            return HttpResponseRedirect(safe_next(request, reverse("notifications")))
    context = {
        "tab": TABS["notifications"],
        "form": form,
        "has_mail": has_mail(),
        "next": request.GET.get("next", ""),
    }
    return render(request, "notices/target.html", context, status=422 if form.errors else 200)


@require_POST
def delete_target(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a target; messages that wait for it are given up."""
    target = get_object_or_404(Target, pk=pk, user=person_of(request))
    waiting = target.messages.filter(state=Notification.State.WAITING)
    waiting.update(state=Notification.State.FAILED, failure=_("its target was deleted"))
    target.delete()
    messages.success(request, _("Nothing goes to %(name)s any more.") % {"name": target.name})
    return redirect("notifications")


@require_POST
def subscribe(request: HttpRequest) -> JsonResponse:
    """Make this browser a target; the body is what its push service gave (PushSubscription as JSON)."""
    user = person_of(request)
    if request.content_type != "application/json":
        return JsonResponse({"detail": "no JSON"}, status=415)
    try:
        subscription = json.loads(request.body[:MAX_SUBSCRIPTION_BYTES])
    except ValueError:
        return JsonResponse({"detail": "no PushSubscription"}, status=400)
    kind = PushTarget()
    try:
        address, name = kind.address_of(subscription)
    except AddressError as error:
        return JsonResponse({"detail": error.message}, status=400)
    for target in Target.objects.filter(user=user, kind=kind.key):
        if kind.shown(target.address) == kind.shown(address):
            return JsonResponse({"id": target.pk})
    if Target.objects.filter(user=user).count() >= MAX_TARGETS:
        return JsonResponse({"detail": "there are too many targets"}, status=409)
    target = Target(user=user, kind=kind.key, name=(name or _("This device"))[:100])
    target.address = address
    target.save()
    return JsonResponse({"id": target.pk}, status=201)


@never_cache
@require_safe
def log(request: HttpRequest) -> HttpResponse:
    """Show what was sent to whom, what failed and why, and what was held back."""
    user = person_of(request)
    notifications = Notification.objects.filter(user=user).select_related("rule")
    if (state := request.GET.get("state", "")) in Notification.State.values:
        notifications = notifications.filter(state=state)
    held_notices = Notice.objects.filter(rule__user=user).exclude(held="").select_related("rule")[:50]
    context = {
        "tab": TABS["notifications"],
        "page": page_of(request, notifications),
        "state": state,
        "states": Notification.State.choices,
        "held": held_notices,
    }
    return render(request, "notices/log.html", context)


@never_cache
@require_safe
def export(request: HttpRequest) -> JsonResponse:
    """Answer with a person's rules as JSON; where messages go is named, not told."""
    names = [
        field.name for field in Rule._meta.fields if field.name not in {"id", "user", "looked", "digested"}
    ]
    rules = [
        {name: _plain(getattr(rule, name)) for name in names}
        | {"targets": [str(row) for row in rule.targets.all()]}
        for rule in Rule.objects.filter(user=person_of(request)).prefetch_related("targets")
    ]
    response = JsonResponse({"notifications": rules}, json_dumps_params={"ensure_ascii": False, "indent": 1})
    response.headers["Content-Disposition"] = 'attachment; filename="notifications.json"'
    return response


@login_not_required
@csrf_exempt
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: HttpRequest, token: str) -> HttpResponse:
    """Stop a rule's messages without a sign-in: at once by POST (RFC 8058), by GET with a button."""
    try:
        key = int(Signer(salt="crawler.notices.stop").unsign(token))
    except (BadSignature, ValueError):
        raise Http404("no such address") from None
    rule = get_object_or_404(Rule, pk=key)
    if request.method == "POST":
        Rule.objects.filter(pk=key).update(paused=True)
        rule.paused = True
    return render(request, "notices/stop.html", {"rule": rule})


def _new_rule(request: HttpRequest, user: User) -> Rule:
    """Return a rule that fits where the person comes from: `when`, and a feed, topic, site, page, search."""
    query = request.GET
    when = query.get("when", "")
    rule = Rule(user=user, when=when if when in Rule.When.values else Rule.When.ARTICLE)
    rule.created = rule.looked = datetime.now(UTC)
    rule.query, rule.folder, rule.words = query.get("q", "")[:300], query.get("folder", "")[:400], ""
    rows: dict[str, QuerySet[Any]] = {
        "feed": Feed.objects.all(),
        "topic": Topic.objects.filter(subscriber__user=user),
        "site": Site.objects.all(),
        "page": WatchedPage.objects.all(),
    }
    for name, queryset in rows.items():
        if (key := query.get(name, "")).isdecimal() and len(key) < 18:
            setattr(rule, name, queryset.filter(pk=key).first())
    if (key := query.get("article", "")).isdecimal() and len(key) < 18:
        article = (
            Article.objects.filter(pk=key).select_related("feed").only("feed__title", "feed__url").first()
        )
        rule.feed = article.feed if article else None
    return rule


def _examples(rule: Rule) -> list[tuple[str, str, Happening]]:
    """Return the newest messages that the rule would have sent."""
    rule = Rule.objects.get(pk=rule.pk)
    rule.created = datetime.min.replace(tzinfo=UTC)
    return [
        (*texts_of(rule, _notice_of(rule, happening)), happening)
        for happening in preview(rule, datetime.now(UTC))
    ]


def _example(rule: Rule, now: datetime) -> Notice:
    """Return the newest of what the rule would tell of, or an invented notice if there is nothing."""
    for _title, _text, happening in _examples(rule)[:1]:
        return _notice_of(rule, happening)
    message = _("This is a test. A message about real news looks like it.")
    return Notice(
        rule=rule, key="test", at=now, title=str(rule), text=message, source="Freshet", path=reverse("read")
    )


def _notice_of(rule: Rule, happening: Happening) -> Notice:
    return Notice(
        rule=rule,
        key=happening.key,
        at=happening.at,
        title=happening.title[:300],
        text=happening.text,
        url=happening.url,
        path=happening.path,
        source=happening.source[:300],
        image=happening.image,
    )


def _tests(rule: Rule, stamp: str) -> dict[str, Any]:
    """Return the messages of a test, and whether one of them may still arrive."""
    rows = list(rule.messages.filter(key=f"{rule.pk}:test:{stamp[:40]}")) if rule.pk and stamp else []
    states = {Notification.State.WAITING, Notification.State.SENDING}
    return {"tests": rows, "unfinished": any(row.state in states and row.attempts < 2 for row in rows)}


def _chosen(form: RuleForm) -> set[int]:
    """Return the targets that are ticked."""
    value = form["targets"].value() or []
    return {int(getattr(key, "pk", key)) for key in value if str(getattr(key, "pk", key)).isdecimal()}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)
