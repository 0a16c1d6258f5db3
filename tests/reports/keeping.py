"""Runners of reports about what is kept of articles: highlights in them, edits of them, and saved pages."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection
from rest_framework.test import APIClient

from articles.edits.deciding import edit_of, letters_of, standing
from articles.saved.marks import Marked, find, plain_text, with_marks
from tests.html import flat
from tests.reports.runners import HOST, Input, _put_in, runner, server_of, whole_way

_MARK = re.compile(r'<mark [^>]*data-highlight="(\d+)"[^>]*>(.*?)</mark>', re.DOTALL)


@runner
def highlights(given: Input) -> Any:
    """A `quote`, or several `quotes`, in `html` -> its words as found, the marked HTML, and its place later.

    `before` and `after` are what stood around it. `texts` are the marked words by quote. With `then_html`,
    the article read anew, `fits` says whether the mark is still there, and `then` on which words.
    """
    text = plain_text(given["html"])
    quotes = given.get("quotes") or [given["quote"]]
    around = {"before": given.get("before", ""), "after": given.get("after", "")}
    places = [find(text, quote, **around) for quote in quotes]
    marks = [
        Marked(number, place.start, place.end, "y")
        for number, place in enumerate(places, 1)
        if place is not None
    ]
    marked = with_marks(given["html"], marks)
    texts: dict[str, str] = defaultdict(str)
    for number, words in _MARK.findall(marked):
        texts[number] += words
    seen: dict[str, Any] = {
        "found": text[places[0].start : places[0].end] if places[0] else None,
        "places": [[place.start, place.end] if place else None for place in places],
        "marked": flat(re.sub(r"<mark [^>]*>", "<mark>", marked)),
        "texts": list(texts.values()),
    }
    if "then_html" in given and places[0]:
        then, place = plain_text(given["then_html"]), places[0]
        later = find(then, quotes[0], before=place.before, after=place.after, near=place.start)
        seen |= {"fits": later is not None, "then": then[later.start : later.end] if later else None}
    return seen


@runner
def edits(given: Input) -> Any:
    """An article as it was (`old`) and is (`new`), {"title", "text"} -> what is said of the edit, or null.

    `furniture` are lines of other pages of the site, `pages` the HTML of both whole pages.
    """
    old, new = (standing(given[name].get("title", ""), given[name]["text"]) for name in ("old", "new"))
    pages = [letters_of(page) for page in given.get("pages", ("", ""))]
    edit = edit_of(old, new, given.get("furniture", ()), (pages[0], pages[1]))
    if edit is None:
        return None
    return {
        "kinds": edit.kinds, "words": edit.words, "added": edit.added, "removed": edit.removed,
        "change": list(edit.change),
    }  # fmt: skip


@whole_way
def saving(given: Input) -> Any:
    """A person's `requests` of the API, and `answers` of a server -> of each {"status", "json"}.

    A request is [method, path, body, name of another person]. HOST is the server's own address, {saved0} the
    key of the page that was saved first. Other methods: FETCH lets all waiting pages be read, TWICE sends a
    POST two times at the same moment and has both answers. With `asked` the answer is {"answers", "asked"},
    the paths that the server was asked for.
    """
    from crawler.inline import work_off  # noqa: PLC0415

    places: dict[str, str] = {}
    answers: list[Any] = []
    with server_of(given.get("answers", {})) as web:
        for method, path, *rest in given["requests"]:
            if method == "FETCH":
                work_off()
                answers.append({})
                continue
            body: Any = rest[0] if rest else {}
            name: str = rest[1] if len(rest) > 1 else "reader"
            sent = _put_in(json.dumps(body), places).replace(HOST, web.origin)
            if method == "TWICE":
                _client(name)
                with ThreadPoolExecutor(2) as pool:
                    both = list(pool.map(lambda sent: _apart(*sent), [(name, path, sent)] * 2))
                seen = sorted((_answer(one, web.origin) for one in both), key=lambda one: -one["status"])
                answers.append(seen)
                continue
            answer = _client(name).generic(method, _put_in(path, places), sent, "application/json")
            answers.append(_answer(answer, web.origin))
            if method == "POST" and path == "/api/saved/" and answer.status_code in {200, 201}:
                places.setdefault(f"saved{len(places)}", str(answer.json()["id"]))
        asked = [request.path for request in web.requests if request.path != "/robots.txt"]
    return {"answers": answers, "asked": asked} if given.get("asked") else answers


def _client(name: str) -> APIClient:
    from django.contrib.auth.models import User  # noqa: PLC0415

    from tests.factories import make_user  # noqa: PLC0415

    client = APIClient()
    client.force_authenticate(User.objects.filter(username=name).first() or make_user(name))
    return client


def _apart(name: str, path: str, sent: str) -> Any:
    """The answer to a POST on a connection of its own, as another process would have it."""
    try:
        return _client(name).generic("POST", path, sent, "application/json")
    finally:
        connection.close()


def _answer(answer: Any, origin: str) -> Mapping[str, Any]:
    text = answer.content.decode().replace(origin, HOST)
    return {"status": answer.status_code, "json": json.loads(text) if text else None}
