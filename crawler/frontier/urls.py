"""URL patterns of the pages about crawls."""

from django.urls import path

from crawler.frontier import views

urlpatterns = [
    path("", views.crawl_list, name="crawls"),
    path("start/", views.start, name="crawl-start"),
    path("cost/", views.cost_of, name="crawl-cost"),
    path("<int:pk>/", views.crawl_page, name="crawl"),
    path("<int:pk>/change/", views.change, name="crawl-change"),
    path("<int:pk>/strategies/", views.strategies, name="crawl-strategies"),
    path("<int:pk>/pages.warc.gz", views.warc, name="crawl-warc"),
    path("<int:pk>/figures.csv", views.figures, name="crawl-figures"),
    path("<int:pk>/urls/", views.url_list, name="crawl-urls"),
]
