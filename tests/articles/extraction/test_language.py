# ruff: noqa: E501 (texts stand as they come)
"""The language of an article: declared, and checked against its text."""

from __future__ import annotations

import pytest

from crawler.reading.pages.language import language_of

ENGLISH = "The river rose two metres in a single night and the people moved to the school on the hill."
GERMAN = (
    "Der Fluss stieg in einer einzigen Nacht um zwei Meter, und die Leute zogen in die Schule auf dem Berg."
)
CHINESE = "最近在自架 RSS 訂閱器，目前是使用 Tiny Tiny RSS，不過這裡還是有一些問題需要解決，Docker Compose 設定如下。"


@pytest.mark.parametrize(
    ("text", "declared", "language"),
    [
        (ENGLISH, "", "en"),
        (ENGLISH, "en_us", "en-US"),
        (ENGLISH, "EN-gb", "en-GB"),
        (GERMAN, "en", "de"),
        (GERMAN, "de-AT", "de-AT"),
        (CHINESE, "en", "zh"),
        (CHINESE, "zh-hant-tw", "zh-Hant-TW"),
        ("Привет", "ru", "ru"),
        ("Hi", "fr-FR", "fr-FR"),
        ("", "pt_BR.UTF-8", "pt-BR"),
        ("Hi", "English", ""),
        ("Hi", "", ""),
        ("https://example.org/der/fluss/stieg/in/einer/nacht/um/zwei/meter/und/mehr", "en", "en"),
    ],
)
def test_the_text_decides_when_there_is_enough_of_it(text: str, declared: str, language: str) -> None:
    assert language_of(text, declared) == language
