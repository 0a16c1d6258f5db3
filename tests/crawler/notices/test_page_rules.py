"""Rules about the value of a watched page: told once as it crosses a bound, and made with a new watch."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from crawler.notices.models import Rule, Target
from crawler.notices.page_rules import rule_words
from crawler.notices.watching import look
from recrawl.comparing.values import value_in
from recrawl.inline import work_off
from recrawl.models import Site, WatchedPage
from recrawl.visiting.mapping import add_pages
from tests.factories import make_token, make_user
from tests.recrawl.sites import Paper, visit

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("terminal_on_loopback", "tried_again_soon"),
]


@pytest.fixture
def paper() -> Iterator[Paper]:
    with Paper() as web:
        yield web


def lamp(paper: Paper, price: str, stock: str = "In stock") -> None:
    paper.write("/lamp", "Desk lamp", f"{price}</p><p>{stock}")


def watched(paper: Paper) -> Site:
    lamp(paper, "239 €")
    site = add_pages([f"{paper.origin}/lamp"], parts=["css:p"], budget=1.0, every=1.0)
    work_off([site])
    site.refresh_from_db()
    return site


def told(rule: Rule) -> int:
    rule.refresh_from_db()
    return look(rule, datetime.now(UTC))


def test_it_tells_once_when_the_value_comes_below(paper: Paper) -> None:
    site = watched(paper)
    rule = Rule.objects.create(
        user=make_user(), when="page", page=site.pages.get(), condition="below", number=230,
        looked=datetime.now(UTC),
    )  # fmt: skip
    counts = []
    for price in ("235 €", "229 €", "225 €", "240 €", "1.229,00 €", "228,90 €"):
        lamp(paper, price)
        visit(site)
        counts.append(told(rule))
    assert counts == [0, 1, 0, 0, 0, 1]
    assert told(rule) == 0


def test_it_tells_of_several_changes_at_one_look(paper: Paper) -> None:
    site = watched(paper)
    rules = [
        Rule.objects.create(
            user=make_user(name), when="page", site=site, condition=name, looked=datetime.now(UTC)
        )
        for name in ("falls", "available")
    ]
    for price, stock in (("240 €", "Sold out"), ("230 €", "Sold out"), ("220 €", "In stock")):
        lamp(paper, price, stock)
        visit(site)
    assert [told(rule) for rule in rules] == [2, 1]


def test_a_rule_says_its_condition_with_the_currency_of_the_page() -> None:
    rule = Rule(condition="below", number=230)
    assert rule_words(rule, value_in(["239 €"])) == "Below 230\u00a0€"
    assert rule_words(rule) == "Below 230"
    assert rule_words(Rule()) == "Any change"
    assert rule_words(Rule(condition="available", paused=True)) == "When it is available (paused)"


def test_a_bound_needs_its_number(client: Client) -> None:
    user = make_user()
    target = Target(user=user, kind="mail", name="mail")
    target.address = "mara@news.example"
    target.save()
    token = {"Authorization": make_token(user)}

    def post(**fields: Any) -> Any:
        content = {"when": "page", "targets": [target.pk], **fields}
        return client.post(
            "/api/notification-rules/", content, content_type="application/json", headers=token
        )

    assert post(condition="below").json() == {"number": ["this condition needs a number"]}
    made = post(condition="below", number=230)
    assert (made.status_code, made.json()["number"]) == (201, 230.0)
    path = f"/api/notification-rules/{made.json()['id']}/"
    answer = client.patch(path, {"number": None}, content_type="application/json", headers=token)
    assert answer.status_code == 400
    client.force_login(user)
    fields = {"when": "page", "targets": target.pk, "condition": "above", "number": ""}
    assert client.post("/me/notifications/new/", fields).status_code == 422


def test_a_watch_is_made_with_its_rule(paper: Paper, client: Client) -> None:
    lamp(paper, "239 €")
    user = make_user(staff=True)
    target = Target(user=user, kind="mail", name="mail")
    target.address = "mara@news.example"
    target.save()
    client.force_login(user)
    fields = {
        "url": f"{paper.origin}/lamp", "kind": "pages", "part": ["css:p"], "when": "below", "below": "230",
        "places": target.pk,
    }  # fmt: skip
    assert client.post("/sites/new/", fields | {"below": ""}).status_code == 422
    assert not Site.objects.exists()
    assert client.post("/sites/new/", fields).status_code == 302
    rule = Rule.objects.get()
    assert (rule.condition, rule.number, rule.page) == ("below", 230.0, WatchedPage.objects.get())
    assert [row.pk for row in rule.targets.all()] == [target.pk]
    assert Site.objects.get().parts == ["css:p"]
    client.post("/sites/new/", {"url": f"{paper.origin}/about", "kind": "pages"})
    assert (Site.objects.count(), Rule.objects.count()) == (2, 1)
