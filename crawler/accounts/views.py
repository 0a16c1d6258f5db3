"""Pages of accounts: sign-in, invitations, one's own account, and the people of a deployment."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

import requests
from allauth.account.models import EmailAddress
from allauth.account.views import LoginView, PasswordResetView, SignupView
from allauth.mfa.models import Authenticator
from allauth.socialaccount.providers.openid_connect.views import login as provider_login
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.decorators import method_decorator
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from crawler.accounts.forms import ChoicesForm, InvitationForm, RoleForm
from crawler.accounts.invitations import invitation_of, remember_invitation
from crawler.accounts.links import password_link
from crawler.accounts.models import Account, Invitation, choices_of
from crawler.accounts.sign_up import confirms_mail
from crawler.engine.chosen import chosen
from crawler.engine.mailing import has_mail
from crawler.web.attempts import seconds_to_wait, take_attempt
from crawler.web.languages import browser_language
from crawler.web.operator_settings import keep_posted, line
from crawler.web.pages import wants_part
from crawler.web.pagination import page_of
from crawler.web.permissions import needs, person_of
from crawler.web.refusals import too_many_requests
from crawler.web.roles import OWNER, ROLE_NAMES, ROLES, give_role, role_of, users_with_roles
from crawler.web.setting_lines import SettingLine
from crawler.web.settings_tabs import TABS

log = logging.getLogger(__name__)

GRACE = timedelta(days=1)
"""Between the wish to delete an account and its deletion."""


@method_decorator(login_not_required, name="dispatch")
class SignIn(LoginView):  # type: ignore[misc]
    """The sign-in page. A part that htmx asks for after the session ended makes the whole page reload."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer htmx with a reload, everyone else with the form."""
        if "HX-Request" in request.headers:
            return HttpResponse(headers={"HX-Refresh": "true"})
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add how people get an account here."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {"sign_up": chosen("SIGN_UP"), "organisation": settings.OIDC_NAME}


@login_not_required
@never_cache
def admin_sign_in(request: HttpRequest, extra_context: object = None) -> HttpResponse:
    """Lead to the sign-in page, which asks for second factors, in place of the administration's own."""
    if request.user.is_authenticated:
        raise PermissionDenied(_("Only owners open the administration."))
    query = urlencode({"next": request.GET.get("next") or reverse("admin:index")})
    return HttpResponseRedirect(f"{reverse('login')}?{query}")


@login_not_required
@never_cache
def to_provider(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Send a visitor to the identity provider, by a page that leads on.

    The policy of the sign-in page lets its forms go nowhere else, not even by a redirect.
    """
    try:
        response: HttpResponse = provider_login(request, provider_id)
    except requests.RequestException as error:
        log.error("the identity provider does not answer: %s", error)
        messages.error(
            request, _("%(name)s does not answer. Try again later.") % {"name": settings.OIDC_NAME}
        )
        return redirect("login")
    if request.method == "POST" and response.status_code == HTTPStatus.FOUND:
        return render(request, "account/onward.html", {"address": response["Location"]})
    return response


class Join(SignupView):  # type: ignore[misc]
    """The page on which a new account is made."""

    def get_form_kwargs(self) -> dict[str, Any]:
        """Ask for a mail address where one has to be confirmed."""
        kwargs: dict[str, Any] = super().get_form_kwargs()
        return kwargs | {"email_required": confirms_mail()}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add who invites."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        invitation = invitation_of(self.request, datetime.now(UTC))
        return context | {"invited_by": invitation.made_by if invitation else None}


@method_decorator(login_not_required, name="dispatch")
class ForgottenPassword(PasswordResetView):  # type: ignore[misc]
    """The page of those who forgot their password: a link by mail, or where to ask for one."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Show the form, or without a mail server whom to ask. 429 after many requests from an address."""
        if not has_mail():
            return render(request, "account/ask_for_link.html")
        now = datetime.now(UTC)
        if request.method == "POST" and not take_attempt("password-reset", request, now):
            refused = too_many_requests(request)
            refused.headers["Retry-After"] = str(seconds_to_wait(now))
            return refused
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return response


@login_not_required
@never_cache
@require_safe
def join(request: HttpRequest, secret: str) -> HttpResponse:
    """Remember the invitation of a link and go on to the form that makes an account."""
    if request.user.is_authenticated:
        messages.info(request, _("You have an account here already. The invitation was not used."))
        return redirect("read")
    remember_invitation(request, secret)
    if invitation_of(request, datetime.now(UTC)) is None:
        return render(request, "account/invitation_gone.html", status=404)
    return redirect("account_signup")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def own_password(request: HttpRequest) -> HttpResponse:
    """Offer to replace the printed password; "later" keeps it."""
    user = person_of(request)
    if request.method == "POST":
        Account.objects.filter(user=user).update(has_printed_password=False)
        return redirect("read")
    return render(request, "account/own_password.html")


@never_cache
@require_safe
def security(request: HttpRequest) -> HttpResponse:
    """Show how one signs in: name, mail, password, second factors, and where one is signed in."""
    user = person_of(request)
    sessions, account = UserSession.objects.purge_and_list(user), Account.objects.filter(user=user).first()
    context = {
        "mail": EmailAddress.objects.get_primary_email(user) or user.email,
        "role": role_of(user),
        "role_words": ROLES[role_of(user)],
        "factors": list(Authenticator.objects.filter(user=user).order_by("type", "pk")),
        "sessions": sorted(sessions, key=lambda session: session.last_seen_at, reverse=True),
        "has_mail": has_mail(),
        "organisation": settings.OIDC_NAME,
        "leaves": account.delete_after if account else None,
        "tab": TABS["account"],
    }
    return render(request, "account/security.html", context)


@never_cache
@require_POST
def keep_choices(request: HttpRequest) -> HttpResponse:
    """Keep the language and the time zone of a person's pages, in this browser and for later sign-ins."""
    account, _is_new = Account.objects.get_or_create(user=person_of(request))
    form = ChoicesForm(request.POST, instance=account)
    if not form.is_valid():
        messages.error(request, _("Nothing was changed: there is no such language or time zone."))
        return redirect("settings-language")
    form.save()
    choices = choices_of(account)
    with translation.override(account.language or browser_language(request)):
        messages.success(request, _("Pages are shown so from now on."))
    request.choices_to_remember = choices  # type: ignore[attr-defined]
    if wants_part(request):  # all words of the page are in the other language now
        return HttpResponse(headers={"HX-Redirect": reverse("settings-language")})
    return redirect("settings-language")


@never_cache
@require_POST
def end_session(request: HttpRequest, pk: int) -> HttpResponse:
    """End one of one's own sessions."""
    session = get_object_or_404(UserSession, pk=pk, user=person_of(request))
    session.end()
    messages.success(request, _("That device is signed out."))
    return redirect("account-security")


@never_cache
@require_POST
@transaction.atomic
def leave(request: HttpRequest) -> HttpResponse:
    """Delete the account after a day, or with `stay` keep it."""
    user, now = person_of(request), datetime.now(UTC)
    if request.POST.get("stay"):
        Account.objects.filter(user=user).update(delete_after=None)
        messages.success(request, _("Your account stays."))
    elif request.POST.get("sure", "").strip() != user.get_username():
        messages.error(request, _("That is not your name, so nothing is deleted."))
    elif user.is_superuser and not _other_owners(user):
        messages.error(request, _("You are the only owner here: make somebody else one first."))
    else:
        Account.objects.update_or_create(user=user, defaults={"delete_after": now + GRACE})
        messages.success(request, _("Your account is deleted in a day. Until then you can change your mind."))
    return redirect("account-security")


@needs(OWNER)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: HttpRequest) -> HttpResponse:
    """Show who has an account; make an invitation, as the page of sign-up does."""
    if request.method == "POST":
        return sign_up(request)
    users = users_with_roles().select_related("account").order_by("username")
    page = page_of(request, users, size=50)
    context = {
        "page": page,
        "people": [(user, role_of(user)) for user in page.object_list],
        "roles": ROLES,
        "sign_up": chosen("SIGN_UP"),
    }
    return render(request, "account/people.html", context)


@needs(OWNER)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_up(request: HttpRequest) -> HttpResponse:
    """Show or set who may make an account and what each may take up; make an invitation."""
    owner, now = person_of(request), datetime.now(UTC)
    lines = _limit_lines()
    sign_up_line = line("SIGN_UP", _("Who may come"), "radio")
    is_invitation = "role" in request.POST
    if request.method == "POST" and not is_invitation:
        return keep_posted(request, [sign_up_line, *lines], "settings-signup")
    form, link = InvitationForm(request.POST if is_invitation else None), ""
    if is_invitation and form.is_valid():
        _row, secret = Invitation.make(owner, now, **form.cleaned_data)
        link = request.build_absolute_uri(reverse("join", args=[secret]))
        form = InvitationForm()
    context = {
        "tab": TABS["signup"],
        "kept_at_once": True,
        "form": form if form.is_bound else InvitationForm(initial={"max_uses": 1, "days": 7}),
        "link": link,
        "who": sign_up_line,
        "lines": lines,
        "people": User.objects.filter(is_active=True).count(),
        "invitations": Invitation.objects.open(now).select_related("made_by", "folder")[:100],
        "has_mail": has_mail(),
    }
    return render(request, "settings/signup.html", context, status=400 if form.errors else 200)


def _limit_lines() -> list[SettingLine]:
    """Return the lines of what one person may take up; 0 is as much as they like."""
    return [
        line("LIMIT_FEEDS", _("At most"), "number", unit=_("feeds each"), step="1"),
        line("LIMIT_SITES", _("At most"), "number", unit=_("watched sites each"), step="1"),
        line(
            "LIMIT_REQUESTS_A_DAY", _("At most"), "number", step="1",
            unit=_("requests of programs a day each"),
            help=_("0 is as much as they like. Operators have no limits."),
        ),
    ]  # fmt: skip


@needs(OWNER)
@never_cache
@require_POST
@transaction.atomic
def change_role(request: HttpRequest, pk: int) -> HttpResponse:
    """Give somebody a role. The last owner stays one."""
    user, form = get_object_or_404(User, pk=pk), RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("There is no such role."))
    elif user.is_superuser and form.cleaned_data["role"] != OWNER and not _other_owners(user):
        messages.error(request, _("%(name)s is the only owner, and stays one.") % {"name": user})
    else:
        give_role(user, form.cleaned_data["role"])
        messages.success(
            request,
            _("%(name)s is now %(role)s.") % {"name": user, "role": ROLE_NAMES[form.cleaned_data["role"]]},
        )
    return redirect("people")


@needs(OWNER)
@never_cache
@require_POST
def new_link(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a link with which somebody sets a new password."""
    user = get_object_or_404(User, pk=pk, is_active=True)
    link = password_link(user, request.build_absolute_uri("/").rstrip("/"))
    return render(request, "account/link.html", {"person": user, "link": link})


@needs(OWNER)
@never_cache
@require_POST
@transaction.atomic
def close_account(request: HttpRequest, pk: int) -> HttpResponse:
    """Close somebody's account, or with `open` open it again. One's own stays open."""
    owner, user = person_of(request), get_object_or_404(User, pk=pk)
    if user == owner:
        messages.error(request, _("Your own account stays open."))
    elif user.is_superuser and not _other_owners(user):
        messages.error(request, _("%(name)s is the only owner who stays.") % {"name": user})
    else:
        user.is_active = bool(request.POST.get("open"))
        user.save(update_fields=["is_active"])
        if not user.is_active:
            for session in UserSession.objects.filter(user=user):
                session.end()
            Invitation.objects.filter(made_by=user).update(revoked=datetime.now(UTC))
        message = (
            _("The account of %(name)s is open.")
            if user.is_active
            else _("The account of %(name)s is closed.")
        )
        messages.success(request, message % {"name": user})
    return redirect("people")


@needs(OWNER)
@never_cache
@require_POST
def revoke(request: HttpRequest, pk: int) -> HttpResponseRedirect:
    """Take an invitation back."""
    Invitation.objects.filter(pk=pk, revoked__isnull=True).update(revoked=datetime.now(UTC))
    messages.success(request, _("The invitation was taken back."))
    return HttpResponseRedirect(reverse("settings-signup"))


def _other_owners(user: User) -> bool:
    """Return whether somebody else is owner and stays; their rows are locked until the transaction ends."""
    owners = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    staying = owners.exclude(account__delete_after__isnull=False)
    locked = User.objects.select_for_update().filter(is_superuser=True).order_by("pk")
    return bool(set(locked.values_list("pk", flat=True)) & set(staying.values_list("pk", flat=True)))
