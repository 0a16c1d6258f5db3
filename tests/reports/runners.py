"""What each line of tests/reports/*.jsonl is given to: a function of its input that returns what is compared.

A runner calls the product's own functions. Those in WHOLE_WAY go through the database and a web server on
loopback; all others are pure. Times are ISO 8601 in UTC.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import NAMESPACE_URL, UUID, uuid5
from zoneinfo import ZoneInfo

import msgspec
import pypdf
from django.test import override_settings
from PIL import Image
from PIL.TiffImagePlugin import IFDRational
from warcio.archiveiterator import ArchiveIterator
from warcio.warcwriter import WARCWriter

from articles.saved.files import NotSavedPages, read_saved
from crawler.failures import FetchError
from crawler.fetching.http.client import Response
from crawler.fetching.http.robots import check_allowed, kept
from crawler.fetching.http.site_lines import Robots
from crawler.fetching.http.urls import BadUrl, canonical_url, join, page_key
from crawler.frontier.orders import PageOrder
from crawler.notices.times import after_quiet_hours, last_slot
from crawler.notices.wording import filled, has_any
from crawler.pipeline.transform.dispatch import transform
from crawler.pipeline.transform.files_child import of_pdf, of_picture
from crawler.pipeline.transform.graph import SourceDocument
from crawler.reading.charset import decode
from crawler.reading.dates import epoch
from crawler.reading.detect import detect
from crawler.reading.documents import REQUEST, STATUS, FeedDocument, SourceRules
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import feed_links, parse_feed
from crawler.reading.feeds.fingerprints import compare_titles
from crawler.reading.lines import unpacked
from crawler.reading.mail import read_message, source_key
from crawler.reading.pages import extract_page
from crawler.reading.sources.data import data_feed
from crawler.reading.sources.entries import chosen_entries
from crawler.reading.sources.find import find_lists
from crawler.reading.sources.kinds import PAGE
from crawler.reading.sources.page import page_feed, tree_of
from crawler.reading.sources.read import Received, read_source
from crawler.reading.sources.sitemap import sitemap_feed, sitemaps_of_index
from crawler.text.numbers import number_in
from feeds.adding.opml import OpmlError, read_opml, write_opml
from feeds.adding.sources import feed_address, likely_feeds, other_feeds
from recrawl.terminal import listed_pages, read_document
from tests.servers import Reply, Request, WebServer

Input = Mapping[str, Any]
TIMES = frozenset({"published", "updated"})
RUNNERS: dict[str, Callable[[Input], Any]] = {}
WHOLE_WAY: dict[str, Callable[[Input], Any]] = {}
HOST = "HOST"
"""Stands for the server's own address in texts of a whole way."""


def runner(function: Callable[[Input], Any]) -> Callable[[Input], Any]:
    RUNNERS[function.__name__] = function
    return function


@runner
def photo_facts(given: Input) -> dict[str, Any]:
    """What a JPEG with these EXIF tags says: `taken`, `artist` in bytes, `gps` and `dpi` as fractions."""
    exif = Image.Exif()
    exif[0x0110] = "H1"
    exif.get_ifd(0x8769)[0x9003] = given.get("taken", "2026:03:02 12:30:45")
    artist = given.get("artist", "nobody").encode(given.get("charset", "utf-8"))
    exif[0x013B] = "@" * len(artist)  # Pillow writes ASCII alone
    if "gps" in given:
        degrees = tuple(IFDRational(*part) for part in given["gps"])
        exif.get_ifd(0x8825).update({1: "N", 2: degrees, 3: "E", 4: degrees})
    if "dpi" in given:
        exif[0x011A] = exif[0x011B] = IFDRational(*given["dpi"])
    out = io.BytesIO()
    Image.new("RGB", (6, 4)).save(out, "JPEG", exif=exif)
    return of_picture(out.getvalue().replace(b"@" * len(artist), artist))


@runner
def paper_facts(given: Input) -> dict[str, Any]:
    """What a PDF file with this information says; with `password` encrypted."""
    writer, out = pypdf.PdfWriter(), io.BytesIO()
    writer.add_blank_page(10, 10)
    writer.add_metadata({f"/{name}": value for name, value in given["info"].items()})
    if "password" in given:
        writer.encrypt(given["password"], "owner", algorithm="RC4-128")
    writer.write(out)
    return of_pdf(out.getvalue())


def whole_way(function: Callable[[Input], Any]) -> Callable[[Input], Any]:
    WHOLE_WAY[function.__name__] = function
    return function


def body_of(given: Input) -> bytes:
    """The bytes of a document: `body` (in `encoding`, by default UTF-8) or `base64`, packed with `gzip`."""
    if packed := given.get("base64") or given.get("body_base64"):
        body = base64.b64decode(packed)
    else:
        body = str(given.get("body", "")).encode(given.get("encoding", "utf-8"), "surrogateescape")
        body = body.replace(b"FILLER", b"x" * given["filler"]) if "filler" in given else body
    return gzip.compress(body) if given.get("gzip") else body


def response_of(given: Input, default_type: str) -> Response:
    return Response(
        200,
        given.get("url", "https://site.example/page"),
        {name.lower(): value for name, value in given.get("headers", {}).items()},
        body_of(given),
        content_type=given.get("content_type", default_type),
    )


def plain(value: Any, name: str = "") -> Any:
    """The value as JSON has it, with times as text."""
    if isinstance(value, float) and name in TIMES:
        return datetime.fromtimestamp(value, UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, msgspec.Struct):
        return {key: plain(getattr(value, key), key) for key in value.__struct_fields__}
    if hasattr(value, "__dataclass_fields__"):
        return {key: plain(getattr(value, key), key) for key in value.__dataclass_fields__}
    if isinstance(value, list | tuple):
        return [plain(one, name) for one in value]
    return value.decode("latin-1") if isinstance(value, bytes) else value


@runner
def feed(given: Input) -> Any:
    """A feed's document -> the feed with its entries, or {"failure"}."""
    try:
        read = parse_feed(
            body_of(given),
            url=given.get("url", "https://site.example/feed"),
            content_type=given.get("content_type", "application/xml"),
        )
    except ReadingError as error:
        return {"failure": error.kind.value}
    return plain(read)


@runner
def links(given: Input) -> Any:
    """A page -> the addresses of the feeds that it names."""
    found = feed_links(
        body_of(given),
        url=given.get("url", "https://site.example/"),
        content_type=given.get("content_type", "text/html"),
    )
    return [link.url for link in found]


@runner
def place(given: Input) -> Any:
    """A page's address, perhaps with `bridges` -> its feed, others beside it, and guesses."""
    page, bridges = given["url"], given.get("bridges", {})
    others = [feed for _, feed in other_feeds(page, bridges)]
    return {"feed": feed_address(page, bridges), "others": others, "guesses": likely_feeds(page)}


@runner
def date(given: Input) -> Any:
    """A date as written -> the moment, or None."""
    return plain(epoch(given["text"]), "published")


@runner
def page(given: Input) -> Any:
    """An article's page -> its title, text, HTML, author, time, language and picture."""
    try:
        return plain(
            extract_page(
                body_of(given),
                url=given.get("url", "https://site.example/a"),
                content_type=given.get("content_type", "text/html"),
            )
        )
    except ReadingError as error:
        return {"failure": error.kind.value}


@runner
def document(given: Input) -> Any:
    """A watched document with `parts`, `ignored` selectors -> its lines, title and offer, or {"failure"}."""
    order = PageOrder(
        parts=tuple(given.get("parts", ())), selectors=tuple(given.get("ignored", ())),
        compared=given.get("compared", "text"),
    )  # fmt: skip
    try:
        read = read_document(response_of(given, "text/html"), order, "freshet")
    except ReadingError as error:
        return {"failure": error.kind.value, "detail": error.detail}
    return {"lines": unpacked(read.lines), "title": read.title, "offer": plain(read.offer)}


@runner
def sitemap(given: Input) -> Any:
    """A sitemap or a feed -> the pages that it names, with their stamps."""
    try:
        return plain(listed_pages(response_of(given, "application/xml")))
    except ReadingError as error:
        return {"failure": error.kind.value}


@runner
def page_list(given: Input) -> Any:
    """A page -> the entries of the list that is found first in it, or of those that `rules` choose.

    With the body of the page as it was `before` only what is new by its rules.
    """
    page, rules = given.get("url", "https://site.example/blog/"), SourceRules(**given.get("rules", {}))
    content_type = given.get("content_type", "text/html")
    try:
        root = tree_of(body_of(given), content_type)
        if "before" in given:
            known = page_feed(tree_of(given["before"].encode(), "text/html"), page, rules)
            seen = compare_titles(known, b"").fingerprints
            read = read_source(Received(body_of(given), page, content_type), PAGE, rules, seen)
            return _listed(read.document)
        if rules.entry:
            return plain(chosen_entries(root, page, rules))
        lists = find_lists(root, page)
        return plain(lists[0].entries) if lists else []
    except ReadingError as error:
        return {"failure": error.kind.value}


@runner
def news_sitemap(given: Input) -> Any:
    """A sitemap -> its entries, or the addresses in an index; of one that is read `first` only the newest."""
    body, address = body_of(given), given.get("url", "https://site.example/sitemap.xml")
    try:
        if index := sitemaps_of_index(body, address):
            return {"sitemaps": [one.url for one in index]}
        is_first = given.get("first", False)
        known = b""
        if "before" in given:
            known = sitemap_feed(given["before"].encode(), address, b"", is_first=True).fingerprints
        return _listed(sitemap_feed(body, address, known, is_first=is_first))
    except ReadingError as error:
        return {"failure": error.kind.value}


@runner
def json_list(given: Input) -> Any:
    """A list in JSON, perhaps with `rules` -> its entries."""
    page, rules = given.get("url", "https://site.example/api/list"), SourceRules(**given.get("rules", {}))
    content_type = given.get("content_type", "application/json")
    try:
        return _listed(data_feed(body_of(given), page, content_type, rules))
    except ReadingError as error:
        return {"failure": error.kind.value}


def _listed(document: FeedDocument | None) -> Any:
    return None if document is None else plain(document.entries)


@runner
def robots(given: Input) -> Any:
    """A robots.txt and addresses of its site -> those that may be visited."""
    agent = given.get("agent", "Freshet/1.0")
    rules = kept(given["robots"].encode(), agent, "https://site.example", 0.0)
    if "status" in given:
        rules = Robots(given["status"], "", 0.0, "https://site.example")
    return [path for path in given["paths"] if _is_allowed(rules, path, agent)]


def _is_allowed(rules: Robots, path: str, agent: str) -> bool:
    try:
        check_allowed(rules, f"https://site.example{path}", agent)
    except FetchError:
        return False
    return True


@runner
def url(given: Input) -> Any:
    """An address, or a reference with its base -> its canonical form, or {"refused"}."""
    try:
        whole = join(given["base"], given["url"]) if "base" in given else given["url"]
        return canonical_url(whole)
    except BadUrl as error:
        return {"refused": error.reason}


@runner
def url_key(given: Input) -> str:
    """An address -> the key by which an article is known again."""
    return page_key(given["url"])


@runner
def charset(given: Input) -> Any:
    """Bytes -> their text."""
    return decode(body_of(given), given.get("content_type", ""))


@runner
def opml(given: Input) -> Any:
    """A list of feeds -> its feeds with titles and folders, or {"refused"}."""
    try:
        return plain(read_opml(body_of(given)))
    except OpmlError as error:
        return {"refused": str(error)}


@runner
def opml_again(given: Input) -> Any:
    """A list of feeds -> what is read of it when it was written anew."""
    written = write_opml(read_opml(body_of(given)), "feeds", datetime(2026, 1, 1, tzinfo=UTC))
    return plain(read_opml(written))


@runner
def number(given: Input) -> Any:
    """A text -> the first number in it."""
    return number_in(given["text"])


@runner
def newsletter(given: Input) -> Any:
    """A message of mail -> what it is read as with its `source_key`, or {"failure"}."""
    try:
        mail = read_message(body_of(given))
    except ReadingError as error:
        return {"failure": error.kind.value}
    return plain(mail) | {"source_key": source_key(mail)}


def server_of(answers: Mapping[str, Any]) -> WebServer:
    """A server with answers by path: {"status", "headers", "body" or "base64"}; HOST is its own address."""
    web = WebServer()
    for path, answer in answers.items():
        web.replies[path] = _script(web, answer)
    return web


def _script(web: WebServer, answer: Any) -> Callable[[Request], Reply]:
    def reply(request: Request) -> Reply:
        given = answer
        if "unless_cookie" in answer and answer["unless_cookie"]["cookie"] not in request.headers.get(
            "cookie", ""
        ):
            given = answer["unless_cookie"]
        wanted = answer.get("login", {})
        if any(request.headers.get(name.lower()) != value for name, value in wanted.items()):
            given = {"status": 401, "headers": {"WWW-Authenticate": "Basic realm=site"}, "body": "Sign in."}
        own = web.origin
        body = body_of(given)
        body = (
            body if "base64" in given or "body_base64" in given else body.replace(HOST.encode(), own.encode())
        )
        headers = {name: value.replace(HOST, own) for name, value in given.get("headers", {}).items()}
        return Reply(body, given.get("status", 200), headers)

    return reply


def _address(given: Input, path: str, web: WebServer) -> str:
    """The address that a person adds: `add`, which may hold a name and a password, or that of the path."""
    plain = f"{HOST}{path}" if "add" not in given else str(given["add"])
    return plain.replace(HOST, web.origin if "add" not in given else web.origin.removeprefix("http://"))


def without_host(value: Any, origin: str) -> Any:
    if isinstance(value, str):
        return value.replace(origin, HOST)
    if isinstance(value, dict):
        return {key: without_host(one, origin) for key, one in value.items()}
    return [without_host(one, origin) for one in value] if isinstance(value, list) else value


@whole_way
def fetched(given: Input) -> Any:
    """Answers of a server and a `path` -> what was fetched: status, address, text, or a failure."""
    from crawler.terminals.client import terminal_client  # noqa: PLC0415 - it reads the settings

    with server_of(given["answers"]) as web:
        try:
            got = terminal_client().get(web.origin + given["path"])
        except FetchError as error:
            return {"failure": error.kind.value, "detail": without_host(error.detail, web.origin)}
        read = {"status": got.status, "url": got.url, "body": got.body.decode("utf-8", "replace")}
        return without_host(read, web.origin)


@whole_way
def found(given: Input) -> Any:
    """Answers of a server and a `path` that a person gives -> the feeds found there, or the problem."""
    from feeds.adding.discovery import look_at  # noqa: PLC0415

    with server_of(given["answers"]) as web:
        (look,) = look_at([web.origin + given["path"]])
        told = {"feeds": [one.url for one in look.feeds], "problem": look.problem, "page": look.is_page}
        return without_host(told, web.origin)


@whole_way
def followed(given: Input) -> Any:
    """Answers of a server (`visits` at each of several visits) and a `path` -> the feed and its articles.

    `add` is the address as a person gives it, `logins` are kept before: {path: [kind, secret, name]}.
    """
    from articles.models import Article  # noqa: PLC0415
    from crawler.engine.logins import keep_login  # noqa: PLC0415
    from crawler.inline import work_off  # noqa: PLC0415
    from feeds.adding.add import add_feed  # noqa: PLC0415
    from feeds.models import Feed  # noqa: PLC0415
    from feeds.visiting.ticks import tick  # noqa: PLC0415

    visits = given.get("visits") or [given["answers"]]
    with server_of(visits[0]) as web:
        for name, login in given.get("logins", {}).items():
            keep_login(web.origin + name, *login)
        add_feed(_address(given, given["path"], web))
        for answers in visits:
            web.replies.update({path: _script(web, answer) for path, answer in answers.items()})
            Feed.objects.update(not_before=datetime.now(UTC), training_due=datetime.now(UTC))
            tick(datetime.now(UTC), everything=True)
            work_off()
        one = Feed.objects.get()
        sent = [
            {
                name: request.headers[name]
                for name in ("if-none-match", "if-modified-since")
                if name in request.headers
            }
            for request in web.requests
            if request.path == given["path"]
        ]
        rows = Article.objects.order_by("id").select_related("page")
        articles = [
            {
                "title": row.title,
                "url": row.url,
                "published": row.published.isoformat() if row.published else None,
                "author": row.author,
                "text": row.page.text if row.page else "",
            }
            for row in rows
        ]
        told = {
            "url": one.url,
            "title": one.title,
            "failure": one.failure,
            "status": one.status,
            "articles": articles,
            "sent": sent,
            "rests": bool(one.not_before and one.not_before > datetime.now(UTC) + timedelta(minutes=10)),
        }
        return without_host(told, web.origin)


@whole_way
def watched(given: Input) -> Any:
    """`settings` of a list of one page and its `versions` -> what each look after the first told.

    `change`, `none`, or `fail` with a failure's name in `failures`; `price` is the last offer's.
    """
    from django.utils import timezone  # noqa: PLC0415

    from recrawl.inline import work_off  # noqa: PLC0415
    from recrawl.models import Change, StatedOffer  # noqa: PLC0415
    from recrawl.visiting.mapping import add_pages  # noqa: PLC0415
    from recrawl.visiting.visits import begin  # noqa: PLC0415

    versions = given["versions"]
    told: list[str] = []
    failures: list[str] = []
    with server_of({"/page": versions[0]}) as web:
        if "head" in given:
            web.replies.update({path: _script(web, answer) for path, answer in given["head"].items()})
        address = _address(given, f"/page{given.get('query', '')}", web)
        site = add_pages([address], every=1.0, budget=1.0, **given.get("settings", {}))
        work_off([site])
        for version in versions[1:]:
            web.replies["/page"] = _script(web, version)
            site.refresh_from_db()
            begin([site.pk], timezone.now())
            work_off([site])
            visit = site.visits.order_by("-number").first()
            assert visit is not None
            failure = "".join(visit.checks.exclude(failure="").values_list("failure", flat=True))
            counting = Change.objects.counting().filter(visit=visit).exists()
            told.append("change" if counting else "fail" if failure else "none")
            failures.append(failure)
        site.refresh_from_db()
        offer = StatedOffer.objects.order_by("-id").first()
        return {
            "told": told,
            "failures": failures,
            "price": offer.price if offer else None,
            "state": site.state,
        }


@whole_way
def searched(given: Input) -> Any:
    """`titles` (or `articles` with title and summary) and a `query` -> the titles found, oldest first."""
    from articles.models import Article  # noqa: PLC0415
    from tests.factories import make_article, make_feed  # noqa: PLC0415

    one = make_feed("https://site.example/feed")
    for row in [*({"title": title} for title in given.get("titles", ())), *given.get("articles", ())]:
        make_article(one, **row)
    return list(Article.objects.search(given["query"]).order_by("id").values_list("title", flat=True))


@runner
def triples(given: Input) -> Any:
    """A document -> its graph as N-Triples, or {"failure"}."""
    address = given.get("url", "https://site.example/a")
    body, content_type = body_of(given), given.get("content_type", "text/html")
    try:
        kind = detect(body, content_type, address).type
        return transform(SourceDocument(address, kind, body, content_type), rdfa=True).triples
    except ReadingError as error:
        return {"failure": error.kind.value}


@runner
def worded(given: Input) -> Any:
    """A `text` and a rule's `words` -> whether one of them is in it."""
    return has_any(given["text"], given["words"])


@whole_way
def ruled(given: Input) -> Any:
    """`titles` (or `articles` with fields) and a personal feed's `filter` or a notification's `rule`.

    Returns the titles that match, oldest first. A `topic` keyword is one that a follower of no feed follows.
    """
    from django.utils import timezone  # noqa: PLC0415

    from articles.models import Article, Topic  # noqa: PLC0415
    from articles.personal.selection import followed_articles, selection  # noqa: PLC0415
    from crawler.notices.models import Rule  # noqa: PLC0415
    from crawler.notices.watching import look  # noqa: PLC0415
    from tests.factories import make_article, make_feed, make_personal_feed, make_subscriber  # noqa: PLC0415

    one = make_feed("https://site.example/feed", title="Feed")
    follower = make_subscriber("reader", *([] if "topic" in given else [one]))
    now = timezone.now()
    for row in [*({"title": title} for title in given.get("titles", ())), *given.get("articles", ())]:
        make_article(one, **row)
    if "rule" in given:
        earlier = now - timedelta(hours=1)
        rule = Rule.objects.create(user=follower.user, looked=earlier, **given["rule"])
        Rule.objects.filter(pk=rule.pk).update(created=earlier)
        rule.refresh_from_db()
        look(rule, timezone.now())
        return list(rule.notices.order_by("at", "id").values_list("title", flat=True))
    if "topic" in given:
        Topic.objects.create(subscriber=follower, kind=Topic.Kind.KEYWORD, value=given["topic"])
        found = followed_articles(follower)
    else:
        found = selection(make_personal_feed(follower, **given["filter"]))
    return list(
        Article.objects.filter(pk__in=found.values("pk")).order_by("id").values_list("title", flat=True)
    )


@runner
def filled_in(given: Input) -> Any:
    """A message's `template`, `values` and `limit` -> its text."""
    return filled(given["template"], given["values"], given.get("limit", 300))


@runner
def quiet(given: Input) -> Any:
    """A moment and quiet hours `from`, `until` in a `zone` -> when a message is sent."""
    at = datetime.fromisoformat(given["at"])
    due = after_quiet_hours(at, given["from"], given["until"], ZoneInfo(given["zone"]))
    return due.astimezone(UTC).isoformat().replace("+00:00", "Z")


@runner
def digest_slot(given: Input) -> Any:
    """A moment, an `hour`, perhaps a `weekday`, and a `zone` -> the time of the last digest."""
    slot = last_slot(
        datetime.fromisoformat(given["at"]), given["hour"], given.get("weekday"), ZoneInfo(given["zone"])
    )
    return slot.astimezone(UTC).isoformat().replace("+00:00", "Z")


@whole_way
def notified(given: Input) -> Any:
    """`articles` (perhaps with a `story`) and a `rule` -> the messages, and how many notices were held.

    The articles arrive at once, or each at its own `look`.
    """
    from django.utils import timezone  # noqa: PLC0415

    from articles.enrichment.models import Enrichment, Story  # noqa: PLC0415
    from crawler.notices.models import Rule, Target  # noqa: PLC0415
    from crawler.notices.watching import look  # noqa: PLC0415
    from crawler.notices.writing import write  # noqa: PLC0415
    from tests.factories import make_article, make_feed, make_subscriber  # noqa: PLC0415

    one = make_feed("https://site.example/feed", title="Feed")
    user = make_subscriber("reader", one).user
    target = Target(user=user, kind="mail", name="mail")
    target.address = "reader@site.example"
    target.save()
    earlier = timezone.now() - timedelta(days=8 if given["rule"].get("pace") == "weekly" else 2)
    rule = Rule.objects.create(user=user, looked=earlier, **given["rule"])
    Rule.objects.filter(pk=rule.pk).update(created=earlier)
    rule.targets.set([target])
    stories: dict[str, Any] = {}
    batches = given.get("looks") or [given["articles"]]
    for batch in batches:
        for row in batch:
            fields = {name: value for name, value in row.items() if name != "story"}
            article = make_article(one, **({"published": timezone.now() - timedelta(minutes=1)} | fields))
            if "story" in row:
                story = stories.get(row["story"]) or Story.objects.create()
                stories[row["story"]] = story
                Enrichment.objects.update_or_create(article=article, defaults={"story": story})
        rule.refresh_from_db()
        look(rule, timezone.now())
        rule.refresh_from_db()
        write(rule, timezone.now() + timedelta(days=1 if rule.pace != "now" else 0))
    messages = [
        {"title": row.title, "text": row.text, "html": row.html} for row in rule.messages.order_by("id")
    ]
    return {"messages": messages, "held": rule.notices.exclude(held="").count()}


@runner
def archived(given: Input) -> Any:
    """Answers with `status`, `line`, `headers`, `body`, `request` -> the records of their WARC.

    They are read back with their digests checked. Answers with the same body share its content.
    """
    from crawler.frontier.warc import _File  # noqa: PLC0415

    answers = given.get("answers") or [given]
    contents = [body_of(answer) for answer in answers]
    keys = {content: uuid5(NAMESPACE_URL, content.hex()) for content in contents}
    buffer = io.BytesIO()
    repeated = {keys[content] for content in contents if content and contents.count(content) > 1}
    file = _File(buffer, WARCWriter(buffer, gzip=True), repeated)
    for answer, content in zip(answers, contents, strict=True):
        file.write(_crawled(answer, content, keys[content]))
    records = ArchiveIterator(io.BytesIO(buffer.getvalue()), check_digests="raise")
    return [_record(record) for record in records]


def _crawled(given: Input, content: bytes, key: UUID) -> Any:
    from crawler.frontier.models import Body, CrawlUrl  # noqa: PLC0415

    headers = list(given.get("headers", []))
    if "line" in given:
        headers.append([STATUS, given["line"]])
    if "request" in given:
        headers.append([REQUEST, given["request"]])
    url = CrawlUrl(
        url=given.get("url", "https://site.example/page"), status=given.get("status", 200), headers=headers,
        fetched=datetime.fromisoformat(given.get("fetched", "2026-11-20T10:00:00+00:00")),
        failure=given.get("failure", ""), detail=given.get("detail", ""), state=given.get("state", "crawled"),
        size=given.get("size", len(content)),
    )  # fmt: skip
    if content:
        url.body = Body(digest=key, content=zlib.compress(content), size=len(content))
    return url


def _record(record: Any) -> dict[str, Any]:
    http = record.http_headers
    return {
        "kind": record.rec_type,
        "about": dict(record.rec_headers.headers),
        "line": f"{http.protocol} {http.statusline}" if http else "",
        "headers": [list(pair) for pair in http.headers] if http else [],
        "body": record.content_stream().read().decode("utf-8", "replace"),
    }


def _followed_articles(reader: Any, feeds: Sequence[Input]) -> tuple[list[Any], list[Any]]:
    """Make the feeds of a reader ({"folder", "articles"}) and their articles, each some `minutes` old."""
    from articles.enrichment.models import Enrichment, Story  # noqa: PLC0415
    from articles.personal.following import follow  # noqa: PLC0415
    from tests.factories import make_article, make_feed  # noqa: PLC0415

    made: list[Any] = []
    articles: list[Any] = []
    stories: dict[str, Any] = {}
    now = datetime.now(UTC)
    for number, given in enumerate(feeds):
        one = make_feed(f"https://site.example/feed{number}", title=f"Feed {number}")
        follow(reader, one, folder=given.get("folder", ""))
        for row in given.get("articles", ()):
            at = now - timedelta(minutes=row.get("minutes", 0), days=row.get("days", 0))
            published = at - timedelta(days=row.get("days_before", 0))
            article = make_article(one, title=row["title"], published=published, fetched=at)
            if "story" in row:
                story = stories[row["story"]] = stories.get(row["story"]) or Story.objects.create()
                Enrichment.objects.update_or_create(article=article, defaults={"story": story})
            articles.append(article)
        made.append(one)
    return made, articles


@whole_way
def apps(given: Input) -> Any:
    """A follower of `feeds` and the `requests` of an app -> its answers: {"status", "body"}.

    A request is [method, path below the API, fields as pairs]. Names in braces are put in: {feed0} a feed's
    key, {long0} and {short0} an article's id, {usec0} and {sec0} its time of retrieval, {next} the
    continuation of the answer before, {token} an edit token, {key} that of Fever.
    """
    from django.test import Client  # noqa: PLC0415

    from articles.greader.access import create_app_password  # noqa: PLC0415
    from articles.greader.names import item_id  # noqa: PLC0415
    from articles.greader.streams import microseconds  # noqa: PLC0415
    from tests.factories import make_subscriber  # noqa: PLC0415

    client, reader, base = Client(), make_subscriber(given.get("name", "reader")), "/reader/api/0/"
    feeds, articles = _followed_articles(reader, given.get("feeds", ()))
    password = create_app_password(reader, "app")
    key = hashlib.md5(f"{reader}:{password}".encode(), usedforsecurity=False).hexdigest()
    login = client.post(
        "/accounts/ClientLogin", {"Email": str(reader), "Passwd": given.get("password", password)}
    )
    lines = dict(line.partition("=")[::2] for line in login.content.decode().splitlines())
    headers = {"Authorization": f"GoogleLogin auth={lines.get('Auth', '')}"}
    places = {"key": key, "next": "", "token": client.get(f"{base}token", headers=headers).content.decode()}
    places |= {f"feed{number}": str(one.pk) for number, one in enumerate(feeds)}
    for number, article in enumerate(articles):
        fetched = microseconds(article.fetched)
        places |= {f"long{number}": item_id(article.pk), f"short{number}": str(article.pk)}
        places[f"hex{number}"] = f"{article.pk:016x}"
        places |= {f"usec{number}": str(fetched), f"sec{number}": str(fetched // 1_000_000)}
    answers = []
    for method, path, fields in given["requests"]:
        place = path if path.startswith("/") else base + path
        pairs = urlencode([(name, _put_in(value, places)) for name, value in fields])
        if method == "GET":
            answer = client.get(f"{_put_in(place, places)}?{pairs}", headers=headers)
        else:
            form = "application/x-www-form-urlencoded"
            answer = client.post(_put_in(place, places), pairs, form, headers=headers)
        is_json = answer.headers["Content-Type"].startswith("application/json")
        body = answer.json() if is_json else answer.content.decode()
        places["next"] = body.get("continuation", "") if isinstance(body, dict) else ""
        answers.append({"status": answer.status_code, "body": _shown(body, places)})
    return answers


def _put_in(text: str, places: Mapping[str, str]) -> str:
    for name, value in places.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _shown(body: Any, places: Mapping[str, str]) -> Any:
    """The answer with lists of items as their titles, and ids as the names of their articles."""
    names = {value: name for name, value in places.items() if name.startswith(("long", "short"))}
    if not isinstance(body, dict):
        return body
    if "items" in body:
        return {**body, "titles": [item["title"] for item in body["items"]]}
    if "itemRefs" in body:
        return {**body, "ids": [names[ref["id"]] for ref in body["itemRefs"]]}
    return body


@whole_way
def marked(given: Input) -> Any:
    """A reader's `feeds` with articles and `steps` -> the titles unread, starred and kept, and the counts.

    Steps: ["read"|"unread"|"star"|"unstar"|"label", title], ["all", list's address, fields], ["see"] a page,
    ["arrive", feed's number, title], ["rewrite", title], ["tidy", days], ["unfollow", number], ["undo"].
    """
    from django.test import Client  # noqa: PLC0415

    from articles.models import Article, Mark  # noqa: PLC0415
    from articles.personal.marking import marked_read  # noqa: PLC0415
    from articles.personal.selection import followed_articles  # noqa: PLC0415
    from articles.reader.counts import unread_counts  # noqa: PLC0415
    from tests.factories import make_subscriber  # noqa: PLC0415

    reader, client = make_subscriber("reader"), Client()
    client.force_login(reader.user)
    feeds, _ = _followed_articles(reader, given["feeds"])
    seen = ""
    for step in given["steps"]:
        seen = _step(client, reader, feeds, seen, step)
    unread = followed_articles(reader).filter(~marked_read(reader)).order_by("id")
    starred = Mark.objects.filter(subscriber=reader, starred__isnull=False).order_by("article")
    return {
        "unread": list(unread.values_list("title", flat=True)),
        "starred": list(starred.values_list("article__title", flat=True)),
        "kept": list(Article.objects.order_by("id").values_list("title", flat=True)),
        "total": unread_counts(reader).total,
    }


def _step(client: Any, reader: Any, feeds: Sequence[Any], seen: str, step: Sequence[Any]) -> str:
    """Do one step of `marked`. Returns the last page that the reader saw."""
    from articles.models import Article  # noqa: PLC0415
    from articles.personal.following import unfollow  # noqa: PLC0415
    from articles.personal.labels import add_labels  # noqa: PLC0415
    from crawler.operation.site.retention import tidy  # noqa: PLC0415
    from tests.factories import make_article  # noqa: PLC0415

    name, *rest = step
    if name == "see":
        return str(client.get(f"/read/{rest[0] if rest else ''}").content.decode())
    if name == "all":
        newest = re.search(r'name="newest" value="(\d+)"', seen)
        fields = {"newest": newest[1]} if newest else {}
        fields |= {
            key: _put_in(value, {"today": str(datetime.now(UTC).date())}) for key, value in rest[1].items()
        }
        return str(
            client.post(f"/read/mark/{rest[0]}", fields, headers={"HX-Request": "true"}).content.decode()
        )
    if name == "undo":
        token = re.search(r'name="token" value="([^"]+)"', seen)
        client.post("/read/undo/", {"token": token[1] if token else ""})
    elif name == "arrive":
        make_article(feeds[rest[0]], title=rest[1])
    elif name == "rewrite":
        Article.objects.filter(title=rest[0]).update(text="Rewritten.", revision=1, updated=datetime.now(UTC))
    elif name == "tidy":
        with override_settings(RETENTION_ARTICLES_DAYS=rest[0]):
            tidy(datetime.now(UTC))
    elif name == "unfollow":
        unfollow(reader.subscriptions.get(feed=feeds[rest[0]]))
    else:
        key = Article.objects.filter(title=rest[0]).order_by("id").values_list("pk", flat=True)[0]
        if name == "label":
            add_labels(reader, [key], ["kept"])
        else:
            client.post(f"/read/{key}/{name}/")
    return seen


@whole_way
def reread(given: Input) -> Any:
    """`visits` of a feed at /f, and titles marked as `read` and `starred` after the first -> what is unread.

    All runs through the crawler; `articles` are the titles that are stored in the end.
    """
    from articles.models import Article, Mark  # noqa: PLC0415
    from articles.personal.following import follow  # noqa: PLC0415
    from articles.personal.marking import mark_read, marked_read, star  # noqa: PLC0415
    from crawler.inline import work_off  # noqa: PLC0415
    from feeds.adding.add import add_feed  # noqa: PLC0415
    from feeds.models import Feed  # noqa: PLC0415
    from feeds.visiting.ticks import tick  # noqa: PLC0415
    from tests.factories import make_subscriber  # noqa: PLC0415

    reader = make_subscriber("reader")
    with server_of({"/f": given["visits"][0]}) as web:
        add_feed(f"{web.origin}/f")
        follow(reader, Feed.objects.get())
        for number, answer in enumerate(given["visits"]):
            web.replies["/f"] = _script(web, answer)
            Feed.objects.update(not_before=datetime.now(UTC), training_due=datetime.now(UTC))
            tick(datetime.now(UTC), everything=True)
            work_off()
            if number == 0:
                keys = dict(Article.objects.values_list("title", "pk"))
                mark_read(reader, [keys[title] for title in given.get("read", ())], datetime.now(UTC))
                star(reader, [keys[title] for title in given.get("starred", ())], datetime.now(UTC))
    rows = Article.objects.order_by("id")
    starred = Mark.objects.filter(subscriber=reader, starred__isnull=False)
    return {
        "articles": list(rows.values_list("title", flat=True)),
        "unread": list(rows.filter(~marked_read(reader)).values_list("title", flat=True)),
        "starred": list(starred.values_list("article__title", flat=True)),
    }


@runner
def saved_imports(given: Input) -> dict[str, Any]:
    """A file's `name` and `text` or `base64`, or the `members` of a zip -> `program`, `pages`, `problems`.

    A refused file has `refused`. Empty fields of pages and highlights are left out.
    """
    if "members" in given:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for path, text in given["members"].items():
                archive.writestr(path, text)
        data = packed.getvalue()
    else:
        data = base64.b64decode(given["base64"]) if "base64" in given else given["text"].encode()
    try:
        file = read_saved(data, given.get("name", ""))
    except NotSavedPages as error:
        return {"refused": str(error)}
    return {
        "program": file.program,
        "pages": [_filled(asdict(page)) for page in file.pages],
        "problems": [asdict(problem) for problem in file.problems],
    }


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that have a value, as JSON would have them."""
    return {name: _plain_value(value) for name, value in values.items() if value}


def _plain_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, tuple):
        return [_filled(item) if isinstance(item, dict) else item for item in value]
    return value
