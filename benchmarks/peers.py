"""How Freshet reads what the tests of other programs read, and where it says something else.

    python -m benchmarks.peers CHECKOUT...

A CHECKOUT is a folder with another program's source; its suites are known by their files. Inputs and
expected values are read as data (nothing of it is run), Freshet's pure readers read the inputs, and each
assertion that could be evaluated is counted. Prints for each suite how many agree, then each that does not:
`taste` where Freshet decided otherwise (`TASTE` says why), else `ours`. Ends with 1 where one is `ours`.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DATABASE_URL", "none")

from benchmarks import peer_feeds, peer_pages, peer_suites
from benchmarks.peer_suites import Case

TASTE: tuple[tuple[str, str, str], ...] = (
    ("crawler-commons robots", r"HtmlMarkup", "markup in a robots.txt is no part of its lines"),
    ("crawler-commons robots", r"HeritrixCases Mozilla", "the product is what stands before the version"),
    ("crawler-commons robots", r"NutchCases2 Agent3|MultiAgentNames", "names in a row are parted by commas"),
    ("crawler-commons robots", r"Krugle", "a group with nothing but a crawl delay is a group"),
    ("crawler-commons sitemaps", r"filterUrls", "a sitemap's addresses have a scheme"),
    ("crawler-commons sitemaps", r"MissingLoc|UnclosedSitemap|UrlLocUrl", "of another host than the sitemap"),
    ("crawler-commons sitemaps", r"LenientParser", "a sitemap may name pages of other folders"),
    ("crawler-commons sitemaps", r"Partial", "of a cut file the last entry does not count"),
    ("crawler-commons normal forms", r"//aa|/aa//|//foo", "empty segments are kept, as by WHATWG"),
    ("crawler-commons normal forms", r"\?[^ ]*[a&=^`|%\]]", "queries are kept as they are, as by WHATWG"),
    ("crawler-commons normal forms", r"%\+of|p%zz", "a bare % is kept, as by WHATWG"),
    ("crawler-commons normal forms", r"^http:/+: ", "an address without host is refused"),
    ("web-platform-tests addresses", r"\?(?:#[^ ]*)?' at", "an empty query is none"),
    ("web-platform-tests addresses", r"%[0-9a-fA-F]{2}", "escapes are spelled by RFC 3986, section 6.2.2"),
    ("web-platform-tests addresses", r"'http://\.+/'|foo\.09", "a host's last dot is left out"),
    ("protego", r"unicode_url_and_useragent", "the product is what stands before the version"),
    ("protego", r"grouping_unknown_keys", "unknown lines end no group: RFC 9309, section 2.2.4"),
    ("protego", r"generosity", "a * within a name is no wildcard (RFC 9309, section 2.2.1)"),
    ("reppy", r"grouping_unknown_keys", "unknown lines end no group: RFC 9309, section 2.2.4"),
    ("reppy", r"no_leading_user_agent", "rules outside of groups are ignored: RFC 9309, section 2.2.1"),
    ("reppy", r"skip_malformed_line", "a rule may lack its colon, as for Google"),
    ("google robots", r"UpToFirstSpace Foo Bar", "our product's name is no beginning of another"),
    ("google robots", r"ID_Encoding", "addresses are compared decoded: RFC 9309, section 2.2.2"),
    ("miniflux addresses", r"name=John", "a blank stays %20"),
    ("miniflux addresses", r"ref=example", "ref= is left where it may name a page"),
    ("miniflux addresses", r"example\|org|mailto", "no address of the web"),
    ("miniflux dates", r"11 04 2020|30\.10\.23", "day, month and year may be in another order"),
    ("miniflux dates", r"Nov\. 2020", "a date has a day"),
    ("miniflux feeds", r"Title: '', ", "a missing title is made where it is shown"),
    ("miniflux feeds", r"SiteURL: ''|URL: '', ", "a missing address stays so"),
    ("miniflux feeds", r"MultipleAuthorFields", "author is read where authors is missing (JSON Feed 1.1)"),
    ("miniflux feeds", r"DuplicateAuthors", "authors stay in order"),
    ("miniflux feeds", r"NullJSONFeed", "null is no feed"),
    ("miniflux feeds", r"mailto:", "an author's name is without the address"),
    ("miniflux feeds", r"ItemWithoutLink", "an identity that is an address is the link"),
    ("miniflux feeds", r"RelativeEnclosureURL|EnclosuresAndRelativeURL", "relative to the feed's address"),
    ("miniflux feeds", r"Media(?:Group|Content|PeerLink)", "thumbnails are pictures and torrents no files"),
    ("miniflux feeds", r"FeedWith\w*Categor", "a feed's categories are not its entries'"),
    ("miniflux feeds", r"MediaCategories", "a category need not have a label"),
    ("miniflux feeds", r"DuplicateGUID", "one guid with the same link, or without, is one entry"),
    ("miniflux opml", r"EmptyTitle", "a missing title is made where it is shown"),
    ("w3lib addresses", r"do\?|query=|[?&]q=", "queries are kept as they are, as by WHATWG"),
    ("w3lib addresses", r"user|sftp", "no address that is fetched"),
    ("w3lib addresses", r"relative_url", "people may leave out the scheme"),
    ("feedsmith", r"atom-03 entries", "one identity with the same link is one entry"),
    (
        "rss-parser",
        r"(?:encoding|feedburner|many-links) \d+ link",
        "the article's own link, not the counted one",
    ),
    ("rss-parser", r"guardian \d+ categories", "a category is told once"),
    ("rss-parser", r"gulp-atom", "Atom's updated is no time of publication; links are resolved"),
    ("rss-parser", r"incomplete-fields", "an entry that says nothing is none"),
    ("feedparser", r"map_author |contributor", "persons are told by their names"),
    ("feedparser", r"updated_multiple", "of several times the last edit counts"),
    ("feedparser", r"atom10/\w*base64", "Atom 1.0 has no base64 in texts (RFC 4287, section 3.1)"),
    ("feedparser", r"inline_markup_2", "escaped tags in XHTML are meant as tags"),
    (
        "feedparser",
        r"content_location|_docuri|Content-Location",
        "RFC 7231 took the base from Content-Location",
    ),
    ("feedparser", r"content_location-relative", "RFC 7231 took the base from Content-Location"),
    ("feedparser", r"cdf", "the Channel Definition Format is dead"),
    ("feedparser", r"link_image", "podcasts have no link to a picture any more"),
    ("feedparser", r"http_content_language", "Content-Language names readers, not the text"),
    ("feedparser", r"svg", "drawings are left out"),
    ("feedparser", r"rss_version_|contains_entity_decl", "RDF without channel and items is no feed"),
    ("feedparser", r"description_and_summary|summary_and_description", "the description goes before"),
    (
        "feedparser",
        r"not_a_doctype|nested_cdata|_comment ",
        "markup that is none is shown as browsers show it",
    ),
    ("feedparser", r"madeup_tags", "an element of no format"),
    ("feedparser", r"xml_lang_blank_3", "two entries with one title and nothing else are one"),
    ("feedparser", r"iframe|object", "what an unclosed frame or object holds is not shown"),
)
"""Suite, a pattern of the line that tells the disagreement, and why Freshet keeps to its own reading."""


def main() -> int:
    """Read every suite of every checkout and print what differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkouts", type=Path, nargs="+", metavar="CHECKOUT")
    total: Counter[str] = Counter()
    for checkout in parser.parse_args().checkouts:
        for name, (marker, read) in {**peer_suites.SUITES, **peer_feeds.SUITES, **peer_pages.SUITES}.items():
            if (checkout / marker).exists():
                total += _told(name, read(checkout))
    print(_figures("total", total))
    return 1 if total["ours"] else 0


def _told(suite: str, cases: Iterable[Case]) -> Counter[str]:
    """Print the figures of a suite with its disagreements, and return them."""
    figures: Counter[str] = Counter()
    lines = []
    for case in cases:
        verdict, reason = _judged(suite, case)
        figures[verdict] += 1
        if verdict != "agreed":
            lines.append(f"  {verdict}{reason}: {_line(case)}")
    print(_figures(suite, figures), *lines, sep="\n")
    return figures


def _judged(suite: str, case: Case) -> tuple[str, str]:
    if case.ours == case.theirs:
        return "agreed", ""
    for where, pattern, reason in TASTE:
        if where == suite and re.search(pattern, _line(case)):
            return "taste", f" ({reason})"
    return "ours", ""


def _line(case: Case) -> str:
    return f"{case.name}: {str(case.ours)[:150]!r}, theirs {str(case.theirs)[:150]!r}"


def _figures(name: str, figures: Counter[str]) -> str:
    agreed, taste, ours = figures["agreed"], figures["taste"], figures["ours"]
    return f"{name}: {figures.total()} tried, agreed {agreed}, taste {taste}, ours {ours}"


if __name__ == "__main__":
    sys.exit(main())
