"""URLs of edits."""

from __future__ import annotations

from django.urls import path

from articles.edits import views
from crawler.web.pages import moved

urlpatterns = [
    path("edits/", views.edited, name="edits"),
    path("edited/", moved(views.edited, "edits")),
    path("read/<int:pk>/versions/", views.versions, name="versions"),
]
