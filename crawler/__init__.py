"""The Django project package and the crawl engine. Importing it reads no settings and loads no task queue."""
