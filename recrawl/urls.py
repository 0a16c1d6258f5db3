"""Addresses of the pages about watched sites, and of their feeds of changes."""

from django.urls import path

from recrawl import change_feeds, views

urlpatterns = [
    path("", views.site_list, name="sites"),
    path("add/", views.add, name="site-add"),
    path("report/", views.report, name="sites-report"),
    path("feed/<str:key>.<str:kind>", change_feeds.site_feed, name="site-feed"),
    path("feed/<str:key>/<int:page>.<str:kind>", change_feeds.page_feed, name="site-page-feed"),
    path("<int:pk>/", views.site_page, name="site"),
    path("<int:pk>/act/", views.act, name="site-act"),
    path("<int:pk>/settings/", views.settings, name="site-settings"),
    path("<int:pk>/pages/", views.page_list, name="site-pages"),
    path("<int:pk>/pages/<int:page>/", views.page_history, name="site-page"),
    path("<int:pk>/visits/<int:number>/", views.visit_page, name="site-visit"),
    path("<int:pk>/changes/", views.change_list, name="site-changes"),
    path("<int:pk>/changes/<int:number>/", views.change_page, name="site-change"),
]
