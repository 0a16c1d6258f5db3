"""Reader apps as their public sources show them: each test sends an app's requests in the app's order.

Paths, queries and bodies go out letter by letter as the app writes them, percent signs included. A step that
stands in a test of its own is one at which the app does something unlike the others.
"""

import hashlib
import time
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urlencode

import pytest
from django.core import signing
from django.test import Client

from articles.greader.access import create_app_password
from articles.models import Article, Mark
from crawler.text.keys import digest
from tests.factories import make_article, make_feed, make_subscriber

pytestmark = pytest.mark.django_db

ADDRESS = "https://river.example/feed"
FORM = "application/x-www-form-urlencoded"
FRESHRSS = "/api/greader.php"
ITEM = "tag:google.com,2005:reader/item/"
NOW = datetime.now(UTC).replace(microsecond=0)
ALL = "user/-/state/com.google/reading-list"
READ = "user/-/state/com.google/read"
STARRED = "user/-/state/com.google/starred"
NEWS = "user/-/label/News"


class App:
    """An app on a device: it knows the server's address, a name and an app password."""

    def __init__(self, subscriber, base, agent):
        self.name, self.password = subscriber.user.username, create_app_password(subscriber, agent)
        self.client = Client(enforce_csrf_checks=True, headers={"user-agent": agent})
        self.base, self.headers = base, {}

    def get(self, path):
        """The response to a GET below the server's address."""
        answer = self.client.get(self.base + path, headers=self.headers)
        assert answer.status_code == 200, (path, answer.status_code, answer.content[:200])
        return answer

    def post(self, path, body, content_type=FORM):
        """The response to a POST of a body as it stands."""
        answer = self.client.post(self.base + path, body, content_type, headers=self.headers)
        assert answer.status_code == 200, (path, answer.status_code, answer.content[:200])
        return answer

    def sign_in(self, body):
        """Keep the Auth line of ClientLogin's text for the requests to come."""
        lines = self.post("/accounts/ClientLogin", body).content.decode().split("\n")
        parts = dict(line.split("=") for line in lines if line.count("=") == 1)
        self.headers = {"authorization": f"GoogleLogin auth={parts['Auth']}"}

    def sign_in_plainly(self):
        """Sign in with a name and a password alone."""
        self.sign_in(f"Email={self.name}&Passwd={quote(self.password)}")

    def token(self):
        """The edit token, which is the whole body."""
        token = self.get("/reader/api/0/token").content.decode()
        assert token
        assert token == token.strip()
        return token


class FeverApp(App):
    """An app that speaks the Fever API."""

    @property
    def key(self):
        text = f"{self.name}:{self.password}"
        return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()

    def ask(self, query, more=""):
        """The signed-in answer to a query, with the key and `more` in the form."""
        answer = self.post(query, f"api_key={self.key}{more}").json()
        has(answer, api_version=int, auth=int)
        assert answer["auth"] == 1
        return answer


@pytest.fixture
def ann():
    """A subscriber who follows nothing yet."""
    return make_subscriber("ann")


@pytest.fixture
def feed():
    """A feed that the server knows already, so that adding it needs no network."""
    return make_feed(ADDRESS, title="River news", site_url="https://river.example/")


@pytest.fixture
def follower(feed):
    """A subscriber with the feed in the folder News."""
    return make_subscriber("bob", feed, folder="News")


def fill(feed, number):
    """Keys of new articles, the newest first, a second apart."""
    rows = [
        Article(
            feed=feed,
            identity=f"tag:river.example,{n}",
            identity_key=digest(f"tag:river.example,{n}"),
            url=f"https://river.example/{n}",
            title=f"Flood {n}",
            author="Ada",
            content=f"<p>Water rose by <b>{n}</b>.</p>",
            text=f"Water rose by {n}.",
            published=NOW - timedelta(seconds=n),
            fetched=NOW - timedelta(seconds=n),
            dating=Article.Dating.FEED,
        )
        for n in range(number)
    ]
    return [row.pk for row in Article.objects.bulk_create(rows)]


def has(row, **types):
    """The row has these fields with values of exactly these types."""
    for name, kind in types.items():
        assert type(row.get(name)) is kind, (name, row)


def pages(ask, name):
    """The rows of all pages. `ask` gets the continuation or ""; the pages end, and no row comes twice."""
    rows, continuation = [], ""
    for _ in range(12):
        page = ask(continuation)
        rows += page[name]
        continuation = page.get("continuation")
        if continuation is None:
            ids = [row["id"] for row in rows]
            assert len(set(ids)) == len(ids)
            return rows
        has(page, continuation=str)
        assert page[name]
    raise AssertionError("the continuation does not end")


def item_ids(app, query):
    """Keys of a stream, whose short ids are decimal strings."""

    def ask(continuation):
        more = f"&c={continuation}" if continuation else ""
        return app.get(f"/reader/api/0/stream/items/ids?{query}{more}").json()

    rows = pages(ask, "itemRefs")
    for row in rows:
        has(row, id=str)
    return [int(row["id"]) for row in rows]


def chunks(keys, size):
    """Lists of at most `size` keys."""
    return [keys[start : start + size] for start in range(0, len(keys), size)]


def read(subscriber):
    """Keys of the articles that are read in the database."""
    rows = Mark.objects.filter(subscriber=subscriber, read__isnull=False)
    return set(rows.values_list("article", flat=True))


def starred(subscriber):
    """Keys of the articles that are starred in the database."""
    rows = Mark.objects.filter(subscriber=subscriber, starred__isnull=False)
    return set(rows.values_list("article", flat=True))


def labels(subscriber, key):
    """An article's labels in the database."""
    mark = Mark.objects.filter(subscriber=subscriber, article=key).first()
    return mark.labels if mark else []


def followed(subscriber):
    """Title and folder of each followed feed, by its address."""
    rows = subscriber.subscriptions.values_list("feed__url", "title", "folder")
    return {url: (title, folder) for url, title, folder in rows}


def ok(answer):
    """The two letters that apps compare after a write."""
    assert answer.content == b"OK"


def seconds_before(**ago):
    """Unix seconds of a time before now."""
    return int((NOW - timedelta(**ago)).timestamp())


# Ranchero-Software/NetNewsWire, Modules/Account/Sources/Account/ReaderAPI/ReaderAPICaller.swift,
# ReaderAPIAccountDelegate.swift, ReaderAPIEntry.swift, ReaderAPISubscription.swift, ReaderAPITag.swift,
# ReaderAPIUnreadEntry.swift and URLRequest+ReaderAPI.swift; the variant for FreshRSS.
def test_netnewswire(ann, feed):
    keys = fill(feed, 1200)
    app = App(ann, FRESHRSS, "NetNewsWire (RSS Reader; https://netnewswire.com/)")
    app.sign_in_plainly()
    token = app.token()
    # Adding a feed: quickadd, the list, the folder, the name.
    added = app.post(
        "/reader/api/0/subscription/quickadd", f"T={token}&quickadd=https:%2F%2Friver.example%2Ffeed"
    ).json()
    has(added, numResults=int, streamId=str)
    assert added["numResults"] == 1
    stream = added["streamId"]
    (subscription,) = app.get("/reader/api/0/subscription/list?output=json").json()["subscriptions"]
    has(subscription, id=str, title=str, categories=list, url=str, htmlUrl=str, iconUrl=str)
    assert (subscription["id"], subscription["url"]) == (stream, ADDRESS)
    change = f"T={token}&s={stream}&ac=edit"
    ok(app.post("/reader/api/0/subscription/edit", f"{change}&a=user/-/label/News%20%26%20Views"))
    ok(app.post("/reader/api/0/subscription/edit", f"{change}&t=Rivers"))
    assert followed(ann) == {ADDRESS: ("Rivers", "News & Views")}
    # The first articles: ids of the feed, of what is unread, of what is starred; then the missing contents.
    since = seconds_before(days=90)
    assert item_ids(app, f"n=1000&output=json&ot={since}&s={stream}") == keys
    assert item_ids(app, f"n=1000&output=json&s={ALL}&xt={READ}") == keys
    assert item_ids(app, f"n=1000&output=json&s={STARRED}") == []
    got = []
    for some in chunks(keys, 150):
        ids = "&".join(f"i={ITEM}{key:x}" for key in some)  # not padded
        answer = app.post("/reader/api/0/stream/items/contents", f"T={token}&output=json&{ids}").json()
        has(answer, id=str, updated=int, items=list)
        got += answer["items"]
    for item in got:
        has(item, id=str, title=str, published=int, crawlTimeMsec=str, timestampUsec=str, author=str)
        has(item, summary=dict, categories=list, origin=dict, alternate=list)
        has(item["summary"], content=str)
        has(item["origin"], streamId=str, title=str)
        has(item["alternate"][0], href=str)
        assert item["origin"]["streamId"] == stream
        assert {type(category) for category in item["categories"]} == {str}
    assert {int(item["id"].rpartition("/")[2], 16) for item in got} == set(keys)

    # Marks go out a thousand at a time: unread, read, starred, unstarred.
    def mark(some, change):
        ids = "&".join(f"i={ITEM}{key:016x}" for key in some)
        ok(app.post("/reader/api/0/edit-tag", f"T={token}&{ids}&{change}"))

    mark(keys[:1000], f"a={READ}")
    mark(keys[1000:1100], f"a={READ}")
    mark(keys[:3], f"a={STARRED}")
    assert (read(ann), starred(ann)) == (set(keys[:1100]), set(keys[:3]))
    mark(keys[:2], f"r={READ}")
    mark(keys[:1], f"r={STARRED}")
    assert (read(ann), starred(ann)) == (set(keys[2:1100]), set(keys[1:3]))
    # The next synchronisation.
    tags = app.get("/reader/api/0/tag/list?output=json").json()["tags"]
    for tag in tags:
        has(tag, id=str)
    (subscription,) = app.get("/reader/api/0/subscription/list?output=json").json()["subscriptions"]
    (category,) = subscription["categories"]
    has(category, id=str, label=str)
    assert category["id"] in [tag["id"] for tag in tags]
    assert item_ids(app, f"n=1000&output=json&ot={seconds_before(hours=1)}&s={ALL}") == keys
    assert item_ids(app, f"n=1000&output=json&s={ALL}&xt={READ}") == keys[:2] + keys[1100:]
    assert item_ids(app, f"n=1000&output=json&s={STARRED}") == keys[1:3]
    # Folders and feeds are renamed, moved and removed.
    ok(
        app.post(
            "/reader/api/0/rename-tag", f"T={token}&s=user/-/label/News%20%26%20Views&dest=user/-/label/News"
        )
    )
    assert followed(ann) == {ADDRESS: ("Rivers", "News")}
    ok(app.post("/reader/api/0/subscription/edit", f"{change}&r=user/-/label/News&a=user/-/label/Water"))
    assert followed(ann) == {ADDRESS: ("Rivers", "Water")}
    ok(app.post("/reader/api/0/subscription/edit", f"T={token}&s={stream}&ac=unsubscribe"))
    assert followed(ann) == {}


# Ranchero-Software/NetNewsWire, ReaderAPIAccountDelegate.swift, removeFolder: each feed is unsubscribed from
# first, and an error of disable-tag then keeps the folder in the app.
def test_netnewswire_removes_a_folder_after_its_feeds(follower, feed):
    app = App(follower, FRESHRSS, "NetNewsWire (RSS Reader; https://netnewswire.com/)")
    app.sign_in_plainly()
    token = app.token()
    ok(app.post("/reader/api/0/subscription/edit", f"T={token}&s=feed/{feed.pk}&ac=unsubscribe"))
    ok(app.post("/reader/api/0/disable-tag", f"T={token}&s={NEWS}"))
    assert NEWS not in [tag["id"] for tag in app.get("/reader/api/0/tag/list?output=json").json()["tags"]]


# Ranchero-Software/NetNewsWire, ReaderAPICaller.swift, requestAuthorizationToken: the app asks for the edit
# token once and keeps it until it is quit, on desks for weeks; a 401 to a mark does not make it ask again.
def test_netnewswire_keeps_one_edit_token_as_long_as_it_runs(follower, feed, monkeypatch):
    keys = fill(feed, 1)
    app = App(follower, FRESHRSS, "NetNewsWire (RSS Reader; https://netnewswire.com/)")
    app.sign_in_plainly()
    token = app.token()
    later = time.time() + 30 * 86_400
    monkeypatch.setattr(signing.time, "time", lambda: later)
    ok(app.post("/reader/api/0/edit-tag", f"T={token}&i={ITEM}{keys[0]:016x}&a={READ}"))
    assert read(follower) == set(keys)


def read_you(subscriber):
    """Read You with a FreshRSS account, signed in, and its edit token."""
    app = App(subscriber, FRESHRSS, "ReadYou / 0.15.0(39)")
    form = {"output": "json", "Email": app.name, "Passwd": app.password, "client": "ReadYou"}
    form |= {"accountType": "HOSTED_OR_GOOGLE", "service": "reader"}
    login = app.post("/accounts/ClientLogin", urlencode(form)).json()
    has(login, SID=str, LSID=str, Auth=str)
    app.headers = {"authorization": f"GoogleLogin auth={login['Auth']}"}
    return app, app.token()


# ReadYouApp/ReadYou, app/src/main/java/me/ash/reader/infrastructure/rss/provider/greader/GoogleReaderAPI.kt,
# .../domain/service/GoogleReaderRssService.kt; and Ashinch/ReadYou, .../provider/greader/GoogleReaderDTO.kt.
def test_read_you(ann, feed):
    keys = fill(feed, 1050)
    app, token = read_you(ann)

    def post(path, *fields, more=""):
        return app.post(f"/reader/api/0/{path}?output=json{more}", urlencode([*fields, ("T", token)]))

    user = app.get("/reader/api/0/user-info?output=json").json()
    has(user, userId=str, userName=str, userProfileId=str, userEmail=str)
    assert user["userName"] == "ann"
    # Adding a feed has its address in the query and in the form.
    added = post("subscription/quickadd", ("quickadd", ADDRESS), more=f"&quickadd={ADDRESS}").json()
    has(added, numResults=int, query=str, streamId=str, streamName=str)
    stream = added["streamId"]
    ok(post("subscription/edit", ("ac", "edit"), ("s", stream), ("a", NEWS), ("t", "Rivers")))
    assert followed(ann) == {ADDRESS: ("Rivers", "News")}

    # A synchronisation: unread, starred and read ids, the list, then the contents a hundred at a time.
    def unread_starred_read():
        since = seconds_before(days=30)
        return (
            item_ids(app, f"output=json&s={ALL}&xt={READ}&n=1000"),
            item_ids(app, f"output=json&s={STARRED}&n=1000"),
            item_ids(app, f"output=json&s={ALL}&it={READ}&ot={since}&n=1000"),
        )

    assert unread_starred_read() == (keys, [], [])
    (row,) = app.get("/reader/api/0/subscription/list?output=json").json()["subscriptions"]
    has(row, id=str, title=str, categories=list, url=str, htmlUrl=str, iconUrl=str)
    has(row["categories"][0], id=str, label=str)
    assert row["categories"][0]["id"] == NEWS
    got = []
    for some in chunks(keys, 100):
        answer = post("stream/items/contents", *(("i", key) for key in some)).json()
        has(answer, id=str, updated=int, items=list)
        got += answer["items"]
    for item in got:
        has(item, id=str, crawlTimeMsec=str, published=int, title=str, author=str, summary=dict, origin=dict)
        assert item["id"].startswith(ITEM)
        assert len(item["id"]) == len(ITEM) + 16
        assert item["crawlTimeMsec"].isdecimal()
        has(item["summary"], content=str)
        has(item["origin"], streamId=str)
        has(item["canonical"][0], href=str)
    assert {int(item["id"].removeprefix(ITEM), 16) for item in got} == set(keys)
    # Marks go out five hundred at a time, with short ids.
    for some in chunks(keys[:1000], 500):
        ok(post("edit-tag", *(("i", key) for key in some), ("a", READ)))
    ok(post("edit-tag", ("i", keys[0]), ("r", READ)))
    ok(post("edit-tag", ("i", keys[4]), ("a", STARRED)))
    ok(post("edit-tag", ("i", keys[5]), ("a", STARRED)))
    ok(post("edit-tag", ("i", keys[5]), ("r", STARRED)))
    assert (read(ann), starred(ann)) == (set(keys[1:1000]), {keys[4]})
    assert unread_starred_read() == (keys[:1] + keys[1000:], keys[4:5], keys[1:1000])
    # One feed alone.
    assert item_ids(app, f"output=json&s={stream}&xt={READ}&n=1000") == keys[:1] + keys[1000:]
    assert item_ids(app, f"output=json&s={stream}&n=1000") == keys
    # Groups and feeds.
    ok(post("rename-tag", ("s", NEWS), ("dest", "user/-/label/Papers")))
    ok(
        post(
            "subscription/edit",
            ("ac", "edit"),
            ("s", stream),
            ("a", "user/-/label/Water"),
            ("r", "user/-/label/Papers"),
        )
    )
    ok(post("subscription/edit", ("ac", "edit"), ("s", stream), ("t", "The river")))
    assert followed(ann) == {ADDRESS: ("The river", "Water")}
    ok(post("subscription/edit", ("ac", "unsubscribe"), ("s", stream)))
    assert followed(ann) == {}


# ReadYouApp/ReadYou, .../domain/service/GoogleReaderRssService.kt, deleteGroup: each feed is unsubscribed
# from first, and an error of disable-tag then keeps the group in the app.
def test_read_you_deletes_a_group_after_its_feeds(follower, feed):
    app, token = read_you(follower)
    form = {"ac": "unsubscribe", "s": f"feed/{feed.pk}", "T": token}
    ok(app.post("/reader/api/0/subscription/edit?output=json", urlencode(form)))
    ok(app.post("/reader/api/0/disable-tag?output=json", urlencode({"s": NEWS, "T": token})))


# Ashinch/ReadYou, app/src/main/java/me/ash/reader/infrastructure/rss/provider/fever/FeverAPI.kt, FeverDTO.kt;
# and ReadYouApp/ReadYou, .../domain/service/FeverRssService.kt.
def test_read_you_by_fever(follower, feed):
    keys = sorted(fill(feed, 120))
    app = FeverApp(follower, "/api/fever.php", "ReadYou / 0.15.0(39)")
    assert app.ask("?api=&")["last_refreshed_on_time"].isdecimal()
    groups = app.ask("?api=&groups")
    (group,) = groups["groups"]
    has(group, id=int, title=str)
    assert 0 < group["id"] < 2**31
    feeds = app.ask("?api=&feeds")
    (row,) = feeds["feeds"]
    has(row, id=int, favicon_id=int, title=str, url=str, site_url=str, is_spark=int)
    for answer in (groups, feeds):
        assert answer["feeds_groups"] == [{"group_id": group["id"], "feed_ids": str(row["id"])}]
    (icon,) = app.ask("?api=&favicons")["favicons"]
    has(icon, id=int, data=str)
    assert icon["id"] == row["favicon_id"]
    # Items come fifty at a time, from the one after the last that was seen; at first none was.
    got, last = [], ""
    for _ in range(5):
        answer = app.ask(f"?api=&items&since_id={last}")
        has(answer, total_items=int, items=list)
        got += answer["items"]
        last = got[-1]["id"]
        if len(answer["items"]) < 50:
            break
    assert [item["id"] for item in got] == keys
    for item in got:
        has(item, id=int, feed_id=int, title=str, author=str, html=str, url=str)
        has(item, is_saved=int, is_read=int, created_on_time=int)
        assert item["feed_id"] == row["id"]
    assert set(app.ask("?api=&unread_item_ids")["unread_item_ids"].split(",")) == set(map(str, keys))
    assert app.ask("?api=&saved_item_ids")["saved_item_ids"] == ""


# Ashinch/ReadYou, .../provider/fever/FeverAPI.kt, markItem and markFeedOrGroup: a mark stands in the query,
# and the form has the key alone. 9223372036854775 is the app's word for "no matter when".
def test_read_you_by_fever_marks_in_the_query(follower, feed):
    keys = fill(feed, 5)
    app = FeverApp(follower, "/api/fever.php", "ReadYou / 0.15.0(39)")
    app.ask(f"?api=&&mark=item&as=read&id={keys[0]}")
    assert read(follower) == {keys[0]}
    app.ask(f"?api=&&mark=item&as=unread&id={keys[0]}")
    assert read(follower) == set()
    app.ask(f"?api=&&mark=item&as=saved&id={keys[1]}")
    assert starred(follower) == {keys[1]}
    app.ask(f"?api=&&mark=item&as=unsaved&id={keys[1]}")
    assert starred(follower) == set()
    app.ask(f"?api=&&mark=feed&as=read&id={feed.pk}&before=9223372036854775")
    assert read(follower) == set(keys)
    Mark.objects.all().delete()
    (group,) = app.ask("?api=&groups")["groups"]
    app.ask(f"?api=&&mark=group&as=read&id={group['id']}&before={seconds_before(hours=-1)}")
    assert read(follower) == set(keys)


# ReadYouApp/ReadYou, .../domain/service/FeverRssService.kt, sync: the app looks up the group of every feed,
# and a feed in none ends the whole synchronisation.
def test_read_you_by_fever_needs_a_group_for_every_feed(follower):
    other = make_feed()
    follower.subscriptions.create(feed=other)
    app = FeverApp(follower, "/api/fever.php", "ReadYou / 0.15.0(39)")
    groups, feeds = app.ask("?api=&groups"), app.ask("?api=&feeds")
    known = {group["id"] for group in groups["groups"]}
    rows = groups["feeds_groups"] + feeds["feeds_groups"]
    grouped = {key: row["group_id"] for row in rows for key in row["feed_ids"].split(",")}
    for feed in feeds["feeds"]:
        assert grouped.get(str(feed["id"])) in known


# docs.rs/crate/greader_api/0.6.0, the library of NewsFlash (gitlab.com/news-flash/greader_api): the methods
# of GReaderApi, and src/models/ (feed.rs, item.rs, post_token.rs, stream.rs, tag.rs, user.rs). The decoding
# is the library's: a field without Option must be there. Order and spelling of the requests are the usual
# ones, as only the signatures of lib.rs were found.
def test_newsflash(ann, feed):
    keys = fill(feed, 1100)
    app = App(ann, FRESHRSS, "NewsFlash")
    app.sign_in_plainly()
    token = app.token()
    user = app.get("/reader/api/0/user-info?output=json").json()
    has(user, userId=str, userName=str, userProfileId=str, userEmail=str)
    form = {"quickadd": ADDRESS, "T": token}
    added = app.post("/reader/api/0/subscription/quickadd?output=json", urlencode(form)).json()
    has(added, numResults=int, query=str, streamId=str, streamName=str)
    stream = added["streamId"]
    form = {"ac": "edit", "s": stream, "t": "Rivers", "a": NEWS, "T": token}
    ok(app.post("/reader/api/0/subscription/edit", urlencode(form)))
    assert followed(ann) == {ADDRESS: ("Rivers", "News")}
    (row,) = app.get("/reader/api/0/subscription/list?output=json").json()["subscriptions"]
    has(row, id=str, title=str, categories=list, url=str, htmlUrl=str, iconUrl=str, sortid=str)
    has(row["categories"][0], id=str, label=str)
    for tag in app.get("/reader/api/0/tag/list?output=json").json()["tags"]:
        has(tag, id=str)
        assert {type(tag.get(name, "")) for name in ("type", "sortid")} == {str}
        assert type(tag.get("unread_count", 0)) is int
    unread = app.get("/reader/api/0/unread-count?output=json").json()
    has(unread, max=int, unreadcounts=list)
    for count in unread["unreadcounts"]:
        has(count, id=str, count=int, newestItemTimestampUsec=str)
    assert item_ids(app, f"output=json&s={ALL}&n=1000&xt={quote(READ, safe='')}") == keys
    assert item_ids(app, f"output=json&s={STARRED}&n=1000") == []
    form = [("i", f"{ITEM}{key:016x}") for key in keys[:100]] + [("T", token)]
    answer = app.post("/reader/api/0/stream/items/contents?output=json", urlencode(form)).json()
    has(answer, id=str, updated=int, items=list)
    assert len(answer["items"]) == 100
    for item in answer["items"]:
        has(item, id=str, origin=dict, categories=list, alternate=list, published=int)
        has(item, timestampUsec=str, crawlTimeMsec=str)
        has(item["origin"], streamId=str, title=str)
        has(item["alternate"][0], href=str)
        assert type(item.get("updated", 0)) is int
    for change, key in (("a", keys[0]), ("a", keys[1]), ("r", keys[1])):
        for state in (READ, STARRED):
            form = {change: state, "i": f"{ITEM}{key:016x}", "T": token}
            ok(app.post("/reader/api/0/edit-tag", urlencode(form)))
    form = {"a": "user/-/label/later", "i": f"{ITEM}{keys[0]:016x}", "T": token}
    ok(app.post("/reader/api/0/edit-tag", urlencode(form)))
    assert (read(ann), starred(ann), labels(ann, keys[0])) == ({keys[0]}, {keys[0]}, ["later"])
    assert item_ids(app, f"output=json&s={STARRED}&n=1000") == keys[:1]
    ok(app.post("/reader/api/0/mark-all-as-read", urlencode({"s": stream, "T": token})))
    assert read(ann) == set(keys)
    ok(app.post("/reader/api/0/rename-tag", urlencode({"s": NEWS, "dest": "user/-/label/Water", "T": token})))
    ok(app.post("/reader/api/0/disable-tag", urlencode({"s": "user/-/label/Water", "T": token})))
    assert followed(ann) == {ADDRESS: ("Rivers", "")}
    form = {"ac": "unsubscribe", "s": stream, "T": token}
    ok(app.post("/reader/api/0/subscription/edit", urlencode(form)))
    assert followed(ann) == {}


# docs.rs/crate/greader_api/0.6.0, src/models/stream.rs: "summary" is an alias of the field "content". Serde
# takes either, and refuses an item with both as one with a field twice; the whole page is lost then.
def test_newsflash_needs_one_body_in_an_item(follower, feed):
    (key,) = fill(feed, 1)
    app = App(follower, FRESHRSS, "NewsFlash")
    app.sign_in_plainly()
    (item,) = app.post("/reader/api/0/stream/items/contents?output=json", f"i={key}").json()["items"]
    (body,) = [item[name] for name in ("summary", "content") if name in item]
    has(body, content=str)


# docs.rs/crate/greader_api/0.6.0, src/models/stream.rs: "alternate" is not optional, so that one item without
# it loses the whole page.
def test_newsflash_needs_links_of_an_article_without_an_address(follower, feed):
    article = make_article(feed, url="")
    app = App(follower, FRESHRSS, "NewsFlash")
    app.sign_in_plainly()
    (item,) = app.post("/reader/api/0/stream/items/contents?output=json", f"i={article.pk}").json()["items"]
    has(item, alternate=list)
    for link in item["alternate"]:
        has(link, href=str)


# martinrotter/rssguard, src/librssguard-greader/src/greadernetwork.cpp and definitions.h; before version 5
# src/librssguard/services/greader/greadernetwork.cpp; the service FreshRSS.
def test_rss_guard(ann, feed):
    keys = fill(feed, 900)
    Article.objects.filter(pk=keys[0]).update(
        enclosures=[{"url": "https://river.example/a.mp3", "type": "audio/mpeg", "length": 9}]
    )
    app = App(ann, FRESHRSS, "rssguard/5.0.0")
    app.sign_in_plainly()
    assert app.get("/reader/api/0/user-info?output=json").json()["userName"] == "ann"
    # Everything about a subscription is in the query; the body has an empty token.
    edit = "/reader/api/0/subscription/edit"
    ok(app.post(f"{edit}?ac=subscribe&s=feed/{ADDRESS}&t=Rivers&a={NEWS}", "T="))
    assert followed(ann) == {ADDRESS: ("Rivers", "News")}
    stream = f"feed/{feed.pk}"
    # The tree: folders and labels by their types, then feeds, which hang below the folder with the same id.
    first = f"{ITEM}{keys[0]:016x}"
    ok(app.post("/reader/api/0/edit-tag", f"a=user/-/label/later&i={first}"))
    assert labels(ann, keys[0]) == ["later"]
    tags = app.get("/reader/api/0/tag/list?output=json").json()["tags"]
    assert {tag["id"]: tag.get("type") for tag in tags} == {
        STARRED: None,
        NEWS: "folder",
        "user/-/label/later": "tag",
    }
    (row,) = app.get("/reader/api/0/subscription/list?output=json").json()["subscriptions"]
    has(row, id=str, title=str, htmlUrl=str, iconUrl=str)
    assert (row["id"], [category["id"] for category in row["categories"]]) == (stream, [NEWS])

    # Ids of all streams in one request each, then the contents of those that are new or changed.
    def ids(stream, more=""):
        return item_ids(
            app,
            f"output=json&n=200000&s={quote(stream, safe='')}{more}&ot={seconds_before(days=365)}",
        )

    unread = f"&xt={READ}"
    assert (ids(STARRED), ids(ALL), ids(ALL, unread), ids(stream)) == ([], keys, keys, keys)
    body = "&".join(f"i={quote(f'{ITEM}{key:016x}', safe='')}" for key in keys)
    answer = app.post("/reader/api/0/stream/items/contents?output=json&n=200000", body).json()
    assert "continuation" not in answer
    got = {item["id"]: item for item in answer["items"]}
    assert got.keys() == {f"{ITEM}{key:016x}" for key in keys}
    for item in got.values():
        has(item, title=str, author=str, published=int, alternate=list, categories=list)
        has(item["summary"], content=str)
        assert item["origin"]["streamId"] == stream
        assert item["alternate"][0].get("type") in {None, "text/html"}
    assert "user/-/label/later" in got[first]["categories"]
    has(got[first]["enclosure"][0], href=str, type=str)
    # The plain way: a stream's contents in pages.
    since = seconds_before(days=365)
    rows = pages(
        lambda c: app.get(
            f"/reader/api/0/stream/contents/{stream}?output=json&n=200{f'&c={c}' if c else ''}&ot={since}"
        ).json(),
        "items",
    )
    assert [int(item["id"].removeprefix(ITEM), 16) for item in rows] == keys
    # Marks go out two hundred at a time without a token.
    for some in chunks(keys[:400], 200):
        items = "&".join(f"i={ITEM}{key:016x}" for key in some)
        ok(app.post("/reader/api/0/edit-tag", f"a={READ}&{items}"))
    ok(app.post("/reader/api/0/edit-tag", f"r={READ}&i={first}"))
    ok(app.post("/reader/api/0/edit-tag", f"a={STARRED}&i={first}"))
    assert (read(ann), starred(ann)) == (set(keys[1:400]), {keys[0]})
    assert (ids(STARRED), ids(ALL, unread)) == (keys[:1], keys[:1] + keys[400:])
    ok(app.post("/reader/api/0/edit-tag", f"r={STARRED}&i={first}"))
    ok(app.post("/reader/api/0/edit-tag", f"r=user/-/label/later&i={first}"))
    assert (starred(ann), labels(ann, keys[0])) == (set(), [])
    # Subscriptions are changed, exported, imported and ended.
    ok(app.post(f"{edit}?ac=edit&s={stream}&t=The%20river&r={NEWS}", "T="))
    assert followed(ann) == {ADDRESS: ("The river", "")}
    opml = app.get("/reader/api/0/subscription/export").content
    ok(app.post(f"{edit}?ac=unsubscribe&s={stream}", "T="))
    assert followed(ann) == {}
    app.post("/reader/api/0/subscription/import", opml)
    assert list(followed(ann)) == [ADDRESS]


# martinrotter/rssguard, src/librssguard-greader/src/greadernetwork.cpp, itemContents, and definitions.h,
# TOR_ITEM_CONTENTS_BATCH: of FreshRSS the app asks up to 9,999 items at once, and gives up at an error.
def test_rss_guard_asks_for_thousands_of_items_at_once(follower, feed):
    keys = fill(feed, 1200)
    app = App(follower, FRESHRSS, "rssguard/5.0.0")
    app.sign_in_plainly()
    body = "&".join(f"i={quote(f'{ITEM}{key:016x}', safe='')}" for key in keys)
    path, count = "/reader/api/0/stream/items/contents?output=json&n=200000", 0
    for _ in range(5):
        answer = app.post(path, body).json()
        count += len(answer["items"])
        if "continuation" not in answer:
            break
        path = f"/reader/api/0/stream/items/contents?output=json&n=200000&c={answer['continuation']}"
    assert count == len(keys)


def fluent_reader_items(app, since=None):
    """Items as Fluent Reader fetches them: a page is followed by another if it is full."""
    got, continuation = [], ""
    for _ in range(12):
        query = f"?output=json&n=125{f'&ot={since}' if since else ''}"
        answer = app.get(
            f"/reader/api/0/stream/contents{query}{f'&c={continuation}' if continuation else ''}"
        ).json()
        got += answer["items"]
        continuation = answer.get("continuation")
        if not continuation or len(answer["items"]) < 125:
            return got
    raise AssertionError("the continuation does not end")


# yang991178/fluent-reader, src/scripts/models/services/greader.ts.
def test_fluent_reader(follower, feed):
    keys = fill(feed, 1300)
    app = App(follower, FRESHRSS, "Mozilla/5.0 fluent-reader/1.1.4 Electron/27")
    charset = f"{FORM};charset=UTF-8"
    body = urlencode({"Email": app.name, "Passwd": app.password})
    login = app.post("/accounts/ClientLogin", body, charset).content.decode()
    auth = login.partition("Auth=")[2].split()[0]
    app.headers = {"authorization": f"GoogleLogin auth={auth}"}
    app.get("/reader/api/0/user-info")
    (row,) = app.get("/reader/api/0/subscription/list?output=json").json()["subscriptions"]
    has(row, id=str, title=str, url=str, categories=list)
    assert row["categories"][0]["label"] == "News"
    got = fluent_reader_items(app)
    for item in got:
        has(item, id=str, title=str, published=int, crawlTimeMsec=str, categories=list)
        has(item["summary"], content=str)
        has(item["canonical"][0], href=str)
        assert item["origin"]["streamId"] == row["id"]
    shorts = [str(int(item["id"].rpartition("/")[2], 16)) for item in got]
    assert [int(short) for short in shorts] == keys
    # Unread and starred ids: another page is asked for after a full thousand.
    assert item_ids(app, f"output=json&s={ALL}&xt={READ}&n=1000") == keys
    first = app.get(f"/reader/api/0/stream/items/ids?output=json&s={ALL}&xt={READ}&n=1000").json()
    assert len(first["itemRefs"]) == 1000
    # Only what was retrieved since the newest one that is known.
    late = make_article(feed, published=NOW + timedelta(seconds=5), fetched=NOW + timedelta(seconds=5))
    since = round(int(got[0]["crawlTimeMsec"]) / 1000)
    again = [int(item["id"].rpartition("/")[2], 16) for item in fluent_reader_items(app, since)]
    assert again == [late.pk, keys[0]]

    def edit(refs, change):
        ids = "&i=".join(refs)
        return app.post("/reader/api/0/edit-tag", f"i={ids}&{change}".replace("/", "%2F"), charset)

    edit(shorts[:700], f"a={READ}")
    edit(shorts[:1], f"r={READ}")
    edit(shorts[2:4], f"a={STARRED}")
    edit(shorts[3:4], f"r={STARRED}")
    assert (read(follower), starred(follower)) == (set(keys[1:700]), {keys[2]})
    item = fluent_reader_items(app)[3]
    assert [c for c in item["categories"] if c.endswith(("/read", "/starred"))] == [READ, STARRED]
    app.post("/reader/api/0/mark-all-as-read", f"s={quote(row['id'], safe='')}", charset)
    assert read(follower) == {late.pk, *keys}
    assert item_ids(app, f"output=json&s={STARRED}&n=1000") == [keys[2]]


# yang991178/fluent-reader, src/scripts/models/services/greader.ts, fetchItems: the app takes the address of
# the first of "canonical" from every item; one without it ends the synchronisation.
def test_fluent_reader_needs_links_of_an_article_without_an_address(follower, feed):
    make_article(feed, url="")
    app = App(follower, FRESHRSS, "Mozilla/5.0 fluent-reader/1.1.4 Electron/27")
    app.sign_in_plainly()
    (item,) = fluent_reader_items(app)
    has(item, canonical=list)
    has(item["canonical"][0], href=str)


# yang991178/fluent-reader, src/scripts/models/services/fever.ts.
def test_fluent_reader_by_fever(follower, feed):
    keys = sorted(fill(feed, 120), reverse=True)
    app = FeverApp(follower, "/fever/", "Mozilla/5.0 fluent-reader/1.1.4 Electron/27")
    assert app.ask("?api")["auth"] == 1
    feeds = app.ask("?api&feeds")
    (row,) = feeds["feeds"]
    has(row, id=int, title=str, url=str)
    (group,) = app.ask("?api&groups")["groups"]
    has(group, title=str)
    (pair,) = feeds["feeds_groups"]
    has(pair, feed_ids=str)
    assert (pair["group_id"], pair["feed_ids"]) == (group["id"], str(row["id"]))
    # Back from the highest number of JavaScript, fifty at a time, until fewer come.
    got, below = [], 2**53 - 1
    for _ in range(5):
        items = app.ask(f"?api&items&max_id={below}")["items"]
        got += items
        below = min(below, *(item["id"] for item in items))
        if len(items) < 50:
            break
    assert [item["id"] for item in got] == keys
    for item in got:
        has(item, id=int, feed_id=int, title=str, author=str, html=str, url=str)
        has(item, is_read=int, is_saved=int, created_on_time=int)
        assert item["feed_id"] == row["id"]

    def unread_and_saved():
        unread, saved = app.ask("?api&unread_item_ids"), app.ask("?api&saved_item_ids")
        has(unread, unread_item_ids=str)
        has(saved, saved_item_ids=str)
        return unread["unread_item_ids"], saved["saved_item_ids"]

    assert unread_and_saved() == (",".join(map(str, keys)), "")
    for state, key in (("read", keys[0]), ("read", keys[1]), ("unread", keys[1]), ("saved", keys[2])):
        app.ask("?api", f"&mark=item&as={state}&id={key}")
    assert (read(follower), starred(follower)) == ({keys[0]}, {keys[2]})
    assert unread_and_saved() == (",".join(map(str, keys[1:])), str(keys[2]))
    app.ask("?api", f"&mark=item&as=unsaved&id={keys[2]}")
    app.ask("?api", f"&mark=feed&as=read&id={row['id']}&before={int(NOW.timestamp()) + 1}")
    assert (read(follower), starred(follower)) == (set(keys), set())
    assert unread_and_saved() == ("", "")


# newsboat/newsboat, src/freshrssapi.cpp. It neither adds feeds nor follows continuations.
def test_newsboat(follower, feed):
    keys = fill(feed, 30)
    app = App(follower, FRESHRSS, "newsboat/2.36.0 (Linux x86_64)")
    app.sign_in(
        f"service=reader&Email={app.name}&Passwd={quote(app.password)}&source=newsboat%2F2.36.0"
        "&accountType=HOSTED_OR_GOOGLE&continue=http://www.google.com/"
    )
    (row,) = app.get("/reader/api/0/subscription/list?output=json").json()["subscriptions"]
    has(row, id=str, title=str, categories=list)
    assert [category["label"] for category in row["categories"]] == ["News"]
    # The feed's id is escaped in the path of its contents.
    contents = f"/reader/api/0/stream/contents/{quote(row['id'], safe='')}?n=20"
    items = app.get(contents).json()["items"]
    assert [int(item["id"].removeprefix(ITEM), 16) for item in items] == keys[:20]
    for item in items:
        has(item, id=str, title=str, author=str, published=int, categories=list)
        has(item["canonical"][0], href=str)
        # Of the summary it takes the first value by the alphabet of their names.
        assert min(item["summary"]) == "content"
        has(item["summary"], content=str)
    # Every mark has an edit token of its own, at the end.
    first, second = items[0]["id"], items[1]["id"]
    seen = "&r=user/-/state/com.google/kept-unread&ac=edit"
    for item in (first, second):
        ok(app.post("/reader/api/0/edit-tag", f"i={item}&a={READ}{seen}&T={app.token()}"))
    assert read(follower) == set(keys[:2])
    kept = "&a=user/-/state/com.google/kept-unread&a=user/-/state/com.google/tracking-kept-unread&ac=edit"
    ok(app.post("/reader/api/0/edit-tag", f"i={second}&r={READ}{kept}&T={app.token()}"))
    assert read(follower) == {keys[0]}
    ok(app.post("/reader/api/0/edit-tag", f"i={first}&a={STARRED}&ac=edit&T={app.token()}"))
    ok(app.post("/reader/api/0/edit-tag", f"i={second}&a={STARRED}&ac=edit&T={app.token()}"))
    ok(app.post("/reader/api/0/edit-tag", f"i={second}&r={STARRED}&ac=edit&T={app.token()}"))
    assert starred(follower) == {keys[0]}
    shared = "user/-/state/com.google/broadcast"
    ok(app.post("/reader/api/0/edit-tag", f"i={first}&a={shared}&ac=edit&T={app.token()}"))
    items = app.get(contents).json()["items"]
    assert [READ in item["categories"] for item in items[:2]] == [True, False]
    ok(app.post("/reader/api/0/mark-all-as-read", f"s={row['id']}&T={app.token()}"))
    assert read(follower) == set(keys)


# FeedMe is closed; its reading requests are in the access log of FreshRSS/FreshRSS#4618 (version 3.16), and
# in the report of its author in miniflux/v2#2129 (version 4.0.4), where user-info has no output parameter.
# seazon/FeedMe#20 shows that it decodes strictly by type. No log of its marks was found.
def test_feedme(follower, feed):
    keys = fill(feed, 250)
    Mark.objects.create(subscriber=follower, article_id=keys[0], read=NOW)
    Mark.objects.create(subscriber=follower, article_id=keys[1], starred=NOW)
    app = App(follower, FRESHRSS, "FeedMe/3.16 (com.seazon.feedme; build:206; Android SDK 30)")
    app.sign_in_plainly()
    has(app.get("/reader/api/0/user-info").json(), userId=str, userName=str)
    assert NEWS in [tag["id"] for tag in app.get("/reader/api/0/tag/list?output=json").json()["tags"]]
    (row,) = app.get("/reader/api/0/subscription/list?output=json").json()["subscriptions"]
    has(row, id=str, title=str, categories=list, url=str, htmlUrl=str, iconUrl=str)
    counts = {}
    for count in app.get("/reader/api/0/unread-count?output=json").json()["unreadcounts"]:
        has(count, id=str, count=int, newestItemTimestampUsec=str)
        assert count["newestItemTimestampUsec"].isdecimal()
        counts[count["id"]] = count["count"]
    assert counts == {row["id"]: 249, NEWS: 249, ALL: 249}
    assert item_ids(app, f"output=json&n=500&ot=0&s={quote(STARRED, safe='')}") == [keys[1]]
    query = f"output=json&n=100&xt={READ}&ot=0&s={ALL}"
    items = pages(
        lambda c: app.get(f"/reader/api/0/stream/contents?{query}{f'&c={c}' if c else ''}").json(), "items"
    )
    assert [int(item["id"].removeprefix(ITEM), 16) for item in items] == keys[1:]


# Reeder is closed; its synchronisation is in the log of passiomatic/coldsweat's wiki, "FreshRSS
# implementation notes" (Reeder for iOS, with ReadKit and NetNewsWire), and the token and the contents by a
# hundred ids of 16 hex digits in the log of FreshRSS/FreshRSS#2956 (Reeder 4), which does not show whether
# the ids had a prefix. No log of its marks with a body was found.
@pytest.mark.parametrize("prefix", ["", ITEM])
def test_reeder(follower, feed, prefix):
    keys = fill(feed, 150)
    Mark.objects.create(subscriber=follower, article_id=keys[0], read=NOW)
    Mark.objects.create(subscriber=follower, article_id=keys[1], starred=NOW)
    app = App(follower, FRESHRSS, "Reeder/4020.39.05 CFNetwork/1125.2 Darwin/19.4.0")
    app.sign_in_plainly()
    assert NEWS in [tag["id"] for tag in app.get("/reader/api/0/tag/list?output=json").json()["tags"]]
    (row,) = app.get("/reader/api/0/subscription/list?output=json").json()["subscriptions"]
    assert row["id"] == f"feed/{feed.pk}"
    assert item_ids(app, f"n=1000&output=json&s={ALL}&xt={READ}") == keys[1:]
    assert item_ids(app, f"n=1000&output=json&s={STARRED}") == [keys[1]]
    token, got = app.token(), []
    for some in chunks(keys[1:], 100):
        form = [("i", f"{prefix}{key:016x}") for key in some] + [("T", token)]
        got += app.post("/reader/api/0/stream/items/contents", urlencode(form)).json()["items"]
    assert {int(item["id"].removeprefix(ITEM), 16) for item in got} == set(keys[1:])
