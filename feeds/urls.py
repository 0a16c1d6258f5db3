"""URLs of the pages about feeds."""

from django.urls import path

from feeds import change_views, views

urlpatterns = [
    path("", views.feed_list, name="feeds"),
    path("add/", change_views.add, name="feeds-add"),
    path("added/", change_views.added, name="feeds-added"),
    path("actions/", change_views.change, name="feeds-change"),
    path("visits/", views.visit_list, name="visits"),
    path("feeds.opml", views.opml, name="feeds-opml"),
    path("<int:pk>/", views.feed_page, name="feed"),
    path("<int:pk>/<str:kind>.json", views.series, name="feed-series"),
]
