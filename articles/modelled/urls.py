"""URLs of questions to a language model."""

from __future__ import annotations

from django.urls import path

from articles.modelled import views

urlpatterns = [
    path("read/<int:pk>/model/<str:kind>/", views.ask, name="model-ask"),
    path("model/<int:pk>/", views.task, name="model-task"),
    path("model/<int:pk>/cancel/", views.cancel_task, name="model-cancel"),
]
