"""Pictures of every page, light, dark and at phone width, from an invented deployment.

    python docs/screenshots.py [--to DIRECTORY] [--only PAGE...]
    python docs/screenshots.py --readme      # draws docs/read.png anew, the picture of the README

The README's picture wants fonts for Japanese and for emoji (fonts-noto-cjk, fonts-noto-color-emoji).

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
        "read": "/read/",
        "by-interest": "/read/?order=interest",
        "following": "/me/following/",
        "settings": "/settings/",
        "personal-feeds": "/settings/own/",
        "interests": "/settings/interests/",
        "budget": "/settings/budget/",
        "why": f"/me/interest/why/{Event.objects.filter(kind='opened').latest('id').article_id}/",
        "apps": "/settings/apps/",
        "data": "/settings/data/",
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


def photographs() -> str:
    """Give an article of the demonstration two photographs, painted here, and return its path."""
    from articles.models import Article  # noqa: PLC0415
    from crawler.web.pictures.loading import picture_cache  # noqa: PLC0415
    from crawler.web.pictures.render import render  # noqa: PLC0415

    row = Article.objects.filter(feed__title="The Harbour Courier", page__isnull=False).latest("published")
    addresses = [f"https://courier.example/photographs/{number}.jpg" for number in (1, 2)]
    for number, address in enumerate(addresses):
        made = render(painted(number))
        sizes = {"full": made.full, "thumbnail": made.thumbnail, "icon": made.icon}
        picture_cache().write(address, sizes)
    figure = '<figure><img src="{}" width="1200" height="640" alt="The harbour at dusk"></figure>'
    page = row.page
    page.html = page.html or b""
    words = "".join(f"<p>{line}</p>" for line in (page.text or row.text).split("\n") if line.strip())
    page.content = figure.format(addresses[0]) + words + figure.format(addresses[1])
    page.save()
    row.title, row.image = "The harbour gets its light back", addresses[0]
    row.save()
    return f"/read/{row.pk}/?show=all&text=page"


def painted(number: int) -> bytes:
    """Paint a harbour at dusk: sky, sun, hills, water with the sun's way, and masts. Returns a JPEG."""
    import random  # noqa: PLC0415
    from io import BytesIO  # noqa: PLC0415

    from PIL import Image, ImageDraw, ImageFilter  # noqa: PLC0415

    width, height, horizon = 1200, 640, 380
    chance = random.Random(number + 3)  # noqa: S311 - a picture
    picture = Image.new("RGB", (width, height))
    draw = ImageDraw.Draw(picture)
    top, low = ((28, 52, 92), (245, 178, 122)) if number == 0 else ((60, 96, 130), (236, 214, 190))
    for y in range(height):
        share = min(y / horizon, 1.0) if y < horizon else max(1 - (y - horizon) / (height - horizon), 0.0)
        colour = tuple(round(a + (b - a) * share**1.4) for a, b in zip(top, low, strict=True))
        draw.line([(0, y), (width, y)], fill=colour if y < horizon else tuple(c * 7 // 10 for c in colour))
    sun = 820 if number == 0 else 340
    draw.ellipse([sun - 46, horizon - 96, sun + 46, horizon - 4], fill=(255, 236, 196))
    for y in range(horizon + 4, height, 5):
        spread = 18 + (y - horizon) * 0.5
        for _ in range(4):
            x = chance.gauss(sun, spread)
            draw.line([(x - spread / 3, y), (x + spread / 3, y)], fill=(255, 222, 176), width=2)
    hills = [(0, horizon)] + [(x, horizon - 30 - chance.random() * 55) for x in range(0, width + 80, 80)]
    draw.polygon([*hills, (width, horizon)], fill=(34, 46, 66))
    picture = picture.filter(ImageFilter.GaussianBlur(1.6))
    draw = ImageDraw.Draw(picture)
    draw.rectangle([0, 560, width, height], fill=(22, 28, 36))
    for x in range(60, width, 150):
        mast = chance.randrange(170, 330)
        draw.polygon([(x - 44, 548), (x + 50, 548), (x + 34, 574), (x - 30, 574)], fill=(18, 22, 30))
        draw.line([(x, 550), (x, 550 - mast)], fill=(18, 22, 30), width=5)
        draw.line([(x, 550 - mast), (x + 46, 548)], fill=(40, 46, 58), width=2)
        draw.ellipse([x - 4, 546 - mast, x + 4, 554 - mast], fill=(255, 214, 140))
    body = BytesIO()
    picture.save(body, "JPEG", quality=90)
    return body.getvalue()


def draw_readme(address: str, to: Path) -> None:
    """Draw the README's picture: an article on a desk, the same on a phone in the dark, and a change."""
    from io import BytesIO  # noqa: PLC0415

    from PIL import Image, ImageDraw, ImageFilter  # noqa: PLC0415
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    article, change = photographs(), pages()["change"]
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    shots: dict[str, Image.Image] = {}
    views = (
        ("desk", article, "light", {"width": 1280, "height": 860}),
        ("phone", article, "dark", {"width": 390, "height": 800}),
        ("change", change, "light", {"width": 560, "height": 470}),
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, path, scheme, viewport in views:
            page = browser.new_page(viewport=viewport, color_scheme=scheme)  # type: ignore[arg-type]
            page.goto(f"{address}/accounts/login/")
            page.fill("[name=username]", "keeper")
            page.fill("[name=password]", "water")
            page.click("button[type=submit]")
            page.goto(f"{address}{path}")
            page.wait_for_load_state("networkidle")
            shots[name] = Image.open(BytesIO(page.screenshot())).convert("RGB")
            page.close()
        browser.close()
    canvas = Image.new("RGB", (1600, 1000), (223, 236, 233))
    for name, place in (("desk", (40, 40)), ("change", (600, 500)), ("phone", (1180, 150))):
        shot = shots[name]
        shadow = Image.new("L", canvas.size, 0)
        box = [place[0] - 2, place[1] + 8, place[0] + shot.width + 2, place[1] + shot.height + 18]
        ImageDraw.Draw(shadow).rounded_rectangle(box, 16, fill=90)
        canvas.paste((70, 90, 90), (0, 0), shadow.filter(ImageFilter.GaussianBlur(14)))
        mask = Image.new("L", shot.size, 0)
        ImageDraw.Draw(mask).rounded_rectangle([0, 0, shot.width - 1, shot.height - 1], 14, fill=255)
        canvas.paste(shot, place, mask)
    canvas.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.FLOYDSTEINBERG).save(to, optimize=True)


def main() -> None:
    """Take the pictures that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=ROOT / "var" / "screenshots")
    parser.add_argument("--only", nargs="*", default=[], metavar="PAGE")
    parser.add_argument("--readme", action="store_true", help="draw docs/read.png anew")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    with database(), server() as address:
        if options.readme:
            draw_readme(address, ROOT / "docs" / "read.png")
        else:
            take(address, options.to, options.only)


if __name__ == "__main__":
    main()
