"""Addresses of the pages about watched sites, and of their feeds of changes."""

from django.urls import path

from recrawl.changes import change_feeds, inbox_views
from recrawl.pages import history_views, importing_views, page_views, picking_views, proposing_views, views

urlpatterns = [
    path("", inbox_views.inbox, name="sites"),
    path("changes/<int:pk>/", inbox_views.change, name="change"),
    path("changes/<int:pk>/<str:word>/", inbox_views.mark, name="change-mark"),
    path("export/", inbox_views.take_along, name="changes-take"),
    path("seen/", inbox_views.mark_all, name="changes-seen"),
    path("changes.<str:kind>", inbox_views.export, name="changes-export"),
    path("watched/", views.site_list, name="watched"),
    path("add/", views.add, name="site-add"),
    path("new/", views.add, name="site-new"),
    path("import/", importing_views.import_page, name="site-import"),
    path("pick/", picking_views.pick, name="site-pick"),
    path("pick/copy/", picking_views.copy, name="site-copy"),
    path("pick/propose/", proposing_views.propose_rules, name="rules-propose"),
    path("report/", views.report, name="sites-report"),
    path("feed/<str:key>.<str:kind>", change_feeds.site_feed, name="site-feed"),
    path("feed/<str:key>/<int:page>.<str:kind>", change_feeds.page_feed, name="site-page-feed"),
    path("<int:pk>/", views.site_page, name="site"),
    path("<int:pk>/act/", views.act, name="site-act"),
    path("<int:pk>/settings/", views.settings, name="site-settings"),
    path("<int:pk>/history.jsonl.gz", history_views.history_file, name="site-history"),
    path("<int:pk>/methods/", history_views.methods, name="site-methods"),
    path("<int:pk>/pages/", views.page_list, name="site-pages"),
    path("<int:pk>/pages/<int:page>/", page_views.page_history, name="site-page"),
    path("<int:pk>/pages/<int:page>/versions/", views.page_versions, name="page-versions"),
    path("<int:pk>/pages/<int:page>/versions.warc.gz", views.page_warc, name="page-warc"),
    path("<int:pk>/pages/<int:page>/picture/", views.page_picture, name="page-picture"),
    path("<int:pk>/pages/<int:page>/picture/<int:version>/", views.page_picture, name="version-picture"),
    path("<int:pk>/visits/<int:number>/", views.visit_page, name="site-visit"),
    path("<int:pk>/changes/", views.change_list, name="site-changes"),
    path("<int:pk>/changes/<int:number>/", views.change_page, name="site-change"),
]
