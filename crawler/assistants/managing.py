"""Tools that change what is followed and watched."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from crawler.accounts.assistants.callers import Caller
from crawler.assistants.calls import ToolRefused, attempt, call
from crawler.assistants.confirming import SECONDS, confirmation, is_confirmed
from crawler.assistants.tools import Arguments, Tool, ToolAnswer, key_of
from crawler.assistants.words import NOTICE, address, phrase
from crawler.web.scopes import MANAGE

Address = Annotated[str, Meta(description="Address of a feed or page, http or https.", max_length=4_000)]


class FollowArguments(Arguments):
    """Arguments of `follow`."""

    url: Address
    folder: Annotated[str, Meta(description="Folder of the person, News/Local.", max_length=200)] = ""


class WatchArguments(Arguments):
    """Arguments of `watch`."""

    url: Address
    whole_site: Annotated[bool, Meta(description="Watch all pages of the site, not this page alone.")] = False


class UnfollowArguments(Arguments):
    """Arguments of `unfollow`."""

    feed: Annotated[str, Meta(description="Its id, as `feed:12`.", max_length=30)]
    confirmation: Annotated[
        str,
        Meta(description="From the first call, once the person has said yes.", max_length=500),
    ] = ""


def follow(caller: Caller, arguments: FollowArguments) -> ToolAnswer:
    """Follow the feed at an address, or the feed of the page there; where it has several, list them."""
    discovery = attempt(caller, "/api/feeds/find/", {"url": arguments.url})
    chosen = arguments.url
    if discovery.status != 403:  # who may not look at addresses can give that of a feed
        choices = discovery.data["feeds"] if discovery.status == 200 else []
        exact = [row for row in choices if row["url"].rstrip("/") == arguments.url.rstrip("/")]
        if discovery.status == 200 and not choices:
            raise ToolRefused("No feed was found at that address. `watch` tells when the page changes.")
        if len(choices) > 1 and not exact:
            listed = [
                {"url": address(row["url"]), "posts": row["posts"], "quoted": {"title": phrase(row["title"])}}
                for row in choices[:20]
            ]
            return ToolAnswer({"about_quoted": NOTICE, "followed": False, "choose_one_of": listed})
        chosen = (exact or choices or [{"url": arguments.url}])[0]["url"]
    sent = {"url": chosen, "folder": arguments.folder}
    reply = call(caller, "/api/subscriptions/", method="POST", data=sent)
    return ToolAnswer(
        {
            "followed": True, "feed": f"feed:{reply.data['feed']}", "folder": reply.data["folder"],
            "was_followed_already": reply.status == 200,
        }
    )  # fmt: skip


def watch(caller: Caller, arguments: WatchArguments) -> ToolAnswer:
    """Watch a page, or a whole site, for changes."""
    sent: dict[str, Any] = (
        {"url": arguments.url} if arguments.whole_site else {"kind": "pages", "pages": [arguments.url]}
    )
    row = call(caller, "/api/sites/", method="POST", data=sent).data
    return ToolAnswer(
        {"site": f"site:{row['id']}", "url": address(row["url"]), "next_visit": row["next_visit"]}
    )


def unfollow(caller: Caller, arguments: UnfollowArguments) -> ToolAnswer:
    """Stop following a feed: the first call says what would go, the second does it."""
    key = key_of(arguments.feed, "feed")
    rows = call(caller, "/api/subscriptions/", {"feed": key}).data["results"]
    if not rows:
        raise ToolRefused("The person does not follow that feed.")
    row, target = rows[0], f"feed:{key}"
    if not arguments.confirmation:
        feed = call(caller, f"/api/feeds/{key}/").data
        return ToolAnswer(
            {
                "about_quoted": NOTICE, "unfollowed": False, "feed": target, "folder": row["folder"],
                "quoted": {"title": phrase(feed["title"])},
                "ask_the_person": "Shall they stop following this feed? Its articles leave their lists.",
                "confirmation": confirmation(caller, "unfollow", target),
                "good_for_seconds": SECONDS,
            }
        )  # fmt: skip
    if not is_confirmed(caller, "unfollow", target, arguments.confirmation):
        raise ToolRefused(
            "That confirmation is too old, or for something else: call without one, and ask again."
        )
    call(caller, f"/api/subscriptions/{row['id']}/", method="DELETE")
    return ToolAnswer({"unfollowed": True, "feed": target})


TOOLS = (
    Tool("follow", "Follow a feed", "Follow the feed of an address.", FollowArguments, follow, MANAGE,
         asks_the_web=True),
    Tool("watch", "Watch a page", "Watch a page or a whole site for changes.", WatchArguments, watch, MANAGE,
         asks_the_web=True),
    Tool("unfollow", "Unfollow a feed", "Stop following a feed; needs the person's yes.", UnfollowArguments,
         unfollow, MANAGE, takes_away=True),
)  # fmt: skip
