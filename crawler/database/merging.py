"""Merging of a row into another that turned out to be the same thing."""

from __future__ import annotations

from django.db import IntegrityError, models, transaction


@transaction.atomic
def merge(row: models.Model, into: models.Model) -> None:
    """Point everything that refers to a row at another of its model, then delete the row.

    Goes through all foreign keys to the model, whichever app they are in. What `into` has already (a person
    who follows both, say) stays as it has it. Issue 56: a list of tables was kept by hand before, and the
    subscriptions that it did not name were deleted with the feed.
    """
    for field in references(type(row)):
        rows = field.model._base_manager.filter(**{field.name: row})
        # One statement for all, and row by row only where some are there twice.
        if not _point(rows, field, into):
            for key in rows.values_list("pk", flat=True):
                _point(rows.filter(pk=key), field, into)
    row.delete()


def references(model: type[models.Model]) -> list[models.ForeignKey]:  # type: ignore[type-arg]
    """Return all foreign keys to a model, those without a name for the way back among them."""
    relations = [
        field
        # Keys with related_name="+" are found by this alone.
        for field in model._meta.get_fields(include_hidden=True)
        if isinstance(field, models.ManyToOneRel) and field.field.concrete
    ]
    return [relation.field for relation in relations]


def _point(rows: models.QuerySet[models.Model], field: models.ForeignKey, into: models.Model) -> bool:  # type: ignore[type-arg]
    """Point rows at another row. Returns False when one of them would be there twice."""
    try:
        with transaction.atomic():
            rows.update(**{field.name: into})
    except IntegrityError:
        return False
    return True
