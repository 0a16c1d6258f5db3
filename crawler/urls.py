"""The project's URLs."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from crawler.accounts.views import admin_sign_in
from crawler.assistants.views import mcp
from crawler.notices.hub_views import hub
from crawler.operation.site import health, logins, news_views, search, status_views, views
from crawler.web import web_app
from crawler.web.pages import moved
from crawler.web.undo import undo
from feeds.icons import feed_icon
from feeds.mail.inbound import inbound
from feeds.pages import adding_views, planning_views

admin.autodiscover()
admin.site.login = admin_sign_in  # type: ignore[method-assign]  # with second factors

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.home, name="home"),
    path("tools/", views.overview, name="overview"),
    path("overview/tiles/", views.overview_tiles, name="overview-tiles"),
    path("overview/visits/", views.overview_visits, name="overview-visits"),
    path("overview/hours.json", views.overview_hours, name="overview-hours"),
    path("status/", status_views.status, name="status"),
    path("new/", news_views.news_page, name="news"),
    path("new/seen/", news_views.news_seen, name="news-seen"),
    path("undo/", undo, name="undo"),
    path("search/", search.search, name="search"),
    path("search/export/", search.export, name="search-export"),
    path("search/keep/", search.keep, name="search-keep"),
    path("search/forget/", search.forget, name="search-forget"),
    path("add/", adding_views.add, name="add"),
    path("add/rules/", adding_views.rules, name="add-rules"),
    path("add/<int:pk>/", adding_views.import_page, name="feed-import"),
    path("add/<int:pk>/<int:line>/", adding_views.mend, name="feed-import-line"),
    path("feeds/", include("feeds.urls")),
    path("articles/", include("articles.urls")),
    path("articles/", include("articles.enrichment.urls")),
    path("about/", include("articles.things.urls")),
    path("health/", moved(views.feed_health, "feed-health")),
    path("tools/health/", views.feed_health, name="feed-health"),
    path("tools/health/details/", views.health_details, name="health-details"),
    path("tools/health/<str:group>/<str:action>/", views.health_deed, name="health-deed"),
    path("tools/kept/", views.kept_page, name="kept"),
    path("planning/", planning_views.planning, name="planning"),
    path("logins/", logins.logins, name="logins"),
    path("logins/<int:pk>/forget/", logins.forget_login, name="login-forget"),
    path("crawls/", include("crawler.frontier.urls")),
    path("pipeline/", include("crawler.pipeline.urls")),
    path("graph/", include("crawler.pipeline.graph_urls")),
    path("sites/", include("recrawl.urls")),
    path("websub/hub/", hub, name="websub-hub"),
    path("websub/", include("feeds.websub.urls")),
    path("newsletters/", include("feeds.mail.urls")),
    path("inbound/<str:key>/", inbound, name="inbound-mail"),
    path("lab/", include("feeds.laboratory.urls")),
    path("", include("articles.interest.urls")),
    path("img/icon/<int:pk>/<str:signature>/", feed_icon, name="feed-icon"),
    path("manifest.webmanifest", web_app.manifest, name="manifest"),
    path("worker.js", web_app.worker, name="worker"),
    path("img/", include("crawler.web.pictures.urls")),
    path("", include("articles.saved.urls")),
    path("", include("articles.edits.urls")),
    path("", include("articles.modelled.urls")),
    path("", include("articles.meaning.urls")),
    path("read/", include("articles.reader.urls")),
    path("settings/", include("crawler.operation.site.settings_urls")),
    path("me/notifications/", include("crawler.notices.urls")),
    path("me/rules/", include("crawler.notices.rules.urls")),
    path("me/move/", include("articles.moving.urls")),
    path("me/", include("articles.personal.urls")),
    path("personal/", include("articles.personal.feed_urls")),
    path("", include("articles.greader.urls")),
    path("api/", include("crawler.api")),
    path("mcp", mcp, name="mcp"),
    path("", include("crawler.accounts.urls")),
    path("admin/", admin.site.urls),
    path("healthz", health.healthz, name="healthz"),
    path("metrics", health.metrics, name="metrics"),
]

handler400 = "crawler.web.refusals.bad_request"
handler403 = "crawler.web.refusals.permission_denied"
handler404 = "crawler.web.refusals.not_found"
handler429 = "crawler.web.refusals.too_many_requests"  # for allauth's limits
handler500 = "crawler.web.refusals.server_error"
