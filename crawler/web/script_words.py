"""The sentences that scripts of pages say, which a page in another language than English brings along."""

from __future__ import annotations

from django.utils.translation import gettext, gettext_noop

SENTENCES = (
    gettext_noop("Colours: light."),
    gettext_noop("Colours: dark."),
    gettext_noop("Colours: as the system has them."),
    gettext_noop("Starred. It is sent when the network is back."),
    gettext_noop("The link is copied."),
    gettext_noop("Play here (from {name})"),
    gettext_noop("That did not work: the server gave no answer. Try once more."),
    gettext_noop("time (UTC)"),
    gettext_noop("The numbers as a table"),
    gettext_noop("The chart's numbers"),
    gettext_noop("See all"),
    gettext_noop("the server answered {status}"),
    gettext_noop("Nothing to draw yet."),
    gettext_noop("The chart could not be loaded: {reason}. Reload the page to try again."),
    gettext_noop("The browser does not allow notifications here."),
    gettext_noop("This device could not be added: {reason}"),
    gettext_noop("Your Mastodon server, such as mastodon.social"),
    gettext_noop("That is no server's name."),
    gettext_noop("Drag it to the bookmarks of your browser."),
    gettext_noop("Copied."),
    gettext_noop("It is selected: copy it with the keyboard."),
)
"""Each sentence of a script, as it stands there in `t("...")`; tests compare the two."""


def translations() -> dict[str, str]:
    """Return each sentence in the active language."""
    return {sentence: gettext(sentence) for sentence in SENTENCES}
