"""Rules for the list of a page, proposed by the language model where there is one; a person tries them."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from articles.modelled import prompts
from articles.modelled.asking import CannotAskError, ask
from articles.modelled.outlines import outline
from articles.modelled.views import need_model
from articles.modelled.wording import address_of
from articles.personal.following import subscriber_of
from crawler.fetching.http.urls import BadUrl, canonical_url
from crawler.isolation.calls import ProgramError
from crawler.web.limits import LimitReached
from crawler.web.permissions import needs
from crawler.web.roles import EDITOR
from crawler.web.sentences import translated
from feeds.phrases import failure_words
from recrawl.pages.picking_views import copy_of


@needs(EDITOR)
@require_POST
def propose_rules(request: HttpRequest) -> HttpResponse:
    """Ask the model for rules of the page `url`, and go to where they will stand."""
    need_model()
    now = datetime.now(UTC)
    try:
        url = canonical_url(request.POST.get("url", ""))
        page_outline = outline(copy_of(url))
        if not page_outline:
            raise CannotAskError(_("The page has no text."))
        row = ask(
            subscriber_of(request.user),
            "selectors",
            prompts.selectors(page_outline),
            now,
            subject={"url": url},
        )
    except BadUrl as error:
        messages.error(request, f"{capfirst(translated(error.reason))}.")
    except ProgramError as error:
        messages.error(request, f"{capfirst(failure_words(error.kind, None, now))}.")
    except (CannotAskError, LimitReached) as error:
        messages.error(request, str(error))
    else:
        return HttpResponseRedirect(address_of(row))
    return redirect("add-rules")
