"""Columns for names of code."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from crawler.database.columns import NameColumn
from crawler.frontier.models import Crawl
from crawler.pipeline.models import Stylesheet
from feeds.laboratory.models import Experiment
from feeds.models import PlanningRules
from recrawl.models import Site

COLUMNS = [(Crawl, "strategy"), (Site, "method"), (PlanningRules, "policy")]
LISTS = [(Experiment, "policies"), (Stylesheet, "types")]


def test_forms_offer_the_names_and_rows_refuse_others() -> None:
    column = NameColumn(max_length=10, names=["one", ("two", "Two of them")])
    assert column.formfield().choices == [("", "---------"), ("one", "one"), ("two", "Two of them")]
    assert column.clean("two", None) == "two"
    with pytest.raises(ValidationError, match="not a valid choice"):
        column.clean("three", None)


@pytest.mark.parametrize(("model", "name"), COLUMNS + LISTS)
def test_a_new_name_needs_no_migration(
    model: type[Crawl], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    column = model._meta.get_field(name)
    column = getattr(column, "base_field", column)
    assert isinstance(column, NameColumn)
    monkeypatch.setattr(column, "choices", [*column.choices, ("new", "new")])
    stored = MigrationLoader(None).project_state()
    now = ProjectState.from_apps(model._meta.apps)
    assert MigrationAutodetector(stored, now)._detect_changes() == {}
