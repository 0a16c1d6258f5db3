"""How far enrichment is, in numbers."""

from __future__ import annotations

from django.db.models import Count, Q

from articles.enrichment.models import Classifier, Enrichment, Story

State, Source = Enrichment.State, Enrichment.Source


def figures() -> dict[str, int]:
    """Articles by state, in stories, with a category, and how many the classifier has learned from."""
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
