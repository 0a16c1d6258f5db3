"""URLs of the pages about articles."""

from django.urls import path

from articles import views

urlpatterns = [
    path("", views.article_list, name="articles"),
    path("<int:pk>/", views.article_page, name="article"),
]
