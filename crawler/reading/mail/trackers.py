"""Links of mail without trackers: the target where it stands in the address, without telling parameters.

Nothing is fetched. A tracker whose address does not hold its target stays, and is reported as opaque.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Collection, Iterator
from urllib.parse import parse_qsl, unquote, urlsplit

from crawler.fetching.http.urls import is_tracking
from crawler.reading.addresses import absolute
from crawler.reading.limits import LIMITS

MAX_UNWRAPPED = 5
"""Trackers within one address that are taken off."""
_HOSTS = re.compile(
    r"(?:^|\.)(?:list-manage\.com|hubspotlinks\.com|hs-sites\.com|hubspotemail\.net|sendgrid\.net|convertkit-mail\d*\.com"
    r"|kit-mail\d*\.com|mlsend\d*\.com|mlsnd\.com|ml\.mailersend\.com|sendib(?:t|m)\d*\.com|sendinblue\.com|brevo\.com"
    r"|r\.mailin\.fr|cmail\d+\.com|createsend\d*\.com|klclick\d*\.com|rs6\.net|exct\.net|exacttarget\.com|awstrack\.me"
    r"|mandrillapp\.com|mailgun\.(?:org|net)|mjt\.lu|emltrk\.com|actionkit\.com|activehosted\.com|acemlna?\w*\.com"
    r"|getresponse\.com|aweber\.com|cio\d*\.com|customeriomail\.com|sparkpostmail\d*\.com|sailthru\.com|pstmrk\.it"
    r"|flodesk\.com|intercom-mail\.com|intercom-clicks\.com|sg-link\.com|substackcdn\.com|link\.mail\.beehiiv\.com"
    r"|safelinks\.protection\.outlook\.com|urldefense\.(?:proofpoint\.)?com|urldefense\.us|nl-\d+\.sendtric\.com)$"
)
"""Hosts that serve nothing but redirections and counting pictures."""
_LABELS = re.compile(
    r"(?:(?:e?mail|url\d*|nl|news|newsletter)?[.-]?(?:clicks?|links?|track(?:ing|er)?|trk|lnk|clk|redirect|redir|ctr?|click\d+)|"
    r"elink\w*|url\d+|r\d*|t|e|go|email|hs-email|em\d+)"
)
_PATHS = re.compile(
    r"/(?:clicks?|track(?:ing)?|trk|redirect|redir|rd|ls/click|CL0|L0|ss/c|wf/click|lt\.php|link\.php|click\.php"
    r"|e3t|Ctc|f/a|tracking/click|api/v1/click|goto|out|l\.php|t/c|url|v[123]/c|c/[A-Za-z0-9_-]{16,})(?:/|$)",
    re.IGNORECASE,
)
_LISTMONK = re.compile(r"/link/[0-9a-f-]{36}/[0-9a-f-]{36}(?:/[0-9a-f-]{36})?/?")
_KEYS = ("url", "u", "q", "e", "to", "target", "dest", "destination", "link", "href", "redirect",
         "redirect_url", "redirect_to", "r", "l", "p", "d", "data", "z")  # fmt: skip
_REDIRECTORS = {
    "www.google.com/url": "q", "google.com/url": "q", "l.facebook.com/l.php": "u", "l.instagram.com/": "u",
    "t.umblr.com/redirect": "z", "www.youtube.com/redirect": "q", "www.linkedin.com/redir/redirect": "url",
    "www.linkedin.com/safety/go": "url", "slack-redir.net/link": "url", "out.reddit.com/": "url",
    "steamcommunity.com/linkfilter/": "url", "vk.com/away.php": "to",
}  # fmt: skip
_OTHER = re.compile(
    r"publication_id|post_id|isFreemail|triedRedirect|_bhlid|jwt_token|_kx|_ke|_eprivacy|elq\w*|ss_(?:source|campaign_\w+|email_id)"
    r"|dm_i|inf_contact_key|vgo_ee|subscriber(?:_?id|_hash)?|cmpid|trk_\w+|mi_u|s_cid|sc_(?:src|lid|uid|eh|llid|customer)|nlid"
    r"|email_hash|contact_?id|sib_\w+|__s|ue|iterable_\w+|hsenc|hsmi",
    re.IGNORECASE,
)
_ENCODED = re.compile(r"[A-Za-z0-9_+/=-]{12,}")
_V3 = re.compile(r"/v3/__(.+?)__;([A-Za-z0-9_=-]*)!")


def unwrap(url: str, subscribers: Collection[str] = ()) -> tuple[str, bool]:
    """Return an address without trackers, and whether it still is one whose target is unknown.

    Parameters that name one of the `subscribers` (mail addresses) or only tell where a reader came from are
    taken off.
    """
    is_opaque = False
    for _ in range(MAX_UNWRAPPED):
        target, is_opaque = _target(url)
        if not target or target == url:
            break
        url = target
    return _without_parameters(url, subscribers), is_opaque


def is_tracker_host(host: str) -> bool:
    """Return whether a host is known to serve nothing but redirections and counting pictures."""
    return bool(_HOSTS.search(host))


def _target(url: str) -> tuple[str, bool]:
    """Return the address within a tracker's, "" without one, and whether the given one is a tracker."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return "", False
    if host.startswith("urldefense."):
        return _proofpoint(url), True
    key = _REDIRECTORS.get(f"{host}{parts.path}")
    if key or host.endswith(".safelinks.protection.outlook.com"):
        fields = dict(parse_qsl(parts.query[: LIMITS.address], max_num_fields=100))
        return _web(fields.get(key or "url", "") or fields.get("url", "")), False
    is_substack = host in ("substack.com", "email.mg1.substack.com", "email.mg2.substack.com") or (
        host.endswith(".substack.com") and "/redirect/" in parts.path
    )
    first = host.split(".")[0]
    is_own = host.count(".") >= 2 and bool(_LABELS.fullmatch(first))
    has_path = bool(_PATHS.search(parts.path)) or bool(_LISTMONK.search(parts.path))
    is_tracker = is_tracker_host(host) or (is_substack and "/redirect/" in parts.path)
    if not (is_tracker or is_own or has_path):
        return "", False
    target = next((address for address in _within(parts.path, parts.query) if address), "")
    same = bool(target) and (urlsplit(target).hostname or "").lower() == host and target == url
    return ("" if same else target), is_tracker or has_path or (
        is_own and first not in ("go", "email", "e", "t")
    )


def _within(path: str, query: str) -> Iterator[str]:
    """Yield the web addresses that a tracker's path or query holds, plain or encoded."""
    try:
        fields = dict(parse_qsl(query[: LIMITS.address], max_num_fields=100))
    except ValueError:
        fields = {}
    for key in _KEYS:
        if value := fields.get(key):
            yield _web(value) or _encoded(value)
    unquoted = unquote(path[: LIMITS.address])
    if match := re.search(r"/(https?:/{1,2}[^\s]+)", unquoted):
        inner = re.sub(r"^(https?):/+", r"\1://", match[1])
        raw = re.search(r"/(https?(?:%3A|:)%2F%2F[^/]+)", path, re.IGNORECASE)
        yield _web(unquote(raw[1])) if raw else _web(inner)
    for segment in reversed(path.split("/")[-12:]):
        yield _encoded(unquote(segment))


def _encoded(value: str) -> str:
    """Return the web address in a value of base64: plain, or in an object of JSON."""
    head = value.partition(".")[0] if value.count(".") <= 2 else ""
    for text in dict.fromkeys((value, head)):
        if not _ENCODED.fullmatch(text[: LIMITS.address]):
            continue
        raw = text.translate(str.maketrans("-_", "+/")).rstrip("=")
        try:
            data = base64.b64decode(raw + "=" * (-len(raw) % 4)).decode()
        except (binascii.Error, ValueError):
            continue
        if target := _web(data) or _in_json(data):
            return target
    return ""


def _in_json(data: str) -> str:
    """Return the first web address among an object's values; one level of JSON within JSON is read."""
    pending = [data]
    for text in pending[:2]:
        if not text.startswith("{"):
            continue
        try:
            values = json.loads(text)
        except (ValueError, RecursionError):
            return ""
        texts = [value for value in values.values() if isinstance(value, str)]
        for value in texts:
            if target := _web(value):
                return target
        inner = next((value for value in texts if value.startswith("{")), "")
        if inner and inner != data:
            try:
                values = json.loads(inner)
            except (ValueError, RecursionError):
                return ""
            return next((_web(v) for v in values.values() if isinstance(v, str) and _web(v)), "")
    return ""


def _proofpoint(url: str) -> str:
    """Return the target of Proofpoint's URL Defense, versions 1 to 3."""
    if version_3 := _V3.search(url[: 2 * LIMITS.address]):
        return _web(_version_3(version_3[1], version_3[2]))
    fields = dict(parse_qsl(urlsplit(url).query[: LIMITS.address], max_num_fields=100))
    value = fields.get("u", "")
    return _web(unquote(value.replace("-", "%").replace("_", "/")) if "/v2/" in url else value)


def _version_3(pattern: str, replaced: str) -> str:
    """Put the replaced characters back: `*` stands for one of them, `**` and a letter for a run."""
    try:
        raw = replaced.translate(str.maketrans("-_", "+/")).rstrip("=")
        characters = base64.b64decode(raw + "=" * (-len(raw) % 4)).decode()
    except (binascii.Error, ValueError):
        return pattern
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    position = 0

    def put_back(match: re.Match[str]) -> str:
        nonlocal position
        length = alphabet.find(match[1]) + 2 if match[1] else 1
        piece = characters[position : position + length]
        position += length
        return piece

    return re.sub(r"\*(?:\*([A-Za-z0-9_-]))?", put_back, re.sub(r"^(https?):/([^/])", r"\1://\2", pattern))


def _web(text: str) -> str:
    """Return a text that is a web address, "" for any other."""
    text = text.strip()
    if text[:12].lower().startswith(("http%3a", "https%3a")):
        text = unquote(text)
    if not re.match(r"https?://[^\s/?#]", text, re.IGNORECASE) or re.search(r"[\s<>\"]", text):
        return ""
    return text if absolute("", text) else ""


def _without_parameters(url: str, subscribers: Collection[str]) -> str:
    base, mark, remainder = url.partition("?")
    if not mark:
        return url
    query, hash_mark, fragment = remainder.partition("#")
    fields = query.split("&")
    is_substack = "publication_id=" in query and "post_id=" in query
    retained = [field for field in fields if not _tells(field, subscribers, is_substack=is_substack)]
    if len(retained) == len(fields):
        return url
    return base + ("?" + "&".join(retained) if retained else "") + hash_mark + fragment


def _tells(field: str, subscribers: Collection[str], *, is_substack: bool) -> bool:
    """Return whether a parameter tells who reads the mail or which mail it was."""
    name, _, value = field.partition("=")
    if is_tracking(name) or _OTHER.fullmatch(name) or (is_substack and name in ("r", "token")):
        return True
    return "@" in unquote(value[:500]) and unquote(value[:500]).lower() in subscribers
