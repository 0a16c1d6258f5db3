"""Addresses of the pages about the graph."""

from django.urls import path

from crawler.pipeline import graph_views as views
from crawler.pipeline.sparql.endpoint import SparqlView

urlpatterns = [
    path("", views.graph, name="graph"),
    path("entity/", views.entity_page, name="graph-entity"),
    path("query/", views.query_page, name="graph-query"),
    path("questions/", views.question_list, name="graph-questions"),
    path("questions/<slug:slug>/", views.question_page, name="graph-question"),
    path("query/save/", views.save_query, name="graph-query-save"),
    path("query/<int:pk>/delete/", views.delete_query, name="graph-query-delete"),
    path("sparql", SparqlView.as_view(), name="sparql"),
    path("export.<str:form>", views.export, name="graph-export"),
]
