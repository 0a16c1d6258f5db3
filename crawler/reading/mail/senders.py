"""Senders of mail: mailing lists, the identity of a newsletter over its issues, and who vouches for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crawler.reading.mail.headers import MessageHeaders
from crawler.reading.mail.record import Mail
from crawler.text.characters import storable

_LIST_ID = re.compile(r"<([^<>]{1,255})>\s*$")
_VIA = re.compile(r"^(.{1,150}?)\s+(?:via|from|at|von|de|bij|@|\|)\s+(.{1,150})$", re.IGNORECASE)
_NUMBER = (
    r"(?:\d{4,}|(?=[0-9a-f]*\d)[0-9a-f]{8,}|[0-9a-f]{8}-[0-9a-f-]{9,27}|(?=[a-z0-9]*\d[a-z]*\d)[a-z0-9]{16,})"
)
_IS_NUMBER = re.compile(rf"(?:\d+|{_NUMBER})")
_WITHIN = re.compile(rf"(?:^|[-_.+=])(?:{_NUMBER})(?=$|[-_.+=])")
_NO_NAMES = {"", "c", "campaign", "campaigns", "id", "list", "lists", "m", "mail", "mailing", "member", "message",
             "msg", "s", "sub", "subscriber", "user", "u", "bounce", "bounces", "reply"}  # fmt: skip
_PLATFORMS = re.compile(
    r"(?:^|\.)(?:substack\.com|beehiiv\.com|convertkit(?:-mail\d*)?\.com|kit\.com|ghost\.io|buttondown\.(?:com|email)|medium\.com"
    r"|mailerlite\.com|mlsend\.com|sendinblue\.com|brevo\.com|mcsv\.net|mailchimpapp\.com|mailchi\.mp|hubspotemail\.net"
    r"|createsend\.com|cmail\d+\.com|sendgrid\.net|amazonses\.com|tinyletter\.com|revue\.email|getrevue\.co|patreon\.com"
    r"|linkedin\.com|steadyhq\.com|wordpress\.com|feedburner\.com|follow\.it)$"
)
"""Hosts from which the newsletters of many people come."""
_SHARED = re.compile(
    r"(?:no-?_?reply|do-?not-?reply|hello|hi|news(?:letters?)?|mail|info|updates?|notifications?|post|bingo)"
)
_QUOTED_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|\\.|[()]')


def list_of(headers: MessageHeaders) -> tuple[str, str]:
    """Return the List-Id of RFC 2919 in lower case, and the list's name.

    Programs that leave out the angle brackets mean the whole value if it looks like an identity.
    """
    value = headers.text("list-id")
    if match := _LIST_ID.search(value):
        return match[1].strip().lower(), storable(value[: match.start()].strip(" \"'"), 200)
    bare = value.strip().strip("<>").lower()
    is_identity = bool(bare) and " " not in bare and "." in bare and len(bare) <= 255
    return (bare, "") if is_identity else ("", storable(value.strip(" \"'<>"), 200))


def author_of(sender_name: str) -> str:
    """Return the person in a sender's name such as `Ann Lee from The Letter` or `Ann Lee via List`."""
    name = sender_name.strip(" \"'")
    match = _VIA.match(name)
    return match[1].strip(" \"'") if match else name


def source_key(mail: Mail) -> str:
    """Return the identity of the newsletter or list that a message is an issue of.

    1. `list:` and the List-Id, if nothing in it changes with the issue or the reader. Mailchimp's is cut to
       the account; numbers at the end of its first label are taken off (`weekly-20261101.a.example`).
    2. A List-Id whose first label is nothing but a number, a digest or a general word with a number says
       nothing; then it is `from:` and the sender's address, of which are taken off: a tag behind `+` or
       `=` with a number in it, and numbers and digests of four digits and more between `-`, `_`, `.` and as
       the first label of the host (`no-reply-81724@em8123.a.example` is `no-reply@a.example`).
    3. Where the address is one that all newsletters of a platform share (`no-reply@substack.com`), the
       sender's name follows.
    """
    if stable := _stable_list(mail.list_id):
        return f"list:{stable}"
    address = _stable_address(mail.sender_address)
    if not address:
        return f"list:{mail.list_id}" if mail.list_id else f"name:{mail.sender_name.casefold()}"
    local, _, host = address.partition("@")
    if _PLATFORMS.search(host) and (not local or _SHARED.fullmatch(local)):
        name = " ".join(mail.sender_name.casefold().split())
        return f"from:{address}/{name}" if name else f"from:{address}"
    return f"from:{address}"


def _stable_list(list_id: str) -> str:
    labels = [label for label in list_id.split(".") if label]
    if len(labels) < 2:
        return "" if not labels or _IS_NUMBER.fullmatch(labels[0]) else labels[0]
    if list_id.endswith(".list-id.mcsv.net"):
        return f"{labels[0]}.list-id.mcsv.net"
    if _IS_NUMBER.fullmatch(labels[0]):
        return ""
    first = _WITHIN.sub("", labels[0]).strip("-_.+=")
    if first != labels[0] and first in _NO_NAMES:
        return ""
    return ".".join([first or labels[0], *labels[1:]])


def _stable_address(address: str) -> str:
    local, mark, host = address.lower().strip().rpartition("@")
    if not mark:
        return ""
    base, tag_mark, tag = local.partition("+")
    if tag_mark and (any(sign.isdigit() for sign in tag) or "=" in tag):
        local = base
    local, _, _ = local.partition("=")
    if not local.isdigit() or len(local) >= 4:
        local = _WITHIN.sub("", local).strip("-_.+=")
    labels = host.split(".")
    if len(labels) > 2 and (_IS_NUMBER.fullmatch(labels[0]) or re.fullmatch(r"[a-z]{1,4}\d{3,}", labels[0])):
        labels = labels[1:]
    return f"{local}@{'.'.join(labels)}"


def authentication_of(headers: MessageHeaders, sender_address: str) -> tuple[str, str]:
    """Return `pass` or `fail` and the domain that it holds for, both "" if nothing vouches for the sender.

    Only the topmost Authentication-Results (RFC 8601) is read: it is the one that the own server wrote; all
    below may be the sender's. DMARC decides where it stands, else a passed DKIM or SPF of the domain in
    From or one above or below it.
    """
    results = list(_results(next(iter(headers.all("authentication-results")), "")))
    sender = sender_address.rpartition("@")[2].lower()
    verdicts = {
        (verdict, facts.get("header.from", sender)) for method, verdict, facts in results if method == "dmarc"
    }
    if len(verdicts) == 1:
        verdict, domain = next(iter(verdicts))
        if verdict == "pass" and _aligned(domain, sender):
            return "pass", domain
        if verdict == "fail":
            return "fail", domain
    if verdicts and not all(verdict in ("none", "bestguesspass", "temperror") for verdict, _ in verdicts):
        return "", ""
    for method, keys in (("dkim", ("header.d", "header.i")), ("spf", ("smtp.mailfrom", "smtp.mail"))):
        for kind, verdict, facts in results:
            domain = next((facts[key] for key in keys if key in facts), "").rpartition("@")[2].lower()
            if kind == method and verdict == "pass" and domain and _aligned(domain, sender):
                return "pass", domain
    failed = any(kind == "dkim" and verdict == "fail" for kind, verdict, _ in results)
    return ("fail", sender) if failed else ("", "")


def _results(value: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the method, its result and the properties in each part of an Authentication-Results."""
    for clause in _clauses(value[:4_000])[1:]:
        words = clause.split()
        method, _, verdict = words[0].partition("=") if words else ("", "", "")
        pairs = (word.partition("=") for word in words[1:])
        facts = {name.lower(): fact.strip('"') for name, mark, fact in pairs if mark}
        if verdict:
            yield method.lower().partition("/")[0], verdict.lower(), facts


def _clauses(value: str) -> list[str]:
    """Return the parts between semicolons, without comments; in quotes nothing of both has a meaning."""
    pieces: list[str] = []
    depth, position = 0, 0
    for match in _QUOTED_OR_COMMENT.finditer(value):
        if depth == 0:
            pieces.append(value[position : match.start()])
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth = max(depth - 1, 0)
        elif depth == 0:
            pieces.append(re.sub(r"[;\s=]", "_", match[0]))
        position = match.end()
    pieces.append(value[position:] if depth == 0 else "")
    return "".join(pieces).split(";")


def _aligned(domain: str, sender: str) -> bool:
    domain, sender = domain.lower().strip("."), sender.strip(".")
    if not domain or "." not in domain:
        return False
    return domain == sender or sender.endswith("." + domain) or domain.endswith("." + sender)
