"""Watches brought along from changedetection.io, or from a list of addresses."""

from __future__ import annotations

import io
import json
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from recrawl.importing import changedetection
from recrawl.importing.changedetection import BackupError, ForeignWatch, watches_of
from recrawl.importing.watches import import_watches
from recrawl.models import Site
from tests.factories import make_user

SHOP = {
    "url": "https://shop.example/lamp",
    "title": "Lamp",
    "tags": ["t1"],
    "processor": "restock_diff",
    "restock_settings": {"price_change_min": 20, "price_change_max": None},
    "time_between_check": {"days": 0, "hours": 6},
}
PAPER = {
    "url": "https://paper.example/",
    "include_filters": ["main .news", "//h1", "json:$.a", "::nothing::"],
    "subtractive_selectors": ["nav"],
    "ignore_text": ["Visitors: 5", "/seen \\d+ times/i"],
    "trigger_text": ["harbour"],
    "filter_text_removed": False,
    "filter_text_replaced": False,
    "fetch_backend": "html_webdriver",
    "browser_steps": [
        {"operation": "Goto site", "selector": "", "optional_value": ""},
        {"operation": "Click element", "selector": "#more", "optional_value": ""},
        {"operation": "Wait for seconds", "selector": "", "optional_value": "2"},
    ],
    "headers": {"x-token": "1"},
    "time_between_check_use_default": True,
}
OLD = {
    "watching": {"u1": SHOP, "u2": PAPER},
    "settings": {
        "application": {"tags": {"t1": {"title": "Prices"}}, "fetch_backend": "html_requests"},
        "requests": {"time_between_check": {"hours": 3}},
    },
}


def archive(files: dict[str, Any]) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content if isinstance(content, str) else json.dumps(content))
    file.seek(0)
    return file


def of_text(text: str) -> list[ForeignWatch]:
    return watches_of(io.BytesIO(text.encode()))


def test_old_and_new_backups_say_the_same() -> None:
    state = {"settings": {**OLD["settings"], "application": {"fetch_backend": "html_requests"}}}
    new = archive(
        {
            "changedetection.json": state,
            "t1/tag.json": {"title": "Prices"},
            "u1/watch.json": SHOP,
            "u2/watch.json": PAPER,
            "u1/1732.txt.br": "history",
            "url-list.txt": "https://shop.example/lamp\r\n",
        }
    )
    old = archive({"url-watches.json": OLD, "url-list.txt": ""})
    assert watches_of(new) == watches_of(old) == watches_of(io.BytesIO(json.dumps(OLD).encode()))


def test_settings_are_taken_over_and_losses_named() -> None:
    shop, paper = of_text(json.dumps(OLD))
    assert shop.tags == ("Prices",) and shop.title == "Lamp"
    assert shop.settings == {"every": 0.25, "number_rule": "below", "number": 20.0, "direction": "any"}
    assert paper.settings == {
        "every": 0.125,
        "parts": ["css:main .news", "xpath://h1", "jsonpath:$.a"],
        "ignore_selectors": ["nav"],
        "ignore_patterns": [r"(?i)Visitors:\ 5", r"(?i)seen \d+ times"],
        "trigger_patterns": ["(?i)harbour"],
        "direction": "added",
        "browser": True,
        "steps": [{"do": "click", "at": "#more"}, {"do": "wait", "seconds": 2.0}],
    }
    assert set(paper.lost) == {"css:::nothing::", "its request headers"}


def test_rules_of_groups_and_of_all_watches_are_taken_over() -> None:
    """Rules that people set once, on a tag or for all watches, stand beside those of a watch."""
    row = {
        "url": "https://a.example/",
        "tags": ["g", "h"],
        "include_filters": ["h1"],
        "subtractive_selectors": ["nav"],
    }
    groups = {
        "g": {"title": "Prices", "overrides_watch": True, "include_filters": [".price"], "ignore_text": []},
        "h": {"title": "Other", "overrides_watch": False, "include_filters": ["p"]},
    }
    application = {
        "tags": groups,
        "global_subtractive_selectors": ["footer"],
        "global_ignore_text": ["Advert"],
    }
    state = {
        "watching": {"u": row},
        "settings": {"application": application | {"notification_urls": ["json://a"]}},
    }
    (watch,) = of_text(json.dumps(state))
    assert watch.tags == ("Prices", "Other")
    assert watch.settings == {
        "parts": ["css:h1", "css:.price", "css:p"],
        "ignore_selectors": ["nav", "footer"],
        "ignore_patterns": ["(?i)Advert"],
        "direction": "any",
    }
    assert watch.lost == ("where messages of all watches go",)


def test_a_tag_of_thousands_of_rules_gives_each_watch_the_first_hundred() -> None:
    """Each watch had all rules of its tags checked anew: 3,000 in a tag of 300 watches took a minute."""
    tag = {"title": "shops", "ignore_text": [f"/line {n} of many/" for n in range(3000)]}
    watching = {
        str(n): {"url": f"https://shop.example/{n}", "tags": ["a"], "ignore_text": [f"/own {n}/"]}
        for n in range(300)
    }
    state = {"watching": watching, "settings": {"application": {"tags": {"a": tag}}}}
    began = time.process_time()
    watches = of_text(json.dumps(state))
    assert time.process_time() - began < 10
    assert [len(watch.settings["ignore_patterns"]) for watch in watches] == [100] * 300
    assert watches[7].settings["ignore_patterns"][:2] == ["(?i)own 7", "(?i)line 0 of many"]
    assert [str(loss) for loss in watches[7].lost] == ["its rules beyond the first 100 of a kind"]


def test_tags_find_their_watches_by_address_and_say_where_messages_go() -> None:
    groups = {
        "boats": {"title": "Boats", "url_match_pattern": "*/BOATS/*", "ignore_text": ["Tide"]},
        "shops": {"title": "Shops", "url_match_pattern": "shop", "notification_urls": ["json://a"]},
        "none": {"title": "None", "url_match_pattern": ""},
    }
    row = {"url": "https://shop.example/boats/7", "tags": ["boats"]}
    state = {"watching": {"u": row}, "settings": {"application": {"tags": groups}}}
    (watch,) = of_text(json.dumps(state))
    assert watch.tags == ("Boats", "Shops")
    assert watch.settings["ignore_patterns"] == ["(?i)Tide"]
    assert watch.lost == ("where its messages go",)


def test_prices_and_pictures_have_their_settings_in_files_of_their_own() -> None:
    prices = {"price_change_min": 100, "price_change_max": 0, "in_stock_processing": "off"}
    stock = {"follow_price_changes": False, "price_change_threshold_percent": 5}
    rows = archive(
        {
            "changedetection.json": {"settings": {}},
            "a/watch.json": {"url": "https://a.example/", "processor": "restock_diff"},
            "a/restock_diff.json": {"restock_diff": prices},
            "b/watch.json": {"url": "https://b.example/", "processor": "restock_diff", "tags": ["t"]},
            "b/restock_diff.json": {"restock_diff": prices},
            "t/tag.json": {"title": "T", "overrides_watch": True, "processor_config_restock_diff": stock},
            "c/watch.json": {"url": "https://c.example/", "processor": "image_ssim_diff"},
            "c/image_ssim_diff.json": {"min_change_percentage": 10, "bounding_box": "1,2,3,4"},
        }
    )
    own, of_tag, picture = watches_of(rows)
    assert (own.settings["number_rule"], own.settings["number"], own.lost) == ("below", 100.0, ())
    assert (of_tag.settings["number_rule"], of_tag.settings["number"]) == ("percent", 5.0)
    assert of_tag.lost == (
        "that changes of its price count for nothing",
        "changes of stock without a change of price",
    )
    assert picture.settings["visual_percent"] == 10.0
    assert picture.lost == ("the chosen region of its picture",)


def test_expressions_heed_no_case_unless_their_flags_say_so() -> None:
    row = {"url": "https://a.example/", "ignore_text": ["/seen/", "/Seen/m", "/a.b/s", "/x/im"]}
    (watch,) = of_text(json.dumps({"watching": {"u": row}}))
    assert watch.settings["ignore_patterns"] == ["(?i)seen", "Seen", "(?i)x"]
    assert watch.lost == ("/a.b/s",)


def test_what_holds_for_all_watches_holds_for_each() -> None:
    state = {
        "watching": {"u": {"url": "https://a.example/", "time_between_check_use_default": True}},
        "settings": {
            "headers": {"X": "1"},
            "requests": {"proxy": "p", "time_schedule_limit": {"enabled": True}},
            "application": {"all_paused": True, "ignore_whitespace": True, "fetch_backend": "html_webdriver",
                            "webdriver_delay": 3, "ignore_status_codes": True},
        },
    }  # fmt: skip
    (watch,) = of_text(json.dumps(state))
    assert watch.is_paused
    assert watch.lost == (
        "its request headers",
        "its proxy",
        "that failing answers count as content",
        "its hours and days of the week",
        "its wait after loading",
    )


def test_the_source_of_a_page_or_its_offers_are_compared() -> None:
    rows = {
        "a": {"url": "source:https://a.example/"},
        "b": {"url": "https://b.example/", "track_ldjson_price_data": "accepted"},
    }
    first, second = of_text(json.dumps({"watching": rows}))
    assert (first.url, first.settings["compared"]) == ("https://a.example/", "markup")
    assert second.settings["compared"] == "data"


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"check_unique_lines": True}, "that only lines count which were never there before"),
        ({"sort_text_alphabetically": True}, "the sorting of lines"),
        (
            {"time_schedule_limit": {"enabled": True, "monday": {"enabled": False}}},
            "its hours and days of the week",
        ),
        ({"url": "https://a.example/{% now 'utc' %}"}, "the template in its address"),
        (
            {"url": "https://a.example/#/prices"},
            "the part of its address behind #, which only a browser heeds",
        ),
        ({"include_filters": ["xpath://a[matches(@href, '^x')]"]}, "xpath://a[matches(@href, '^x')]"),
        ({"webdriver_delay": 5}, "its wait after loading"),
        ({"extract_lines_containing": ["x"]}, "the extraction of text"),
        ({"llm_intent": "only lower prices"}, "what it asks a language model"),
        ({"link_to_open": "https://b.example/"}, "the other address that its link opens"),
        ({"time_between_check": {"seconds": 30}}, "its interval of less than an hour"),
    ],
)
def test_what_a_watch_loses_is_named(setting: dict[str, Any], words: str) -> None:
    state = {"watching": {"u": {"url": "https://a.example/"} | setting}}
    assert of_text(json.dumps(state))[0].lost == (words,)


def test_a_browser_heeds_the_whole_address() -> None:
    row = {"url": "https://a.example/#/prices", "fetch_backend": "system"}
    application = {"fetch_backend": "html_webdriver"}
    (watch,) = of_text(json.dumps({"watching": {"u": row}, "settings": {"application": application}}))
    assert watch.settings["browser"] is True and watch.lost == ()


def test_a_step_that_is_not_known_takes_all_steps_with_it() -> None:
    row = {"url": "https://a.example/", "browser_steps": [{"operation": "Execute JS", "optional_value": "x"}]}
    (watch,) = of_text(json.dumps({"watching": {"u": row}}))
    assert "steps" not in watch.settings and "Execute JS" in watch.lost[0]


def test_a_list_of_addresses_has_tags_behind_them() -> None:
    watches = of_text("https://a.example/ news, boats\n\nb.example\nhttps://c.example/ ['x']\n")
    assert [(watch.url, watch.tags) for watch in watches] == [
        ("https://a.example/", ("news", "boats")), ("b.example", ()), ("https://c.example/", ("x",)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\n \n", b"PK\x03\x04 damaged", b"{", b"[1]", b'{"watching": 7}', b'{"watching": {"u": [1]}}',
        b"\xff\xfe\x00", b"[" * 100_000, b'{"watching": {"u": {"url": 5}}}', b'{"settings": []}',
        archive({"url-watches.json": "{"}).getvalue(), archive({"readme.txt": "x"}).getvalue(),
    ],
)  # fmt: skip
def test_other_files_are_refused_in_a_sentence(data: bytes) -> None:
    with pytest.raises(BackupError, match=r"\.$"):
        watches_of(io.BytesIO(data))


def test_a_backup_that_unpacks_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changedetection, "MAX_UNPACKED_BYTES", 10_000)
    with pytest.raises(BackupError, match="too large"):
        watches_of(archive({"url-watches.json": json.dumps({"a": " " * 20_000})}))


def test_odd_values_harm_nothing() -> None:
    row = {
        "url": "https://a.example/", "tags": [1, None, "t"], "title": 5, "include_filters": "x",
        "ignore_text": [None, "(", "/(/"], "time_between_check": {"days": "x", "hours": 1e11},
        "browser_steps": [1, {"operation": 5}], "processor": "restock_diff", "restock_settings": 3,
        "price_change_min": "1e999", "fetch_backend": [], "paused": "yes", "method": {}, "conditions": [1],
    }  # fmt: skip
    (watch,) = of_text(json.dumps({"watching": {"u": row, "v": None}}))
    assert watch.tags == ("t",) and watch.settings["every"] == 366.0
    assert "its conditions" in watch.lost


@pytest.mark.django_db
def test_watches_that_are_set_alike_become_one_list_and_only_once() -> None:
    rows = {
        str(number): {"url": f"https://a.example/{number}", "tags": ["t1"], "paused": number == 3}
        for number in range(4)
    }
    rows["x"] = {"url": "ftp://a.example/"}
    data = json.dumps(OLD | {"watching": rows}).encode()
    result = import_watches(io.BytesIO(data), None)
    assert (result.added, result.known) == (4, 0)
    assert [problem.url for problem in result.problems] == ["ftp://a.example/"]
    first, paused = result.sites
    assert (first.title, first.state, first.pages.count()) == ("Prices", Site.State.MAPPING, 3)
    assert (paused.state, paused.pages.count(), paused.visits.count()) == (Site.State.PAUSED, 1, 0)
    again = import_watches(io.BytesIO(data), None)
    assert (again.added, again.known, Site.objects.count()) == (0, 4, 2)


def test_a_file_of_too_many_lines_is_refused_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr("recrawl.importing.changedetection._of_line", read.append)
    with pytest.raises(BackupError, match="1000000 watches in this file; 10000 are allowed"):
        of_text("a.example\n" * 1_000_000)
    assert not read


@pytest.mark.django_db
def test_one_watch_that_cannot_be_added_leaves_the_others(settings: Any) -> None:
    settings.LIMIT_SITES = 1
    user = make_user()
    rows = {str(n): {"url": f"https://a.example/{n}", "title": f"Page {n}"} for n in range(3)}
    result = import_watches(io.BytesIO(json.dumps({"watching": rows}).encode()), user)
    assert [site.title for site in result.sites] == ["Page 0"]
    assert "one person may have 1" in result.problems[0].message


@pytest.mark.django_db
def test_the_page_and_the_api_and_the_command_take_a_file(client: Client, tmp_path: Path) -> None:
    client.force_login(make_user(staff=True, is_superuser=True))
    page = client.post("/sites/import/", {"file": archive({"url-watches.json": OLD})})
    assert page.status_code == 200
    assert "2 pages are watched now." in page.content.decode()
    assert "Not taken over: its request headers, css:::nothing::" in page.content.decode()
    answer = client.post(
        "/api/sites/import/", {"file": io.BytesIO(b"https://b.example/\nftp://c.example/ boats\n")}
    )
    assert answer.status_code == 201, answer.content
    body = answer.json()
    assert body["added"] == 1 and body["known"] == 0 and len(body["sites"]) == 1
    assert [problem["url"] for problem in body["problems"]] == ["ftp://c.example/"]
    assert client.post("/api/sites/import/", {"file": io.BytesIO(b"{")}).status_code == 400
    assert client.post("/api/sites/import/").status_code == 400
    assert client.post("/sites/import/", {"file": io.BytesIO(b"{")}).status_code == 422
    assert client.post("/sites/import/").status_code == 422
    path = tmp_path / "list.txt"
    path.write_text("https://c.example/\n")
    call_command("import_watches", str(path))
    assert Site.objects.filter(url="https://c.example/").exists()
    with pytest.raises(CommandError):
        call_command("import_watches", str(tmp_path / "none"))


JOBS = b"""name: Prices
url: https://shop.example/lamp
filter:
  - css: .price
  - html2text
  - strip
---
name: News of the harbour
navigate: https://harbour.example/
filters:
  - xpath: {path: //main}
  - delete_lines_containing: Today
  - sort
---
name: Uptime
command: uptime
---
url: https://old.example/list
filter: element-by-id:content,html2text
headers: {X-Key: secret}
"""


def test_jobs_of_urlwatch_are_taken_over() -> None:
    first, second, command, third = watches_of(io.BytesIO(JOBS))
    assert (first.url, first.title, first.settings) == (
        "https://shop.example/lamp", "Prices", {"parts": ["css:.price"]}
    )  # fmt: skip
    assert first.lost == ()
    assert second.settings == {"browser": True, "parts": ["xpath://main"], "ignore_patterns": ["Today"]}
    assert second.lost == ("some of its filters",)
    assert (third.url, third.settings) == ("https://old.example/list", {"parts": ["css:#content"]})
    assert third.lost == ("its request headers",)
    assert command.url == "uptime" and "runs a program" in command.refused


@pytest.mark.parametrize(
    ("lines", "settings", "lost"),
    [
        ("additions_only: true", {"direction": "added"}, ()),
        ("deletions_only: true", {"direction": "removed"}, ()),
        ("filter: [{css: {selector: main, exclude: nav}}]",
         {"parts": ["css:main"], "ignore_selectors": ["nav"]}, ()),
        ("filter: [{css: main}, {xpath: //p}]", {"parts": ["css:main"]}, ("some of its filters",)),
        ("filter: [{css: {selector: main, exclude: '::x::'}}]", {}, ("some of its filters",)),
        ("filter: [{delete_lines_containing: {text: a (b)}}]", {"ignore_patterns": [r"a\ \(b\)"]}, ()),
        ("filter: [{delete_lines_containing: {re: ^a}}, grepi: ^b]", {"ignore_patterns": ["^a", "^b"]}, ()),
        ("diff_filter: [{grep: x}]", {}, ("how its versions are compared",)),
        ("cookies: {a: b}", {}, ("its cookies",)),
        ("use_browser: true\nwait_for_selector: main", {"browser": True}, ("its wait after loading",)),
    ],
)  # fmt: skip
def test_settings_of_jobs_are_taken_over_or_named(
    lines: str, settings: dict[str, Any], lost: tuple[str, ...]
) -> None:
    (watch,) = of_text(f"url: https://a.example/\n{lines}\n")
    assert (watch.settings, watch.lost) == (settings, lost)


def test_jobs_have_tags_and_may_be_paused() -> None:
    (watch,) = of_text("url: https://a.example/\ntags: [boats, 7]\nenabled: false\n")
    assert watch.tags == ("boats", "7") and watch.is_paused


@pytest.mark.django_db
def test_commands_and_pages_named_twice_are_told_of() -> None:
    text = b"url: https://a.example/\n---\nurl: https://a.example/#b\ncookies: {a: b}\n---\ncommand: uptime\n"
    result = import_watches(io.BytesIO(text), None)
    assert (result.added, result.known) == (1, 1)
    assert [(problem.url, problem.message) for problem in result.problems] == [
        ("https://a.example/#b", "Not taken over: its cookies"),
        ("uptime", "This job runs a program, and Freshet runs none."),
    ]


def test_what_jobs_refer_to_is_built_once() -> None:
    many = 300
    shared = f"url: https://a.example/0\nx: &x [{'1,' * 50_000}]\n"
    began = time.thread_time()
    jobs = "".join(f"url: https://a.example/{number}\nx: *x\n" for number in range(1, many))
    assert len(of_text(shared + jobs)) == many
    # Names that all differ are compared with none.
    assert (
        len(of_text("url: https://a.example/\n" + "".join(f"x{number}:\n" for number in range(20_000)))) == 1
    )
    assert time.thread_time() - began < 20


def test_lists_are_no_names_of_jobs() -> None:
    (watch,) = of_text("url: https://a.example/\nx: &x [a, [b]]\ntags: [*x, sea, 2026-12-01]\n")
    assert watch.tags == ("sea", "2026-12-01")
    with pytest.raises(BackupError, match="no watch"):
        of_text("- url: [a, b]\n")


def test_each_filter_keeps_what_it_excludes() -> None:
    filters = "[{css: {selector: main, exclude: nav}}, {css: {selector: p, exclude: i}}]"
    (watch,) = of_text(f"url: https://a.example/\nfilter: {filters}\n")
    assert watch.settings == {"parts": ["css:main p"], "ignore_selectors": ["nav", "i"]}


def test_damaged_yaml_is_refused() -> None:
    with pytest.raises(BackupError, match="YAML"):
        watches_of(io.BytesIO(b"url: [https://a.example\n---\n: :"))
    bomb = "url: https://a.example\na: &a [x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(20)
    )
    assert [watch.url for watch in watches_of(io.BytesIO(bomb.encode()))] == ["https://a.example"]
