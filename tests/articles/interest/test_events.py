"""Reading logs: many spellings, and every line that is not understood named."""

from __future__ import annotations

import gzip
import io
import json

import pytest

from articles.interest.evaluation.events import MAX_LINE_BYTES, EventsError, Log, parse_events

LINE = {"at": 1.7e9, "subscriber": "ann", "event": "impression", "article": "a1"}


def read(*lines: object) -> Log:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return parse_events("x.jsonl", io.BytesIO(text.encode()))


def test_a_line_as_documented():
    (event,) = (
        log := read(
            LINE
            | {
                "list": "l1",
                "feed": "f7",
                "category": "science",
                "author": "Ada",
                "keywords": [["comet", 3.2], ["probe", 1.1]],
                "published": "2026-03-01T07:12:00Z",
            }
        )
    ).events
    assert (event.at, event.subscriber, event.kind, event.article, event.list) == (
        1.7e9, "ann", "shown", "a1", "l1",
    )  # fmt: skip
    facts = log.articles["a1"]
    assert set(facts.features()) == {
        "feed:f7", "category:science", "author:ada", "keyword:comet", "keyword:probe",
    }  # fmt: skip
    assert facts.published == 1772349120


@pytest.mark.parametrize(
    "line",
    [
        {"ts": 1.7e12, "user": 5, "type": "CLICK", "item": "a1"},
        {"time": "2023-11-14T22:13:20", "user_id": "5", "action": "open", "item_id": "a1"},
        {"timestamp": "2023-11-14T23:13:20+01:00", "uid": 5, "kind": "read", "document": {"id": "a1"}},
        {"t": "1700000000", "reader": {"id": 5}, "event_type": "viewed", "url": "a1", "extra": None},
    ],
)
def test_other_names_for_the_same(line):
    (event,) = read(line).events
    assert (event.at, event.subscriber, event.kind, event.article) == (1.7e9, "5", "opened", "a1")


@pytest.mark.parametrize(
    ("word", "kind"),
    [("show", "shown"), ("like", "more"), ("thumbs_down", "less"), ("Dismiss", "hidden"), ("star", "saved")],
)
def test_other_words_for_events(word, kind):
    assert read(LINE | {"event": word}).events[0].kind == kind


def test_impressions_that_say_whether_they_were_clicked():
    log = read(LINE | {"clicked": True}, LINE | {"article": "a2", "clicked": 0})
    assert [(event.article, event.kind) for event in log.events] == [
        ("a1", "shown"), ("a1", "opened"), ("a2", "shown"),
    ]  # fmt: skip


def test_a_whole_list_on_one_line():
    plain = {key: value for key, value in LINE.items() if key != "article"}
    log = read(plain | {"articles": ["a1", {"id": "a2", "feed": "f"}], "clicked": ["a2"]})
    assert [(event.article, event.kind) for event in log.events] == [
        ("a1", "shown"), ("a2", "shown"), ("a2", "opened"),
    ]  # fmt: skip
    assert log.articles["a2"].feed == "f"


def test_articles_of_a_list_that_say_themselves_whether_they_were_clicked():
    plain = {key: value for key, value in LINE.items() if key not in {"article", "event"}}
    log = read(plain | {"items": [{"id": 1, "clicked": 0}, {"id": 2, "clicked": 1}, 3]})
    assert [event.article for event in log.events if event.kind == "opened"] == ["2"]
    assert len(log.events) == 4


def test_what_is_known_of_an_article_is_told_once_or_apart():
    log = read(
        {"event": "article", "id": "a1", "feed": "f", "keywords": ["x", "y"]},
        LINE | {"feed": "another", "author": ["Ada", "Bob"]},
    )
    assert len(log.events) == 1
    assert (log.articles["a1"].feed, log.articles["a1"].author) == ("f", "Ada, Bob")


def test_words_of_the_title_where_there_are_no_keywords_rare_ones_more():
    log = read(LINE | {"title": "Storm in town"}, LINE | {"article": "a2", "title": "Storm over sea, 2026"})
    found = log.articles["a2"].features()
    assert set(found) == {"keyword:storm", "keyword:over", "keyword:sea"}
    assert found["keyword:sea"] > found["keyword:storm"]


@pytest.mark.parametrize("given", [{"x": 2.0}, "x", ["x"], [["x", 2]], [{"term": "x", "weight": 2}]])
def test_keywords_in_many_shapes(given):
    assert set(read(LINE | {"keywords": given}).articles["a1"].features()) == {"keyword:x"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ({**LINE, "event": "sneeze"}, "unknown event 'sneeze'; known are impression, click"),
        ({**LINE, "event": None}, "no event"),
        ({**LINE, "at": "noon"}, "at 'noon' is no time"),
        ({**LINE, "at": None}, "no at"),
        ({**LINE, "at": True}, "is no time"),
        ({**LINE, "at": 1e300}, "is no time"),
        ({**LINE, "subscriber": None}, "no subscriber"),
        ({**LINE, "subscriber": 1.5}, "subscriber must be"),
        ({**LINE, "article": ""}, "no article"),
        ({**LINE, "article": ["a"]}, "article must be"),
        ({**LINE, "keywords": [["x", "heavy"]]}, "keywords must be"),
        ({**LINE, "keywords": 5}, "a list was expected"),
        ({**LINE, "published": "soon"}, "published 'soon' is no time"),
        ({**LINE, "clicked": ["a9"]}, "clicked 'a9' is none of the articles"),
        ("x" * (MAX_LINE_BYTES + 10), "longer than 1,000,000 bytes"),
    ],
)
def test_a_line_that_is_not_understood_is_named_with_the_reason(line, reason):
    with pytest.raises(EventsError, match=r"x\.jsonl, line 3: ") as refused:
        read(LINE, "", line, LINE)
    assert reason in str(refused.value)


def test_an_empty_log_is_refused():
    with pytest.raises(EventsError, match="no events"):
        read("")


def test_gzip_is_read_and_damage_named():
    packed = gzip.compress(json.dumps(LINE).encode())
    assert len(parse_events("x.gz", io.BytesIO(packed)).events) == 1
    with pytest.raises(EventsError, match="damaged gzip"):
        parse_events("x.gz", io.BytesIO(packed[:-10]))


def test_what_came_late_is_put_in_order_and_counted():
    log = read(LINE, LINE | {"at": 1.6e9, "event": "click"}, LINE | {"at": 1.6e9})
    assert log.late == 1
    assert [(event.at, event.kind) for event in log.ordered()] == [
        (1.6e9, "shown"), (1.6e9, "opened"), (1.7e9, "shown"),
    ]  # fmt: skip
