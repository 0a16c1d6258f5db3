"""URLs of moving in under /me/move/."""

from __future__ import annotations

from django.urls import path

from articles.moving import views

urlpatterns = [
    path("", views.moving_in, name="moving-in"),
    path("out.zip", views.moving_out, name="moving-out"),
    path("<int:pk>/", views.one_move, name="move"),
    path("<int:pk>/stop/", views.stop_move, name="move-stop"),
]
