"""Addresses of the pages about feeds."""

from django.urls import path

from feeds import views

urlpatterns = [
    path("", views.feed_list, name="feeds"),
    path("add/", views.add, name="feeds-add"),
    path("added/", views.added, name="feeds-added"),
    path("actions/", views.change, name="feeds-change"),
    path("feeds.opml", views.opml, name="feeds-opml"),
    path("<int:pk>/", views.feed_page, name="feed"),
    path("<int:pk>/<str:kind>.json", views.series, name="feed-series"),
]
