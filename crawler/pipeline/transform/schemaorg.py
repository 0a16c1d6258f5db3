"""A context for schema.org, so that none is fetched: which of its properties hold addresses, and which dates.

Made from the vocabulary's definitions (properties whose range is URL, Date or DateTime, and those that sites
give as bare addresses), not a copy of its published context.
"""

from __future__ import annotations

from typing import Any

VOCABULARY = "http://schema.org/"

_ADDRESSES = (
    "acceptsReservations actionPlatform additionalType amp archivedAt associatedMedia codeRepository"
    " colleague contentUrl correctionsPolicy discussionUrl diversityPolicy downloadUrl embedUrl"
    " ethicsPolicy featureList feedbackUrl hasMap image installUrl isBasedOn isBasedOnUrl isPartOf item"
    " labelDetails license logo mainEntityOfPage map maps masthead menu missionCoveragePrioritiesPolicy"
    " noBylinesPolicy ownershipFundingInfo paymentUrl photo publishingPrinciples relatedLink releaseNotes"
    " replyToUrl sameAs schemaVersion screenshot serviceUrl significantLink significantLinks softwareHelp"
    " target targetUrl termsOfService thumbnailUrl tourBookingPage trackingUrl unnamedSourcesPolicy url"
    " urlTemplate verificationFactCheckingPolicy video webFeed"
)
_DATES = (
    "availabilityEnds availabilityStarts birthDate coverageEndTime coverageStartTime dateCreated"
    " dateDeleted dateIssued dateModified datePosted datePublished dateSent deathDate endDate expires"
    " foundingDate lastReviewed priceValidUntil releaseDate sdDatePublished startDate uploadDate validFrom"
    " validThrough"
)

ADDRESSES = frozenset(_ADDRESSES.split())
"""Properties whose plain text is an address."""

CONTEXT: dict[str, Any] = {
    "@vocab": VOCABULARY,
    "id": "@id",
    "type": "@type",
    "schema": VOCABULARY,
    **{name: {"@id": VOCABULARY + name, "@type": "@id"} for name in sorted(ADDRESSES)},
    **{name: {"@id": VOCABULARY + name, "@type": VOCABULARY + "Date"} for name in _DATES.split()},
}
