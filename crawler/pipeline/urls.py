"""Addresses of the pages about the pipeline."""

from django.urls import path

from crawler.pipeline import views

urlpatterns = [
    path("", views.pipeline_page, name="pipeline"),
    path("documents/", views.document_list, name="documents"),
    path("again/", views.send_again, name="documents-again"),
    path("links/", views.links, name="pipeline-links"),
    path("links/change/", views.change_links, name="pipeline-links-change"),
]
