"""Rules about articles: on arrival, at a tick, on what is there; and that all of it can be undone."""

from __future__ import annotations

import json
import time
import tracemalloc
from datetime import UTC, datetime, timedelta
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from hypothesis import given, strategies

from articles.enrichment.models import Enrichment, Story
from articles.interest.log import hidden_articles
from articles.interest.scoring import ranked
from articles.models import Article, Mark, Subscriber, Subscription
from articles.personal.archive import read_archive, write_archive
from articles.reader.lists import ReadingList
from crawler.notices.models import Rule, RuleHit
from crawler.notices.rules import applying
from crawler.notices.rules.applying import apply_at_tick, apply_to_present, preview
from crawler.notices.rules.deeds import act, undo
from crawler.notices.rules.matching import ArticleConditions, MatchedArticle, Matcher, certain_letters, meets
from crawler.notices.rules.wording import rule_in_words
from crawler.notices.tasks import apply_rule
from crawler.notices.watching import look
from crawler.text.patterns import PatternAllowance
from feeds.mail.models import MailAddress, Newsletter
from feeds.models import Feed
from tests.crawler.notices.test_notices import make_target
from tests.factories import make_article, make_feed, make_subscriber, make_token, make_user
from tests.feeds.mail.messages import issue
from tests.harvests import entry, visit
from tests.html import flat

pytestmark = pytest.mark.django_db
BACKEND = "crawler.accounts.backends.NameOrMailBackend"


def make_rule(reader: Subscriber, *deeds: str, **fields: Any) -> Rule:
    now = datetime.now(UTC) - timedelta(minutes=5)
    return Rule.objects.create(
        user=reader.user, when=Rule.When.ARTICLE, deeds=list(deeds), **{"looked": now, "acted": now} | fields
    )


def mark_of(reader: Subscriber, title: str) -> Mark | None:
    return Mark.objects.filter(subscriber=reader, article__title=title).first()


def unread(reader: Subscriber) -> set[str]:
    keys = ReadingList().keys(reader).keys
    return set(Article.objects.filter(pk__in=keys).values_list("title", flat=True))


def enrich(article: Article, **fields: Any) -> None:
    values = {"state": Enrichment.State.DONE, "at": datetime.now(UTC)} | fields
    Enrichment.objects.update_or_create(article=article, defaults=values)


@pytest.fixture
def feed() -> Feed:
    return make_feed()


@pytest.fixture
def reader(feed: Feed) -> Subscriber:
    return make_subscriber("mara", feed, folder="News/Sea")


def test_what_arrives_is_muted_marked_starred_and_labelled(feed: Feed, reader: Subscriber) -> None:
    make_rule(reader, "mute", words="deals, bargains")
    make_rule(reader, "star", "label", author="ann", labels=["Ann"])
    make_rule(reader, "read", tag="sport", folder="News")
    make_rule(reader, "read", words="ferry", folder="Elsewhere")
    visit(
        feed,
        entry(1, title="Deals of the day"),
        entry(2, title="Ferry late", author="Ann Roe"),
        entry(3, title="Cup final", categories=("Sport",)),
    )
    assert unread(reader) == {"Ferry late"}
    muted, starred, read = (mark_of(reader, t) for t in ("Deals of the day", "Ferry late", "Cup final"))
    assert muted and muted.muted and muted.read
    assert starred and starred.starred and starred.labels == ["Ann"] and starred.read is None
    assert read and read.read and read.muted is None
    assert Article.objects.get(title="Deals of the day").pk in set(hidden_articles(reader))


def test_newsletters_are_asked_when_they_arrive(client: Client) -> None:
    user = make_user("ada")
    address = MailAddress.objects.create(user=user)
    client.post(f"/inbound/{address.key}/", issue(), "message/rfc822")
    client.force_login(user)
    client.post(f"/newsletters/{Newsletter.objects.get().pk}/follow/")
    make_rule(user.subscriber, "star", words="lamp of issue 2")
    client.post(f"/inbound/{address.key}/", issue(2), "message/rfc822")
    mark = mark_of(user.subscriber, "Harbour weekly no. 2")
    assert mark and mark.starred


def test_a_rule_whose_expression_is_none_harms_no_other(feed: Feed, reader: Subscriber) -> None:
    make_rule(reader, "read", expression="(ferry")
    make_rule(reader, "star", words="ferry")
    visit(feed, entry(1, title="The (ferry is late"))
    mark = mark_of(reader, "The (ferry is late")
    assert mark and mark.starred and not mark.read


def test_others_and_paused_rules_do_nothing(feed: Feed, reader: Subscriber) -> None:
    other = make_subscriber("olga", feed)
    stranger = make_subscriber("nobody")
    make_rule(stranger, "mute", words="ferry")
    make_rule(reader, "mute", words="ferry", paused=True)
    visit(feed, entry(1, title="Ferry late"))
    assert unread(reader) == unread(other) == {"Ferry late"}
    assert not RuleHit.objects.exists()


def test_a_rule_that_changes_is_read_anew(feed: Feed, reader: Subscriber) -> None:
    rule = make_rule(reader, "mute", words="ferry")
    visit(feed, entry(1, title="Ferry late"))
    rule.words = "train"
    rule.save()
    visit(feed, entry(1, title="Ferry late"), entry(2, title="Train late"), entry(3, title="Ferry back"))
    assert unread(reader) == {"Ferry back"}


def test_an_article_is_hit_once_so_that_a_person_has_the_last_word(feed: Feed, reader: Subscriber) -> None:
    rule = make_rule(reader, "read", words="ferry")
    visit(feed, entry(1, title="Ferry late"))
    article = Article.objects.get()
    Mark.objects.update(read=None)
    enrich(article)
    assert apply_at_tick(datetime.now(UTC) + timedelta(seconds=1)) == 0
    assert act({rule: [article.pk]}, datetime.now(UTC)) == 0
    assert unread(reader) == {"Ferry late"}


def test_what_is_known_later_is_asked_at_the_tick(feed: Feed, reader: Subscriber) -> None:
    other = make_feed()
    Subscription.objects.create(subscriber=reader, feed=other)
    make_rule(reader, "label", copies=True, labels=["Again"])
    make_rule(reader, "label", language="de", labels=["Deutsch"])
    make_rule(reader, "save", words="harbour")
    story = Story.objects.create()
    first, copy = make_article(feed, title="Ferry"), make_article(other, title="Ferry, too")
    german = make_article(feed, title="Fähre", language="de-AT")
    saved = make_article(feed, title="Harbour opens")
    for article in (first, copy):
        enrich(article, story=story)
    enrich(german)
    enrich(saved)
    assert apply_at_tick(datetime.now(UTC) + timedelta(seconds=1)) == 3
    labels = {title: (mark.labels if (mark := mark_of(reader, title)) else []) for title in
              ("Ferry", "Ferry, too", "Fähre")}  # fmt: skip
    assert labels == {"Ferry": [], "Ferry, too": ["Again"], "Fähre": ["Deutsch"]}
    assert [page.article.title for page in reader.saved_pages.all()] == ["Harbour opens"]


def test_what_a_feed_had_when_it_was_followed_is_asked(reader: Subscriber) -> None:
    make_rule(reader, "mute", words="ferry")
    other = make_feed()
    make_article(other, title="Ferry late")
    Subscription.objects.create(subscriber=reader, feed=other)
    assert apply_at_tick(datetime.now(UTC) + timedelta(seconds=1)) == 1
    assert unread(reader) == set()


def test_searches_and_topics_are_asked(feed: Feed, reader: Subscriber) -> None:
    make_rule(reader, "star", query="ferry -late")
    for title in ("Ferry late", "Ferry on time"):
        enrich(make_article(feed, title=title, text=title))
    assert apply_at_tick(datetime.now(UTC) + timedelta(seconds=1)) == 1
    assert mark_of(reader, "Ferry on time") is not None


def test_a_preview_changes_nothing_and_the_present_can_be_undone(feed: Feed, reader: Subscriber) -> None:
    rule = make_rule(reader, "mute", "star", "label", "save", words="ferry", labels=["Boats"])
    first, second = make_article(feed, title="Ferry one"), make_article(feed, title="Ferry two")
    make_article(feed, title="Train")
    own = datetime.now(UTC) - timedelta(days=1)
    Mark.objects.create(subscriber=reader, article=second, starred=own, labels=["Boats", "Mine"])
    now = datetime.now(UTC)
    assert preview(rule, now) == (3, [second.pk, first.pk])
    assert not RuleHit.objects.exists()
    assert apply_to_present(rule, now) == 2
    assert apply_to_present(rule, now) == 0
    assert unread(reader) == {"Train"}
    assert reader.saved_pages.count() == 2
    assert undo(rule, now) == 2
    assert unread(reader) == {"Ferry one", "Ferry two", "Train"}
    assert reader.saved_pages.count() == 0
    marks = {mark.article.title: mark for mark in Mark.objects.filter(subscriber=reader)}
    assert (marks["Ferry one"].starred, marks["Ferry one"].labels) == (None, [])
    assert (marks["Ferry two"].starred, marks["Ferry two"].labels) == (own, ["Boats", "Mine"])
    later = now + timedelta(minutes=1)
    assert apply_to_present(rule, later) == 2
    assert undo(rule, later, now) == 0
    assert undo(rule, later, later) == 2


def test_what_two_rules_did_stays_while_one_of_them_says_so(feed: Feed, reader: Subscriber) -> None:
    first, second = make_rule(reader, "read", words="ferry"), make_rule(reader, "mute", words="late")
    visit(feed, entry(1, title="Ferry late"), entry(2, title="Ferry"))
    assert unread(reader) == set()
    undo(first, datetime.now(UTC))
    assert unread(reader) == {"Ferry"}
    undo(second, datetime.now(UTC))
    assert unread(reader) == {"Ferry late", "Ferry"}


def test_what_is_moved_up_comes_first(feed: Feed, reader: Subscriber) -> None:
    old = make_article(feed, title="Ferry", published=datetime.now(UTC) - timedelta(days=1))
    new = make_article(feed, title="Train")
    assert [place.article_id for place in ranked(reader, Article.objects.all())] == [new.pk, old.pk]
    apply_to_present(make_rule(reader, "up", words="ferry"), datetime.now(UTC))
    assert [place.article_id for place in ranked(reader, Article.objects.all())] == [old.pk, new.pk]
    assert [place.article_id for place in ranked(reader, Article.objects.all(), 1)] == [old.pk]


def test_a_rule_tells_and_acts(feed: Feed, reader: Subscriber) -> None:
    rule = make_rule(reader, "star", words="ferry", looked_in="title", expression="late$")
    rule.targets.add(make_target(reader.user))
    Rule.objects.update(created=datetime.now(UTC) - timedelta(hours=1))
    rule.refresh_from_db()
    make_article(feed, title="Ferry late")
    make_article(feed, title="Ferry early")
    make_article(feed, title="Late", text="A ferry that is late")
    assert look(rule, datetime.now(UTC) + timedelta(seconds=1)) == 1
    assert [notice.title for notice in rule.notices.all()] == ["Ferry late"]


def test_an_error_costs_only_the_rules(
    feed: Feed, reader: Subscriber, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_rule(reader, "mute", words="ferry")

    def fail(*_: object, **__: object) -> int:
        Article.objects.raw("SELECT 1 / 0 AS id")[0]
        return 0

    monkeypatch.setattr(applying, "act", fail)
    visit(feed, entry(1, title="Ferry late"))
    assert Article.objects.count() == 1


def test_hostile_expressions_are_bounded() -> None:
    slow = ArticleConditions(expression=r"(a+)+$", looked_in="text")
    quick = ArticleConditions(words="harbour")
    matcher, allowance = Matcher({1: slow, 2: quick}), PatternAllowance()
    began = datetime.now(UTC)
    for _ in range(200):
        article = MatchedArticle("The harbour", "a" * 20_000 + "b")
        assert matcher.matching(article, {1, 2}, allowance) == [2]
    assert allowance._left <= 0 or (datetime.now(UTC) - began).total_seconds() < 5


def test_words_that_are_in_each_other_are_bounded() -> None:
    rules = {
        key: ArticleConditions(words=",".join("a" * length for length in range(key * 20 + 1, key * 20 + 13)))
        for key in range(10)
    }
    matcher, article = Matcher(rules), MatchedArticle(text="a" * 30_000)
    tracemalloc.start()
    began = time.thread_time()
    try:
        assert matcher.matching(article, rules.keys(), PatternAllowance()) == []
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert time.thread_time() - began < 5


@pytest.mark.parametrize("before", [0, 1, 4_087, 4_088, 4_089, 4_095, 4_096, 4_097, 50_000])
def test_words_are_found_wherever_they_stand(before: int) -> None:
    rules = {
        1: ArticleConditions(words="harbourmaster"),
        2: ArticleConditions(words="harbour"),
        3: ArticleConditions(expression="arbourmas"),
        4: ArticleConditions(words="東京"),
        5: ArticleConditions(words="harbourmasters"),
    }
    # The texts of all parts are searched together, the title and a line end first.
    article = MatchedArticle(text="." * before + "harbourmaster" + "東京")
    assert Matcher(rules).matching(article, rules.keys(), PatternAllowance()) == [1, 3, 4]


@pytest.mark.parametrize(
    ("expression", "letters"),
    [
        ("ferry", "ferry"), (r"\bferry\b", "ferry"), ("(?i)Ferry late", "ferry"), (r"ferry\s+berth", "ferry"),
        ("ferr?y", ""), ("ferry|train", ""), ("[fF]erry", "erry"), (r"\x41lbum", ""), ("Sky", ""),
        ("Banks", "ban"), ("ab", ""),
    ],
)  # fmt: skip
def test_letters_that_are_sure(expression: str, letters: str) -> None:
    assert certain_letters(expression) == letters


def test_the_index_finds_what_asking_each_rule_finds() -> None:
    words = ["ferry", "c++", "東京", "red boat", "zoë, train", "🎉", "9.5"]
    rules = [ArticleConditions(words=word) for word in words]
    rules += [ArticleConditions(expression=one) for one in (r"fer+y", r"^the\b", r"(?-i)Boat", r"\d\.\d")]
    rules += [
        ArticleConditions(tag="Sea"),
        ArticleConditions(author="ann"),
        ArticleConditions(longer_than=3),
        ArticleConditions(),
    ]
    numbered = dict(enumerate(rules))
    matcher = Matcher(numbered)
    for title, text in (
        ("The ferry", "A Red  boat"),
        ("C++ 9.5", "Zoe 🎉"),
        ("今日の東京", ""),
        ("", "trains"),
    ):
        article = MatchedArticle(title, text, "Ann Roe", "https://a.example/", tags=["sea"])
        allowance = PatternAllowance()
        asked = [key for key, rule in numbered.items() if meets(rule, article, allowance)]
        assert matcher.matching(article, numbered.keys(), allowance) == asked


TEXTS = strategies.text(alphabet="abAé東_. -\n’'", max_size=12)


@given(words=strategies.lists(TEXTS, max_size=6), title=TEXTS, text=TEXTS)
def test_the_index_leaves_no_rule_out(words: list[str], title: str, text: str) -> None:
    rules = {key: ArticleConditions(words=word) for key, word in enumerate(words)}
    article, allowance = MatchedArticle(title, text), PatternAllowance()
    asked = [key for key, rule in rules.items() if meets(rule, article, allowance)]
    assert Matcher(rules).matching(article, rules.keys(), allowance) == asked


def test_pages(client: Client, feed: Feed, reader: Subscriber) -> None:
    make_article(feed, title="Ferry late")
    client.force_login(reader.user, BACKEND)
    assert "A rule spares you work" in client.get("/settings/rules/").text
    assert client.get("/me/rules/new/?words=ferry&author=Ann").context["rule"].author == "Ann"
    wrong = client.post("/me/rules/new/", {"words": "ferry", "expression": "("})
    assert wrong.status_code == 422
    assert "This is no regular expression" in wrong.text
    assert "Choose what is done to the article." in wrong.text
    tried = client.post("/me/rules/new/", {"words": "ferry", "deeds": ["mute"], "preview": "1"})
    assert (
        "1\n            of the 1 articles" in tried.text
        or "of the 1 articles of the last 30 days" in tried.text
    )
    assert not Rule.objects.exists()
    form = {"words": "ferry", "labels": "Boats, Sea", "deeds": ["mute"], "about": f"feed:{feed.pk}"}
    made = client.post("/me/rules/new/", form, follow=True)
    rule = Rule.objects.get()
    assert (rule.deeds, rule.labels, rule.feed_id) == (["mute", "label"], ["Boats", "Sea"], feed.pk)
    assert made.redirect_chain[-1][0] == f"/me/rules/{rule.pk}/"
    assert client.post(f"/me/rules/{rule.pk}/apply/").status_code == 302
    apply_rule(rule.pk, datetime.now(UTC).timestamp())
    assert unread(reader) == set()
    assert "What it did" in client.get(f"/me/rules/{rule.pk}/").text
    assert "1 article, the last" in flat(client.get("/settings/rules/").text)
    client.post(f"/me/rules/{rule.pk}/undo/", {"at": RuleHit.objects.get().at.isoformat()})
    assert unread(reader) == {"Ferry late"}
    for action in ("pause", "resume", "copy", "delete"):
        assert client.post(f"/me/rules/{rule.pk}/{action}/").status_code == 302
    assert Rule.objects.filter(paused=True).count() == 1
    other = make_subscriber("olga")
    client.force_login(other.user, BACKEND)
    assert client.get(f"/me/rules/{Rule.objects.get().pk}/").status_code == 404


def test_the_api(client: Client, feed: Feed, reader: Subscriber) -> None:
    make_article(feed, title="Ferry late")
    headers = {"Authorization": make_token(reader.user)}

    def post(path: str, body: object) -> Any:
        return client.post(
            f"/api/rules/{path}", json.dumps(body), content_type="application/json", headers=headers
        )

    assert post("", {"words": "ferry", "deeds": []}).status_code == 400
    assert "no regular expression" in str(post("", {"expression": "(", "deeds": ["mute"]}).json())
    assert post("", {"words": "a", "deeds": ["label"]}).status_code == 400
    tried = post("preview/", {"words": "ferry", "deeds": ["mute"]}).json()
    assert (tried["looked_at"], tried["hits"], tried["articles"][0]["title"]) == (1, 1, "Ferry late")
    made = post("", {"words": "ferry", "deeds": ["mute"], "labels": ["Boats"], "looked_in": "title"})
    assert made.status_code == 201
    rule = made.json()
    assert rule["deeds"] == ["mute", "label"]
    assert rule["in_words"].startswith("with “ferry” in the title")
    assert client.get(f"/api/rules/{rule['id']}/preview/", headers=headers).json()["hits"] == 1
    applied = post(f"{rule['id']}/apply/", {})
    assert applied.status_code == 202
    apply_rule(rule["id"], datetime.fromisoformat(applied.json()["at"]).timestamp())
    assert unread(reader) == set()
    listed = client.get("/api/rules/", headers=headers).json()["results"]
    assert [(row["id"], row["hits"]) for row in listed] == [(rule["id"], 1)]
    assert post(f"{rule['id']}/undo/", {"at": applied.json()["at"]}).json() == {"undone": 1}
    assert unread(reader) == {"Ferry late"}
    assert client.get("/api/notification-rules/", headers=headers).json()["count"] == 0
    taken = post("import/", {"program": "miniflux", "text": "EntryTitle=(?i)train\nEntryDate=future"})
    assert taken.status_code == 201
    assert taken.json()["left_out"] == ["EntryDate=future"]
    assert Rule.objects.filter(expression="(?i)train", deeds=["mute"]).count() == 1


def test_rules_move_with_the_archive(feed: Feed, reader: Subscriber) -> None:
    follow_only = make_rule(reader, "mute", words="ferry", feed=feed)
    make_rule(reader, "label", expression="(?-i)Sea", labels=["Sea"], longer_than=5, paused=True)
    file = BytesIO()
    write_archive(reader, file, datetime.now(UTC))
    other = make_subscriber("olga")
    for expected in (2, 0):
        taken = read_archive(other, file.getvalue(), datetime.now(UTC), makes_articles=False)
        assert taken.rules == expected
    rules = list(Rule.objects.filter(user=other.user).order_by("pk"))
    assert [(rule.words, rule.feed_id, rule.paused) for rule in rules] == [
        ("ferry", follow_only.feed_id, False), ("", None, True)
    ]  # fmt: skip
    assert rules[1].conditions == ArticleConditions(expression="(?-i)Sea", longer_than=5)


def test_the_command(feed: Feed, reader: Subscriber, tmp_path: Path) -> None:
    def said(*arguments: str) -> str:
        out = StringIO()
        call_command("rules", "mara", *arguments, stdout=out)
        return out.getvalue()

    file = tmp_path / "filters.txt"
    file.write_text("EntryTitle=(?i)ferry\nEntryDate=future\n")
    assert said("--take", str(file), "--program", "miniflux") == (
        "1 new rules\nleft out, it has no equal here: EntryDate=future\n"
    )
    rule = Rule.objects.get()
    make_article(feed, title="Ferry late")
    assert said() == f"{rule.pk}  that /(?i)ferry/ finds in the title: mute it\n"
    assert said("--try", str(rule.pk)) == "1 of the 1 articles of the last 30 days\n"
    assert said("--apply", str(rule.pk)) == "1 articles\n"
    assert said("--undo", str(rule.pk)) == "1 articles are as they were\n"
    with pytest.raises(CommandError, match="has no rule"):
        said("--undo", str(rule.pk + 1))


def test_a_rehearsal_of_filters_keeps_nothing(reader: Subscriber, tmp_path: Path) -> None:
    file, out = tmp_path / "filters.txt", StringIO()
    file.write_text(
        "EntryTitle=(?i)deals\n[keep]\nEntryTitle=(?i)ferry\nEntryAge=3d\n[block]\nEntryAuthor=Bot\n"
    )
    call_command("rules", "mara", "--take", str(file), "--program", "miniflux", "--rehearsal", stdout=out)
    lines = out.getvalue().splitlines()
    assert [line.partition(":")[0] for line in lines] == ["would become"] * 2 + [
        "left out, it has no equal here"
    ] * 2
    assert "deals" in lines[0] and "ferry" in lines[2] and not Rule.objects.exists()
    file.write_text("[keep]\nEntryTitle=(?i)ferry\n")
    call_command("rules", "mara", "--take", str(file), "--program", "miniflux", stdout=out)
    assert Rule.objects.get().without_expression == "(?i)ferry"


def test_a_rule_is_told_in_words(reader: Subscriber, feed: Feed) -> None:
    rule = make_rule(reader, "mute", "label", words="ferry", looked_in="title", author="Ann", labels=["Sea"])
    assert rule_in_words(rule) == "with “ferry” in the title; by Ann: mute it, label it Sea"
    rule = make_rule(reader, "star", feed=feed)
    assert rule_in_words(rule) == f"any article, in {feed}: star it"
