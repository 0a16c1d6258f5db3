"""URLs of saved pages and highlights."""

from __future__ import annotations

from django.urls import path

from articles.saved import collection_views as collected
from articles.saved import import_views, views

urlpatterns = [
    path("saved/", views.saved, name="saved"),
    path("saved/imports/", import_views.imports, name="saved-imports"),
    path("saved/imports/<int:pk>/", import_views.one_import, name="saved-import"),
    path("saved/article/<int:pk>/", views.save_one, name="save-article"),
    path("saved/<int:pk>/remove/", views.remove, name="saved-remove"),
    path("saved/<int:pk>/again/", views.again, name="saved-again"),
    path("saved/<int:pk>/note/", views.note, name="saved-note"),
    path("collections/", collected.collections, name="collections"),
    path("collections/<int:pk>/", collected.collection, name="collection"),
    path("collections/<int:pk>/change/", collected.change, name="collection-change"),
    path("collections/<int:pk>/export/", collected.export, name="collection-export"),
    path("collections/<int:pk>/<int:article>/", collected.item, name="collection-item"),
    path("collections/feed/<str:token>/", collected.feed, name="collection-feed"),
    path("read/<int:pk>/gather/", collected.gather, name="collection-gather"),
    path("read/<int:pk>/file/", views.whole_page, name="article-file"),
    path("highlights/", views.highlights, name="highlights"),
    path("highlights/file/", views.export, name="highlights-file"),
    path("highlights/<int:pk>/", views.change, name="highlight-change"),
    path("read/<int:pk>/highlight/", views.highlight, name="highlight"),
]
