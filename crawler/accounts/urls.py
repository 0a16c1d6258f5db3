"""URLs of accounts under /accounts/ and /people/, and of the sign-in for assistants."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import include, path

from crawler.accounts import views
from crawler.web.pages import moved

urlpatterns = [
    path("accounts/login/", views.SignIn.as_view(), name="login"),
    path("accounts/logout/", LogoutView.as_view(next_page="login"), name="logout"),
    path("accounts/signup/", views.Join.as_view(), name="account_signup"),
    path("accounts/password/reset/", views.ForgottenPassword.as_view(), name="forgotten-password"),
    path("accounts/password/own/", views.own_password, name="account-own-password"),
    path("accounts/join/<str:secret>/", views.join, name="join"),
    path("accounts/oidc/<str:provider_id>/login/", views.to_provider, name="openid_connect_login"),
    path("accounts/security/", moved(views.security, "account-security")),
    path("accounts/security/end/<int:pk>/", views.end_session, name="account-end-session"),
    path("accounts/choices/", views.keep_choices, name="account-choices"),
    path("accounts/leave/", views.leave, name="account-leave"),
    path("accounts/", include("allauth.urls")),
    path("", include("crawler.accounts.assistants.urls")),
    path("people/", views.people, name="people"),
    path("people/<int:pk>/role/", views.change_role, name="person-role"),
    path("people/<int:pk>/link/", views.new_link, name="person-link"),
    path("people/<int:pk>/close/", views.close_account, name="person-close"),
    path("people/invitations/<int:pk>/revoke/", views.revoke, name="invitation-revoke"),
]
