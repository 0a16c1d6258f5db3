"""Pages about moving in: where from, what would come, and how far it is."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from articles.moving.calls import MAX_FILE
from articles.moving.departing import write_for_readers
from articles.moving.forms import MoveInForm
from articles.moving.models import Move
from articles.moving.taking import begin_file, begin_move, stop
from articles.moving.tasks import take_move
from articles.moving.values import MovingError
from articles.moving.wording import came, sentence_of
from articles.personal.following import subscriber_of
from crawler.web.limits import LimitReached
from crawler.web.sentences import translated
from crawler.web.settings_tabs import TABS

SHOWN = 20
"""Moves that are listed."""


@never_cache
@sensitive_post_parameters("secret")
@require_http_methods(["GET", "HEAD", "POST"])
def moving_in(request: HttpRequest) -> HttpResponse:
    """Ask where a person comes from; count what would come with `rehearsal`, else begin to take it over."""
    subscriber = subscriber_of(request.user)
    form = MoveInForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        fields, is_rehearsal = form.cleaned_data, "rehearsal" in request.POST
        try:
            if fields["kind"] == Move.Kind.FILE:
                file = fields["file"]
                move = begin_file(
                    subscriber, file.name or "", file.read(MAX_FILE + 1), is_rehearsal=is_rehearsal
                )
            else:
                move = begin_move(
                    subscriber, fields["kind"], fields["url"], fields["login"], fields["secret"],
                    is_rehearsal=is_rehearsal,
                )  # fmt: skip
        except (MovingError, LimitReached) as error:
            form.add_error(None, translated(str(error)))
        else:
            if move.is_open:
                take_move.delay(move.pk)
            return HttpResponseRedirect(move.get_absolute_url())
    moves = [(move, sentence_of(move)) for move in subscriber.moves.all()[:SHOWN]]
    context = {"tab": TABS["data"], "form": form, "moves": moves, "max_file": MAX_FILE >> 20}
    return render(request, "moving/moving_in.html", context, status=422 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "HEAD"])
def one_move(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how far a move is, what came, and what cannot come."""
    move = get_object_or_404(Move, pk=pk, subscriber=subscriber_of(request.user))
    context = {
        "tab": TABS["data"],
        "move": move,
        "sentence": sentence_of(move),
        "came": came(move),
        "left_out": [translated(line) for line in move.left_out],
    }
    template = "moving/_move.html" if "HX-Request" in request.headers else "moving/move.html"
    return render(request, template, context)


@never_cache
@require_safe
def moving_out(request: HttpRequest) -> FileResponse:
    """Return feeds, marks and articles as a ZIP file that other readers take."""
    now = datetime.now(UTC)
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the answer
    write_for_readers(subscriber_of(request.user), file, now)
    file.seek(0)
    name = f"for-readers-{now:%Y-%m-%d}.zip"
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")


@require_POST
def stop_move(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop a move; what came stays."""
    move = get_object_or_404(Move, pk=pk, subscriber=subscriber_of(request.user))
    stop(move)
    return redirect(move)
