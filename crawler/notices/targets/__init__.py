"""The kinds of targets that messages go to, one module each.

To add a kind, write a module with a subclass of `TargetKind`, and name it here.
"""

from __future__ import annotations

from crawler.notices.targets.base import TargetKind
from crawler.notices.targets.mail import MailTarget
from crawler.notices.targets.push import PushTarget
from crawler.notices.targets.save import SaveTarget
from crawler.notices.targets.service import ServiceTarget
from crawler.notices.targets.webhook import WebhookTarget

_ALL: tuple[TargetKind, ...] = (
    MailTarget(),
    PushTarget(),
    ServiceTarget(),
    WebhookTarget(),
    SaveTarget(),
)
KINDS = {kind.key: kind for kind in _ALL}
"""The kinds by their keys, in the order of the form."""
