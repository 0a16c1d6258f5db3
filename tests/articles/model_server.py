"""A fake language model: answers of the chat completions API, right and wrong ones."""

from __future__ import annotations

import json
from typing import Any

from tests.servers import Reply

PATH = "/v1/chat/completions"


def event(text: str = "", reason: str | None = None, **delta: Any) -> bytes:
    content = {"content": text} if text else {}
    choice = {"index": 0, "delta": content | delta, "finish_reason": reason}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def stream(*texts: str, end: bytes = b"data: [DONE]\n\n", **fields: Any) -> Reply:
    """A stream of server-sent events with these texts."""
    body = b": hello\n\n" + event(role="assistant") + b"".join(map(event, texts)) + end
    return Reply(body, headers={"Content-Type": "text/event-stream"}, **fields)


def whole(text: str, **message: Any) -> Reply:
    """One object of JSON, as of servers that do not stream."""
    choice = {"message": {"role": "assistant", "content": text} | message, "finish_reason": "stop"}
    return Reply(json.dumps({"choices": [choice]}).encode(), headers={"Content-Type": "application/json"})
