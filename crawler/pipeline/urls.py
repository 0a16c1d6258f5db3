"""Addresses of the pages about the pipeline."""

from django.urls import path

from crawler.pipeline import stylesheet_views, views

urlpatterns = [
    path("", views.pipeline_page, name="pipeline"),
    path("documents/", views.document_list, name="documents"),
    path("again/", views.send_again, name="documents-again"),
    path("links/", views.links, name="pipeline-links"),
    path("links/change/", views.change_links, name="pipeline-links-change"),
    path("stylesheets/", stylesheet_views.stylesheet_list, name="pipeline-stylesheets"),
    path("stylesheets/try/", stylesheet_views.try_stylesheet, name="pipeline-stylesheets-try"),
    path("stylesheets/keep/", stylesheet_views.keep_stylesheet, name="pipeline-stylesheets-keep"),
    path("stylesheets/<int:pk>/", stylesheet_views.change_stylesheet, name="pipeline-stylesheet"),
]
