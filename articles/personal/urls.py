"""URLs of the subscriber's own pages under /me/."""

from __future__ import annotations

from django.urls import path, re_path

from articles.personal import reading_views as reading
from articles.personal import views
from crawler.web.pages import moved

urlpatterns = [
    path("", reading.reading_list, name="me"),
    path("read/<int:pk>/<str:word>/", reading.mark, name="me-mark"),
    path("account/", moved(views.account, "me-account")),
    path("account/export/", views.export_account, name="me-export-account"),
    path("account/export.zip", views.export_archive, name="me-export-archive"),
    path("account/import/", views.import_archive, name="me-import-archive"),
    path("following/", views.feeds, name="me-feeds"),
    path("following/opml/", views.export_opml, name="me-export-opml"),
    path("following/all/", views.follow_all_here, name="me-follow-all"),
    path("following/opml/import/", views.import_opml, name="me-import-opml"),
    path("following/folders/", views.new_folder, name="me-new-folder"),
    path("following/folders/remove/", views.remove_folder, name="me-remove-folder"),
    path("following/topics/", views.follow_topic, name="me-follow-topic"),
    path("following/topics/<int:pk>/unfollow/", views.unfollow_topic, name="me-unfollow-topic"),
    path("following/<int:pk>/", views.subscription, name="me-subscription"),
    path("following/<int:pk>/unfollow/", views.unfollow_feed, name="me-unfollow"),
    path("follow/<int:pk>/", views.follow_known, name="me-follow"),
    path("personal/", moved(views.personal_feeds, "me-personal-feeds")),
    path("personal/new/", views.edit_personal_feed, name="me-new-personal-feed"),
    path("personal/<int:pk>/", views.edit_personal_feed, name="me-personal-feed"),
    re_path(
        r"^personal/(?P<pk>\d{1,18})/(?P<change>rotate|revoke|delete)/$",
        views.change_address,
        name="me-change-address",
    ),
]
