"""URLs of the pages about feeds."""

from django.urls import path

from feeds.pages import adding_views, change_views, views

urlpatterns = [
    path("", views.feed_list, name="feeds"),
    path("add/", adding_views.add_here, name="feeds-add"),
    path("actions/", change_views.change, name="feeds-change"),
    path("visits/", views.visit_list, name="visits"),
    path("opinions/", views.opinion_list, name="opinions"),
    path("feeds.opml", views.opml, name="feeds-opml"),
    path("<int:pk>/", views.feed_page, name="feed"),
    path("<int:pk>/row/", views.feed_row, name="feed-row"),
    path("<int:pk>/address/", change_views.use_new_address, name="feed-address"),
    path("<int:pk>/rules/", change_views.choose_rules, name="feed-rules"),
    path("<int:pk>/edit/", change_views.edit, name="feed-edit"),
    path("<int:pk>/<str:kind>.json", views.series, name="feed-series"),
]
