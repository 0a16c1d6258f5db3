"""The table of kinds of work. A new one is a line in KINDS.

Everything goes by the product's API and pages, so that tests and benchmark share it.
"""

from __future__ import annotations

from benchmarks.hostile.kind import Kind
from benchmarks.hostile.of_crawls import (
    ask,
    askable,
    begin_crawl,
    begin_documents,
    begin_robots,
    look_at_answers,
    look_at_crawl,
    look_at_documents,
    look_at_robots,
    pages_site,
    robots_site,
)
from benchmarks.hostile.of_feeds import (
    articles_site,
    begin_articles,
    begin_feeds,
    begin_hubs,
    feeds_site,
    hub_site,
    look_at_articles,
    look_at_feeds,
    look_at_hubs,
    look_at_pushes,
    push,
    pushable,
)
from benchmarks.hostile.of_notices import begin_hooks, hooks_site, look_at_hooks
from benchmarks.hostile.of_sites import (
    begin_lists,
    begin_sites,
    chosen_pages,
    for_browsers,
    look_at_lists,
    look_at_mapping,
    look_at_sources,
    look_at_watched,
    visit,
    watched_site,
)

KINDS: tuple[Kind, ...] = (
    Kind("feed", "feed", "/poison", feeds_site, begin_feeds, look_at_feeds, every_answer=True),
    Kind("feed push", "feed", "/feed", hub_site, begin_hubs, look_at_pushes, push, pushable),
    Kind("article page", "page", "/poison", articles_site, begin_articles, look_at_articles),
    Kind("crawl URL", "page", "/poison", pages_site, begin_crawl, look_at_crawl, every_answer=True),
    Kind("mapping crawl", "page", "/poison", watched_site, begin_sites, look_at_mapping, site_wide=True),
    Kind("watched page", "page", "/poison", watched_site, begin_sites, look_at_watched, visit,
         site_wide=True),
    Kind("sitemap of a site", "sitemap", "/sitemap.xml", watched_site, begin_sites, look_at_sources, visit,
         site_wide=True),
    Kind("feed of a site", "feed", "/feed", watched_site, begin_sites, look_at_sources, visit,
         site_wide=True),
    Kind("chosen page", "page", "/poison", chosen_pages, begin_lists, look_at_lists, every_answer=True),
    Kind("page in a browser", "app", "/poison", chosen_pages, begin_lists, look_at_lists,
         concerned=for_browsers),
    Kind("robots.txt", "robots", "/robots.txt", robots_site, begin_robots, look_at_robots, every_answer=True),
    Kind("hub", "hub", "/hub", hub_site, begin_hubs, look_at_hubs, every_answer=True),
    Kind("document", "page", "/poison", pages_site, begin_documents, look_at_documents),
    Kind("graph query", "page", "/poison", pages_site, begin_documents, look_at_answers, ask, askable,
         early=True),
    Kind("webhook target", "hub", "/hook", hooks_site, begin_hooks, look_at_hooks),
)  # fmt: skip
