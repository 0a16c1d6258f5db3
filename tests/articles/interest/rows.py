"""Articles with enrichments, for tests of interests."""

from __future__ import annotations

from typing import Any

from articles.enrichment.models import Enrichment
from articles.models import Article
from tests.factories import make_article


def enriched(*keywords: str, category: str = "", **fields: Any) -> Article:
    """An article whose enrichment is done, with these keywords, the first the heaviest."""
    article = make_article(**fields)
    Enrichment.objects.update_or_create(
        article=article,
        defaults={
            "state": Enrichment.State.DONE,
            "keywords": [[term, 3.0 - i / 10] for i, term in enumerate(keywords)],
            "category": category,
        },
    )
    return article
