"""Labels: a subscriber's own words for articles, kept with the marks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from django.db import connection, transaction
from django.db.models import Exists, F, Func, OuterRef, Q, QuerySet, Value

from articles.models import LABEL_LENGTH, Article, Mark, Subscriber

MAX_LABELS = 50
"""Maximum number of labels of one article."""
MAX_NAMES = 500
"""Maximum number of different labels of one subscriber."""
_LABELLED = ~Q(labels=[])
"""The condition of the index `mark_labelled`."""


class TooManyLabels(ValueError):
    """Error for a subscriber who has MAX_NAMES labels and adds another one."""


def label_named(text: str) -> str:
    """Normalise a label: one blank between words, no control characters, LABEL_LENGTH characters at most."""
    words = "".join(sign if sign.isprintable() else " " for sign in text).split()
    return " ".join(words)[:LABEL_LENGTH].strip()


def labels_of(subscriber: Subscriber) -> list[str]:
    """Return every label in use, in alphabetical order."""
    names = subscriber.marks.filter(_LABELLED).annotate(name=Func(F("labels"), function="unnest"))
    return sorted(names.order_by().values_list("name", flat=True).distinct(), key=str.casefold)


def as_known(subscriber: Subscriber, text: str) -> str:
    """Return the label that a person means who types one: in the case in which it is in use already."""
    label, labels = label_named(text), labels_of(subscriber)
    return label if label in labels else next((n for n in labels if n.casefold() == label.casefold()), label)


def labelled(subscriber: Subscriber, label: str) -> Exists:
    """Return the condition, for a query of articles, that the subscriber has given the article this label."""
    marks = Mark.objects.filter(_LABELLED, subscriber=subscriber, labels__contains=[label])
    return Exists(marks.filter(article=OuterRef("pk")))


@transaction.atomic
def add_labels(subscriber: Subscriber, articles: Sequence[int], labels: Collection[str]) -> None:
    """Give articles (primary keys) labels; of more than MAX_LABELS an article keeps the first by alphabet.

    Raises TooManyLabels.
    """
    names = sorted({label_named(label) for label in labels} - {""})
    if not names or not articles:
        return
    if len({*labels_of(subscriber), *names}) > MAX_NAMES:
        raise TooManyLabels(f"one person has {MAX_NAMES} labels at most")
    with connection.cursor() as cursor:
        # In the order of `marking._mark`, so that the row locks of two requests cannot cross.
        cursor.execute(
            f"""
            INSERT INTO {Mark._meta.db_table} AS mark (subscriber_id, article_id, labels)
            SELECT %s, id, %s FROM {Article._meta.db_table} WHERE id = ANY(%s::bigint[]) ORDER BY id
            ON CONFLICT (subscriber_id, article_id) DO UPDATE SET labels = ARRAY(
                SELECT DISTINCT unnest(mark.labels || EXCLUDED.labels) AS label ORDER BY label
                LIMIT {MAX_LABELS}
            )
            """,  # noqa: S608 - the tables' own names
            [subscriber.pk, names[:MAX_LABELS], sorted(set(articles))],
        )


@transaction.atomic
def add_labels_to_each(subscriber: Subscriber, labels: Mapping[int, Collection[str]]) -> dict[int, list[str]]:
    """Give each article (primary key) labels of its own, as far as the subscriber may have more.

    Returns the labels that were left out, by article.
    """
    names = set(labels_of(subscriber)) if labels else set()
    names_by_article: dict[int, list[str]] = {}
    left_out: dict[int, list[str]] = {}
    for article, article_labels in sorted(labels.items()):
        for name in sorted({label_named(label) for label in article_labels} - {""}):
            if name in names or len(names) < MAX_NAMES:
                names.add(name)
                names_by_article.setdefault(article, []).append(name)
            else:
                left_out.setdefault(article, []).append(name)
    rows = [(article, name) for article, some in names_by_article.items() for name in some[:MAX_LABELS]]
    if rows:
        articles, each = zip(*rows, strict=True)
        with connection.cursor() as cursor:
            cursor.execute(
                f"""
                INSERT INTO {Mark._meta.db_table} AS mark (subscriber_id, article_id, labels)
                SELECT %s, given.article, array_agg(given.label ORDER BY given.label)
                FROM unnest(%s::bigint[], %s::text[]) AS given(article, label)
                GROUP BY given.article ORDER BY given.article
                ON CONFLICT (subscriber_id, article_id) DO UPDATE SET labels = ARRAY(
                    SELECT DISTINCT unnest(mark.labels || EXCLUDED.labels) AS label ORDER BY label
                    LIMIT {MAX_LABELS}
                )
                """,  # noqa: S608 - the tables' own names
                [subscriber.pk, list(articles), list(each)],
            )
    return left_out


@transaction.atomic
def remove_labels(subscriber: Subscriber, articles: Sequence[int], labels: Collection[str]) -> None:
    """Take labels from articles (primary keys)."""
    names = sorted({label_named(label) for label in labels} - {""})
    marks = subscriber.marks.filter(_LABELLED, labels__overlap=names, article__in=set(articles))
    keys = _locked(marks) if names else []
    for name in names:
        _without(keys, name)


@transaction.atomic
def rename_label(subscriber: Subscriber, old: str, new: str) -> int:
    """Rename a label on every article, or remove it (`new` empty). Returns the number of articles."""
    keys = _locked(_with_label(subscriber, old))
    new = label_named(new)
    if new != old:
        _without(keys, old)  # first: there may be no room for one more
        articles = Mark.objects.filter(pk__in=keys).values_list("article", flat=True)
        add_labels(subscriber, list(articles), [new] if new else [])
    return len(keys)


def _with_label(subscriber: Subscriber, label: str) -> QuerySet[Mark]:
    return subscriber.marks.filter(_LABELLED, labels__contains=[label])


def _locked(marks: QuerySet[Mark]) -> list[int]:
    return list(marks.order_by("article_id").select_for_update().values_list("pk", flat=True))


def _without(marks: Sequence[int], label: str) -> None:
    Mark.objects.filter(pk__in=marks).update(
        labels=Func(
            F("labels"), Value(label), function="array_remove", template="array_remove(%(expressions)s)"
        )
    )
