"""URLs of personal feeds under /personal/."""

from __future__ import annotations

from django.urls import path, re_path

from articles.interest.feedback_views import rate
from articles.personal.feed_views import personal_feed, personal_list

urlpatterns = [
    path("rate/<str:signed>/", rate, name="feedback"),
    re_path(r"^(?P<token>[\w-]{20,64})\.opml$", personal_list, name="personal-list"),
    re_path(r"^(?P<token>[\w-]{20,64})\.(?P<kind>rss|atom|json)$", personal_feed, name="personal-feed"),
]
