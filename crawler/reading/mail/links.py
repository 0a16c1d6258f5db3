"""Links of a message with a meaning: to confirm a subscription, to end it, and to the message on the web."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from crawler.reading.addresses import absolute
from crawler.reading.mail.headers import MessageHeaders, decoded

MAX_UNSUBSCRIBES = 10
MAX_CONFIRMATION = 6_000
"""Characters of text; longer messages are issues that may speak of confirming."""
_ANGLED = re.compile(r"<\s*([^<>]{1,4000}?)\s*>")
_CONFIRM = re.compile(
    r"confirm|verif(?:y|ication)|activate (?:your )?(?:subscription|account)|yes,? (?:subscribe|sign) me|complete (?:your )?(?:sign|subscri)"
    r"|bestätig|aktivier|anmeldung abschlie(?:ß|ss)en|confirmer|confirmez|valider|validez|je confirme|m'abonner"
    r"|confirmar|confirma\b|confirme|verificar|suscribirme|validar|conferma|verifica|iscrivermi|bevestig|verifieer"
    r"|подтверд|активир|確認|認証|登録を完了|本登録|有効化|确认|確認訂閱|验证|驗證|激活|完成订阅|확인|인증",
    re.IGNORECASE,
)
_SUBSCRIPTION = re.compile(
    r"subscri|newsletter|sign(?:ing)?[ -]?up|opt[ -]?in|e-?mail|mailing|list\b|abonn|anmeld|inscri|suscri|boletín|correo|registr"
    r"|iscrizion|aanmeld|inschrijv|nieuwsbrief|подписк|рассылк|почт|адрес|регистрац|購読|登録|メール|订阅|訂閱|邮箱|邮件|郵件|註冊|注册|구독|이메일",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:confirmed|is now confirmed|verified)\b|bestätigt\b|confirmée?\b|confirmad[oa]\b|confermat[oa]\b|bevestigd\b|подтвержден[оа]?\b",
    re.IGNORECASE,
)
_CONFIRM_PATH = re.compile(r"confirm|verif|activat|opt-?in|double-?opt|/doi\b|bestaetig|valid", re.IGNORECASE)
_UNSUBSCRIBE = re.compile(
    r"unsubscri|opt[ -]?out|abbestell|abmeld|austrag|désabonn|désinscri|se désinscrire|darse de baja|cancelar (?:la )?(?:suscripci|inscri|subscri|assinatura)"
    r"|descadastr|disiscri|annulla l.iscrizione|cancellati|uitschrijv|afmeld|отписаться|отказаться от|配信停止|購読解除|登録解除|退订|取消订阅|取消訂閱|수신거부|구독 취소",
    re.IGNORECASE,
)
_VIEW = re.compile(
    r"(?:view|read|see|open|trouble|having|can.?t) .{0,60}(?:browser|online|web|site|app|image|email)|web ?version|view online|read online|open in (?:browser|app)"
    r"|im browser|online ?(?:ansehen|lesen|version)|webansicht|webversion|dans (?:le|votre) navigateur|version en ligne|voir en ligne"
    r"|en (?:el|su|tu) navegador|ver en línea|versión web|no (?:seu )?navegador|ver online|nel (?:tuo )?browser|versione (?:web|online)"
    r"|in (?:de|je|uw) browser|online (?:bekijken|lezen)|webversie|в браузере|веб-верси|ブラウザ|オンラインで|ウェブで|在浏览器|在瀏覽器|网页版|網頁版|线上查看",
    re.IGNORECASE,
)
_MAILMAN = re.compile(r"\bconfirm\+[0-9a-f]{16,}|\bconfirm [0-9a-f]{16,}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MailLink:
    """A link of a message: its address as written, the one without trackers, and its words."""

    raw: str
    target: str
    text: str


def unsubscribe_of(headers: MessageHeaders, links: Sequence[MailLink]) -> tuple[str, str, bool]:
    """Return the web address and the mail address that end the subscription, and whether one POST does.

    The last is true by RFC 8058 alone: an https address in the only List-Unsubscribe, and
    List-Unsubscribe-Post with `One-Click`. Blanks within an address come from programs that fold headers
    anywhere. Without the header, the last link whose words say so is taken.
    """
    # RFC 2369 allows one such header; Nodemailer writes one for each of several addresses.
    values = headers.all("list-unsubscribe")[:MAX_UNSUBSCRIBES]
    value = ",".join(decoded(one) if one.startswith("=?") else one for one in values)
    candidates = ["".join(part.split()) for part in _ANGLED.findall(value)]
    if not candidates:
        candidates = ["".join(part.split()) for part in value.split(",")]
    web = [address for address in candidates if absolute("", address)]
    url = next((address for address in web if address.lower().startswith("https://")), "") or next(
        iter(web), ""
    )
    mail = next((address[7:] for address in candidates if address.lower().startswith("mailto:")), "")
    post = "".join(headers.raw("list-unsubscribe-post").split()).lower()
    one_click = (
        post == "list-unsubscribe=one-click" and url.lower().startswith("https://") and len(values) == 1
    )
    if not url and not mail:
        url = next((link.raw for link in reversed(links) if is_unsubscribing(link.text)), "")
    return url[:4_000], mail[:1_000], one_click


def is_unsubscribing(text: str) -> bool:
    """Return whether the words of a link say that it ends a subscription."""
    return len(text) <= 200 and bool(_UNSUBSCRIBE.search(text))


def view_of(headers: MessageHeaders, links: Sequence[MailLink]) -> str:
    """Return the address of the message on the web.

    It is named by Archived-At (RFC 5064), by Substack's List-Post, else by the first link whose words say
    `view in browser` in some language.
    """
    for name in ("archived-at", "list-post"):
        for value in _ANGLED.findall(headers.raw(name)) or [headers.raw(name)]:
            address = "".join(value.split())
            if absolute("", address):
                return address
    for link in links:
        if len(link.text) <= 120 and _VIEW.search(link.text) and not is_unsubscribing(link.text):
            return link.target
    return ""


def confirmation_of(subject: str, text: str, links: Sequence[MailLink]) -> tuple[bool, str]:
    """Return whether the message asks to confirm a subscription, and the link that does so.

    The message is short, its subject and text speak of confirming and of a subscription, and it has a link
    of such words or with such a path. Mailman's may be answered by mail alone, and have no link then.
    """
    if len(text) > MAX_CONFIRMATION:
        return False, ""
    asks = bool(_CONFIRM.search(subject)) and not _PAST.search(subject)
    about = bool(_SUBSCRIPTION.search(subject) or _SUBSCRIPTION.search(text))
    if _MAILMAN.search(subject) or (_MAILMAN.search(text) and "confirm" in subject.lower()):
        return True, next((link.raw for link in links if _CONFIRM_PATH.search(link.raw)), "")
    worded = [
        link for link in links
        if len(link.text) <= 120 and _CONFIRM.search(link.text) and not _UNSUBSCRIBE.search(link.text)
        and not _PAST.search(link.text) and not link.text.startswith("http")
    ]  # fmt: skip
    if worded and about and (asks or len(text) <= MAX_CONFIRMATION // 3):
        return True, worded[0].raw
    if asks and about:
        path_links = [
            link for link in links if _CONFIRM_PATH.search(link.raw) and not _UNSUBSCRIBE.search(link.text)
        ]
        if path_links:
            return True, path_links[0].raw
    return False, ""
