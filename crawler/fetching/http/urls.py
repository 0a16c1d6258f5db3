"""The canonical form of web addresses by the WHATWG URL standard (parsed by ada), and keys made of it."""

from __future__ import annotations

import re

import ada_url

from crawler.failures import Failure
from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason

MAX_URL_LENGTH = 2048
"""Characters of a canonical URL; the limit that sitemaps.org set for everyone."""

MAX_HOST_LENGTH = 253
"""Characters of a host name (RFC 1035, section 2.3.4); no longer one has an address."""

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
# "localhost:8000" looks like a scheme to the pattern above; people type it.
_HOST_AND_PORT = re.compile(r"[^/?#:@]+:[0-9]+(?:[/?#]|$)")
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# What this matches, the parser spells canonically by itself, and needs no second pass.
_PLAIN = re.compile(
    r"https?://(?=[^/:]{1,253}[/:])[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::[0-9]+)?/[^%?]*(?:\?[^%]+)?"
)
# Names that belong to one program of advertising or mail alone: a site's own `ref` or `source` may choose the
# page.
_TRACKING = re.compile(
    r"(?:utm_[\w-]+|mtm_\w+|at_(?:medium|campaign)|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|twclid|igshid"
    r"|mc_[ce]id|mc_tc|_hsenc|_hsmi|__hs\w+|hsCta\w+|mkt_tok|xtor|ttclid|srsltid|gclsrc|igsh|li_fat_id|ysclid"
    r"|_openstat|pk_\w+|piwik_\w+|oly_(?:anon|enc)_id|vero_(?:id|conv)|_gl|_ga|epik|wickedid|guce_\w+|rb_clickid"
    r"|(?:ml|ck)_subscriber\w*|ref_(?:src|url)|bsft_\w+)",
    re.IGNORECASE,
)


class BadUrl(ValueError):
    """An error about an invalid web address: `url` (shortened), `reason`, and `kind` for the taxonomy."""

    def __init__(self, url: str, reason: str, kind: Failure = Failure.BAD_URL) -> None:
        self.url = url if len(url) <= 200 else url[:200] + "..."
        self.reason = reason
        self.kind = kind
        super().__init__(Reason("{0}: {1}", repr(self.url), reason))


def canonical_url(url: str) -> str:
    """Return the canonical spelling of a URL, under which it is stored and fetched.

    Lower-case host without trailing dot, no default port, no fragment, no dot segments, escapes
    in upper case and only where needed. For what people type, `feed:` and a missing scheme mean
    http, which every site redirects from and not every site does without. Raises BadUrl.
    """
    text = url.strip()
    if text[:5].lower() == "feed:":
        text = text[5:]
        text = "http:" + text if text.startswith("//") else text
    if not _SCHEME.match(text) or _HOST_AND_PORT.match(text):
        text = "http://" + text.lstrip("/")
    return _canonical(url, text, None)


def join(base: str, reference: str) -> str:
    """Return the canonical URL of a reference found in the document at `base`. Raises BadUrl."""
    return _plainly_joined(base, reference) or _canonical(reference, reference, base)


def host_key(url: str) -> str:
    """Return a URL's host for politeness: lower case, no trailing dot, port, brackets. Raises BadUrl."""
    try:
        hostname = ada_url.URL(url).hostname
    except ValueError as error:
        raise BadUrl(url, gettext_noop("not a valid URL")) from error
    return str(hostname).rstrip(".").strip("[]")


def origin(url: str) -> str:
    """Return scheme, host and port of a canonical URL: `https://example.org:8443`. Raises BadUrl."""
    try:
        return str(ada_url.URL(url).origin)
    except ValueError as error:
        raise BadUrl(url, gettext_noop("not a valid URL")) from error


def page_key(url: str) -> str:
    """Return the canonical URL without the parameters that only tell who linked to the page. Raises BadUrl.

    The key recognises one article under several links and is never fetched. Other parameters keep their
    order.
    """
    base, mark, query = canonical_url(url).partition("?")
    if not mark:
        return base
    fields = [field for field in query.split("&") if not is_tracking(field.partition("=")[0])]
    return f"{base}?{'&'.join(fields)}" if fields else base


def is_tracking(parameter: str) -> bool:
    """Return whether a query parameter of this name only tells who linked to the page."""
    return bool(_TRACKING.fullmatch(parameter))


def _plainly_joined(base: str, reference: str) -> str:
    """Return the result of `_canonical` if one call of the parser gives it, else an empty text.

    Ports, dots and case are the parser's work; escapes, user names, odd hosts and ends are not.
    """
    # Feeds with addresses of 300,000 characters are a row of the table of poisons.
    if len(reference) > MAX_URL_LENGTH:
        return ""
    try:
        url: str = ada_url.join_url(base, reference).partition("#")[0]
    except ValueError:
        return ""
    return url if len(url) <= MAX_URL_LENGTH and _PLAIN.fullmatch(url) else ""


def _canonical(original: str, text: str, base: str | None) -> str:
    """Parse `text` and spell it canonically; errors name the `original`."""
    # Escapes and dot segments may shorten it, a little: what is four times too long is not parsed.
    if len(text) > 4 * MAX_URL_LENGTH:
        raise BadUrl(original, Reason("longer than {0} characters", MAX_URL_LENGTH))
    try:
        parsed = ada_url.URL(text, base) if base is not None else ada_url.URL(text)
    except ValueError as error:
        raise BadUrl(original, gettext_noop("not a valid URL")) from error
    if parsed.protocol not in ("http:", "https:"):
        scheme = parsed.protocol.removesuffix(":")
        raise BadUrl(
            original, Reason("the scheme {0} is not http or https", f"{scheme!r}"), Failure.BAD_SCHEME
        )
    # Stored addresses are shown to everybody; passwords belong to a login (ArchiveBox 1517).
    if parsed.username or parsed.password:
        raise BadUrl(original, gettext_noop("contains a user name or password"))
    host = parsed.hostname.rstrip(".")
    if not host or ".." in host or len(host) > MAX_HOST_LENGTH:
        raise BadUrl(original, gettext_noop("has no valid host name"))
    port = f":{parsed.port}" if parsed.port else ""
    # crawler-commons 263: a bare percent stays as it is, since it is no escape.
    target = _ESCAPE.sub(_plainest, parsed.pathname + parsed.search)
    url = f"{parsed.protocol}//{host}{port}{target}"
    if len(url) > MAX_URL_LENGTH:
        raise BadUrl(original, Reason("longer than {0} characters", MAX_URL_LENGTH))
    return url


def _plainest(escape: re.Match[str]) -> str:
    """Return an escaped unreserved character as itself, other escapes in upper case (RFC 3986, 6.2.2)."""
    character = chr(int(escape[1], 16))
    return character if character in _UNRESERVED else escape[0].upper()
