"""Full-text search over many languages, on PostgreSQL."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from articles import listing
from articles.models import Article
from crawler.pipeline.graph_search import search as search_graph
from crawler.text.search import SearchError
from tests.factories import make_article, make_feed

pytestmark = pytest.mark.django_db


def found(words: str, language: str = "") -> set[str]:
    return set(Article.objects.search(words, language).values_list("title", flat=True))


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("en", "The rivers were flooding the valleys", "flood"),
        ("en-GB", "The rivers were flooding the valleys", "rivers flooded"),
        ("de", "Die Häuser am Fluss", "haus"),
        ("ru", "Новые версии библиотек", "версия"),
        ("fr", "Les rivières débordent", "rivière"),
        ("tlh", "Qapla batlh je", "qapla"),
    ],
)
def test_words_are_found_in_other_forms_where_the_language_has_a_stemmer(language, text, words):
    make_article(title="this", language=language, text=text)
    make_article(title="other", language="en", text="Nothing of the kind")
    assert found(words) == {"this"}
    assert found(words, language) == {"this"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("今日は機械学習について話します。", "機械学習"),
        ("我们讨论人工智能的发展", "人工智能"),
        ("오늘은 인공지능을 이야기합니다", "인공지능"),
    ],
)
def test_any_part_of_a_text_without_spaces_is_found_as_a_phrase(text, words):
    make_article(title="this", language="", text=text)
    make_article(title="scattered", language="", text="。".join(text))
    make_article(title="other", language="", text="習学械機")
    assert "this" in found(words)
    assert "other" not in found(words)


def test_quotes_and_minus_work_as_on_the_web():
    make_article(title="both", text="fresh water and salt water")
    make_article(title="one", text="water that is fresh")
    assert found('"fresh water"') == {"both"}
    assert found("water -salt") == {"one"}
    assert found("-salt") == {"one"}
    assert found("salt - water") == {"both"}
    assert found("salt or fresh") == {"both", "one"}


def test_titles_and_authors_are_searched_too_and_odd_input_is_harmless():
    make_article(title="Delta works", author="Ada Example", text="x")
    assert found("delta") == found("example") == {"Delta works"}
    for words in ("'", '"', "&|!()", "\\", "a" * 300, "-", "-" * 300, '-"' * 150, "or or or", "🜁"):
        found(words)


def test_the_index_follows_the_text():
    article = make_article(title="t", text="before")
    Article.objects.filter(id=article.id).update(text="after")
    assert found("before") == set()
    assert found("after") == {"t"}


def test_a_text_beyond_the_size_of_an_index_entry_is_stored():
    words = " ".join(f"word{i}" for i in range(300_000))
    make_article(title="long", text=words)
    assert found("word7") == {"long"}


def test_stop_words_of_a_language_keep_nothing_from_being_found():
    make_article(title="this", language="en", text="The rivers were flooding the valleys")
    make_article(title="other", language="en", text="Nothing of the kind")
    assert found("the flood") == {"this"}
    assert found("the") == set()


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("es", "Un geógrafo de España", ["geógrafo", "geografo", "GEOGRAFOS", "espana", "España"]),
        ("de", "Zwölf Straßen", ["zwölf", "zwolf", "strasse", "Straße"]),
        ("fr", "L’école à l’œuvre", ["ecoles", "école", "oeuvre"]),
        ("", "Łódź i Ørsted", ["lodz", "Łódź", "orsted"]),
        ("ru", "Ёлка", ["елка", "ёлка"]),
        ("vi", "Việt Nam", ["viet nam", "Việt"]),
        ("ja", "がんばる", ["がん"]),
    ],
)
def test_accents_make_no_difference(language, text, words):
    make_article(title="this", language=language, text=text)
    make_article(title="other", language="ja", text="かんばる")
    for searched in words:
        assert found(searched) == {"this"}, searched
        assert set(Article.objects.search(searched, typing=True).values_list("title", flat=True)) == {"this"}


@pytest.mark.parametrize("text", ["\u0301 '\u0301' \u0301\u0301 a\u0301", "'\u0338", "\\\u0301'x\u0301"])
def test_accents_without_a_letter_harm_nothing(text):
    make_article(title="this", text=f"{text} ending")
    assert found("ending") == {"this"}
    found(text)


def test_words_of_two_languages_are_found_together():
    make_article(title="this", language="de", text="Die Häuser am Fluss und cloud computing")
    assert found("haus computing") == {"this"}


@pytest.mark.parametrize(
    "words",
    [
        " ".join(f"-w{number}" for number in range(15)),
        " or ".join(f"w{number}" for number in range(32)),
        " or ".join(f"w{number}" for number in range(16)) + "".join(f" -v{number}" for number in range(16)),
        "- " * 150,
        "-" * 300,
        "a " + "-" * 200 + "b",
        "or " * 100,
        "学" * 120,
        '"' * 300,
        "a-" * 150,
        "'\\&|!:*<->()" * 20,
    ],
)
def test_searches_within_the_bounds_are_answered(words):
    make_article(title="this", text="word7 学学")
    found(words)
    search_graph(words)


@pytest.mark.parametrize(
    "words",
    [
        "x" * 301,
        "-" * 3000,
        " or ".join(f"w{number}" for number in range(33)),
        " ".join(f"-a{number}" for number in range(40)),
        "学" * 129,
    ],
)
def test_a_search_beyond_the_bounds_is_refused_in_a_sentence(words):
    sentence = r"^A search takes at most \d+ (words|characters); this one has \d+\.$"
    with pytest.raises(SearchError, match=sentence):
        found(words)


def test_pages_and_api_say_why_they_refuse(admin_client):
    words = "-" * 400
    sentence = "A search takes at most 300 characters; this one has 400."
    for path in ("/articles/", "/graph/"):
        page = admin_client.get(path, {"q": words})
        assert page.status_code == 200
        assert sentence in page.content.decode()
    for path in ("/api/articles/", "/api/graph/search/", "/api/feeds/"):
        answer = admin_client.get(path, {"q": words})
        assert answer.status_code == 400
        assert answer.json() == {"q": [sentence]}


def test_a_refused_search_is_named_in_the_admin(admin_client):
    make_article(title="this", text="words")
    sentence = "A search takes at most 300 characters; this one has 400."
    page = admin_client.get("/admin/articles/article/", {"q": "-" * 400})
    assert sentence in page.content.decode()


def test_words_of_two_scripts_in_one_are_found_apart():
    make_article(title="this", text="Python プログラミング 入門、大阪と東京")
    assert found("Python入門") == {"this"}
    assert found("東京、大阪") == {"this"}
    assert found('"Python入門"') == set()


@pytest.mark.parametrize("limit", [1, 7, 60, 400])
@pytest.mark.parametrize("words", ["frequent", "rare", "frequent or rare", "nothing", "frequent has:audio"])
def test_the_newest_matches_are_those_of_all_matches(
    monkeypatch: pytest.MonkeyPatch, words: str, limit: int
) -> None:
    monkeypatch.setattr(listing, "MANY", 1)
    monkeypatch.setattr(listing, "FEW", 10)
    dice, feed, now = random.Random(1), make_feed(), datetime.now(UTC)
    for number in range(300):
        title = "frequent" if number % 3 else "rare" if number % 50 == 0 else "other"
        make_article(
            feed, identity=str(number), title=title, published=now - timedelta(minutes=dice.randrange(200)),
            enclosures=[{"url": "https://a.example/a", "type": "audio/mpeg"}] if number % 7 == 0 else [],
        )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE articles_article")
    assert listing._dates(), "there are statistics"
    matches = Article.objects.search(words)
    expected = list(matches.order_by("-published", "-id").values_list("id", flat=True)[:limit])
    assert listing.newest_keys(matches, limit) == expected
