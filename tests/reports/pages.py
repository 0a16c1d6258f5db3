"""The runner of reports about pages: what somebody who is signed in sees and where they are led."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from django.test import Client, override_settings
from lxml import html

from tests.reports.runners import Input, _followed_articles, _put_in, whole_way


@whole_way
def pages(given: Input) -> Any:
    """A person's `requests` for pages -> of each {"status", "to", "text", "links", "values", "headers"}.

    The person is `name` with a `role`, follows `feeds`, and `people` have accounts too. A request is [method,
    path, fields as pairs, name of another person, "" for nobody]. With PRESS for the method the path is the
    label of a button of the last whole page, whose form is sent with the fields put in; with FOLLOW it is
    that of a link. With CHANGE a watched page of this title is found changed, which has no answer. {feed0}
    and {article0} are keys, {person:name} those of people.
    """
    from django.contrib.auth.models import User  # noqa: PLC0415

    from articles.enrichment.models import Enrichment  # noqa: PLC0415
    from crawler.web.roles import give_role  # noqa: PLC0415
    from tests.factories import make_subscriber  # noqa: PLC0415

    name = given.get("name", "reader")
    roles = {name: given.get("role", "reader"), **given.get("people", {})}
    readers = {person: make_subscriber(person) for person in roles}
    clients = {"": Client()}
    for person, role in roles.items():
        give_role(readers[person].user, role)
        clients[person] = Client(headers=given.get("headers", {}))
        clients[person].force_login(User.objects.get(username=person))
    made = [
        one | {"articles": [*one.get("articles", ()), *_many(one.get("many", 0))]}
        for one in given.get("feeds", ())
    ]
    feeds, articles = _followed_articles(readers[name], made)
    for article, row in zip(articles, (row for one in made for row in one["articles"]), strict=True):
        if words := row.get("keywords"):
            about = {"keywords": [[word, 1.0] for word in words]}
            Enrichment.objects.update_or_create(article=article, defaults=about)
    places = {f"feed{number}": str(one.pk) for number, one in enumerate(feeds)}
    places |= {f"article{number}": str(one.pk) for number, one in enumerate(articles)}
    places |= {f"person:{person}": str(reader.user.pk) for person, reader in readers.items()}
    answers: list[dict[str, Any]] = []
    tree, place = html.fromstring("<p></p>"), "/"
    with override_settings(**given.get("settings", {})):
        for method, path, fields, *person in given["requests"]:
            if method == "CHANGE":
                _change(path)
                answers.append({})
                continue
            pairs = [(_put_in(key, places), _put_in(value, places)) for key, value in fields]
            sent = _sent(method, _put_in(path, places), pairs, tree, place)
            answer = _asked(clients[person[0] if person else name], *sent)
            content = b"" if answer.streaming else answer.content
            is_html = answer.headers.get("Content-Type", "").startswith("text/html") and content.strip()
            seen = html.fromstring(content.decode()) if is_html else None
            if seen is not None and b"<html" in content:  # not a part of the page
                tree, place = html.fromstring(content.decode()), sent[1]
            answers.append(_seen(answer, seen, places))
    return answers


def _change(title: str) -> None:
    """Let a page of a watched site be found changed."""
    from recrawl.models import Change, Site  # noqa: PLC0415
    from recrawl.visiting.mapping import add_site  # noqa: PLC0415

    site = Site.objects.first() or add_site("https://shop.example/")
    now = datetime.now(UTC)
    begun = {"started": now, "weekly": 1.0, "budget": 1}
    visit, _is_new = site.visits.get_or_create(number=1, defaults=begun)
    page = site.pages.create(url=f"https://shop.example/{title}", key=site.pages.count() + 1)
    Change.objects.create(site=site, page=page, visit=visit, at=now, kind="edited", title=title)


def _many(number: int) -> list[dict[str, Any]]:
    """That many articles, "No. 1." the newest."""
    return [{"title": f"No. {one}.", "minutes": one} for one in range(1, number + 1)]


def _sent(
    method: str, path: str, fields: Sequence[tuple[str, str]], tree: Any, place: str
) -> tuple[str, str, list[tuple[str, str]]]:
    """The request behind a button or a link of the page before, or the one that is written."""
    if method == "FOLLOW":
        (link,) = [one for one in tree.iter("a") if _label(one) == path][:1]
        return "GET", urljoin(place, link.get("href")), []
    if method != "PRESS":
        return method, path, list(fields)
    (button,) = [one for one in tree.iter("button") if _label(one) == path][:1]
    forms = tree.xpath("//form[@id=$form]", form=button.get("form", "")) or button.xpath("ancestor::form")
    form, put = forms[0], dict(fields)
    values = [(key, put.get(key, value)) for key, value in form.form_values() if value is not None]
    values += [pair for pair in fields if pair[0] not in dict(values)]
    if button.get("name"):
        values.append((button.get("name"), button.get("value", "")))
    action = button.get("formaction") or form.get("action") or place
    return form.get("method", "get").upper(), urljoin(place, action), values


def _label(element: Any) -> str:
    return " ".join(element.text_content().split()) or element.get("aria-label") or element.get("title") or ""


def _asked(client: Client, method: str, path: str, fields: list[tuple[str, str]]) -> Any:
    if method == "GET":
        joined = urlencode([*parse_qsl(urlsplit(path).query, keep_blank_values=True), *fields])
        return client.get(f"{path.partition('?')[0]}?{joined}" if joined else path)
    form = "application/x-www-form-urlencoded"
    return client.generic(method, path, urlencode(fields), content_type=form)


def _seen(answer: Any, tree: Any, places: Mapping[str, str]) -> dict[str, Any]:
    """What a person sees of an answer: words without tags, links, and what stands in the fields."""
    to = answer.headers.get("Location") or answer.headers.get("HX-Redirect") or ""
    names = {value: key for key, value in places.items() if key.startswith(("feed", "article"))}
    to = re.sub(r"(?<=/)\d+(?=/)", lambda key: f"{{{names[key[0]]}}}" if key[0] in names else key[0], to)
    seen = {"status": answer.status_code, "to": to, "headers": dict(answer.headers), "text": "", "links": []}
    if tree is None:
        return seen
    for one in [*tree.iter("script", "style", "template", "svg")]:
        one.drop_tree()
    for one in tree.iter():
        one.tail = f" {one.tail or ''}"
    values = {key: value for form in tree.forms for key, value in form.form_values()}
    title = " ".join(tree.findtext(".//title", "").split())
    main = (tree.xpath("//main") or [tree])[0]
    return seen | {
        "title": title,
        "text": " ".join(tree.text_content().split()),
        "main": " ".join(main.text_content().split()),
        "links": [one.get("href", "") for one in tree.iter("a")],
        "rows": [_label(one) for one in tree.cssselect("#list a.t > bdi")],
        "buttons": [_label(one) for one in tree.iter("button")],
        "values": values,
        "language": tree.get("lang", ""),
    }
