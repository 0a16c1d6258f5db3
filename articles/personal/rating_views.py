"""Where items of personal feeds lead to rate them: a page that asks, and a POST that counts. No account."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from articles.interest import feedback as interest
from articles.personal.rating import read_feedback_address

SAID = {
    "more": "You will see more like it.",
    "less": "You will see less like it.",
    "hide": "It is hidden from your feeds.",
    "save": "It is starred.",
}


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def feedback(request: HttpRequest, signed: str) -> HttpResponse:
    """Ask what to say of one article, or note it: reading never counts, so that no preview can vote."""
    found = read_feedback_address(signed)
    if found is None:
        return render(request, "me/feedback_gone.html", status=404)
    personal_feed, article = found
    word = request.POST.get("word", "") if request.method == "POST" else ""
    undone = word.removeprefix("undo-")
    if word in SAID:
        interest.give(personal_feed.subscriber, article.pk, word, datetime.now(UTC))
    elif word.startswith("undo-") and undone in SAID:
        interest.take_back(personal_feed.subscriber, article.pk, undone, datetime.now(UTC))
    elif request.method == "POST":
        return HttpResponse("There is no such button.\n", "text/plain", status=400)
    said = "It was taken back." if word and word not in SAID else SAID.get(word, "")
    context = {"article": article, "personal_feed": personal_feed, "said": said, "word": word}
    return render(request, "me/feedback.html", context)
