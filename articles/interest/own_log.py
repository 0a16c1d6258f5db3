"""The deployment's own events as a log to replay: the newest, without what was undone."""

from __future__ import annotations

from articles.interest.events import Log, Logged
from articles.interest.models import Event
from articles.interest.stored import facts_of

MOST_REPLAYED = 20_000


def own_log(most: int = MOST_REPLAYED) -> Log:
    """The newest `most` events of all subscribers in order of time, articles as they are described now.

    What one subscriber was shown at one time is a list.
    """
    rows = Event.objects.valid().order_by("-id").values_list("at", "subscriber_id", "kind", "article_id")
    newest = sorted(rows[:most])
    log = Log("this deployment's log")
    known = facts_of({article for *_, article in newest})
    log.articles.update((str(article), facts) for article, facts in known.items())
    for at, subscriber, kind, article in newest:
        shown_in = f"{at.timestamp():.6f}" if kind == Event.Kind.SHOWN else ""
        log.add(Logged(at.timestamp(), str(subscriber), kind, str(article), shown_in))
    return log
