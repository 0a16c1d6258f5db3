# ruff: noqa: E501 (messages stand as they come)
"""Messages in the forms of the programs that send newsletters, built from invented words."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

PARAGRAPHS = (
    "The harbour wall was painted blue this week & nobody knows why.",
    "Seven herons were counted by the old mill — twice as many as in spring.",
    "Bring a lamp to the meeting on Friday.",
)
TRACKERS = (
    "utm_",
    "mc_eid",
    'width="1"',
    "/open",
    "pixel.",
    "redirect/2",
    "awstrack",
    "safelinks",
    "<style",
    "display:none",
)


def message(headers: dict[str, str], body: str, kind: str = "text/html; charset=utf-8") -> bytes:
    known = {"From": "A <a@a.example>", "Subject": "An issue", "Date": "Mon, 30 Nov 2026 03:00:00 +0000"}
    lines = [
        f"{name}: {value}" for name, value in (known | headers | {"Content-Type": kind}).items() if value
    ]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode("utf-8", "surrogateescape")


def multipart(kind: str, *parts: tuple[str, str], boundary: str = "bnd") -> tuple[str, str]:
    """The Content-Type and body of parts, each of a block of headers and a body."""
    pieces = [f"--{boundary}\r\n{head}\r\n\r\n{body}\r\n" for head, body in parts]
    return f'multipart/{kind}; boundary="{boundary}"', "".join(pieces) + f"--{boundary}--\r\n"


def alternative(headers: dict[str, str], html: str, plain: str = "See the web page.") -> bytes:
    kind, body = multipart(
        "alternative",
        ("Content-Type: text/plain; charset=utf-8", plain),
        ("Content-Type: text/html; charset=utf-8", html),
    )
    return message(headers, body, kind)


def encoded(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def words(issue: int) -> str:
    return "".join(f"<p>{one.replace('&', '&amp;')}</p>" for one in PARAGRAPHS) + f"<p>Issue {issue}.</p>"


def table(inner: str) -> str:
    cell = "<table role='presentation' cellpadding='0'><tr><td>"
    return cell * 3 + inner + "</td></tr></table>" * 3


def substack(name: str, issue: int) -> bytes:
    link = f"https://substack.com/redirect/2/{encoded({'e': f'https://a.example/{issue}?utm_source=substack', 'p': 1})}.sig"
    return alternative(
        {"From": f"{name.title()} from Letters <{name}@substack.com>", "List-Id": f"<{name}.substack.com>",
         "List-Post": f"<https://{name}.substack.com/p/issue-{issue}>",
         "List-Unsubscribe": f"<https://{name}.substack.com/action/disable_email?token=t{issue}>",
         "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"},
        f"<div class='preview' style='display:none;font-size:1px'>Herons return &#847; &zwnj;</div>"
        f"{table(words(issue))}<a href='{link}'>More</a>"
        f"<img src='https://eotrx.substackcdn.com/open?token=x' width='1' height='1'>",
    )  # fmt: skip


def mailchimp(name: str, issue: int) -> bytes:
    account = name.encode().hex().ljust(25, "0")[:25]
    return alternative(
        {"From": f"{name} <{name}@{name}.example>", "List-ID": f"{account}mc list <{account}.{400 + issue}.list-id.mcsv.net>",
         "List-Unsubscribe": f"<https://{name}.us1.list-manage.com/unsubscribe?u=1&id=2&e=3>, <mailto:unsubscribe-{issue}@mailin.mcsv.net?subject=unsubscribe>",
         "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"},
        f"<html><head><style>.mcnPreviewText{{display:none}} @media x{{p{{color:red}}}}</style></head><body>"
        f"<!--[if !gte mso 9]><!----><span class='mcnPreviewText' style='display:none; max-height:0px;'>Herons return</span><!--<![endif]-->"
        f"<!--[if mso]><table><tr><td>OUTLOOK ONLY</td></tr></table><![endif]-->{table(words(issue))}"
        f"<a href='https://{name}.us1.list-manage.com/track/click?u=1&id={issue}&e=3'>More</a>"
        f"<a href='https://b.example/?mc_cid=1&mc_eid=2&page=4'>Page</a>"
        f"<img src='https://{name}.us1.list-manage.com/track/open.php?u=1&id=2' height='1' width='1'></body></html>",
    )  # fmt: skip


def beehiiv(name: str, issue: int) -> bytes:
    return alternative(
        {"From": f"{name.title()} <{name}@mail.beehiiv.com>", "X-Beehiiv-Ids": f"{issue}",
         "List-Unsubscribe": f"<https://link.mail.beehiiv.com/ss/c/u001.{'x' * 40}/unsub>",
         "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"},
        f"<div style='display:none;max-height:0px;overflow:hidden;'>Herons return</div>{table(words(issue))}"
        f"<a href='https://link.mail.beehiiv.com/ss/c/u001.{'a' * 60}/4h/h1'>More</a>"
        f"<a href='https://{name}.beehiiv.com/p/{issue}?utm_source={name}&_bhlid=77'>Read online</a>"
        f"<img src='https://link.mail.beehiiv.com/ss/o/u001.abc/4h/open' alt=''>",
    )  # fmt: skip


def from_own_domain(html: Callable[[int], str], **headers: str) -> Callable[[str, int], bytes]:
    def build(name: str, issue: int) -> bytes:
        filled = {
            key.replace("_", "-"): value.format(name=name, issue=issue, long=81724 * issue)
            for key, value in headers.items()
        }
        return alternative(
            {"From": f"{name.title()} <news@{name}.example>"} | filled, table(words(issue)) + html(issue)
        )

    return build


def link(address: str) -> Callable[[int], str]:
    return lambda issue: (
        f"<a href='{address.format(issue=issue)}'>More</a><img src='https://t.example/open/{issue}.gif'>"
    )


def plain_list(**headers: str) -> Callable[[str, int], bytes]:
    def build(name: str, issue: int) -> bytes:
        filled = {
            key.replace("_", "-"): value.format(name=name, issue=issue) for key, value in headers.items()
        }
        sender = {"From": f"Person {issue} <person{issue}@p.example>"}
        return message(
            sender | filled, "\r\n\r\n".join((*PARAGRAPHS, f"Issue {issue}.")), "text/plain; charset=utf-8"
        )

    return build


def mailman_with_footer(name: str, issue: int) -> bytes:
    kind, body = multipart(
        "mixed",
        ("Content-Type: text/plain; charset=utf-8", "\r\n\r\n".join((*PARAGRAPHS, f"Issue {issue}."))),
        (
            "Content-Type: text/plain; charset=us-ascii\r\nContent-Disposition: inline",
            f"____\r\n{name} mailing list",
        ),
    )
    return message(
        {"From": f"Ann via {name} <{name}@lists.example>", "List-Id": f"A list <{name}.lists.example>"},
        body,
        kind,
    )


def listserv_digest(name: str, issue: int) -> bytes:
    inner = [
        (
            "",
            f"From: P{n} <p{n}@p.example>\r\nSubject: Topic {n}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{one}",
        )
        for n, one in enumerate((*PARAGRAPHS, f"Issue {issue}."))
    ]
    kind, body = multipart("digest", *inner)
    return message(
        {"From": f"{name} <LISTSERV@l.example>", "List-ID": f"<{name.upper()}.L.EXAMPLE>"}, body, kind
    )


def forwarded(name: str, issue: int) -> bytes:
    inner = substack(name, issue).decode().replace("bnd", "inner")
    kind, body = multipart(
        "mixed", ("Content-Type: message/rfc822\r\nContent-Disposition: attachment; filename=a.eml", inner)
    )
    return message({"From": f"Me <me{issue}@home.example>", "Subject": "FW: letter"}, body, kind)


AWS = (
    "https://abc.r.us-east-1.awstrack.me/L0/https:%2F%2Fa.example%2F{issue}%3Futm_medium=email/1/0100-abc/x=1"
)
SAFE = "https://eur02.safelinks.protection.outlook.com/?url=https%3A%2F%2Fa.example%2F{issue}&data=05%7C02&reserved=0"
SENDERS: dict[str, Callable[[str, int], bytes]] = {
    "substack": substack,
    "mailchimp": mailchimp,
    "beehiiv": beehiiv,
    "buttondown": from_own_domain(link("https://a.example/{issue}?utm_source=buttondown"), From="{name} <{name}@buttondown.email>"),
    "ghost": from_own_domain(link("https://a.example/{issue}?ref=x&utm_campaign=y"), From="{name} <noreply@news.{name}.example>"),
    "convertkit": from_own_domain(
        lambda issue: link(f"https://click.convertkit-mail.com/abc/def/{encoded(f'https://a.example/{issue}')}")(issue)
    ),
    "mailerlite": from_own_domain(link("https://click.mlsend.com/link/c/YT0{issue}"), From="{name} <bounce+{issue}99@{name}.example>"),
    "brevo": from_own_domain(link("https://r.sendibt3.com/tr/cl/abc{issue}"), List_Id="<{long}.{name}.example>"),
    "hubspot": from_own_domain(link("https://d1.hubspotlinks.com/Ctc/{issue}"), From="{name} <no-reply-{long}@{name}.example>"),
    "campaign monitor": from_own_domain(link("https://n.cmail20.com/t/y-l-abc-{issue}/"), List_Id="<campaign-{long}.{name}.example>"),
    "mailman 2": plain_list(List_Id="The list <{name}.lists.example>", List_Unsubscribe="<https://l.example/options/{name}>,\r\n <mailto:{name}-request@l.example?subject=unsubscribe>"),
    "mailman 3": plain_list(List_Id="<{name}.lists.example>", Archived_At="<https://l.example/archives/{issue}/>"),
    "mailman footer": mailman_with_footer,
    "google groups": plain_list(List_ID="<{name}.googlegroups.com>"),
    "discourse": plain_list(List_ID='"Talk" <{name}.forum.example>', From="Person{issue} <reply+{issue}a8f3c2@forum.example>"),
    "phplist": from_own_domain(link("https://l.example/lists/lt.php?tid=abc{issue}"), List_Help="<https://l.example>"),
    "listmonk": from_own_domain(link("https://l.example/link/01234567-89ab-cdef-0123-456789abcdef/01234567-89ab-cdef-0123-456789abcdef/01234567-89ab-cdef-0123-456789abcde{issue}")),
    "sympa": plain_list(List_Id="<{name}.sympa.example>", Sender="{name}-owner@sympa.example"),
    "listserv digest": listserv_digest,
    "ses": from_own_domain(link(AWS)),
    "outlook": from_own_domain(link(SAFE)),
    "forwarded": forwarded,
}  # fmt: skip
