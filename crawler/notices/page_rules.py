"""Rules about one watched page: made with its watch, and said on its page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q
from django.dispatch import receiver
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from crawler.notices.forms import mail_target, own_address
from crawler.notices.models import Rule, Target
from crawler.web.templatetags.freshet import amount
from recrawl.comparing.values import Value, money_text
from recrawl.models import WatchedPage
from recrawl.pages.telling import TellingWish, telling_wanted


@dataclass(frozen=True, slots=True)
class PageRule:
    """A rule about a page in a few words, such as "Below 230 €"."""

    rule: Rule
    words: str


def rules_about(user: User, page: WatchedPage, value: Value | None) -> list[PageRule]:
    """Return a person's rules about a page or its site, those about the page alone first."""
    rules = Rule.objects.filter(Q(page=page.pk) | Q(site=page.site_id), user=user, when=Rule.When.PAGE)
    ordered = sorted(rules, key=lambda rule: (rule.paused, rule.page_id is None, rule.pk))
    return [PageRule(rule, rule_words(rule, value)) for rule in ordered]


def rule_words(rule: Rule, value: Value | None = None) -> str:
    """Return when a rule tells of a page, with the currency of the page's value."""
    number = rule.number or 0.0
    bound = money_text(value.money, number) if value and value.money else amount(number)
    words = {
        Rule.Condition.BELOW: pgettext("when one is told", "Below %(bound)s"),
        Rule.Condition.ABOVE: pgettext("when one is told", "Above %(bound)s"),
        Rule.Condition.FALLS: pgettext("when one is told", "When it falls"),
        Rule.Condition.AVAILABLE: pgettext("when one is told", "When it is available"),
    }.get(Rule.Condition(rule.condition), pgettext("when one is told", "Any change"))
    message = words % {"bound": bound} if rule.condition in Rule.BOUNDS else words
    return _("%(rule)s (paused)") % {"rule": message} if rule.paused else message


@receiver(telling_wanted)
def make_rule(sender: Any, *, user: User, page: WatchedPage, wish: TellingWish, **options: Any) -> None:
    """Make the rule that a person wished with a new watch."""
    rule = Rule.objects.create(
        user=user,
        when=Rule.When.PAGE,
        page=page,
        condition=wish.condition,
        number=wish.number,
        looked=datetime.now(UTC),
    )
    rule.targets.set(Target.objects.filter(user=user, pk__in=wish.places))
    if wish.own_mail and (address := own_address(user)):
        rule.targets.add(mail_target(user, address))
