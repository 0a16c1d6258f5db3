"""Traces that are exported: no cell is a formula."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from django.core.management import call_command

from feeds.models import Feed
from tests.factories import make_article, make_feed


@pytest.mark.django_db
@pytest.mark.parametrize("sign", ["=", "+", "-", "@"])
def test_no_cell_of_the_file_is_a_formula(tmp_path: Path, sign: str) -> None:
    feed = make_feed(added="2026-01-01T00:00Z")
    make_article(feed)
    Feed.objects.filter(pk=feed.pk).update(url=f"{sign}1+1")
    call_command("export_trace", str(tmp_path / "own.csv.gz"), verbosity=0)
    head, line, *_ = gzip.decompress((tmp_path / "own.csv.gz").read_bytes()).decode().splitlines()
    assert (head, line[:5]) == ("feed,published", f"'{sign}1+1")
