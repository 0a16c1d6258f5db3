"""URLs of the subscriber's pages about interests."""

from django.urls import path

from articles.interest import feedback_views, views
from crawler.web.pages import moved

urlpatterns = [
    path("me/interest/", moved(views.learned, "interest-learned")),
    path("me/interest/weights/", views.weights, name="interest-weights"),
    path("me/interest/log/", views.log, name="interest-log"),
    path("me/interest/log/<int:pk>/undo/", views.undo_event, name="interest-undo"),
    path("me/interest/forget/", views.forget_feature, name="interest-forget"),
    path("me/interest/remember/", views.remember_feature, name="interest-remember"),
    path("me/interest/export/", views.export_all, name="interest-export"),
    path("me/interest/reset/", views.reset_all, name="interest-reset"),
    path("me/interest/delete/", views.delete_everything, name="interest-delete"),
    path("me/interest/why/<int:pk>/", views.why, name="interest-why"),
    path("me/interest/feedback/<int:pk>/<str:kind>/", feedback_views.give, name="interest-feedback"),
    path(
        "me/interest/feedback/<int:pk>/<str:kind>/undo/", feedback_views.take_back, name="interest-take-back"
    ),
]
