"""How pages are answered while many connections sign in with ever new names.

    python -m benchmarks.signins [--connections 40] [--seconds 60]

A product of its own, with an administrator who reads. Half of the connections send the form of the sign-in
page, half knock at Google Reader's ClientLogin, all from one address, each with a new name as soon as the one
before is answered. Meanwhile /read/ is asked for ten times a second. Prints its milliseconds without and with
the sign-ins, and how these were answered. Exits with 1 when the median is over its goal, a page failed, or
more sign-ins than an address has attempts were answered with anything but 429.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import threading
import uuid
from collections import Counter
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.footprint import product_in
from benchmarks.hostile.api import Api
from benchmarks.slow_clients import Latencies, ask_repeatedly, signed_in

MAX_MEDIAN_MILLISECONDS = 300.0
MAX_CHECKED = 2 * 20
"""Attempts of an address in a window of ten minutes, of which a measurement may touch two."""
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class SignIns:
    """Connections in separate threads, each of which signs in with a new name again and again."""

    def __init__(self, port: int, count: int) -> None:
        self._base = f"http://127.0.0.1:{port}"
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._sign_in_again, args=(number,), daemon=True)
            for number in range(count)
        ]
        self.statuses: Counter[int] = Counter()

    def __enter__(self) -> SignIns:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(70)

    def _sign_in_again(self, number: int) -> None:
        api = Api(self._base)
        form = api.page("/accounts/login/").body.decode()
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        token = found[1] if found else ""
        while not self._stop.is_set():
            try:
                self.statuses[_sign_in(api, token, by_page=number % 2 == 0)] += 1
            except OSError:
                self.statuses[0] += 1


def _sign_in(api: Api, token: str, *, by_page: bool) -> int:
    """Sign in with a name that nobody has, by the page or as a reader app. Returns the status."""
    name, password = uuid.uuid4().hex, "not the one"
    if by_page:
        cookies = "; ".join(f"{cookie}={value}" for cookie, value in api.cookies.items())
        headers = {**FORM, "Cookie": cookies, "Referer": f"{api.base}/accounts/login/"}
        fields = {"username": name, "password": password, "csrfmiddlewaretoken": token}
        return api.request("POST", "/accounts/login/", urlencode(fields).encode(), headers).status
    fields = {"Email": name, "Passwd": password}
    return api.request("POST", "/accounts/ClientLogin", urlencode(fields).encode(), FORM).status


def main() -> int:
    """Run the product, measure without and with sign-ins, print what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--connections", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="freshet-signins-"))
    work.chmod(0o711)
    with product_in(work) as product:
        product.start()
        api = signed_in(product)
        _print("no sign-ins", _read(api, min(options.seconds, 10)))
        with SignIns(product.port, options.connections) as sign_ins:
            pages = _read(api, options.seconds)
        _print(f"{options.connections} connections that sign in", pages)
    statuses = sign_ins.statuses
    print("sign-ins by status:", ", ".join(f"{status}: {n}" for status, n in sorted(statuses.items())))
    checked = statuses.total() - statuses[429]
    is_good = pages.at(0.5) <= MAX_MEDIAN_MILLISECONDS and not pages.failures and checked <= MAX_CHECKED
    return 0 if is_good else 1


def _read(api: Api, seconds: float) -> Latencies:
    return ask_repeatedly(api, {"read": "/read/"}, seconds)["read"]


def _print(situation: str, pages: Latencies) -> None:
    p50, p95, most = (f"{pages.at(share):.0f}" for share in (0.5, 0.95, 1.0))
    count = len(pages.milliseconds)
    print(
        f"{situation}: /read/ p50 {p50} ms, p95 {p95} ms, max {most} ms, {pages.failures} of {count} failed"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
