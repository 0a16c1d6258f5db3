"""The page of newsletters, and its buttons."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from crawler.isolation.calls import ProgramError
from crawler.web.limits import LimitReached
from crawler.web.permissions import person_of
from crawler.web.sentences import translated
from crawler.web.settings_tabs import TABS
from feeds.mail import calls
from feeds.mail.delivery import follow_newsletter, refuse_newsletter
from feeds.mail.forms import MailAddressForm, MailboxForm
from feeds.mail.models import MailAddress, Mailbox, Newsletter, SubscriptionRequest
from feeds.mail.tasks import look_into_mailbox

SHOWN = 200


@never_cache
@require_safe
def newsletters(request: HttpRequest) -> HttpResponse:
    """Show a person's addresses and mailboxes, the newsletters found, and what is to be confirmed."""
    return _page(request)


def _page(
    request: HttpRequest, address_form: MailAddressForm | None = None, mailbox_form: MailboxForm | None = None
) -> HttpResponse:
    user = person_of(request)
    mine = Newsletter.objects.filter(user=user).select_related("mailbox")
    followed: QuerySet[Newsletter] = mine.filter(
        state=Newsletter.State.FOLLOWED, feed__isnull=False, feed__removed__isnull=True
    )
    context: dict[str, Any] = {
        "tab": TABS["newsletters"],
        "requests": SubscriptionRequest.objects.filter(user=user, done__isnull=True)[:SHOWN],
        "offered": mine.filter(state=Newsletter.State.OFFERED)[:SHOWN],
        "followed": followed.select_related("feed")[:SHOWN],
        "addresses": MailAddress.objects.filter(user=user),
        "mailboxes": Mailbox.objects.filter(user=user),
        "domain": settings.INBOUND_MAIL_DOMAIN,
        "address_form": address_form or MailAddressForm(user),
        "mailbox_form": mailbox_form or MailboxForm(user),
    }
    is_wrong = any(form is not None and form.errors for form in (address_form, mailbox_form))
    return render(request, "newsletters/newsletters.html", context, status=422 if is_wrong else 200)


@require_POST
def new_address(request: HttpRequest) -> HttpResponse:
    """Make an address of one's own."""
    form = MailAddressForm(person_of(request), request.POST)
    if not form.is_valid():
        return _page(request, address_form=form)
    form.save()
    messages.success(request, _("The address is made: type it into the form of a newsletter."))
    return redirect("newsletters")


@require_POST
def delete_address(request: HttpRequest, pk: int) -> HttpResponse:
    """Take an address back; what is sent to it from now on is refused."""
    get_object_or_404(MailAddress, pk=pk, user=person_of(request)).delete()
    messages.success(request, _("The address is taken back: nothing comes in by it any more."))
    return redirect("newsletters")


@require_POST
def new_mailbox(request: HttpRequest) -> HttpResponse:
    """Add a mailbox, which is looked into at once."""
    form = MailboxForm(person_of(request), request.POST)
    if not form.is_valid():
        return _page(request, mailbox_form=form)
    look_into_mailbox.delay(form.save().pk)
    messages.success(request, _("The mailbox is added: Freshet looks for newsletters in it now."))
    return redirect("newsletters")


@require_POST
def delete_mailbox(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a mailbox with its password, and the newsletters that were only offered from it."""
    mailbox = get_object_or_404(Mailbox, pk=pk, user=person_of(request))
    mailbox.newsletters.filter(state=Newsletter.State.OFFERED).delete()
    mailbox.delete()
    messages.success(request, _("The mailbox is removed, and its password is forgotten."))
    return redirect("newsletters")


@require_POST
def decide(request: HttpRequest, pk: int, action: str) -> HttpResponse:
    """Follow a newsletter that was found, or note that it is not wanted."""
    newsletter = get_object_or_404(Newsletter, pk=pk, user=person_of(request))
    if action == "refuse":
        refuse_newsletter(newsletter)
        messages.success(request, _("“%(name)s” is not offered any more.") % {"name": newsletter})
        return redirect("newsletters")
    try:
        follow_newsletter(newsletter)
    except LimitReached as error:
        messages.error(request, str(error))
        return redirect("newsletters")
    if newsletter.mailbox_id:
        look_into_mailbox.delay(newsletter.mailbox_id)
    words = _("You follow “%(name)s” now; the issues of the last days come in a moment.")
    messages.success(request, words % {"name": newsletter})
    return redirect("newsletters")


@require_POST
def unsubscribe(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask the sender of a newsletter to end the subscription, by one request (RFC 8058)."""
    newsletter = get_object_or_404(
        Newsletter,
        pk=pk,
        user=person_of(request),
        unsubscribe_one_click=True,
        unsubscribe_url__startswith="https://",
    )
    try:
        calls.sign_off(newsletter.unsubscribe_url)
    except ProgramError as error:
        words = _("“%(name)s” could not be unsubscribed: %(reason)s.")
        reason = translated(error.detail) if error.detail else _("its server does not answer")
        messages.error(request, words % {"name": newsletter, "reason": reason})
        return redirect("newsletters")
    Newsletter.objects.filter(pk=newsletter.pk).update(unsubscribed=datetime.now(UTC))
    messages.success(
        request, _("“%(name)s” has taken it: you are unsubscribed there.") % {"name": newsletter}
    )
    return redirect("newsletters")


@require_POST
def request_done(request: HttpRequest, pk: int) -> HttpResponse:
    """Put away a request to confirm a subscription."""
    row = get_object_or_404(SubscriptionRequest, pk=pk, user=person_of(request))
    SubscriptionRequest.objects.filter(pk=row.pk).update(done=datetime.now(UTC))
    return redirect("newsletters")
