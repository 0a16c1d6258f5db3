"""URLs of questions to a language model."""

from __future__ import annotations

from django.urls import path

from articles.modelled import asking_views, views

urlpatterns = [
    path("ask/", asking_views.ask_page, name="ask"),
    path("ask/<int:pk>/", asking_views.answer_page, name="ask-answer"),
    path("ask/brief/", asking_views.morning_brief, name="morning-brief"),
    path("ask/story/<int:pk>/", asking_views.story_summary, name="story-summary"),
    path("read/<int:pk>/model/<str:kind>/", views.ask, name="model-ask"),
    path("model/<int:pk>/", views.task, name="model-task"),
    path("model/<int:pk>/cancel/", views.cancel_task, name="model-cancel"),
]
