"""Addresses of the pages of Settings, whichever app each belongs to."""

from __future__ import annotations

from django.urls import path

from articles.greader.me_views import readers
from articles.interest.views import learned
from articles.personal.views import account, personal_feeds
from crawler.accounts.views import security, sign_up
from crawler.notices.rules.views import rules_page
from crawler.notices.views import notifications
from crawler.operation.site import settings_views as views
from crawler.operation.site.more_settings_view import more
from feeds.mail.views import newsletters

urlpatterns = [
    path("", views.index, name="settings"),
    path("reading/", views.reading, name="settings-reading"),
    path("language/", views.language, name="settings-language"),
    path("account/", security, name="account-security"),
    path("rules/", rules_page, name="rules"),
    path("notifications/", notifications, name="notifications"),
    path("interests/", learned, name="interest-learned"),
    path("apps/", readers, name="me-readers"),
    path("newsletters/", newsletters, name="newsletters"),
    path("own/", personal_feeds, name="me-personal-feeds"),
    path("data/", account, name="me-account"),
    path("budget/", views.budget, name="settings-budget"),
    path("retention/", views.retention, name="settings-retention"),
    path("mail/", views.mail, name="settings-mail"),
    path("more/", more, name="settings-more"),
    path("signup/", sign_up, name="settings-signup"),
]
