"""Pages of rules about articles: the list, one with what it would hit, and its deeds on what is there."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count, Max, Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from articles.listing import in_order
from articles.models import Topic
from crawler.notices.models import Rule, Target
from crawler.notices.rules.applying import MAX_PREVIEWED, preview
from crawler.notices.rules.deeds import undo
from crawler.notices.rules.forms import ArticleRuleForm
from crawler.notices.rules.taking import MAX_RULES
from crawler.notices.rules.wording import rule_in_words
from crawler.notices.tasks import apply_rule
from crawler.web.permissions import person_of
from crawler.web.settings_tabs import TABS
from feeds.models import Feed

SHOWN = 10
"""Articles that a preview shows."""
TIMES_SHOWN = 5
DETAILS = (
    "without_words", "expression", "without_expression", "author", "tag", "language", "longer_than",
    "shorter_than", "copies", "query",
)  # fmt: skip
"""ArticleConditions that are folded while none of them is set."""


@never_cache
@require_safe
def rules_page(request: HttpRequest) -> HttpResponse:
    """Show a person's rules about articles, and how many articles each has hit."""
    rows = Rule.objects.acting().filter(user=person_of(request)).select_related("feed", "topic")
    valid = Q(hits__undone__isnull=True)
    rules = rows.prefetch_related("targets").annotate(
        count=Count("hits", filter=valid, distinct=True), last=Max("hits__at", filter=valid)
    )
    shown = [(rule, rule_in_words(rule)) for rule in rules]
    return render(request, "rules/rules.html", {"tab": TABS["rules"], "rules": shown})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def rule_page(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    """Show, make or change a rule; with `preview` show what it would hit, and keep nothing."""
    user = person_of(request)
    rule = get_object_or_404(Rule.objects.acting(), pk=pk, user=user) if pk else _new_rule(request, user)
    form = ArticleRuleForm(user, request.POST or None, instance=rule)
    is_tried = request.method == "POST" and "preview" in request.POST
    if request.method == "POST" and form.is_valid() and not is_tried:
        if rule.pk is not None or Rule.objects.filter(user=user).count() < MAX_RULES:
            kept = form.save()
            messages.success(request, _("It is kept, for articles that come from now on."))
            return redirect("rules") if pk else HttpResponseRedirect(kept.get_absolute_url())
        form.add_error(None, _("%(most)d rules are enough: delete one first.") % {"most": MAX_RULES})
    context = {
        "tab": TABS["rules"],
        "form": form,
        "rule": rule,
        "chosen": set(form["targets"].value() or ()),
        "targets": Target.objects.filter(user=user),
        "has_details": any(form[name].value() for name in DETAILS),
        "times": _times(rule) if rule.pk else [],
    }
    if (is_tried and form.is_valid()) or (request.method != "POST" and rule.pk):
        context |= _preview_of(rule)
    return render(request, "rules/rule.html", context, status=422 if form.errors and not is_tried else 200)


@require_POST
def change_rule(request: HttpRequest, pk: int, action: str) -> HttpResponse:
    """Pause, resume, copy or delete a rule, apply it to what is there, or undo what it did."""
    rule = get_object_or_404(Rule.objects.acting(), pk=pk, user=person_of(request))
    now = datetime.now(UTC)
    if action in {"pause", "resume"}:
        rule.paused, rule.looked, rule.acted = action == "pause", now, now
        rule.save()
        messages.success(request, _("It is paused.") if rule.paused else _("It acts again."))
    elif action == "copy":
        return _copy(request, rule, now)
    elif action == "delete":
        rule.delete()
        messages.success(request, _("%(name)s is deleted.") % {"name": rule_in_words(rule)})
    elif action == "apply":
        apply_rule.delay(rule.pk, now.timestamp())
        messages.success(request, _("It is applied to the articles that are here. That may take a minute."))
        return HttpResponseRedirect(rule.get_absolute_url())
    elif action == "undo":
        count = undo(rule, now, parse_datetime(request.POST.get("at", "")))
        message = ngettext("%(count)d article is as it was.", "%(count)d articles are as they were.", count)
        messages.success(request, message % {"count": count})
        return HttpResponseRedirect(rule.get_absolute_url())
    else:
        raise Http404("there is no such button")
    return redirect("rules")


def _copy(request: HttpRequest, rule: Rule, now: datetime) -> HttpResponse:
    targets = list(rule.targets.all())
    rule.name = (_("Copy of %(name)s") % {"name": rule_in_words(rule)})[:200]
    rule.pk, rule.paused, rule.looked, rule.acted = None, True, now, now
    rule._state.adding = True
    rule.save()
    rule.targets.set(targets)
    messages.success(request, _("The copy is paused until you resume it."))
    return HttpResponseRedirect(rule.get_absolute_url())


def _new_rule(request: HttpRequest, user: User) -> Rule:
    """Return a rule that fits where the person comes from: a feed, a folder, a topic, words, an author."""
    query, now = request.GET, datetime.now(UTC)
    rule = Rule(user=user, when=Rule.When.ARTICLE, looked=now, acted=now)
    for name in ("folder", "query", "words", "author", "tag"):
        setattr(rule, name, query.get(name, "")[:200])
    if (key := query.get("feed", "")).isdecimal() and len(key) < 18:
        rule.feed = Feed.objects.filter(pk=key).first()
    if (key := query.get("topic", "")).isdecimal() and len(key) < 18:
        rule.topic = Topic.objects.filter(pk=key, subscriber__user=user).first()
    return rule


def _preview_of(rule: Rule) -> dict[str, Any]:
    """Return how many of the articles of the last 30 days a rule would hit, and the newest of them."""
    looked_at, keys = preview(rule, datetime.now(UTC))
    return {
        "looked_at": looked_at,
        "looked_at_most": looked_at == MAX_PREVIEWED,
        "would_hit": len(keys),
        "examples": in_order(keys[:SHOWN]),
    }


def _times(rule: Rule) -> list[dict[str, Any]]:
    """Return the last times at which a rule did something, each with its number of articles."""
    rows = rule.hits.filter(undone__isnull=True).values("at").annotate(count=Count("pk"))
    return [dict(row) for row in rows.order_by("-at")[:TIMES_SHOWN]]
