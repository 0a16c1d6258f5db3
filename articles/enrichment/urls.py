"""URLs of the pages about enrichment and stories."""

from django.urls import path

from articles.enrichment import views

urlpatterns = [
    path("enrichment/", views.overview, name="enrichment"),
    path("stories/", views.story_list, name="stories"),
    path("stories/first/", views.firsts, name="firsts"),
    path("stories/<int:pk>/", views.story, name="story"),
    path("stories/<int:pk>/export/", views.export_story, name="story-export"),
    path("stories/<int:pk>/apart/", views.take_story_apart, name="story-apart"),
    path("<int:pk>/leave-story/", views.leave_story, name="leave-story"),
    path("<int:pk>/join-story/", views.join_again, name="join-story"),
]
