"""URLs of rules about articles under /me/rules/."""

from __future__ import annotations

from django.urls import path

from crawler.notices.rules import views
from crawler.web.pages import moved

urlpatterns = [
    path("", moved(views.rules_page, "rules")),
    path("new/", views.rule_page, name="rule-new"),
    path("<int:pk>/", views.rule_page, name="rule"),
    path("<int:pk>/<str:action>/", views.change_rule, name="rule-change"),
]
