"""URLs of articles found by meaning."""

from __future__ import annotations

from django.urls import path

from articles.meaning import views

urlpatterns = [path("read/<int:pk>/related/", views.related, name="related")]
