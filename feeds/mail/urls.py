"""URLs of newsletters under /newsletters/."""

from __future__ import annotations

from django.urls import path

from crawler.web.pages import moved
from feeds.mail import views

urlpatterns = [
    path("", moved(views.newsletters, "newsletters")),
    path("addresses/", views.new_address, name="mail-address-new"),
    path("addresses/<int:pk>/delete/", views.delete_address, name="mail-address-delete"),
    path("mailboxes/", views.new_mailbox, name="mailbox-new"),
    path("mailboxes/<int:pk>/delete/", views.delete_mailbox, name="mailbox-delete"),
    path("requests/<int:pk>/done/", views.request_done, name="subscription-request-done"),
    path("<int:pk>/follow/", views.decide, {"action": "follow"}, name="newsletter-follow"),
    path("<int:pk>/refuse/", views.decide, {"action": "refuse"}, name="newsletter-refuse"),
    path("<int:pk>/unsubscribe/", views.unsubscribe, name="newsletter-unsubscribe"),
]
