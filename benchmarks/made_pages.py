"""Article pages made for measuring: their text is known, and they hold what real templates put around it.

Scripts whose source looks like tags, styles inside of links, data, templates, comments, navigation, long
lists of links; main text under the names that templates give to containers of everything.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

_WORDS = {
    "en": """the a of in to and council river bridge harvest question engine morning evidence letter market
    winter budget neighbour theatre school garden window report history answer measure public station island
    is was has gave found opened moved said kept built remained carried early small open long quiet local""",
    "de": """der die das ein und in auf mit Rat Fluss Brücke Ernte Frage Morgen Brief Markt Winter Haushalt
    Nachbar Theater Schule Garten Fenster Bericht Geschichte Antwort Bahnhof Insel ist war hat fand öffnete
    bewegte sagte behielt baute blieb trug früh klein offen lang still örtlich""",
    "ru": """и в на с к совет река мост урожай вопрос утро письмо рынок зима бюджет сосед театр школа сад
    окно отчёт история ответ станция остров был стала нашли открыли сказал построили остался рано малый
    открытый долгий тихий местный""",
}
_CONTAINERS = (
    '<article>{}</article>',
    '<main><div class="post-content">{}</div></main>',
    '<div id="content"><div class="entry-content">{}</div></div>',
    '<div class="layout sidebar-right"><div class="story">{}</div></div>',
    '<div class="has-menu page-recommended"><section>{}</section></div>',
    '<section class="similar">{}</section>',
    '<div class="subscribe-able" id="signup"><article>{}</article></div>',
    '<div class="article-share-bar recommended"><div class="body">{}</div></div>',
)  # fmt: skip
_LOOP = "for(i=0;i<n;i++){{ a[i] = b[i] + c ; if (a[i]<m && i>k) {{ d = '<div class=x>' + e ; f = g ; }} }} "
_RULE = ".box-{0} a:hover {{ color : #333 ; margin : 0 auto ; background : url(x{0}.png) no-repeat }} "


def made_pages(count: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """So many pages as HTML, each with the text of its article: a line for each paragraph."""
    for number in range(count):
        chance = random.Random(seed * 1_000_003 + number)
        language = chance.choice(sorted(_WORDS))
        paragraphs = [_paragraph(chance, language) for _ in range(chance.randint(5, 14))]
        title = _sentence(chance, language)[:-1]
        yield _page(chance, language, title, paragraphs, number), "\n".join(paragraphs)


def _page(chance: random.Random, language: str, title: str, paragraphs: list[str], number: int) -> str:
    """One page around its paragraphs."""
    body = [f"<p>{text}</p>" for text in paragraphs]
    for _ in range(chance.randint(2, 6)):
        body.insert(chance.randint(1, len(body)), _interruption(chance, language, number))
    article = _CONTAINERS[number % len(_CONTAINERS)].format("\n".join([f"<h1>{title}</h1>", *body]))
    if number % 3 == 0:  # a heading above all containers, as many templates have it
        article = f"<h1>{title}</h1>" + article.replace(f"<h1>{title}</h1>", "", 1)
    return "".join(
        (
            f'<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8">',
            f"<title>{title} | Site</title>",
            _script(chance, number),
            f"<style>{''.join(_RULE.format(i) for i in range(40))}</style>",
            f'<script type="application/ld+json">{_linked_data(title)}</script></head><body>',
            "<!-- <div class='menu'><a href='/'> -->",
            f"<header><nav>{_links(chance, language, 12)}</nav></header>",
            article,
            _script(chance, number + 1),
            f"<template><div><p>{_sentence(chance, language)}</p></div></template>",
            '<aside class="sidebar">',
            _links(chance, language, chance.choice((10, 60, 250))),
            "</aside>",
            f"<footer><p>© Site</p>{_links(chance, language, 20)}</footer></body></html>",
        )
    )


def _interruption(chance: random.Random, language: str, number: int) -> str:
    """What stands between paragraphs and is not to be read."""
    rules = "".join(_RULE.format(i) for i in range(chance.randint(5, 60)))
    return chance.choice(
        (
            _script(chance, number),
            f'<a href="/x{number}"><style>{rules}</style><img src="/i.png" alt=""></a>',
            f'<a class="card" href="/y"><style>{rules}</style><script>{_loops(chance)}</script></a>',
            f"<style>{rules}</style>",
            f"<noscript><style>{rules}</style></noscript>",
            f"<!-- {_loops(chance)} -->".replace("--}", "}"),
            f'<script type="application/json">{_linked_data(_sentence(chance, language))}</script>',
        )
    )


def _script(chance: random.Random, number: int) -> str:
    """A script whose comparison reads like the beginning of a tag, followed by many words."""
    return f"<script>var n={number};{_loops(chance)}</script>"


def _loops(chance: random.Random) -> str:
    tail = " ".join(f"v{i} = w{i} ;" for i in range(chance.choice((30, 150, 400))))
    return _LOOP.format() + "for(i=0;i<n;i++){ " + tail + " }"


def _linked_data(title: str) -> str:
    return json.dumps(
        {"@context": "https://schema.org", "@type": "NewsArticle", "headline": title, "n": list(range(80))}
    )


def _links(chance: random.Random, language: str, count: int) -> str:
    words = _WORDS[language].split()
    return "".join(
        f'<li><a href="/{i}">{chance.choice(words)} {chance.choice(words)}</a></li>' for i in range(count)
    )


def _paragraph(chance: random.Random, language: str) -> str:
    return " ".join(_sentence(chance, language) for _ in range(chance.randint(2, 6)))


def _sentence(chance: random.Random, language: str) -> str:
    words = _WORDS[language].split()
    said = [chance.choice(words) for _ in range(chance.randint(7, 20))]
    return " ".join([said[0].title(), *said[1:]]) + "."
