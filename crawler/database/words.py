"""Full-text search in PostgreSQL over many languages: the words of a text, and queries for them.

A text is indexed by the SQL function `search_words`: words are stemmed where PostgreSQL has a stemmer for the
text's language, then lose their accents. Chinese, Japanese and Korean characters are indexed one by one, and
a query is a phrase of them, so that any part of a text is found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.db import connection

from crawler.text.search import CJK, Search

# ISO 639-1 code -> PostgreSQL text search configuration (those PostgreSQL 14 and later ship).
STEMMERS = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil",
    "tr": "turkish", "yi": "yiddish",
}  # fmt: skip

_FOLDED = r"""replace(replace(replace(translate(
    normalize(regexp_replace(normalize({}, NFD), '([^''])[\u0300-\u036F]+', '\1', 'g'), NFC),
    'øłđðħŧıŋ', 'olddhtin'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe')"""
"""SQL that drops accents from the text form of a tsvector or tsquery. An accent behind a quote stays, so that
no lexeme becomes empty."""

_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_CONFIGURATIONS = " ".join(f"WHEN '{code}' THEN 'pg_catalog.{name}'" for code, name in STEMMERS.items())
_SPLIT = r"regexp_replace(content, '([" + CJK + r"])', ' \1 ', 'g')"

CREATE_SEARCH_WORDS = f"""
CREATE OR REPLACE FUNCTION search_words(language text, otherwise text, content text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $function$
DECLARE
    words tsvector := to_tsvector((
        CASE lower(split_part(language, '-', 1)) {_CONFIGURATIONS} ELSE 'pg_catalog.' || otherwise END
    )::regconfig, {_SPLIT});
BEGIN
    IF octet_length(words::text) = length(words::text) THEN
        RETURN words;
    END IF;
    RETURN {_FOLDED.format("words::text")}::tsvector;
END
$function$
"""
"""SQL of a function: `language` is a language tag, `otherwise` the configuration for other languages."""


def words_query(search: Search, language: str = "", *, beginning: str = "") -> str:
    """Return the query for a parsed search, in the notation of PostgreSQL's type `tsquery`.

    Wanted terms may match under any stemmer (or that of `language`), excluded terms must match under none.
    Words that begin with `beginning` match it, too. Queries the database for the stems.
    """
    stemmer = STEMMERS.get(language.split("-", maxsplit=1)[0].lower())
    configurations = ("simple", *([stemmer] if stemmer else sorted(set(STEMMERS.values()))))
    forms = _forms(tuple(search.terms), configurations)
    if beginning in forms:
        known_forms = forms[beginning]
        forms = forms | {
            beginning: _Forms(f"{known_forms.stems} | '{_plain(beginning)}':*", is_stop_word=False)
        }
    alternatives = [
        _all_of([forms[term] for term in terms if term in forms]) for terms in search.alternatives
    ]
    excluded = [f"!({forms[term].stems})" for term in search.excluded if term in forms]
    any_alternative = " | ".join(filter(None, alternatives))
    return " & ".join([f"({any_alternative})" if any_alternative else "", *excluded]).removeprefix(" & ")


def stems(search: Search) -> list[str]:
    """Return the stems of all wanted words of a search, without accents, each once, the longest first."""
    terms = tuple({term for terms in search.alternatives for term in terms})
    forms = _forms(terms, ("simple", *sorted(set(STEMMERS.values()))))
    lexemes = {lexeme for form in forms.values() for lexeme in _LEXEME.findall(form.stems)}
    return sorted(lexemes, key=lambda lexeme: (-len(lexeme), lexeme))


_LEXEME = re.compile(r"'((?:[^'\\])+)'")


@dataclass(frozen=True, slots=True)
class _Forms:
    """The stems of a word or phrase, as alternatives, and whether a language treats it as a stop word."""

    stems: str
    is_stop_word: bool


@lru_cache(maxsize=512)
def _forms(terms: tuple[str, ...], configurations: tuple[str, ...]) -> dict[str, _Forms]:
    """Return the stems of words and phrases in text search configurations. Omits signs without a letter."""
    if not terms:
        return {}
    spellings = [(term, spelling) for term in terms for spelling in {term, _without_umlauts(term)}]
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT term, string_agg(DISTINCT {_FOLDED.format("query::text")}, ' | ')
                FILTER (WHERE numnode(query) > 0), bool_or(numnode(query) = 0)
            FROM unnest(%s::text[], %s::text[]) AS given(term, spelling), unnest(%s::regconfig[]) AS config,
                phraseto_tsquery(config, spelling) AS query
            GROUP BY term
            """,  # noqa: S608 - a constant
            [[term for term, _ in spellings], [spelling for _, spelling in spellings], list(configurations)],
        )
        return {term: _Forms(stems, is_stop) for term, stems, is_stop in cursor.fetchall() if stems}


def _without_umlauts(term: str) -> str:
    """Return the term as German is written without umlauts: Schlueter for Schlüter."""
    return unicodedata.normalize("NFC", term).translate(_UMLAUTS)


@lru_cache(maxsize=512)
def _plain(word: str) -> str:
    """Return a word of letters and digits in small letters and without accents, as it is indexed."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_FOLDED.format('lower(%s::text)')}", [word])
        return str(cursor.fetchone()[0])


def _all_of(terms: Sequence[_Forms]) -> str:
    """Join terms that must all match. Stop words count only when there are no other terms.

    No text is indexed under a stop word of its language, so requiring it would find nothing.
    """
    content_terms = [term for term in terms if not term.is_stop_word] or terms
    return " & ".join(f"({term.stems})" for term in content_terms)
