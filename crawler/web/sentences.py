"""Translation of sentences that were written in English: by algorithms, which know no language, and in rows.

Such a sentence is found again by its pattern, and what stands in its places is translated the same way.
"""

from __future__ import annotations

import re
from functools import lru_cache

from django.utils.translation import get_language, gettext, gettext_noop

from crawler.failures import Failure

MAX_CHARACTERS = 600
"""Length from which a sentence is left as it is."""
_PLACE = re.compile(r"\{\d\}")
PATTERNS = (
    # lengths of time (feeds.scheduling.base)
    gettext_noop("{0} seconds"), gettext_noop("1 minute"), gettext_noop("{0} minutes"),
    gettext_noop("1 hour"), gettext_noop("{0} hours"), gettext_noop("1 day"), gettext_noop("{0} days"),
    gettext_noop("due"), gettext_noop("due in {0}"),
    # reasons for visits of feeds (feeds.scheduling, feeds.selection, feeds.visits)
    gettext_noop("just added"), gettext_noop("asked for now"), gettext_noop("asked for by {0}"),
    gettext_noop("pushed by its hub"), gettext_noop("training: its ToE reached zero"),
    gettext_noop("rank {0} of {1}: {2} new articles expected"),
    gettext_noop("rank {0} of {1}: {2}"), gettext_noop("its key is {0}"),
    gettext_noop("{0} new articles expected"),
    gettext_noop("{0} new articles expected, weighted by audience"),
    gettext_noop("delay index {0} article-hours"), gettext_noop("its document is nearly full"),
    gettext_noop("training: looked at every {0} ticks as long as M is {1}; {2}"),
    gettext_noop("{0} new articles expected in {1} x audience {2}"),
    gettext_noop("{0} new articles expected in {1}"),
    gettext_noop("goes first: {0}, and its document holds only {1}"),
    gettext_noop("{0}, delay index {1} article-hours x audience {2}"),
    gettext_noop("{0} x age in hours^{1} x audience {2}"),
    gettext_noop("placed in its day; {0}"), gettext_noop("every {0}; {1}"),
    gettext_noop("last retrieved {0} ago"), gettext_noop("{0} articles are waiting"),
    # rules that hold visits back (feeds.scheduling.floors)
    gettext_noop("The publisher says that the feed is gone for good (410)."),
    gettext_noop("No feed is visited twice within {0}."),
    gettext_noop("The server asked to wait {0} (Retry-After)."),
    gettext_noop("Most hosts failed at once, so the fault is likely here and the feed is not held to blame."),
    gettext_noop("The server asked for fewer visits, the interval is doubled to {0}."),
    gettext_noop(
        "The server refused {0} times in a row (403), which is treated as a request for fewer visits: {1}."
    ),
    gettext_noop("Nothing was found for {0} (404), it is looked for every {1}."),
    gettext_noop("Nothing was found there (404), the next look is in {0}."),
    gettext_noop("once"), gettext_noop("{0} times in a row"),
    gettext_noop("The visit failed {0} ({1}), the next try is in {2}."),
    gettext_noop("The server says its answer is fresh for {0}."),
    gettext_noop("The feed says that it is renewed every {0}, so the gap is {1}."),
    gettext_noop("Nothing was new {0} times in a row, the next visit is after {1}."),
    gettext_noop(
        "Nothing was new {0} times in a row, and each visit costs the server the whole document: {1}."
    ),
    gettext_noop("Its hub pushes what is new (WebSub), so it is visited only every {0}."),
    gettext_noop("{0} Then the feed asks to be left alone for {1} more (skipHours, skipDays)."),
    # addresses that are not added, or known already (feeds.adding, feeds.discovery)
    gettext_noop("{0}: already known as {1}"), gettext_noop("{0}: already known as {1}, which is {2}"),
    gettext_noop("no address given"), gettext_noop("longer than {0} characters"),
    gettext_noop("port {0} belongs to another service than the web"),
    gettext_noop("{0} is a private or special address, which this deployment does not visit"),
    gettext_noop(
        "{0} is a private or special address, which this deployment does not visit: "
        "FETCH_ALLOWED_NETWORKS of the running server is another than the one set here"
    ),
    gettext_noop("not a valid URL"), gettext_noop("the scheme {0} is not http or https"),
    gettext_noop("a user name holds no colon"), gettext_noop("{0} is no header for a login"),
    gettext_noop("the value needs letters of ASCII in one line, {0} at most"),
    gettext_noop("contains a user name or password"), gettext_noop("has no valid host name"),
    # ends of crawls (crawler.frontier.crawls)
    gettext_noop("nothing is left to crawl"), gettext_noop("the limit of {0} pages is reached"),
    gettext_noop("the limit of {0} bytes is reached"), gettext_noop("the limit of {0} minutes is reached"),
    gettext_noop("{0} requests were made for at most {1} pages"),
    gettext_noop("scope"), gettext_noop("address"), gettext_noop("length"), gettext_noop("depth"),
    gettext_noop("repeats"), gettext_noop("parameters"), gettext_noop("hosts"), gettext_noop("pages"),
    # parts of the deployment (crawler.site.health, crawler.pipeline.sparql.replica)
    gettext_noop("ok"), gettext_noop("not known"), gettext_noop("does not answer: {0}"),
    gettext_noop("no answer within {0} s"), gettext_noop("no tick has finished yet"),
    gettext_noop("the last tick finished at {0} UTC"),
    gettext_noop("no worker of the queue {0} has answered yet"),
    gettext_noop("no worker of the queue {0} has answered since {1} UTC"),
    gettext_noop("the last tick finished at {0} UTC, which is yet to come: the clock was turned back"),
    gettext_noop("no worker of the queue {0} has answered since the clock was turned back"),
    gettext_noop("the folder {0} of the data directory is gone"),
    gettext_noop("the data directory cannot be written to"),
    gettext_noop("the data directory cannot be read: {0}"),
    gettext_noop("the disk has only {0} MB of free space"),
    gettext_noop("the replica for SPARQL has given no sign of life since {0} UTC"),
    gettext_noop("the replica's sign of life cannot be read: {0}"),
    gettext_noop(
        "this kernel has neither seccomp nor network namespaces for us: strangers' queries and stylesheets "
        "are kept from the network by limits alone"
    ),
    gettext_noop(
        "terminals can read this machine's secrets: its kernel has no Landlock (Linux 5.13 and newer have)"
    ),
    gettext_noop("{0}; {1}"),
    # messages that did not arrive (crawler.notices)
    gettext_noop("it did not answer in time"), gettext_noop("it answers {0}"),
    gettext_noop("it answers {0}: {1}"),
    gettext_noop("it answers {0} and leads elsewhere: give its own address"),
    gettext_noop("its address is inside a private network, which this deployment does not ask"),
    gettext_noop("the address is none of a service that is known here"),
    gettext_noop("the service did not take it"), gettext_noop("no mail server is set (EMAIL_URL)"),
    gettext_noop("the mail server did not take it: {0}"),
    gettext_noop("the device does not want notifications any more"),
    gettext_noop("the push service answers {0}"),
    gettext_noop("it was stored under another SECRET_KEY: give it again"),
    # watched sites (recrawl)
    gettext_noop("Its mapping crawl was cancelled."),
    gettext_noop("Its mapping crawl ended before the top page was fetched: {0}."),
    gettext_noop("Its top page cannot be read: {0}."), gettext_noop("{0} ({1})"),
    gettext_noop("Its top page leads to {0}, which cannot be watched instead."),
    gettext_noop("The server answers {0}."), gettext_noop("It leads to {0}."), gettext_noop("{0} leads here"),
    gettext_noop("new on {0}"), gettext_noop("named by {0}"), gettext_noop("tells of news"),
    gettext_noop("the top page"), gettext_noop("announced by {0}"),
    gettext_noop("should name pages that are new"), gettext_noop("{0} changed, which leads here"),
    gettext_noop("tells of {0} other page"), gettext_noop("tells of {0} other pages"),
    gettext_noop("its turn"), gettext_noop("not asked for in {0} visits"),
    gettext_noop("It looks different: {0} %."),
    # watches of another program (recrawl.changedetection)
    gettext_noop("There is no watch in this file."),
    gettext_noop("There are {0} watches in this file; {1} are allowed."),
    gettext_noop("This is neither a backup nor a list of addresses."),
    gettext_noop("The JSON in this file is damaged."),
    gettext_noop("This is JSON, but not that of changedetection.io."),
    gettext_noop("There are too many files in this backup."),
    gettext_noop("This ZIP file is damaged, or encrypted."), gettext_noop("This file is too large."),
    gettext_noop("a text that must be absent"), gettext_noop("the extraction of text"),
    gettext_noop("its conditions"), gettext_noop("its request headers"), gettext_noop("its script"),
    gettext_noop("its request method"), gettext_noop("its upper price"),
    gettext_noop("that only lines count which were never there before"), gettext_noop("the sorting of lines"),
    gettext_noop("the removal of repeated lines"), gettext_noop("its wait after loading"),
    gettext_noop("that failing answers count as content"), gettext_noop("its proxy"),
    gettext_noop("the content of its request"), gettext_noop("where its messages go"),
    gettext_noop("the title of its messages"), gettext_noop("the text of its messages"),
    gettext_noop("that its messages are muted"), gettext_noop("where messages of all watches go"),
    gettext_noop("that blanks count for nothing"), gettext_noop("the removal of ignored lines"),
    gettext_noop("the addresses of links as text"), gettext_noop("its hours and days of the week"),
    gettext_noop("the template in its address"),
    gettext_noop("the part of its address behind #, which only a browser heeds"),
    gettext_noop("changes of stock without a change of price"),
    gettext_noop("its steps in the browser ({0})"),
    # steps of a browser (crawler.browser.steps)
    gettext_noop("There are {0} steps; {1} are allowed."),
    gettext_noop('"{0}" of step {1} must be a text of at most {2} characters.'),
    gettext_noop('"at" of step {0} must be a CSS selector.'),
    gettext_noop('"seconds" of step {0} must be a number from 0 to {1}.'),
    # queries that lead crawls (crawler.pipeline.leading, crawler.frontier.crawls)
    gettext_noop("there is nothing to ask yet: no document has been read"),
    gettext_noop("the query names no addresses: begin it with SELECT ?address"),
    gettext_noop("a query asks the graph: let the crawl go into the graph"),
    # evaluations of interest (articles.interest.report, articles.interest.metrics)
    gettext_noop("subscriber"), gettext_noop("session"),
    gettext_noop(
        "{0}: {1} events of {2} subscribers; {3} lists ({4} impressions), {5} with an opening; intervals of "
        "95 % by {6}"
    ),
    gettext_noop("Nothing could be measured: no list has an article that was opened."),
    gettext_noop("Only {0} lists were measured; intervals are rough below {1}."),
    gettext_noop("{0} openings belong to no list; they were learned from."),
    gettext_noop("{0} events were logged after later ones; they were put in order of time."),
)  # fmt: skip


_EXPLANATIONS = {failure.explanation for failure in Failure}


def translated(sentence: str) -> str:
    """Return a sentence in the active language, as it is where no pattern fits."""
    if get_language() in (None, "en") or len(sentence) > MAX_CHARACTERS:
        return sentence
    for pattern, expression in _expressions():
        if match := expression.fullmatch(sentence):
            return gettext(pattern).format(*map(translated, match.groups()))
    explanation = sentence + "."
    if explanation in _EXPLANATIONS:  # within another sentence
        return gettext(explanation).rstrip(".。")
    return sentence


@lru_cache(maxsize=1)
def _expressions() -> list[tuple[str, re.Pattern[str]]]:
    """Return each pattern with its regular expression, the one with most words of its own first."""
    ordered = sorted(PATTERNS, key=lambda pattern: -len(_PLACE.sub("", pattern)))
    return [
        (pattern, re.compile("(.+?)".join(map(re.escape, _PLACE.split(pattern))), re.S))
        for pattern in ordered
    ]
