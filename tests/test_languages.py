"""Languages: complete catalogues, no text beside gettext, and pages in the language that a reader wants."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

import pytest
from babel.messages.mofile import read_mo
from django.apps import apps
from django.conf.locale import LANG_INFO
from django.contrib.auth.models import User
from django.test import Client
from django.utils import translation
from django.utils.translation import trans_real

from crawler.failures import Failure
from crawler.text.reasons import Reason, code_and_arguments, packed, unpacked
from crawler.web.roles import OWNER, give_role
from crawler.web.script_words import SENTENCES
from crawler.web.sentences import translated
from tests import demo
from tests.browser.test_accounts import DOORS
from tests.browser.test_accounts import PAGES as ACCOUNT_PAGES
from tests.browser.test_pages import PAGES, path_of
from tests.languages import (
    LANGUAGES,
    ROOT,
    Message,
    catalogue,
    every_message_widened,
    messages_of_the_source,
    places,
    tags,
    texts_of,
)

BACKEND = "crawler.accounts.backends.NameOrMailBackend"
_ADDRESSES = r"\b(?:dct|sioc|rdfs|rdf|foaf|schema|prov|urn|freshet|css)(?::[\w:]+)+|https?://\S+|\S+\.\S+|[\w-]+/[\w-]+"
_SAME = "|".join((
    r"BibTeX|CSL JSON|JSON Lines|Markdown",
    r"Freshet|UTC|API|RSS|Atom|OPML|JSON-LD|JSON Feed|JSON|ZIP|CSV|SPARQL|WARC|URLs?|IRI|HTTP|PDF|HTML",
    r"WebSub|Turtle|TriG|N-Quads|N-Triples|XHTML|GRDDL|PageRank|PostgreSQL|Prometheus|OpenStreetMap|YouTube",
    r"Reddit|FreshRSS|FeedHQ|Miniflux|Google Reader|Reeder|FeedMe|Read You|Fluent Reader|Capy Reader|ReadKit",
    r"FocusReader|NewsFlash|Fiery Feeds",
    r"The Old Reader|BazQux|NewsBlur|Feedbin|Nextcloud News|Google Takeout|urlwatch",
    r"Feedly|Inoreader|NetNewsWire|Kumagai|Yamana|ToE|Beta|demo",
    r"keeper|mara|kB|MB|GB|ms|min(?!-)|[smhMTKB]|p\d\d|UTF-8|etag|http-\d+|de|en|fr|es|ja|[\da-f]{4,}|link-score",
    r"breadth-first|opic|known-rank|host-round-robin|oracle|server-sampling(?:\+[ABC])?|history|adaptive|round-robin|min-delay|commafeed",
    r"advarss(?:-training)?|newsblur|nutch-adaptive|freshness|full-information|fetch|detect|transform|index",
    r"extract|entities|malformed|not-a-feed|tls|dns|min-gap|back-off|Not Found|Service Unavailable",
    r"Retry-After|Wallabag|Linkding|Karakeep|Readwise Highlights|Readwise Reader|Instapaper|title",
))  # fmt: skip
NAMES = re.compile(rf"{_ADDRESSES}|\b(?:{_SAME})\b", re.IGNORECASE)
"""Words that are the same in every language: names, units, methods, phases, kinds of failures, addresses."""
ENGLISH = re.compile(
    r"\b(?:the|and|with|this|that|your|you|from|which|what|when|where|they|their|there|because|nothing|every"
    r"|without|until|already|again|before|after|newest|first|should|would|been|were|show|hide|keep|mark|read|unread"
    r"|feeds|folder|pages|changed|changes|visit|visits|found|failed|waiting|yes|any|none)\b",
    re.IGNORECASE,
)
LOANS = {"de": {"feeds"}, "fr": {"pages"}, "es": set(), "ja": set()}
"""Words of that list that are words of the language too."""
NO_PAGE = {"/api/docs/"}
"""The reference of the API, which is English for everybody as the API is."""


@pytest.fixture(scope="module")
def source() -> set[Message]:
    return messages_of_the_source()


@pytest.fixture
def filled(db: None) -> set[str]:
    """A deployment with something on every page; returns the texts that are shown as they came."""
    demo.seed(datetime.now(UTC))
    give_role(User.objects.get(username="keeper"), OWNER)
    texts = {"own history", "Ferry timetable: a word from the harbour"}  # of a trace, and of a graph
    kinds = {"TextField", "CharField", "URLField", "SlugField", "ArrayField"}
    for model in apps.get_models():
        if model._meta.app_label in {"contenttypes", "auth", "sessions", "interest"} and model is not User:
            continue
        names = [field.name for field in model._meta.fields if field.get_internal_type() in kinds]
        for row in model._default_manager.values_list(*names)[:4000]:
            values = (word for value in row for word in (value if isinstance(value, list) else [value]))
            texts.update(" ".join(word.split()) for word in values if isinstance(word, str) and len(word) > 2)
    with translation.override("de"), every_message_widened():
        kept = {text.casefold() for text in texts if translated(text) == text}
    # Names of languages are Django's, in its own catalogues.
    return kept | {info["name"].casefold() for info in LANG_INFO.values() if "name" in info}


def visited(language: str) -> Iterator[tuple[str, str]]:
    """Every page of the browser tests, as its owner or as a stranger sees it, in a language."""
    owner, stranger = (Client(headers={"accept-language": language}) for _ in range(2))
    owner.force_login(User.objects.get(username="keeper"), backend=BACKEND)
    for name in (*PAGES, *ACCOUNT_PAGES):
        if name not in NO_PAGE:
            answer = owner.get(path_of(name), follow=True)
            assert answer.status_code in {200, 404}, name
            yield name, answer.content.decode()
    for path in DOORS:
        yield path, stranger.get(path, follow=True).content.decode()


def test_the_source_has_messages(source: set[Message]) -> None:
    assert len(source) > 1800
    assert Message("Mark all as read") in source
    assert Message("Paused", "state of a feed") in source


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_is_translated(language: str, source: set[Message]) -> None:
    rows = catalogue(language)
    kept = {Message(_first(row.id), row.context or "") for row in rows if row.id}
    assert source - kept == set(), "run make messages, then translate what is new"
    assert kept - source == set(), "run make messages, which drops what is not used any more"
    for row in rows:
        if not row.id:
            continue
        forms, english = _forms(row.string), _forms(row.id)
        assert all(forms), f"{english[0]!r} is not translated"
        assert not row.fuzzy, f"{english[0]!r} is not certain"
        if "date format" in (row.context or ""):
            continue
        for form in forms:
            assert places(form) <= set().union(*map(places, english)), (english[0], form)
        assert places(forms[-1]) == places(english[-1]), (english[-1], forms[-1])
        assert tags(forms[-1]) == tags(english[-1]), (english[-1], forms[-1])


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_catalogue_is_that_of_the_texts(language: str) -> None:
    with (ROOT / "locale" / language / "LC_MESSAGES/django.mo").open("rb") as file:
        compiled = {
            (_text(row.context), _first(row.id)): _forms(row.string) for row in read_mo(file) if row.id
        }
    rows = {(row.context, _first(row.id)): _forms(row.string) for row in catalogue(language) if row.id}
    assert compiled == rows, "run make messages"


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_translation_is_left_in_english(language: str) -> None:
    for row in catalogue(language):
        for form in _forms(row.string):
            plain = NAMES.sub("", re.sub(r"<code>.*?</code>|<[^>]*>|%\(\w+\)[sd]|\{\w*\}|&\w+;", " ", form))
            assert not _english(plain, language), (row.id, form)


def test_every_text_of_every_page_passes_through_gettext(filled: set[str]) -> None:
    data = sorted(filled, key=len, reverse=True)
    with every_message_widened():
        left = {
            f"{name}: {text}"
            for name, page in visited("de")
            for text in texts_of(page)
            if all(re.search("[a-z]{2,}", left) for left in _without(text, data))
        }
    assert left == set(), "\n".join(sorted(left))


def test_no_page_has_an_english_word(filled: set[str]) -> None:
    data, left = sorted(filled, key=len, reverse=True), set()
    numbers = re.compile(r' (?:x|y|cx|cy|r|x1|x2|y1|y2|width|height|value|step)="-?\d+,\d+"')
    for language in LANGUAGES:
        for name, page in visited(language):
            assert re.search(rf'<html\s+lang="{language}"\s+dir="ltr"', page), (language, name)
            assert not numbers.search(page), (language, name)
            for text in texts_of(page):
                if _english(text, language) and (words := _english(_without(text, data)[0], language)):
                    left.add(f"{language}: {name}: {words}: {text}")
    assert left == set(), "\n".join(sorted(left))


def test_scripts_say_what_the_catalogues_know() -> None:
    called = re.compile(r'(?:\bt|freshetWords)\("((?:[^"\\]|\\.)*)"')
    scripts = [
        *ROOT.glob("crawler/web/static/freshet/*.js"),
        *ROOT.glob("articles/static/me/*.js"),
        *ROOT.glob("crawler/notices/static/notices/*.js"),
    ]
    said = {text for path in scripts for text in called.findall(path.read_text())}
    assert said == set(SENTENCES)


def test_sentences_of_reasons_and_failures_are_in_every_catalogue() -> None:
    called = re.compile(r'\bReason\(\s*((?:"(?:[^"\\]|\\.)*"\s*|\'[^\']*\'\s*)+)[,)]')
    codes = {
        ast.literal_eval(f"({found})")
        for room in ("feeds", "crawler", "recrawl", "articles")
        for path in (ROOT / room).rglob("*.py")
        for found in called.findall(path.read_text())
    } - {"{0}; {1}", "{0}: {1}", "{0} x age in hours^{1} x audience {2}"}
    assert len(codes) > 60
    words = {text for kind in Failure for text in (kind.short, kind.words, kind.explanation, kind.advice)}
    for language in set(LANGUAGES) - {"en"}:
        with translation.override(language):
            same = {text for text in codes | words if translation.gettext(text) == text}
        assert len(same) <= 8, (language, same)  # such as HTTP 4xx, DNS and words that two languages share


def test_a_reason_is_translated_with_what_stands_in_it() -> None:
    asked = Reason("The server asked to wait {0} (Retry-After).", Reason("{0} hours", 2))
    assert translated(asked) == asked == "The server asked to wait 2 hours (Retry-After)."
    stored = packed(asked)
    assert stored == '["The server asked to wait {0} (Retry-After).", ["{0} hours", 2]]'
    assert code_and_arguments(asked) == {
        "code": "The server asked to wait {0} (Retry-After).", "arguments": [["{0} hours", 2]]
    }  # fmt: skip
    with every_message_widened(), translation.override("de"):
        widened = "Ｔｈｅ ｓｅｒｖｅｒ ａｓｋｅｄ ｔｏ ｗａｉｔ 2 ｈｏｕｒｓ (Ｒｅｔｒｙ-Ａｆｔｅｒ)."
        assert translated(unpacked(stored)) == widened
        assert translated(str(ValueError(asked))) == widened
        unread = translated(Reason("Its top page cannot be read: {0}", "The server was silent for too long."))
        assert "silent" not in unread and "ｓｉｌｅｎｔ" in unread


@pytest.mark.parametrize("text", ["", "a sentence", '["', '["{0}"]', '["a {0}", 1', "[1]", '["{0.x}", 1]'])
def test_a_text_that_is_no_reason_stays_as_it_is(text: str) -> None:
    assert unpacked(text) == packed(unpacked(text)) == text
    assert translated(unpacked(text)) == text


def test_widened_messages_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trans_real, "_default", None)  # as in a process that has translated nothing yet
    for first in (translation.deactivate, partial(translation.activate, "en")):
        first()
        with every_message_widened(), translation.override("de"):
            assert translation.gettext("now") == "ｎｏｗ"
            with translation.override("en"):
                translation.deactivate()
                assert translation.gettext("now") == "ｎｏｗ"
        assert translation.gettext("now") == "now"
    translation.deactivate()


@pytest.mark.django_db
def test_the_reader_chooses_the_language_of_pages() -> None:
    user, device = User.objects.create_user("mara", password="x" * 12), Client()
    device.force_login(user, backend=BACKEND)
    french = {"accept-language": "fr-CA,fr;q=0.9,en;q=0.5"}
    assert 'lang="fr"' in device.get("/read/", headers=french).content.decode()
    assert 'lang="en"' in device.get("/read/", headers={"accept-language": "tlh"}).content.decode()
    answer = device.post("/accounts/choices/", {"language": "ja", "zone": "Asia/Tokyo"}, headers=french)
    assert answer.status_code == 302
    page = device.get("/read/", headers=french)
    assert 'lang="ja"' in page.content.decode()
    assert page.headers["Content-Language"] == "ja"
    assert {"Accept-Language", "Cookie"} <= set(page.headers["Vary"].split(", "))
    other = Client()
    other.force_login(user, backend=BACKEND)
    other.get("/read/")
    device.post("/accounts/choices/", {"language": "", "zone": ""})
    assert 'lang="fr"' in device.get("/read/", headers=french).content.decode()


@pytest.mark.django_db
def test_a_choice_goes_along_to_another_device() -> None:
    user, device, other = User.objects.create_user("mara", password="correct horse"), Client(), Client()
    device.force_login(user, backend=BACKEND)
    device.post("/accounts/choices/", {"language": "es", "zone": "Europe/Madrid"})
    other.post("/accounts/login/", {"username": "mara", "password": "correct horse"})
    assert other.cookies["freshet-language"].value == "es"
    assert 'lang="es"' in other.get("/read/", headers={"accept-language": "de"}).content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("choice", [{"language": "tlh"}, {"zone": "Mars/Olympus"}, {"language": "de\0"}])
def test_an_unknown_choice_changes_nothing(choice: dict[str, str]) -> None:
    user, device = User.objects.create_user("mara"), Client()
    device.force_login(user, backend=BACKEND)
    device.post("/accounts/choices/", choice)
    assert "freshet-language" not in device.cookies
    assert (
        device.get(
            "/read/", headers={"cookie": "freshet-language=../../etc; " + _cookies(device)}
        ).status_code
        == 200
    )


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/healthz", "/api/feeds/", "/personal/none/", "/metrics"])
def test_programs_get_english(path: str) -> None:
    german, english = (Client(headers={"accept-language": language}) for language in ("de", "en"))
    assert german.get(path).content == english.get(path).content
    assert "Accept-Language" not in german.get(path).headers.get("Vary", "")


def _cookies(client: Client) -> str:
    return "; ".join(f"{name}={cookie.value}" for name, cookie in client.cookies.items())


def _first(text: str | tuple[str, ...] | list[str]) -> str:
    return text if isinstance(text, str) else text[0]


def _text(context: str | bytes | None) -> str | None:
    """A context, which babel reads as bytes from a compiled catalogue."""
    return context.decode() if isinstance(context, bytes) else context


def _forms(text: str | tuple[str, ...] | list[str]) -> list[str]:
    return [text] if isinstance(text, str) else list(text)


def _english(text: str, language: str) -> list[str]:
    return [word for word in ENGLISH.findall(text) if word.lower() not in LOANS[language]]


def _without(text: str, data: list[str]) -> tuple[str, str]:
    """A text in small letters without names and data, taken out in the one order and in the other."""
    small = text.casefold()
    return NAMES.sub("", _without_data(small, data)), _without_data(NAMES.sub("", small), data)


def _without_data(text: str, data: list[str]) -> str:
    for value in data:
        if value in text:
            text = text.replace(value, "")
        elif text.rstrip("… ") and text.rstrip("… ") in value:
            return ""
    return text
