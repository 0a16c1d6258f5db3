"""A client of OpenAI's chat completions, as Ollama, llama.cpp, vLLM and hosted models speak them.

Without Django, for a process that has no settings. The address is the operator's, and no redirect is
followed, so that nothing an article says leads a request elsewhere.
"""

from __future__ import annotations

import re
import time
from collections.abc import Generator
from typing import Any
from urllib.parse import urlsplit

import msgspec

from crawler.text.characters import storable
from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason

MAX_TEXT_BYTES = 64 * 1024
"""UTF-8 bytes of an answer without what the model thought."""
MAX_BYTES = 8 * 1024 * 1024
"""Bytes of a response: each token of a stream comes in an object of some 200 bytes."""
CONNECT_SECONDS = 10.0
MAX_ASKS = 4
DEFAULT_PAUSE_SECONDS = 5.0
"""The pause before a busy model is asked again that does not say how long it is busy."""
MAX_PAUSE_SECONDS = 30.0
PROGRESS_SECONDS = 0.5

UNREACHABLE = gettext_noop("The model cannot be reached.")
TOO_SLOW = gettext_noop("The model did not finish in time.")
CUT = gettext_noop("The model's answer broke off.")
NONSENSE = gettext_noop("What answered is not a language model, or speaks another protocol.")
TOO_LONG = gettext_noop("The model's answer is longer than is allowed.")
EMPTY = gettext_noop("The model's answer is empty.")
BUSY = gettext_noop("The model has too much to do.")

_VERSION = re.compile(r"/v\d+\w*(/|$)")
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_WITHOUT_BEGIN = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
_LINE_ENDS = re.compile("\r\n?|[\u0085\u2028\u2029]")


class ChatQuestion(msgspec.Struct, frozen=True):
    """A question: where to ask it, and within how many seconds."""

    url: str
    model: str
    messages: list[dict[str, str]]
    seconds: float
    key: str = ""
    user_agent: str = ""
    tokens: int = 0
    """Of the longest answer; 0: as the server has it."""


class ChatError(Exception):
    """Error for a question without an answer; `detail` is a sentence for people.

    `wait` is set if the model is busy: seconds after which it may be asked again.
    """

    def __init__(self, detail: str, wait: float | None = None) -> None:
        super().__init__(detail)
        self.detail, self.wait = detail, wait


def completions_address(url: str) -> str:
    """Return the address of the chat completions of a server that is given by any of its addresses."""
    return endpoint_address(url, "/chat/completions")


def endpoint_address(url: str, path: str) -> str:
    """Return the address of a server's endpoint, such as "/embeddings"; `url` may end with /v1 or with it."""
    url = url.rstrip("/")
    if url.endswith(path):
        return url
    return f"{url}{path}" if _VERSION.search(urlsplit(url).path) else f"{url}/v1{path}"


def ask(question: ChatQuestion) -> Generator[int, None, str]:
    """Ask a question. Yields now and then how many characters have come, and returns the answer.

    A model that is busy is asked again after the pause that it wants, within the time of the question.
    Raises ChatError.
    """
    until = time.monotonic() + question.seconds
    for number in range(MAX_ASKS):
        try:
            return (yield from _asked(question, until))
        except ChatError as error:
            if question.tokens and "max_tokens" in str(error):  # some hosted models have another name for it
                question = msgspec.structs.replace(question, tokens=0)
                continue
            pause = error.wait
            if pause is None or pause > MAX_PAUSE_SECONDS or number == MAX_ASKS - 1:
                raise
            if time.monotonic() + pause >= until:
                raise
            time.sleep(pause)
    raise AssertionError("unreachable")


def _asked(question: ChatQuestion, until: float) -> Generator[int, None, str]:
    import requests  # noqa: PLC0415 - only in the process that asks
    import urllib3  # noqa: PLC0415

    headers = {"Accept": "text/event-stream, application/json", "Accept-Encoding": "identity"}
    if question.user_agent:
        headers["User-Agent"] = question.user_agent
    if question.key:
        headers["Authorization"] = f"Bearer {question.key}"
    body = {"model": question.model, "messages": question.messages, "stream": True}
    if question.tokens:
        body["max_tokens"] = question.tokens
    timeout = (CONNECT_SECONDS, max(until - time.monotonic(), 0.1))
    try:
        with requests.Session() as session:
            session.trust_env = False
            with session.post(
                completions_address(question.url),
                data=msgspec.json.encode(body),
                headers=headers | {"Content-Type": "application/json"},
                stream=True,
                allow_redirects=False,
                timeout=timeout,
            ) as response:
                if response.status_code != 200:
                    raise refusal(response, question.key)
                return (yield from _read(response.raw, until))
    except (requests.Timeout, urllib3.exceptions.TimeoutError, TimeoutError) as error:
        raise ChatError(TOO_SLOW) from error
    except requests.RequestException as error:
        raise ChatError(UNREACHABLE) from error
    except (urllib3.exceptions.HTTPError, OSError) as error:  # amid the answer
        raise ChatError(CUT) from error


def _read(raw: Any, until: float) -> Generator[int, None, str]:
    reader, told_at = AnswerReader(), 0.0
    while not reader.has_ended and (piece := raw.read1(16_384, decode_content=True)):
        now = time.monotonic()
        if now > until:
            raise ChatError(TOO_SLOW)
        reader.feed(piece)
        if now - told_at >= PROGRESS_SECONDS:
            told_at = now
            yield reader.received
    return reader.answer()


def refusal(response: Any, key: str) -> ChatError:
    """Return the error for a response whose status is not 200, without the key that some servers repeat."""
    status: int = response.status_code
    if status in {429, 503}:
        wait = response.headers.get("Retry-After", "")
        return ChatError(BUSY, float(wait[:9]) if wait.isdecimal() else DEFAULT_PAUSE_SECONDS)
    if 300 <= status < 400:
        return ChatError(
            Reason("The model's server answers {0} and leads elsewhere: give its own address.", status)
        )
    words = _words_of_error(response.raw.read(4096, decode_content=True))
    if key:
        words = words.replace(key, "…")
    if words:
        return ChatError(Reason("The model's server answers {0}: {1}", status, words))
    return ChatError(Reason("The model's server answers {0}.", status))


def _words_of_error(body: bytes) -> str:
    """Return what an answer that is an error says, "" for pages and for nothing."""
    try:
        return error_in(msgspec.json.decode(body))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        words = " ".join(storable(body.decode("utf-8", "replace")).split())[:200]
        return "" if "<" in words else words


def error_in(value: Any) -> str:
    """Return the words of an error in an object of JSON, "" where it tells of none."""
    error = value.get("error", value.get("detail")) if isinstance(value, dict) else None
    if isinstance(error, dict):
        error = error.get("message") or error.get("code") or "?"
    return " ".join(cleaned(str(error)).split())[:200] if error else ""


class AnswerReader:
    """The reader of a response: server-sent events piece by piece, or one object of JSON."""

    def __init__(self) -> None:
        self.has_ended = False
        self.received = 0
        """Characters of the answer and of thoughts that have come."""
        self._size = 0
        self._pending = bytearray()
        self._is_stream: bool | None = None
        self._pieces: list[str] = []
        self._reason = ""
        self._has_events = False

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the response. Raises ChatError."""
        self._size += len(piece)
        if self._size > MAX_BYTES:
            raise ChatError(TOO_LONG)
        self._pending += piece
        if self._is_stream is None and (begin := self._pending.lstrip()):
            self._is_stream = not begin.startswith((b"{", b"[", b"<"))
        if not self._is_stream or b"\n" not in piece:
            return
        *lines, remainder = self._pending.split(b"\n")
        self._pending = remainder
        for line in lines:
            self._take_line(bytes(line).strip())
            if self.has_ended:
                return

    def answer(self) -> str:
        """Return the answer without thoughts. Raises ChatError if it is not whole, or there is none."""
        if self._is_stream:
            self._take_line(bytes(self._pending).strip())
        elif not self._pending.strip():
            raise ChatError(CUT)
        else:
            self._take(bytes(self._pending))
        if not self._has_events:
            raise ChatError(NONSENSE)
        if self._is_stream and not (self.has_ended or self._reason):
            raise ChatError(CUT)
        text = cleaned(without_thoughts("".join(self._pieces)))
        if not text:
            raise ChatError(EMPTY)
        if len(text.encode()) > MAX_TEXT_BYTES:
            raise ChatError(TOO_LONG)
        # The model came to the end of what it may say.
        return f"{text} …" if self._reason == "length" else text

    def _take_line(self, line: bytes) -> None:
        if not line.startswith(b"data:"):  # comments, and fields that this protocol has no use for
            return
        data = line[5:].strip()
        if data == b"[DONE]":
            self.has_ended = True
        elif data:
            self._take(data)

    def _take(self, data: bytes) -> None:
        try:
            event = msgspec.json.decode(data)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise ChatError(NONSENSE) from error
        if words := error_in(event):
            raise ChatError(Reason("The model's server says: {0}", words))
        choices = event.get("choices") if isinstance(event, dict) else None
        if not isinstance(choices, list):
            raise ChatError(NONSENSE)
        self._has_events = True
        if not choices or not isinstance(choices[0], dict):  # of some, the last event tells the usage
            return
        message = choices[0].get("delta") or choices[0].get("message")
        if isinstance(message, dict):
            text = _text_in(message.get("content"))
            self._pieces.append(text)
            thought = message.get("reasoning_content") or message.get("reasoning")
            self.received += len(text) + (len(thought) if isinstance(thought, str) else 0)
        reason = choices[0].get("finish_reason")
        self._reason = reason if isinstance(reason, str) and reason else self._reason


def _text_in(content: Any) -> str:
    """Return the text of a message's content: a string, or a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def without_thoughts(text: str) -> str:
    """Return an answer without the parts that the model thought aloud."""
    # Templates of some models hold the opening tag, so that an answer has the closing one alone.
    return _THOUGHT_WITHOUT_BEGIN.sub("", _THOUGHT.sub("", text))


def cleaned(text: str) -> str:
    """Return text without control characters and without those that are invisible or turn its direction."""
    return storable(_INVISIBLE.sub("", _LINE_ENDS.sub("\n", text))).strip()
