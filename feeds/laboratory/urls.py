"""URLs of the policy laboratory."""

from django.urls import path

from feeds.laboratory import views

urlpatterns = [
    path("", views.laboratory, name="laboratory"),
    path("full/", views.full, name="laboratory-full"),
    path("set/", views.set_budget, name="laboratory-set"),
    path("start/", views.start, name="experiment-start"),
    path("<int:pk>/", views.experiment, name="experiment"),
    path("<int:pk>/change/", views.change, name="experiment-change"),
]
