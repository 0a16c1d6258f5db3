"""Lines of More settings: what operators can choose beyond the other pages, in words for readers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib.auth.models import AnonymousUser, User
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from crawler.engine.chosen import CHOOSABLE, InForce, NumberReader, Origin, origin_of
from crawler.engine.models import OperatorSetting
from crawler.web.operator_settings import line
from crawler.web.roles import OPERATOR, OWNER, is_at_least
from crawler.web.setting_lines import SettingLine

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


@dataclass(frozen=True, slots=True)
class SettingWords:
    """A setting in words: its name, what it does, and the unit of its number."""

    label: _StrPromise
    help: _StrPromise
    unit: _StrPromise | str = ""


@dataclass(frozen=True, slots=True)
class SettingSection:
    """A heading of the page with its settings by variable, and the lowest role that changes them."""

    key: str
    title: _StrPromise
    settings: dict[str, SettingWords]
    role: str = OPERATOR


SECONDS = gettext_lazy("seconds")
SECTIONS = (
    SettingSection(
        "visits",
        gettext_lazy("Visits"),
        {
            "FEED_TICK_SECONDS": SettingWords(
                gettext_lazy("From one round of visits to the next"),
                gettext_lazy(
                    "In each round Freshet decides which feeds it visits. A change of the task “tick” in the "
                    "administration counts more."
                ),
                SECONDS,
            ),
            "FEED_MIN_GAP_SECONDS": SettingWords(
                gettext_lazy("Between two visits to one feed, at least"),
                gettext_lazy("No feed is asked more often, even if somebody presses “Check now”."),
                SECONDS,
            ),
            "FEED_TRAINING_DAYS": SettingWords(
                gettext_lazy("Learning the rhythm of a new feed"),
                gettext_lazy("For so long a new feed is visited more often than it needs."),
                gettext_lazy("days"),
            ),
            "CRAWL_HOSTS_IN_FLIGHT": SettingWords(
                gettext_lazy("Sites asked at the same time, at most"),
                gettext_lazy("Each of them still gets one request after another. More machines need more."),
                gettext_lazy("sites"),
            ),
            "CRAWL_LEASE_SLACK_SECONDS": SettingWords(
                gettext_lazy("Patience with a machine that fetches"),
                gettext_lazy("When it is over, the work of a machine that fell silent is given to another."),
                SECONDS,
            ),
            "FRONTIER_TEND_SECONDS": SettingWords(
                gettext_lazy("Looking after what is under way"),
                gettext_lazy("So often Freshet looks for crawls at their limits and for work that was lost."),
                SECONDS,
            ),
        },
    ),
    SettingSection(
        "texts",
        gettext_lazy("Who says what: the graph"),
        {
            "PIPELINE_STORED": SettingWords(
                gettext_lazy("Take feeds and articles into the graph"),
                gettext_lazy("If not, only what crawls fetch comes into it."),
            ),
            "PIPELINE_HASH_MAIL": SettingWords(
                gettext_lazy("Hide mail addresses"),
                gettext_lazy("Those found on pages come into the graph as a fingerprint only."),
            ),
            "PIPELINE_RDFA": SettingWords(
                gettext_lazy("Read data within the text of pages (RDFa)"),
                gettext_lazy("A page that has some takes a second longer."),
            ),
            "PIPELINE_FILES": SettingWords(
                gettext_lazy("Read pictures and PDF files in crawls"),
                gettext_lazy("What they say of themselves comes into the graph: where, when and by whom."),
            ),
        },
    ),
    SettingSection(
        "model",
        gettext_lazy("A language model"),
        {
            "MODEL_SECONDS": SettingWords(
                gettext_lazy("Time for one answer"),
                gettext_lazy("A model that takes longer is not waited for."),
                SECONDS,
            ),
            "MODEL_DAILY_ANSWERS": SettingWords(
                gettext_lazy("Answers for one person"),
                gettext_lazy("What was asked before costs none. With 0 nobody gets any."),
                gettext_lazy("in 24 hours"),
            ),
        },
    ),
    SettingSection(
        "accounts",
        gettext_lazy("Accounts"),
        {
            "SIGN_IN_MAX_FAILURES": SettingWords(
                gettext_lazy("Wrong passwords for one name, at most"),
                gettext_lazy("After so many in 15 minutes the name is closed for passwords for a while."),
            ),
            "SIGN_UP_PER_ADDRESS": SettingWords(
                gettext_lazy("Attempts to sign up from one address"),
                gettext_lazy("More are refused until the next day."),
                gettext_lazy("a day"),
            ),
            "AUTH_PROXY_SIGN_UP": SettingWords(
                gettext_lazy("Accounts for whom the sign-in in front knows"),
                gettext_lazy("Whoever the server in front of Freshet names gets an account at once."),
            ),
            "OIDC_SIGN_UP": SettingWords(
                gettext_lazy("Accounts for whom your organisation knows"),
                gettext_lazy("Whoever signs in there gets an account at once; if not, by invitation only."),
            ),
            "ASSISTANTS": SettingWords(
                gettext_lazy("Assistants may sign in"),
                gettext_lazy(
                    "They act for the person who allows it. If not, keys for programs go on working."
                ),
            ),
        },
        OWNER,
    ),
)
"""The page's sections. Accounts are changed by owners, as sign-up is."""


def sections_for(user: User | AnonymousUser) -> list[tuple[SettingSection, list[SettingLine]]]:
    """Return the sections that a person may change, each with its lines."""
    changed = dict(OperatorSetting.objects.values_list("name", "changed"))
    return [
        (
            section,
            [
                _line(name, words, since=date_format(localtime(changed[name])) if name in changed else "")
                for name, words in section.settings.items()
            ],
        )
        for section in SECTIONS
        if is_at_least(user, section.role)
    ]


def chosen_beyond_the_default() -> int:
    """Return how many settings of this page an operator has chosen."""
    return sum(origin_of(name) is Origin.CHOSEN for section in SECTIONS for name in section.settings)


def in_force_words(in_force: InForce) -> str:
    """Say from when on a choice is in force."""
    if in_force is InForce.AT_ONCE:
        return pgettext("when a setting is in force", "at once")
    if in_force is InForce.RESTART:
        return pgettext("when a setting is in force", "after a restart")
    return pgettext("when a setting is in force", "from the next round of visits")


def _line(name: str, words: SettingWords, since: str) -> SettingLine:
    choosable, origin = CHOOSABLE[name], origin_of(name)
    read = choosable.read
    if isinstance(read, NumberReader):
        row = line(name, str(words.label), "number", unit=str(words.unit), least=f"{read.least:.15g}")
        row.most, row.step = f"{read.most:.15g}", "1" if read.is_whole else "any"
    else:
        row = line(name, str(words.label), "switch")
    row.help = str(words.help)
    row.is_chosen = origin is Origin.CHOSEN
    if origin is not Origin.ENVIRONMENT:  # the line itself says what the environment has fixed
        when = in_force_words(choosable.in_force)
        if row.is_chosen:
            row.origin = _("Chosen here on %(date)s. A change holds %(when)s.") % {
                "date": since,
                "when": when,
            }
        else:
            row.origin = _("As Freshet comes. A change holds %(when)s.") % {"when": when}
    return row
