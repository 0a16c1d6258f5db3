"""Settings of a subscriber's interests: sliders over learned weights, muted features, whether to learn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from articles.interest.features import MAX_NAME_LENGTH, author_name, plain
from articles.interest.learned import weight_rows
from articles.interest.models import Event, Interest
from articles.interest.naming import Label, labels
from articles.interest.stored import STEP, described, locked
from articles.models import Subscriber, Subscription

MAX_STEP = 3
SHOWN = 7
MAX_TUNED = 300
COUNTED_EVENTS = 1000
"""The newest events that a reason counts: older ones hardly weigh."""
STEPS = {
    -3: gettext_lazy("much less"),
    -2: gettext_lazy("less"),
    -1: gettext_lazy("a little less"),
    0: gettext_lazy("as it comes"),
    1: gettext_lazy("a little more"),
    2: gettext_lazy("more"),
    3: gettext_lazy("much more"),
}


@dataclass(frozen=True, slots=True)
class Slider:
    """A feature with its step, in words too, why it stands there, and since when it is muted."""

    feature: str
    label: Label
    step: int
    reason: str
    muted: datetime | None = None

    @property
    def words(self) -> str:
        """The step as people say it."""
        return str(STEPS[self.step])


@dataclass(frozen=True, slots=True)
class Tuning:
    """The strongest features as sliders, the weaker ones, and whether openings are learned from."""

    sliders: list[Slider]
    weaker: list[tuple[str, Label]]
    learns: bool
    learned: int


def tuning_of(subscriber: Subscriber, now: datetime) -> Tuning:
    """Return the sliders of a subscriber: those that were set or muted, and the strongest learned ones."""
    row = Interest.objects.filter(pk=subscriber.pk).first()
    tuned: Mapping[str, int] = row.tuned if row else {}
    muted: Mapping[str, float] = row.muted if row else {}
    rows = [each for each in weight_rows(subscriber, now) if each.feature not in muted]
    steps = {each.feature: _step(each.weight) for each in rows} | dict(tuned)
    by_strength = [each.feature for each in rows if each.feature not in tuned]
    slider_names = [*tuned, *by_strength[: max(SHOWN - len(tuned), 0)]]
    slider_names.sort(key=lambda name: (-steps.get(name, 0), name))
    slider_names += [name for name in muted if name not in slider_names]
    weaker = [name for name in by_strength if name not in slider_names][:MAX_TUNED]
    label_of, counts = labels([*slider_names, *weaker]), _counts(subscriber, slider_names)
    sliders = [
        Slider(
            name,
            label_of[name],
            -MAX_STEP if name in muted else steps.get(name, 0),
            _reason(counts[name], steps.get(name, 0), is_set=name in tuned),
            datetime.fromtimestamp(muted[name], UTC) if name in muted else None,
        )
        for name in slider_names
    ]
    return Tuning(
        sliders,
        [(name, label_of[name]) for name in weaker],
        row.learns if row else True,
        row.learned if row else 0,
    )


def _step(weight: float) -> int:
    """Return the step that is nearest to a learned weight; a weak one counts as a little."""
    step = round(weight / STEP) or (1 if weight > STEP / 4 else -1 if weight < -STEP / 4 else 0)
    return max(-MAX_STEP, min(MAX_STEP, step))


def _counts(subscriber: Subscriber, features: Collection[str]) -> dict[str, Counter[str]]:
    """Count for each feature the articles with it that the newest events were about, by kind of event."""
    valid = Event.objects.valid().filter(subscriber=subscriber).order_by("-id")
    events = list(valid.values_list("article_id", "kind")[:COUNTED_EVENTS])
    about = described({article for article, _kind in events})
    kinds: dict[str, Counter[str]] = {name: Counter() for name in features}
    articles: dict[str, set[tuple[int, str]]] = {name: set() for name in features}
    for article, kind in events:
        for name in features:
            if article in about and name in about[article].features:
                articles[name].add((article, kind))
    for name, pairs in articles.items():
        kinds[name] = Counter(kind for _article, kind in pairs)
        kinds[name]["all"] = len({article for article, _kind in pairs})
    return kinds


def _reason(count: Counter[str], step: int, *, is_set: bool) -> str:
    """Return in words where a slider's place comes from: what was opened or starred, or passed over."""
    opened, starred, every = count["opened"], count["saved"], count["all"]
    if not every:
        return _("you set it yourself") if is_set else _("too little was seen to say it in words")
    if step < 0:
        number = every - opened
        sentence = ngettext(
            "you passed over %(n)s of %(all)s article", "you passed over %(n)s of %(all)s articles", every
        )
    elif starred > opened:
        number = starred
        sentence = ngettext(
            "you starred %(n)s of %(all)s article", "you starred %(n)s of %(all)s articles", every
        )
    else:
        number = opened
        sentence = ngettext(
            "you opened %(n)s of %(all)s article", "you opened %(n)s of %(all)s articles", every
        )
    return sentence % {"n": number, "all": every}


@transaction.atomic
def tune(subscriber: Subscriber, steps: Mapping[str, int | None], now: datetime) -> dict[str, Any]:
    """Set sliders, None for what was learned. Returns what `put_back` takes to undo it.

    Raises ValueError for a step outside -3 to 3, or too many sliders.
    """
    row = _row(subscriber, now)
    before = {"tuned": row.tuned, "muted": row.muted}
    tuned = dict(row.tuned)
    for name, step in steps.items():
        if step is None:
            tuned.pop(name, None)
        elif not -MAX_STEP <= step <= MAX_STEP or not math.isfinite(step):
            raise ValueError(f"a step lies between -{MAX_STEP} and {MAX_STEP}")
        else:
            tuned[name[: MAX_NAME_LENGTH + 10]] = int(step)
    if len(tuned) > MAX_TUNED:
        raise ValueError(f"{MAX_TUNED} sliders are enough")
    row.tuned = tuned
    row.save(update_fields=["tuned"])
    return before


@transaction.atomic
def mute(subscriber: Subscriber, feature: str, now: datetime, *, muted: bool = True) -> dict[str, Any]:
    """Mute a feature, or let it sound again. Returns what `put_back` takes to undo it."""
    row = _row(subscriber, now)
    before = {"tuned": row.tuned, "muted": row.muted}
    features = dict(row.muted)
    if muted and len(features) < MAX_TUNED:
        features[feature[: MAX_NAME_LENGTH + 10]] = now.timestamp()
    else:
        features.pop(feature, None)
    row.muted = features
    row.save(update_fields=["muted"])
    return before


@transaction.atomic
def put_back(subscriber: Subscriber, before: Mapping[str, Any], now: datetime) -> None:
    """Set sliders and muted features as they were before."""
    row = _row(subscriber, now)
    row.tuned, row.muted = before["tuned"], before["muted"]
    row.save(update_fields=["tuned", "muted"])


@transaction.atomic
def switch_learning(subscriber: Subscriber, now: datetime, *, learns: bool) -> None:
    """Learn from openings and showings, or go by the sliders alone."""
    row = _row(subscriber, now)
    row.learns = learns
    row.save(update_fields=["learns"])


def feature_named(subscriber: Subscriber, text: str) -> str:
    """Return the feature that a person means by a word: a feed they follow, an author, or a keyword.

    "by Ada Lovelace" is an author. Returns "" for an empty text.
    """
    name = plain(text)
    if not name:
        return ""
    follows = Subscription.objects.filter(subscriber=subscriber)
    for key, own_title, title in follows.values_list("feed_id", "title", "feed__title"):
        if name in {plain(own_title or ""), plain(title or "")}:
            return f"feed:{key}"
    if name.startswith("by ") and len(name) > len("by "):
        return f"author:{author_name(name)}"
    return f"keyword:{name}"


def _row(subscriber: Subscriber, now: datetime) -> Interest:
    row = locked(subscriber, now)
    assert row is not None  # noqa: S101 - made if there was none
    return row
