"""Statistics of enrichment."""

from __future__ import annotations

from django.db.models import Count, Q

from articles.enrichment.models import Classifier, Enrichment, Story, TermCount

State, Source = Enrichment.State, Enrichment.Source
MAX_ROWS = 40


def figures() -> dict[str, int]:
    """Count articles by state, in stories and with a category, stories, and the classifier's examples."""
    counted = Enrichment.objects.aggregate(
        waiting=Count("pk", filter=Q(state=State.WAITING)),
        done=Count("pk", filter=Q(state=State.DONE)),
        failed=Count("pk", filter=Q(state=State.FAILED)),
        in_stories=Count("pk", filter=Q(story__isnull=False)),
        categorised=Count("pk", filter=~Q(category="")),
        learned=Count("pk", filter=Q(category_source=Source.LEARNED)),
    )
    classifier = Classifier.objects.order_by("pk").first()
    examples = sum(classifier.examples) if classifier else 0
    return {**counted, "stories": Story.objects.count(), "examples": examples}


def categories() -> list[tuple[str, int, int]]:
    """Return category, number of articles, and number categorised by the classifier, largest first."""
    rows = Enrichment.objects.exclude(category="").values_list("category")
    counted = rows.annotate(count=Count("pk"), learned=Count("pk", filter=Q(category_source=Source.LEARNED)))
    return list(counted.order_by("-count", "category")[:MAX_ROWS])


def languages() -> list[tuple[str, int]]:
    """Return language and number of articles, largest first."""
    rows = TermCount.objects.filter(term="", documents__gt=0).exclude(language="")
    return list(rows.order_by("-documents", "language").values_list("language", "documents")[:MAX_ROWS])
