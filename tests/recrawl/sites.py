"""A small site on loopback that tests change between visits."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from recrawl.inline import work_off
from recrawl.models import Change, Site, Visit
from recrawl.visiting.mapping import add_site
from recrawl.visiting.visits import begin
from tests.servers import Reply, Request, WebServer


class Paper(WebServer):
    """Serves pages with validators, all with one template."""

    def __init__(self) -> None:
        super().__init__()
        self.built = "2026-01-02 10:00"
        self.write("/", "Front", "All the news", ["/news/", "/about"])
        self.write("/about", "About", "Who we are", ["/"])
        self.write("/news/", "News", "What is new", [f"/news/{name}" for name in "abcde"])
        for name in "abcde":
            self.write(f"/news/{name}", f"Story {name}", f"What {name} did", ["/news/"])

    def write(self, path: str, title: str, text: str, links: Sequence[str] = ()) -> None:
        """Put a page there, or another text into it."""

        def page(request: Request) -> Reply:
            anchors = "".join(f"<p><a href='{link}'>to {link}</a></p>" for link in links)
            body = (
                f"<!doctype html><html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p>"
                f"{anchors}<div>Built {self.built}</div></body></html>"
            ).encode()
            tag = hashlib.sha256(body).hexdigest()
            return Reply(body, headers={"Content-Type": "text/html; charset=utf-8", "ETag": f'"{tag}"'})

        self.replies[path] = page

    def sitemap(self, stamps: dict[str, str]) -> None:
        """Name these pages in a sitemap, with the times of their last change."""
        rows = "".join(
            f"<url><loc>{self.origin}{path}</loc>{f'<lastmod>{time}</lastmod>' if time else ''}</url>"
            for path, time in stamps.items()
        )
        body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
        self.replies["/sitemap.xml"] = Reply(body.encode(), headers={"Content-Type": "application/xml"})


def watch(paper: WebServer, path: str = "/", **options: Any) -> Site:
    """The site, mapped."""
    site = add_site(f"{paper.origin}{path}", **{"method": "breadth-first", "budget": 1.0, **options})
    work_off([site])
    site.refresh_from_db()
    return site


def visit(site: Site) -> Visit:
    """The next visit, done."""
    begin([site.pk], datetime.now(UTC))
    work_off([site])
    return site.visits.order_by("-number")[0]


def changes(visit: Visit) -> list[tuple[str, str]]:
    """(kind, path) of what a visit found."""
    return [(one.kind, one.page.path) for one in Change.objects.filter(visit=visit).order_by("page__url")]
