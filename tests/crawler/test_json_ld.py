"""JSON-LD with the faults that pages have: what is read of it, what is none, and in what time."""

from __future__ import annotations

import time

import pytest

from crawler.pipeline.transform.dispatch import transform
from crawler.pipeline.transform.graph import SourceDocument
from crawler.reading import detect
from crawler.reading.json_ld import read_json_ld


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "x // y, } <!-- z -->", }', {"a": "x // y, } <!-- z -->"}),
        ('{"a": "/* x */", "b": [1, 2,, ], } // end', {"a": "/* x */", "b": [1, 2]}),
        ('{"a": "it\\\'s \\"b\\" \\u00e9 \\x2b"}', {"a": 'it\'s "b" é +'}),
        ('\ufeff{"a": 1};', {"a": 1}),
        ('{"a": 1}{"b": 2}, [3]', [{"a": 1}, {"b": 2}, [3]]),
        ('{"a": 1}}', {"a": 1}),
        ("{&quot;a&quot;: &quot;b &amp;amp; c&quot;}", {"a": "b &amp; c"}),
        ('{"a": "b &amp; c"}', {"a": "b &amp; c"}),
    ],
)
def test_what_is_sound_is_read_as_it_is_and_common_faults_are_mended(text: str, value: object) -> None:
    assert read_json_ld(text) == value


@pytest.mark.parametrize("text", ["", "{", "x", '{"a": }', '{"a": 1} and more', '{"a": "b', "var a = {};"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|JSON|Unterminated|Extra"):
        read_json_ld(text)


@pytest.mark.parametrize(
    "part", ['"\\', "/*", "//", ",", ", ", "<!--", '\\"', '"', "[1,", '{"a":', "&quot;", '{"a":1}']
)
def test_the_worst_blocks_take_time_in_proportion_to_their_size(part: str) -> None:
    began = time.process_time()
    for text in (part * (1_000_000 // len(part)), "{" + part * (1_000_000 // len(part))):
        try:
            read_json_ld(text)
        except (ValueError, RecursionError):
            continue
    assert time.process_time() - began < 8


def test_the_pipeline_reads_a_block_with_comments_and_a_comma_too_many() -> None:
    page = """<html><head><title>T</title><script type="application/ld+json">
        {"@context": "https://schema.org", /* ours */ "@id": "/it", "name": "Lamp",}</script></head></html>"""
    made = transform(SourceDocument("http://a.example/", detect.HTML, page.encode()))
    assert not any("skipped" in note for note in made.notes)
    assert "Lamp" in made.triples
