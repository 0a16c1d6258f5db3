"""URLs of notifications under /me/notifications/."""

from __future__ import annotations

from django.urls import path

from crawler.notices import views
from crawler.web.pages import moved

urlpatterns = [
    path("", moved(views.notifications, "notifications")),
    path("new/", views.rule_page, name="notification-new"),
    path("log/", views.log, name="notification-log"),
    path("export.json", views.export, name="notification-export"),
    path("targets/new/", views.new_target, name="target-new"),
    path("targets/<int:pk>/delete/", views.delete_target, name="target-delete"),
    path("push/", views.subscribe, name="push-subscribe"),
    path("stop/<str:token>/", views.stop, name="notification-stop"),
    path("<int:pk>/", views.rule_page, name="notification"),
    path("<int:pk>/test/", views.test_state, name="notification-test"),
    path("<int:pk>/<str:action>/", views.change_rule, name="notification-change"),
]
