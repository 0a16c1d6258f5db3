"""URLs of the API under FreshRSS's and Google's paths, and of the page of readers."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from articles.greader import edits, fever, me_views, sign_in, views
from crawler.web.pages import moved

_API: list[URLPattern | URLResolver] = [
    path("token", views.token),
    path("user-info", views.user_info),
    path("subscription/list", views.subscriptions),
    path("subscription/export", views.export),
    path("subscription/edit", edits.edit_subscription),
    path("subscription/quickadd", edits.quick_add),
    path("subscription/import", edits.import_subscriptions),
    path("tag/list", views.tags),
    path("rename-tag", edits.rename_tag),
    path("disable-tag", edits.disable_tag),
    path("edit-tag", edits.edit_tag),
    path("mark-all-as-read", edits.mark_all_as_read),
    path("unread-count", views.unread_count),
    path("stream/contents", views.contents),
    path("stream/contents/", views.contents),
    path("stream/contents/<path:stream>", views.contents),
    path("stream/items/ids", views.item_ids),
    path("stream/items/contents", views.item_contents),
    path("preference/list", views.preferences),
    path("preference/stream/list", views.stream_preferences),
]
_SERVER: list[URLPattern | URLResolver] = [
    path("check/compatibility", views.compatibility, name="greader-compatibility"),
    path("accounts/ClientLogin", sign_in.client_login),
    path("reader/api/0/", include(_API)),
    path("reader/atom/<path:stream>", views.contents_as_atom),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("api/fever.php", fever.fever, name="fever-freshrss"),
    path("fever/", fever.fever, name="fever"),
    path("api/greader.php", views.user_info, name="greader-base"),
    path("api/greader.php/", include(_SERVER)),
    path("", include(_SERVER)),
    path("me/readers/", moved(me_views.readers, "me-readers")),
    path(
        "me/readers/passwords/<int:pk>/revoke/", me_views.revoke_app_password, name="me-revoke-app-password"
    ),
    path("me/readers/tokens/<int:pk>/revoke/", me_views.revoke_token, name="me-revoke-token"),
    path("me/readers/logins/<int:pk>/revoke/", me_views.revoke_login, name="me-revoke-reader"),
]
