"""A crawl of one host on loopback, the whole way, beside Scrapy in the same run.

    python benchmarks/crawl.py [--pages 5000] [--skip-scrapy]

Pages of 20 KB with 30 links each, robots.txt asked for, no pause between requests. Freshet fetches, extracts
links, keeps bodies and holds its queue in an embedded PostgreSQL of its own; Scrapy (from PyPI, in a virtual
environment kept in var/benchmarks) follows the same links and writes the bodies to files. Processor time is
that of the crawler's process, and for Freshet that of PostgreSQL's processes beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))

from benchmarks.goals import Goal  # noqa: E402
from benchmarks.processes import family, processor_seconds  # noqa: E402

SPIDER = """
import hashlib, pathlib, sys
import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

class Pages(scrapy.Spider):
    name = "pages"
    start_urls = [sys.argv[1]]
    custom_settings = {"ROBOTSTXT_OBEY": True, "LOG_LEVEL": "ERROR", "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
                       "DOWNLOAD_DELAY": 0, "TELNETCONSOLE_ENABLED": False, "RETRY_ENABLED": True}
    links = LinkExtractor()
    seen = 0

    def parse(self, response):
        type(self).seen += 1
        folder = pathlib.Path(sys.argv[2])
        (folder / hashlib.sha1(response.body).hexdigest()).write_bytes(response.body)
        for link in self.links.extract_links(response):
            yield response.follow(link, self.parse)

process = CrawlerProcess()
process.crawl(Pages)
process.start()
print(Pages.seen)
"""


def main() -> None:
    """Both crawlers after each other, and their ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--skip-scrapy", action="store_true")
    options = parser.parse_args()
    command = [sys.executable, str(HERE / "page_server.py"), str(options.pages)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    seed = f"http://127.0.0.1:{int(server.stdout.readline())}/0"
    try:
        print("crawler   pages  pages/s  CPU ms a page  PostgreSQL ms a page")
        ours = _freshet(seed)
        if not options.skip_scrapy:
            theirs = _scrapy(seed)
            ratio = sum(ours) / theirs
            print(Goal("processor time of all processes, of Scrapy's", ratio, 0.35, "x", most=True))
    finally:
        server.kill()


def _freshet(seed: str) -> tuple[float, float]:
    """Return milliseconds of processor time a page: of the crawler's process and of PostgreSQL's."""
    directory = Path(tempfile.mkdtemp(prefix="freshet-crawl-"))
    directory.chmod(0o711)
    from crawler.postgresql.postgresql import PostgreSQL

    database = PostgreSQL(directory)
    database.start()
    known = {
        **os.environ,
        "DATABASE_URL": database.credentials.database_url,
        "CELERY_BROKER_URL": "memory://",
        "DATA_DIR": str(directory / "data"),
        "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
        "FETCH_HOST_SPACING_SECONDS": "0",
    }
    manage = [sys.executable, str(ROOT / "manage.py")]
    try:
        subprocess.run([*manage, "migrate", "-v0"], env=known, check=True)
        servers = [int(pid) for pid in _postgres_pids(directory)]
        before = _of_servers(servers)
        started = time.perf_counter()
        crawl = subprocess.Popen(
            [*manage, "crawl", seed, "--anywhere", "--json"], env=known, stdout=subprocess.PIPE, text=True
        )
        assert crawl.stdout is not None
        told = json.loads(crawl.stdout.read())
        _, _, used = os.wait4(crawl.pid, 0)
        seconds = time.perf_counter() - started
        pages = int(told["crawled"])
        cpu = (used.ru_utime + used.ru_stime) / pages * 1000
        server = (_of_servers(servers) - before) / pages * 1000
        print(f"freshet {pages:7} {pages / seconds:8.0f} {cpu:14.2f} {server:21.2f}", flush=True)
        return cpu, server
    finally:
        database.stop()
        shutil.rmtree(directory, ignore_errors=True)


def _postgres_pids(directory: Path) -> list[str]:
    """The postmaster of a cluster in this directory."""
    return [path.read_text().split()[0] for path in directory.rglob("postmaster.pid")]


def _of_servers(pids: list[int]) -> float:
    """Seconds of processor time of the servers, their living children and those that have ended."""
    return sum(processor_seconds(family(pid)) for pid in pids)


def _scrapy(seed: str) -> float:
    """The same for Scrapy."""
    kept = ROOT / "var" / "benchmarks" / "scrapy"
    python = kept / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(kept)], check=True)
        subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", "scrapy"], check=True, stderr=subprocess.DEVNULL
        )
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "spider.py"
        script.write_text(SPIDER)
        started = time.perf_counter()
        command = [str(python), str(script), seed, folder]
        spider = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert spider.stdout is not None
        pages = int(spider.stdout.read().split()[-1])
        _, _, used = os.wait4(spider.pid, 0)
        seconds = time.perf_counter() - started
    cpu = (used.ru_utime + used.ru_stime) / pages * 1000
    print(f"Scrapy  {pages:7} {pages / seconds:8.0f} {cpu:14.2f}", flush=True)
    return cpu


if __name__ == "__main__":
    main()
