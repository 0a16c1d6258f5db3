"""URLs of pictures under /img/."""

from __future__ import annotations

from django.urls import path

from crawler.web.pictures import views

urlpatterns = [path("<str:size>/", views.picture, name="picture")]
