"""URLs of the reader under /read/."""

from __future__ import annotations

from django.urls import path

from articles.reader import begin_views, views

urlpatterns = [
    path("", views.read, name="read"),
    path("begin/", begin_views.begin, name="read-begin"),
    path("offline/", views.offline, name="read-offline"),
    path("export/", views.export, name="read-export"),
    path("counts/", views.counts, name="read-counts"),
    path("passed/", views.mark_passed, name="read-mark-passed"),
    path("mark/", views.mark_list, name="read-mark-list"),
    path("undo/", views.undo, name="read-undo"),
    path("<int:pk>/", views.article, name="read-article"),
    path("<int:pk>/story/", views.story, name="read-story"),
    path("<int:pk>/film/", views.film, name="read-film"),
    path("<int:pk>/label/", views.label, name="read-label"),
    path("<int:pk>/<str:word>/", views.mark, name="read-mark"),
]
