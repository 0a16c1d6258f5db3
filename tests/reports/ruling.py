"""Runners of reports about rules: what they hit, and what filters of other programs become."""

from __future__ import annotations

from typing import Any

from crawler.notices.rules.foreign import rules_of
from crawler.notices.rules.matching import ArticleConditions, MatchedArticle, check_expression, meets
from crawler.text.patterns import PatternAllowance, PatternError
from tests.reports.runners import Input, runner


@runner
def article_rule(given: Input) -> Any:
    """A `rule` and an `article` -> whether it hits, or "refused" for an expression that is none."""
    conditions, article = ArticleConditions(**given["rule"]), dict(given["article"])
    try:
        check_expression(conditions.expression)
        check_expression(conditions.without_expression)
    except PatternError:
        return "refused"
    address = article.pop("url", "")
    return meets(conditions, MatchedArticle(address=address, **article), PatternAllowance())


@runner
def foreign_rules(given: Input) -> Any:
    """Filters of another program as `text` -> rules, and what is left out."""
    found = rules_of(given["program"], given["text"])
    return [{"left_out": one} if isinstance(one, str) else one.as_facts() for one in found.all]
