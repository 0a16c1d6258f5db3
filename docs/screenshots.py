"""Pictures of every page, light, dark and at phone width, from an invented deployment.

    python docs/screenshots.py [--to DIRECTORY] [--only PAGE...]

Needs Chromium and the development requirements. Uses a database of its own, which goes afterwards: on
DATABASE_URL's server where that is set, else on an embedded one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings")
os.environ.setdefault("CELERY_BROKER_URL", "memory://")
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@contextmanager
def server() -> Iterator[str]:
    """The address of a server with the invented deployment behind it."""
    import django  # noqa: PLC0415 - the environment must name the database first

    django.setup()
    from django.conf import settings  # noqa: PLC0415
    from django.contrib.staticfiles.testing import StaticLiveServerTestCase  # noqa: PLC0415
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases  # noqa: PLC0415

    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    setup_test_environment()
    old = setup_databases(verbosity=0, interactive=False)
    from tests.demo import seed  # noqa: PLC0415

    seed(datetime.now(UTC))
    StaticLiveServerTestCase.setUpClass()
    try:
        yield str(StaticLiveServerTestCase.live_server_url)
    finally:
        StaticLiveServerTestCase.tearDownClass()
        teardown_databases(old, verbosity=0)


@contextmanager
def database() -> Iterator[None]:
    """DATABASE_URL as given, or an embedded server in a directory that goes afterwards."""
    if os.environ.get("DATABASE_URL"):
        yield
        return
    from crawler.postgresql.postgresql import PostgreSQL  # noqa: PLC0415

    data_dir = Path(tempfile.mkdtemp(prefix="freshet-pictures-"))
    data_dir.chmod(0o711)
    embedded = PostgreSQL(data_dir, {"fsync": "off"})
    embedded.start()
    os.environ |= {"DATABASE_URL": embedded.credentials.database_url, "DATA_DIR": str(data_dir / "data")}
    try:
        yield
    finally:
        embedded.stop()
        shutil.rmtree(data_dir, ignore_errors=True)


def pages() -> dict[str, str]:
    """Name and path of every page."""
    from articles.enrichment.models import Story  # noqa: PLC0415
    from articles.interest.models import Event  # noqa: PLC0415
    from articles.models import Article  # noqa: PLC0415
    from crawler.frontier.models import Crawl  # noqa: PLC0415
    from feeds.laboratory.models import Experiment  # noqa: PLC0415
    from feeds.models import Feed  # noqa: PLC0415
    from recrawl.models import Change, Site  # noqa: PLC0415

    busy = Feed.objects.get(title="The Harbour Courier")
    training = Feed.objects.get(title="Gazette du Fleuve")
    failing = Feed.objects.get(title="Marsh Observer")
    return {
        "overview": "/tools/",
        "feeds": "/feeds/",
        "feed": busy.get_absolute_url(),
        "feed-training": training.get_absolute_url(),
        "feed-failing": failing.get_absolute_url(),
        "add": "/add/",
        "articles": "/articles/",
        "search": "/search/?q=ferry+mooring",
        "article": Article.objects.filter(feed=busy, page__isnull=False).first().get_absolute_url(),  # type: ignore[union-attr]
        "health": "/tools/health/",
        "sites": "/sites/",
        "site": Site.objects.get(state="watched").get_absolute_url(),
        "site-page": Change.objects.latest("id").page.get_absolute_url(),
        "change": Change.objects.latest("id").get_absolute_url(),
        "change-side": f"{Change.objects.latest('id').get_absolute_url()}?view=side",
        "methods": f"{Site.objects.get(state='watched').get_absolute_url()}methods/",
        "planning": "/planning/",
        "logins": "/logins/",
        "opinions": "/feeds/opinions/",
        "crawls": "/crawls/",
        "crawl": Crawl.objects.latest("id").get_absolute_url(),
        "pipeline": "/pipeline/",
        "links": "/pipeline/links/?dry=1",
        "graph": "/graph/?q=harbour",
        "entity": "/graph/entity/?iri=https://courier.example/graph/1",
        "laboratory": "/lab/",
        "experiment": f"{Experiment.objects.latest('id').get_absolute_url()}?delay=120",
        "reading-list": "/me/",
        "by-interest": "/me/?order=interest",
        "following": "/me/following/",
        "personal-feeds": "/me/personal/",
        "interests": "/me/interest/",
        "why": f"/me/interest/why/{Event.objects.filter(kind='opened').latest('id').article_id}/",
        "readers": "/me/readers/",
        "account": "/me/account/",
        "enrichment": "/articles/enrichment/",
        "story": Story.objects.earliest("id").get_absolute_url(),
        "api": "/api/docs/",
    }


def take(address: str, to: Path, only: list[str]) -> None:
    """Sign in once per appearance and picture each page whole."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    looks = (("light", "light", WIDE), ("dark", "dark", WIDE), ("phone", "light", PHONE))
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    wanted = {name: path for name, path in pages().items() if not only or name in only}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for look, scheme, viewport in looks:
            page = browser.new_page(viewport=viewport, color_scheme=scheme)  # type: ignore[arg-type]
            page.goto(f"{address}/accounts/login/")
            if look == "light" and not only:
                page.screenshot(path=to / "login-light.png")
            page.fill("[name=username]", "keeper")
            page.fill("[name=password]", "water")
            page.click("button[type=submit]")
            for name, path in wanted.items():
                page.goto(f"{address}{path}")
                page.wait_for_load_state("networkidle")
                page.screenshot(path=to / f"{name}-{look}.png", full_page=True)
            page.close()
        browser.close()


def main() -> None:
    """Take the pictures that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=ROOT / "var" / "screenshots")
    parser.add_argument("--only", nargs="*", default=[], metavar="PAGE")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    with database(), server() as address:
        take(address, options.to, options.only)


if __name__ == "__main__":
    main()
