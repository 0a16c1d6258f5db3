"""Personal feeds under /personal/."""

from __future__ import annotations

from django.urls import re_path

from articles.personal_views import personal_feed

urlpatterns = [
    re_path(r"^(?P<token>[\w-]{20,64})\.(?P<kind>rss|atom|json)$", personal_feed, name="personal-feed"),
]
