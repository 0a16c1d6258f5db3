"""Settings: their list, how pages look, language and time, and what operators set for everyone here."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from smtplib import SMTPException
from typing import Any
from urllib.parse import quote, unquote, urlsplit
from zoneinfo import available_timezones

from django.conf import settings
from django.contrib import messages
from django.core.mail import send_mail
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language, get_language_info, ngettext, pgettext
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from articles.interest.learned import strongest
from articles.models import Article, PersonalFeed
from articles.personal.following import subscriber_of
from crawler import environment
from crawler.accounts.models import Account
from crawler.engine.chosen import ChoiceError, choose, chosen
from crawler.engine.mailing import has_mail
from crawler.frontier.models import CrawlUrl
from crawler.notices.models import Rule, Target
from crawler.operation.site.disk_space import days_left
from crawler.web.models import ApiToken
from crawler.web.more_settings import chosen_beyond_the_default
from crawler.web.operator_settings import days_line, days_words, keep_posted, line
from crawler.web.permissions import needs, person_of
from crawler.web.roles import OPERATOR
from crawler.web.setting_lines import SettingLine, answer_kept, answer_refused
from crawler.web.settings_tabs import TABS, groups_for
from crawler.web.templatetags.freshet import LOOKS
from feeds.laboratory.doubling import gain_of_twice
from feeds.mail.models import MailAddress
from feeds.models import Feed, PlanningRules, Retrieval
from feeds.visiting.rules import rules, stored_rules
from recrawl.models import Check, Version

DAY_HOURS = 24
YEAR_SECONDS = 365 * 86_400
BUSIEST_HOSTS = 5


@never_cache
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Show the list of all settings with what is set now, on wide screens with the first beside it."""
    user = person_of(request)
    context = {
        "tab": TABS["reading"],
        "groups": groups_for(user),
        "values": _values(request),
        "sections": _looks(request),
        "kept_at_once": True,
    }
    return render(request, "settings/settings.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def reading(request: HttpRequest) -> HttpResponse:
    """Show or change how pages look in this browser."""
    if request.method != "POST":
        context = {"tab": TABS["reading"], "sections": _looks(request), "kept_at_once": True}
        return render(request, "settings/reading.html", context)
    anew = "begin-anew" in request.POST
    response = redirect("settings-reading") if anew else answer_kept(request, "settings-reading")
    for _title, lines in _looks(request):
        for each in lines:
            value = "" if anew else request.POST.get(each.name, "")
            if each.kind == "switch":
                value = "" if anew or each.name in request.POST else each.off
            _remember(request, response, each.name, value)
    return response


def _remember(request: HttpRequest, response: HttpResponse, name: str, value: str) -> None:
    """Set the cookie of a look, as app.js does; the usual look has none."""
    if value in LOOKS[name]:
        response.set_cookie(
            f"freshet-{name}", value, max_age=YEAR_SECONDS, samesite="Lax", secure=request.is_secure()
        )
    else:
        response.delete_cookie(f"freshet-{name}", samesite="Lax")


def _looks(request: HttpRequest) -> list[tuple[str, list[SettingLine]]]:
    """Return the sections of Reading with what this browser remembers."""

    def look(name: str, label: str, kind: Any, *choices: tuple[str, str], **options: Any) -> SettingLine:
        value = request.COOKIES.get(f"freshet-{name}", "")
        value = value if value in LOOKS[name] else ""
        display_value = value != options.get("off") if kind == "switch" else value
        return SettingLine(name, label, kind, display_value, choices=choices, is_look=True, **options)

    return [
        (
            _("How it looks"),
            [
                look(
                    "theme", _("Colours"), "radio",
                    ("", _("As the system")), ("light", _("Light")), ("dark", _("Dark")),
                ),
                look(
                    "size", _("Text of articles"), "radio",
                    ("small", _("Small")), ("", _("Normal")), ("large", _("Large")),
                    ("huge", _("Very large")),
                ),
                look(
                    "face", _("Face of articles"), "radio",
                    ("", _("With serifs")), ("sans", _("Without serifs")),
                ),
                look(
                    "look", _("Lists show"), "radio",
                    ("dense", _("Titles only")), ("", _("With second line")),
                ),
            ],
        ),
        (
            _("How you read"),
            [
                look(
                    "start", _("Freshet opens with"), "select",
                    ("", _("All unread")), ("interest", _("For you")),
                    ("changes", _("Changes of watched pages")),
                ),
                look(
                    "scroll", _("An article counts as read"), "radio",
                    ("", _("When opened")), ("on", _("Also when scrolled past")),
                ),
                look(
                    "zones", _("A tap at the edge of an article"), "radio",
                    ("", _("does nothing")), ("on", _("goes to the one before or after")),
                    help=_("On phones: on the left to the one before, on the right to the next."),
                ),
                look(
                    "keys", _("Single keys"), "switch", off="off",
                    help=_("j, k, m and so on. Press ? to see them all."),
                ),
            ],
        ),
    ]  # fmt: skip


@never_cache
@require_safe
def language(request: HttpRequest) -> HttpResponse:
    """Show in which language and time zone pages are."""
    account = Account.objects.filter(user=person_of(request)).first()
    by_browser = _("As the browser has it")
    names = sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    context = {
        "tab": TABS["language"],
        "kept_at_once": True,
        "language_now": get_language_info(get_language() or "en")["name_local"],
        "zone_now": timezone.get_current_timezone_name(),
        "now": datetime.now(UTC),
        "lines": [
            SettingLine(
                "language", _("Language"), "select", account.language if account else "",
                help=_("Of Freshet. Articles stay in their own."),
                choices=[("", by_browser), *settings.LANGUAGES],
            ),
            SettingLine(
                "zone", _("Time zone"), "select", account.zone if account else "",
                choices=[("", by_browser), *((name, name.replace("_", " ")) for name in ("UTC", *names))],
            ),
        ],
    }  # fmt: skip
    return render(request, "settings/language.html", context)


@never_cache
@needs(OPERATOR)
@require_http_methods(["GET", "HEAD", "POST"])
def budget(request: HttpRequest) -> HttpResponse:
    """Show what was spent today of what is allowed, and set how much and how fast Freshet asks."""
    feeds = Feed.objects.active().fetched().count()
    lines = _pace_lines()
    if request.method == "POST":
        refused = _keep_budget(request, feeds)
        return refused or keep_posted(request, lines, "settings-budget")
    now = datetime.now(UTC)
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    spent = _spent(midnight)
    allowed = round(rules().budget * feeds * DAY_HOURS)
    share = max((now - midnight) / timedelta(days=1), 1 / 1440)
    most_asked = list(
        Retrieval.objects.filter(at__gte=midnight, pushed=False)
        .values("feed__host__name")
        .annotate(requests=Count("id"))
        .order_by("-requests", "feed__host__name")[:BUSIEST_HOSTS]
    )
    context = {
        "tab": TABS["budget"],
        "kept_at_once": True,
        "feeds": feeds,
        "spent": spent,
        "all_spent": sum(spent.values()),
        "allowed": allowed,
        "left": max(allowed - round(spent["feeds"] / share), 0),
        "bar": _bar(spent, max(allowed, sum(spent.values()), 1)),
        "budget_line": _budget_line(feeds, allowed),
        "gain": gain_of_twice(),
        "lines": lines,
        "pause": f"{chosen('FETCH_HOST_SPACING_SECONDS'):g}",
        "most_asked": most_asked,
        "agent": settings.FETCH_USER_AGENT,
    }
    return render(request, "settings/budget.html", context)


def _budget_line(feeds: int, allowed: int) -> SettingLine:
    fixed = "FEED_BUDGET" if environment.is_given("FEED_BUDGET") else ""
    return SettingLine(
        "feeds_a_day", _("Feeds"), "number", str(allowed), unit=_("a day"), step="1", fixed_by=fixed,
        help=ngettext(
            "%(each)s for the one feed, on average.",
            "%(each)s for each of %(feeds)s feeds, on average.",
            feeds,
        )
        % {"each": f"{rules().budget * DAY_HOURS:.3g}", "feeds": feeds} if feeds else "",
    )  # fmt: skip


def _keep_budget(request: HttpRequest, feeds: int) -> HttpResponse | None:
    """Keep the requests for feeds a day as visits per feed and hour. Returns a refusal, or None."""
    text = request.POST.get("feeds_a_day", "").strip()
    if not text or not feeds or environment.is_given("FEED_BUDGET"):
        return None
    row = stored_rules()
    try:
        daily_budget = float(text)
        if round(daily_budget) == round(rules().budget * feeds * DAY_HOURS):
            return None
        row.budget = daily_budget / feeds / DAY_HOURS
        PlanningRules._meta.get_field("budget").run_validators(row.budget)
    except ValueError:
        return answer_refused(request, "feeds_a_day", _("That must be a number."))
    except Exception as error:  # a ValidationError, whose sentences are in the reader's language
        return answer_refused(request, "feeds_a_day", " ".join(getattr(error, "messages", [str(error)])))
    row.save()
    return None


def _pace_lines() -> list[SettingLine]:
    return [
        line(
            "FETCH_HOST_SPACING_SECONDS", _("Between two requests to one site"), "number", unit=_("seconds"),
            least="0.1", help=_("What a site asks for itself counts more, if it is longer."),
        ),
        line(
            "FEED_ARTICLE_PAGES", _("Fetch the pages of new articles"), "switch",
            help=_("For their full text: one request for each article."),
        ),
        line(
            "FEED_ARTICLE_EDITS", _("Look again at new articles for edits"), "switch",
            help=_("What was changed after publication is kept. Up to an eighth more requests."),
        ),
    ]  # fmt: skip


def _spent(since: datetime) -> dict[str, int]:
    """Return the requests made since then for feeds, watched sites and crawls."""
    return {
        "feeds": Retrieval.objects.filter(at__gte=since, pushed=False).count(),
        "sites": Check.objects.filter(at__gte=since).count(),
        "crawls": CrawlUrl.objects.filter(fetched__gte=since).count(),
    }


def _bar(spent: dict[str, int], whole: int) -> list[tuple[str, str, str]]:
    """Return the parts of the bar, 400 wide: class, x and width."""
    parts, x = [], 0.0
    for css, name in (("a", "feeds"), ("b", "sites"), ("c", "crawls")):
        width = 400 * spent[name] / whole
        parts.append((css, f"{x:.1f}", f"{width:.1f}"))
        x += width
    return parts


@never_cache
@needs(OPERATOR)
@require_http_methods(["GET", "HEAD", "POST"])
def retention(request: HttpRequest) -> HttpResponse:
    """Show or set for how long things are kept."""
    lines = _retention_lines()
    if request.method == "POST":
        return keep_posted(request, lines, "settings-retention")
    free = shutil.disk_usage(settings.DATA_DIR).free
    days = chosen("RETENTION_ARTICLES_DAYS")
    context = {
        "tab": TABS["retention"],
        "kept_at_once": True,
        "lines": lines,
        "articles_days": days,
        "articles_kept": days_words(days),
        "free": free,
        "days_left": days_left(datetime.now(UTC), free),
    }
    return render(request, "settings/retention.html", context)


def _retention_lines() -> list[SettingLine]:
    articles = Article.objects.order_by().values("pk")[:100_000].count()
    versions = Version.objects.order_by().values("pk")[:100_000].count()
    return [
        days_line(
            "RETENTION_ARTICLES_DAYS", _("Articles"),
            _("%(n)s are kept. Those that somebody starred or labelled stay for ever.")
            % {"n": f"{articles:,}"},
        ),
        days_line("RETENTION_PAGE_HTML_DAYS", _("HTML of articles"), _("Their text stays.")),
        line(
            "PICTURES_MAX_MEGABYTES", _("Pictures"), "number", unit="MB", step="1",
            help=_("On this machine; those not seen for the longest time go first, and are fetched again."),
        ),
        days_line(
            "RETENTION_CHANGES_DAYS", _("Changes and versions of watched pages"),
            ngettext("%(n)s version", "%(n)s versions", versions) % {"n": f"{versions:,}"},
        ),
        days_line("RETENTION_CHECKS_DAYS", _("Looks at watched pages")),
        days_line("RETENTION_RETRIEVALS_DAYS", _("Visits of feeds"), _("What “The last visits” shows.")),
        days_line("RETENTION_SHOWN_DAYS", _("What readers were shown"), _("For “For you” to learn from.")),
    ]  # fmt: skip


@never_cache
@needs(OPERATOR)
@require_http_methods(["GET", "HEAD", "POST"])
def mail(request: HttpRequest) -> HttpResponse:
    """Show or set the server by which mail is sent, and send a test."""
    if request.method == "POST":
        if "test" in request.POST:
            _send_test(request)
            return redirect("settings-mail")
        return _keep_server(request)
    return _mail_page(request, _server_fields(), "")


def _mail_page(request: HttpRequest, fields: dict[str, str], error: str) -> HttpResponse:
    context = {
        "tab": TABS["mail"],
        "server": fields,
        "error": error,
        "has_mail": has_mail(),
        "fixed": environment.is_given("EMAIL_URL"),
        "sender_fixed": environment.is_given("MAIL_FROM"),
        "refused": Target.objects.filter(kind="mail", failing_since__isnull=False)[:10],
        "domain": settings.INBOUND_MAIL_DOMAIN,
        "newest": MailAddress.objects.exclude(last_message=None).order_by("-last_message").first(),
    }
    return render(request, "settings/mail.html", context, status=422 if error else 200)


def _server_fields() -> dict[str, str]:
    """Return the parts of the mail server's address, without its password."""
    parts = urlsplit(chosen("EMAIL_URL"))
    query = parts.query.lower()
    security = "ssl" if "ssl=true" in query or parts.scheme == "smtps" else "tls"
    if parts.hostname and security == "tls" and "tls=true" not in query:
        security = "none"
    return {
        "host": parts.hostname or "",
        "port": str(parts.port or 587),
        "user": unquote(parts.username or ""),
        "has_password": "1" if parts.password else "",
        "security": security,
        "sender": chosen("MAIL_FROM"),
    }


def _keep_server(request: HttpRequest) -> HttpResponse:
    fields = {name: request.POST.get(name, "").strip()[:254] for name in ("host", "port", "user", "security")}
    sender = request.POST.get("sender", "").strip()
    form_fields = _server_fields() | fields | {"sender": sender or chosen("MAIL_FROM")}
    try:
        if not environment.is_given("EMAIL_URL"):
            choose("EMAIL_URL", _server_address(fields, request.POST.get("password", "")) or None)
        if sender and not environment.is_given("MAIL_FROM") and sender != chosen("MAIL_FROM"):
            choose("MAIL_FROM", sender)
    except ChoiceError as error:
        return _mail_page(request, form_fields, str(error))
    messages.success(request, _("Saved. Send yourself a test."))
    return redirect("settings-mail")


def _server_address(fields: dict[str, str], password: str) -> str:
    """Return the server as an address; an empty password is the one that is stored, for the same name.

    Returns "" without a host. Raises ChoiceError.
    """
    host, port = fields["host"], fields["port"] or "587"
    if not host:
        return ""
    if any(sign in host for sign in "/@?# ") or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise ChoiceError(_("The server needs a name such as mail.example.org, and a port such as 587."))
    before = urlsplit(chosen("EMAIL_URL"))
    if not password and before.hostname == host and unquote(before.username or "") == fields["user"]:
        password = unquote(before.password or "")
    login = f"{quote(fields['user'], safe='')}:{quote(password, safe='')}@" if fields["user"] else ""
    security = {"tls": "?tls=True", "ssl": "?ssl=True"}.get(fields["security"], "")
    return f"smtp://{login}{host}:{port}/{security}"


def _send_test(request: HttpRequest) -> None:
    """Send a mail to the operator, and say whether the server took it."""
    address = person_of(request).email
    if not address:
        messages.error(request, _("You have no mail address here: give one under Account first."))
        return
    try:
        sent = send_mail(_("A test from Freshet"), _("Mail from Freshet arrives here."), None, [address])
    except (SMTPException, OSError, ValueError) as error:
        messages.error(request, _("The mail server did not take it: %(error)s") % {"error": str(error)[:250]})
        return
    if sent:
        messages.success(request, _("Sent to %(address)s. Look whether it arrives.") % {"address": address})
    else:
        messages.error(request, _("There is no mail server yet."))


def _values(request: HttpRequest) -> dict[str, str]:
    """Return for each tab what is set there now, in a few words."""
    user, now = person_of(request), datetime.now(UTC)
    subscriber = subscriber_of(user)
    looks = {each.name: each for _title, lines in _looks(request) for each in lines}

    def said(name: str) -> str:
        return str(dict(looks[name].choices)[looks[name].value])

    acting = Rule.objects.acting().filter(user=user, paused=False).count()
    telling = Rule.objects.telling().filter(user=user, paused=False).count()
    apps = subscriber.app_passwords.count()
    tokens = ApiToken.objects.filter(user=user).count()
    likes = [str(taste.label.name)[:30] for taste in strongest(subscriber, now, 3).likes]
    values = {
        "reading": ", ".join([said("theme"), said("size"), said("face")]),
        "language": f"{get_language_info(get_language() or 'en')['name_local']}, "
        f"{timezone.get_current_timezone_name()}",
        "account": user.get_username(),
        "rules": ngettext("%(n)s rule", "%(n)s rules", acting) % {"n": acting},
        "notifications": ngettext("%(n)s rule", "%(n)s rules", telling) % {"n": telling},
        "interests": ", ".join(likes) or _("nothing learned yet"),
        "apps": ", ".join(
            [
                ngettext("%(n)s app password", "%(n)s app passwords", apps) % {"n": apps},
                ngettext("%(n)s token", "%(n)s tokens", tokens) % {"n": tokens},
            ]
        ),
        "newsletters": _("by mail"),
        "own": _own_feeds(PersonalFeed.objects.filter(subscriber=subscriber).count()),
        "data": _("take along, bring in, leave"),
    }
    if not user.is_staff:
        return values
    changed = chosen_beyond_the_default()
    requests = round(rules().budget * Feed.objects.active().fetched().count() * 24)
    return values | {
        "budget": ngettext("%(n)s request to feeds a day", "%(n)s requests to feeds a day", requests)
        % {"n": f"{requests:,}"},
        "retention": _("articles: %(days)s") % {"days": days_words(chosen("RETENTION_ARTICLES_DAYS"))},
        "mail": urlsplit(chosen("EMAIL_URL")).hostname or _("no server yet"),
        "more": ngettext("%(n)s chosen here", "%(n)s chosen here", changed) % {"n": changed},
        "signup": pgettext("who may sign up", "anyone")
        if chosen("SIGN_UP") == "open"
        else _("by invitation"),
    }


def _own_feeds(number: int) -> str:
    return ngettext("%(n)s feed", "%(n)s feeds", number) % {"n": number}
