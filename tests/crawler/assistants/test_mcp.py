"""`/mcp` with the official client, in both revisions of the protocol."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import pytest
from django.conf import settings as project
from django.contrib.auth.models import User
from django.core.handlers.wsgi import WSGIHandler
from django.db import connections
from django.test import Client as DjangoClient
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from articles.enrichment.models import Enrichment, Story
from articles.models import Article, Mark, Subscriber
from articles.personal.following import follow
from articles.saved.models import Highlight, SavedPage
from crawler.assistants import views
from crawler.assistants.server import TOOLS
from crawler.web.models import ApiToken
from feeds.models import Feed
from tests.crawler.operation.test_web_server import serving
from tests.factories import make_article, make_feed, make_subscriber

pytestmark = pytest.mark.django_db(transaction=True)

REVISIONS = {"2026-07-28": "2026-07-28", "2025-11-25": "legacy"}
"""The present revision and the one before, and how the client is told to speak them."""
Work = Callable[[Client], Awaitable[Any]]


@pytest.fixture
def ann() -> Subscriber:
    """Somebody who may edit and follows a feed with three articles, one of them read."""
    ann = make_subscriber("ann", make_feed(title="River news", site_url="https://river.example/"))
    User.objects.filter(pk=ann.user_id).update(is_staff=True)
    river = ann.subscriptions.get().feed
    now = datetime.now(UTC)
    body = {"content": "<p>Water stood <b>high</b> at the pier.</p>", "text": "Water stood high at the pier."}
    make_article(river, title="The flood came", author="Ada Pier", published=now, **body)
    make_article(river, title="A ship came", published=now - timedelta(hours=2), **body)
    old = make_article(river, title="Dry season", published=now - timedelta(days=1), **body)
    Mark.objects.create(subscriber=ann, article=old, read=now)
    views._minute._calls.clear()
    return ann


def token_of(person: Subscriber, scope: str = "manage") -> str:
    return ApiToken.make(person.user, "assistant", scope=scope)[1]


def ask(address: str, token: str, work: Work, mode: str = "auto") -> Any:
    """Connect as an assistant does, and do some work."""

    async def run() -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(address, http_client=http), mode=mode) as client,  # type: ignore[arg-type]
        ):
            return await work(client)

    return asyncio.run(run())


@pytest.fixture
def door(live_server: Any) -> str:
    return f"{live_server.url}/mcp"


def data_of(result: Any) -> dict[str, Any]:
    """Return the data of an answer, which its text has as well."""
    assert not result.is_error, result.content[0].text
    data: dict[str, Any] = result.structured_content
    return data


@pytest.mark.parametrize("mode", REVISIONS.values(), ids=REVISIONS)
def test_an_assistant_connects_lists_and_calls(door: str, ann: Subscriber, mode: str) -> None:
    async def work(client: Client) -> None:
        assert client.server_info.name == "freshet"
        assert client.protocol_version == {v: k for k, v in REVISIONS.items()}[mode]
        assert "strangers" in (client.instructions or "")
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [tool.name for tool in TOOLS]
        for tool in tools:
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            assert tool.input_schema["type"] == "object"
            assert "$ref" not in json.dumps(tool.input_schema)
        found = data_of(await client.call_tool("search", {"query": "flood"}))
        [article] = found["articles"]
        assert article["quoted"]["title"] == "The flood came"
        assert article["quoted"]["source"] == "River news"
        read = await client.call_tool("read", {"id": article["id"]})
        assert "Water stood high at the pier." in read.content[0].text  # type: ignore[union-attr]
        resource = await client.read_resource(article["id"].replace("article:", "freshet://article/"))
        assert "Water stood high" in resource.contents[0].text  # type: ignore[union-attr]
        listed = (await client.list_resources()).resources
        assert [str(each.uri).rpartition("/")[0] for each in listed] == ["freshet://feed"]
        feed = json.loads((await client.read_resource(str(listed[0].uri))).contents[0].text)  # type: ignore[union-attr]
        assert len(feed["articles"]) == 3
        assert len((await client.list_resource_templates()).resource_templates) == 3
        prompts = (await client.list_prompts()).prompts
        assert [each.name for each in prompts] == ["morning-brief", "topic-week", "site-changes"]
        brief = await client.get_prompt("topic-week", {"topic": 'ferries" and more'})
        assert '"ferries\\" and more"' in brief.messages[0].content.text  # type: ignore[union-attr]

    ask(door, token_of(ann), work, "auto" if mode == "2026-07-28" else mode)


def call(door: str, person: Subscriber, name: str, *, scope: str = "manage", **arguments: Any) -> Any:
    async def work(client: Client) -> Any:
        return await client.call_tool(name, arguments)

    return ask(door, token_of(person, scope), work)


def test_unread_is_paged_as_the_reader_lists_it(door: str, ann: Subscriber) -> None:
    river = ann.subscriptions.get().feed
    for number in range(30):
        make_article(
            river, title=f"Boat {number}", published=datetime.now(UTC) - timedelta(hours=5, minutes=number)
        )
    first = data_of(call(door, ann, "unread"))
    assert first["unread_in_all"] == 32
    assert [each["quoted"]["title"] for each in first["articles"][:2]] == ["The flood came", "A ship came"]
    second = data_of(call(door, ann, "unread", cursor=first["next"]))
    assert second["next"] == ""
    titles = [each["quoted"]["title"] for each in first["articles"] + second["articles"]]
    assert len(titles) == len(set(titles)) == 32
    wrong = call(door, ann, "unread", cursor="!!!")
    assert wrong.is_error
    assert "no cursor" in wrong.content[0].text


def test_marks_labels_and_highlights(door: str, ann: Subscriber) -> None:
    article = Article.objects.get(title="The flood came")
    reference = f"article:{article.pk}"
    assert data_of(call(door, ann, "mark", articles=[reference], state="starred"))["marked"] == 1
    assert data_of(call(door, ann, "label", article=reference, add=["Floods"]))["labels"] == ["Floods"]
    told = data_of(call(door, ann, "highlight", article=reference, quote="stood high", note="twice"))
    assert told["quoted"]["words"] == "stood high"
    mark = Mark.objects.get(subscriber=ann, article=article)
    assert (mark.starred is not None, mark.labels) == (True, ["Floods"])
    assert Highlight.objects.get().note == "twice"
    forged = call(door, ann, "highlight", article=reference, quote="stood low")
    assert forged.is_error
    missing = call(door, ann, "mark", articles=["article:999999"], state="read")
    assert missing.is_error
    assert "There is no article:999999." in missing.content[0].text


def test_a_page_is_saved_for_the_person(door: str, ann: Subscriber) -> None:
    told = data_of(call(door, ann, "save", url="https://example.org/page", tags=["later"]))
    assert (told["state"], told["tags"]) == ("waiting", ["later"])
    assert SavedPage.objects.get().subscriber == ann
    assert call(door, ann, "save", url="javascript:alert(1)").is_error


def test_unfollowing_needs_the_word_for_that_very_feed(door: str, ann: Subscriber) -> None:
    river, other = ann.subscriptions.get().feed, make_feed(title="Other")
    follow(ann, other)
    asked = data_of(call(door, ann, "unfollow", feed=f"feed:{river.pk}"))
    assert asked["unfollowed"] is False
    assert ann.subscriptions.count() == 2
    elsewhere = call(door, ann, "unfollow", feed=f"feed:{other.pk}", confirmation=asked["confirmation"])
    assert elsewhere.is_error
    assert ann.subscriptions.count() == 2
    bob = make_subscriber("bob", river)
    assert call(door, bob, "unfollow", feed=f"feed:{river.pk}", confirmation=asked["confirmation"]).is_error
    done = data_of(call(door, ann, "unfollow", feed=f"feed:{river.pk}", confirmation=asked["confirmation"]))
    assert done["unfollowed"] is True
    assert [row.feed for row in ann.subscriptions.all()] == [other]
    assert bob.subscriptions.count() == 1


def test_following_and_watching(door: str, ann: Subscriber) -> None:
    with_feed = make_feed("https://harbour.example/feed.xml", title="Harbour")
    bob = make_subscriber("bob")
    told = data_of(call(door, bob, "follow", url=with_feed.url, folder="News"))
    assert (told["followed"], told["folder"]) == (True, "News")
    assert bob.subscriptions.get().feed == with_feed
    watched = data_of(call(door, ann, "watch", url="https://council.example/minutes"))
    assert watched["site"].startswith("site:")
    refused = call(door, bob, "watch", url="https://council.example/other")
    assert refused.is_error


def test_feeds_say_when_and_why_and_no_address_with_a_key(door: str, ann: Subscriber) -> None:
    feed = make_feed("https://private.example/feed?key=s3cr3t", title="Private")
    data = data_of(call(door, ann, "feeds", feed=f"feed:{feed.pk}"))
    assert data["feed"]["quoted"]["title"] == "Private"
    assert data["schedule"]["reason"]
    everything = json.dumps([data, data_of(call(door, ann, "feeds", only_mine=False))])
    assert "s3cr3t" not in everything


def test_stories_tell_who_was_first(door: str, ann: Subscriber) -> None:
    story = Story.objects.create()
    for title, hours in (("First", 2), ("Second", 1)):
        article = make_article(make_feed(title=f"{title} paper"), title=title)
        Article.objects.filter(pk=article.pk).update(published=datetime.now(UTC) - timedelta(hours=hours))
        Enrichment.objects.update_or_create(article=article, defaults={"story": story})
    [told] = data_of(call(door, ann, "stories"))["stories"]
    assert [each["quoted"]["title"] for each in told["articles"]] == ["First", "Second"]
    assert round(told["seconds_to_the_next"]) == 3600
    text = call(door, ann, "read", id=told["id"]).content[0].text
    assert "Second paper" in text


def test_ready_questions_are_listed(door: str, ann: Subscriber) -> None:
    questions = data_of(call(door, ann, "ask_graph"))["questions"]
    assert "What has {word} written?" in questions
    assert call(door, ann, "ask_graph", question="Who are you?").is_error
    update = call(door, ann, "ask_graph", sparql="DELETE WHERE { ?s ?p ?o }")
    assert update.is_error


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("read", {"id": "article:x"}, "is no article"),
        ("read", {"id": "feed:1"}, "nothing of the kind"),
        ("read", {"id": "article:999999"}, ""),
        ("search", {"query": ""}, "nothing to search for"),
        ("search", {"query": "a", "limit": 5000}, "arguments are wrong"),
        ("search", {"query": "a", "colour": "red"}, "arguments are wrong"),
        ("search", {}, "arguments are wrong"),
        ("search", {"query": "a\u0000b"}, ""),
        ("search", {"query": '"unfinished'}, None),
        ("search", {"query": "a", "feed": "feed:99999999999999999999"}, "is no feed"),
        ("search", {"query": "a", "since": "tomorrow"}, "since"),
    ],
)
def test_mistakes_are_sentences(
    door: str, ann: Subscriber, name: str, arguments: Any, words: str | None
) -> None:
    result = call(door, ann, name, **arguments)
    if words is None:
        assert not result.is_error
        return
    assert result.is_error
    assert words in result.content[0].text
    assert "Traceback" not in result.content[0].text


@pytest.mark.parametrize("scope", ["read", "mark"])
def test_no_call_without_its_scope_has_an_effect(door: str, ann: Subscriber, scope: str) -> None:
    river, article = ann.subscriptions.get().feed, Article.objects.get(title="The flood came")
    changing = [
        ("save", {"url": "https://example.org/"}, "mark"),
        ("mark", {"articles": [f"article:{article.pk}"], "state": "read"}, "mark"),
        ("label", {"article": f"article:{article.pk}", "add": ["x"]}, "mark"),
        ("highlight", {"article": f"article:{article.pk}", "quote": "high"}, "mark"),
        ("follow", {"url": "https://example.org/feed"}, "manage"),
        ("watch", {"url": "https://example.org/"}, "manage"),
        ("unfollow", {"feed": f"feed:{river.pk}"}, "manage"),
    ]
    before = Mark.objects.count(), SavedPage.objects.count(), Feed.objects.count()

    async def work(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        for name, arguments, needed in changing:
            if needed == "mark" and scope == "mark":
                continue
            assert name not in names
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert "may not do that" in result.content[0].text  # type: ignore[union-attr]

    ask(door, token_of(ann, scope), work)
    assert (Mark.objects.count(), SavedPage.objects.count(), Feed.objects.count()) == before


def test_others_do_not_see_what_is_ones_own(door: str, ann: Subscriber) -> None:
    bob = make_subscriber("bob")
    saved = data_of(call(door, ann, "save", url="https://example.org/secret"))
    assert call(door, bob, "read", id=saved["id"]).is_error
    assert call(door, bob, "mark", articles=[saved["id"]], state="read").is_error
    assert data_of(call(door, bob, "search", query="", kind="saved"))["saved"] == []


def post(client: DjangoClient, token: str = "", **headers: str) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers |= {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return client.post("/mcp", json.dumps(body), "application/json", headers=headers)


def test_the_door_itself(client: DjangoClient, ann: Subscriber, settings: Any) -> None:
    token = token_of(ann)
    assert len(post(client, token).json()["result"]["tools"]) == len(TOOLS)
    unknown = post(client)
    assert unknown.status_code == 401
    assert "/.well-known/oauth-protected-resource/mcp" in unknown.headers["WWW-Authenticate"]
    client.force_login(ann.user)
    assert post(client).status_code == 401, "a browser's session opens nothing here"
    assert post(client, token, Origin="https://evil.example").status_code == 403
    signed = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    assert client.get("/mcp", headers=signed).status_code == 405
    assert client.post("/mcp", b"x" * 300_000, "application/json", headers=signed).status_code == 413
    assert client.post("/mcp", b"{", "application/json", headers=signed).status_code == 400
    settings.ASSISTANTS_ENABLED = False
    assert post(client, token).status_code == 404


def test_a_failure_of_ours_tells_nothing_of_the_inside(
    door: str, ann: Subscriber, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("password is lamp-oil")

    monkeypatch.setattr("crawler.assistants.finding.call", broken)

    async def work(client: Client) -> None:
        with pytest.raises(MCPError, match="Something broke here"):
            await client.call_tool("search", {"query": "flood"})

    ask(door, token_of(ann), work)
    ask(door, token_of(ann), work, "legacy")


def test_hosts_that_are_allowed_do_not_matter_within(door: str, ann: Subscriber, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["localhost"]  # nothing comes from "testserver"
    make_article(ann.subscriptions.get().feed, title="flood again")
    assert data_of(call(door, ann, "search", query="flood", limit=1))["next"]


def test_calls_of_a_minute_are_limited(client: DjangoClient, ann: Subscriber, monkeypatch: Any) -> None:
    monkeypatch.setattr(views, "CALLS_A_MINUTE", 3)
    token = token_of(ann)
    answers = [post(client, token) for _ in range(4)]
    assert [each.status_code for each in answers] == [200, 200, 200, 429]
    assert 1 <= int(answers[3].headers["Retry-After"]) <= 61
    assert post(client, token_of(make_subscriber("bob"))).status_code == 200


def test_fifty_clients_at_once_and_a_page_between_them(ann: Subscriber, settings: Any) -> None:
    token = token_of(ann)
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    views._minute._calls.clear()

    async def one(address: str, number: int) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):
            found = await client.call_tool("search", {"query": ("flood", "ship", "dry")[number % 3]})
            return len(data_of(found)["articles"])

    async def page(address: str) -> int:
        async with httpx2.AsyncClient(timeout=10) as http:
            return (await http.get(f"{address}/accounts/login/")).status_code

    async def all_of_them(address: str) -> list[int]:
        return await asyncio.gather(*(one(address, number) for number in range(50)), page(address))

    with serving(WSGIHandler()) as port:
        assert asyncio.run(all_of_them(f"http://127.0.0.1:{port}")) == [1] * 50 + [200]


def test_over_standard_input_and_output(ann: Subscriber, tmp_path: Path) -> None:
    database = connections["default"].settings_dict
    url = "postgresql://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(**database)
    server = StdioServerParameters(
        command=sys.executable,
        args=[str(Path(project.BASE_DIR) / "manage.py"), "mcp", "--user", "ann", "--scope", "read"],
        env={"DATABASE_URL": url, "DATA_DIR": str(tmp_path), "CELERY_BROKER_URL": "memory://"},
    )

    async def run() -> None:
        for mode in ("auto", "legacy"):
            async with Client(server, mode=mode) as client:  # type: ignore[arg-type]
                names = [tool.name for tool in (await client.list_tools()).tools]
                assert names == [tool.name for tool in TOOLS if tool.scope == "read"]
                found = data_of(await client.call_tool("search", {"query": "flood"}))
                assert found["articles"][0]["quoted"]["title"] == "The flood came"
                with pytest.raises(MCPError):
                    await client.call_tool("format_disk", {})

    asyncio.run(run())
