"""URL of the callback for hubs."""

from django.urls import path

from feeds.websub import views

urlpatterns = [path("<str:token>/", views.callback, name="websub")]
