"""Addresses of the pages of people, organisations, topics and sites."""

from django.urls import path

from articles.things import views

urlpatterns = [
    path("person/<path:name>/", views.person, name="thing-person"),
    path("organisation/<path:name>/", views.organisation, name="thing-organisation"),
    path("topic/<path:name>/", views.topic, name="thing-topic"),
    path("site/<str:name>/", views.site, name="thing-site"),
]
