"""Contexts of JSON-LD that come with the product, so that none is ever fetched.

Made from the vocabularies' definitions: which terms there are, and which hold addresses, dates or lists.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from crawler.pipeline.prefixes import PREFIXES
from crawler.pipeline.transform.schemaorg import CONTEXT as SCHEMA

_XSD = "http://www.w3.org/2001/XMLSchema#"
# Structured data on shops and news sites is written by hand (schemaorg 3072: a context without scheme).
_SCHEMA_ADDRESS = re.compile(
    r"(?:https?:)?(?://)?(?:(?:www|bib|auto|health-lifesci|pending)\.)?schema\.org/?"
    r"(?:docs/jsonldcontext\.jsonld?)?#?",
    re.IGNORECASE,
)
"""As sites write it: without scheme or slashes, too, and at the addresses of former extensions."""

_ACTIVITY = "https://www.w3.org/ns/activitystreams#"
_ACTIVITY_CLASSES = (
    "Accept Activity Add Announce Application Arrive Article Audio Block Collection CollectionPage Create"
    " Delete Dislike Document Event Flag Follow Group Ignore Image IntransitiveActivity Invite Join Leave"
    " Like Link Listen Mention Move Note Object Offer OrderedCollection OrderedCollectionPage Organization"
    " Page Person Place Profile Question Read Reject Relationship Remove Service TentativeAccept"
    " TentativeReject Tombstone Travel Undo Update Video View IsFollowing IsFollowedBy IsContact IsMember"
)
_ACTIVITY_ADDRESSES = (
    "actor anyOf attachment attributedTo audience bcc bto cc context current describes first followers"
    " following formerType generator href icon image inReplyTo instrument last likes liked location next"
    " object oneOf oauthAuthorizationEndpoint oauthTokenEndpoint origin outbox partOf prev preview proxyUrl"
    " provideClientKey relationship replies result sharedInbox shares signClientKey streams subject tag"
    " target to uploadMedia url"
)
_ACTIVITY_TEXTS = (
    "accuracy altitude content hreflang latitude longitude mediaType name preferredUsername radius rel"
    " source summary totalItems units"
)
_ACTIVITY_DATES = "deleted endTime published startTime updated"

_RDFA_PREFIXES = (
    "cc ctag dc dcterms dctypes foaf gr grddl ical og owl rdf rdfa rdfs rif rr sd sioc skos skosxl void wdr"
    " wdrs xhv xml xsd"
)
_OTHER_PREFIXES = {
    "cc": "http://creativecommons.org/ns#",
    "ctag": "http://commontag.org/ns#",
    "dc": "http://purl.org/dc/terms/",
    "dc11": "http://purl.org/dc/elements/1.1/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcterms": "http://purl.org/dc/terms/",
    "dctypes": "http://purl.org/dc/dcmitype/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "gr": "http://purl.org/goodrelations/v1#",
    "grddl": "http://www.w3.org/2003/g/data-view#",
    "ical": "http://www.w3.org/2002/12/cal/icaltzd#",
    "oa": "http://www.w3.org/ns/oa#",
    "og": "http://ogp.me/ns#",
    "org": "http://www.w3.org/ns/org#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "prov": "http://www.w3.org/ns/prov#",
    "qb": "http://purl.org/linked-data/cube#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfa": "http://www.w3.org/ns/rdfa#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "rev": "http://purl.org/stuff/rev#",
    "rif": "http://www.w3.org/2007/rif#",
    "rr": "http://www.w3.org/ns/r2rml#",
    "schema": "http://schema.org/",
    "sd": "http://www.w3.org/ns/sparql-service-description#",
    "sioc": "http://rdfs.org/sioc/ns#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "skosxl": "http://www.w3.org/2008/05/skos-xl#",
    "v": "http://rdf.data-vocabulary.org/#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "void": "http://rdfs.org/ns/void#",
    "wdr": "http://www.w3.org/2007/05/powder#",
    "wdrs": "http://www.w3.org/2007/05/powder-s#",
    "xhv": "http://www.w3.org/1999/xhtml/vocab#",
    "xml": "http://www.w3.org/XML/1998/namespace",
    "xsd": _XSD,
}


def _terms(names: str, vocabulary: str, kind: str = "") -> dict[str, Any]:
    """Return the definitions of terms, with their type if there is one."""
    if not kind:
        return {name: vocabulary + name for name in names.split()}
    return {name: {"@id": vocabulary + name, "@type": kind} for name in names.split()}


def _activity_streams() -> dict[str, Any]:
    """Return the context of ActivityStreams 2.0, with the extensions that ActivityPub and LDP bring."""
    ldp = "http://www.w3.org/ns/ldp#"
    return {
        "@vocab": "_:",
        "xsd": _XSD,
        "as": _ACTIVITY,
        "ldp": ldp,
        "vcard": _OTHER_PREFIXES["vcard"],
        "id": "@id",
        "type": "@type",
        "Public": {"@id": _ACTIVITY + "Public", "@type": "@id"},
        **_terms(_ACTIVITY_CLASSES, _ACTIVITY),
        **_terms(_ACTIVITY_ADDRESSES, _ACTIVITY, "@id"),
        **_terms(_ACTIVITY_TEXTS, _ACTIVITY),
        **_terms(_ACTIVITY_DATES, _ACTIVITY, _XSD + "dateTime"),
        **{
            number: {"@id": _ACTIVITY + number, "@type": _XSD + kind}
            for number, kind in (
                ("accuracy", "float"),
                ("altitude", "float"),
                ("latitude", "float"),
                ("longitude", "float"),
                ("radius", "float"),
                ("totalItems", "nonNegativeInteger"),
                ("height", "nonNegativeInteger"),
                ("width", "nonNegativeInteger"),
                ("startIndex", "nonNegativeInteger"),
                ("duration", "duration"),
                ("closed", "dateTime"),
            )
        },
        **{
            name: {"@id": _ACTIVITY + "items", "@type": "@id", **container}
            for name, container in (("items", {}), ("orderedItems", {"@container": "@list"}))
        },
        **{
            f"{name}Map": {"@id": _ACTIVITY + name, "@container": "@language"}
            for name in ("content", "name", "summary")
        },
        "endpoints": {"@id": _ACTIVITY + "endpoints", "@type": "@id"},
        "inbox": {"@id": ldp + "inbox", "@type": "@id"},
    }


def _data_catalogue() -> dict[str, Any]:
    """Return a context of DCAT: its terms and those of Dublin Core that catalogues use."""
    dcat, dct = _OTHER_PREFIXES["dcat"], _OTHER_PREFIXES["dcterms"]
    return {
        **_OTHER_PREFIXES,
        **_terms("Catalog CatalogRecord DataService Dataset Distribution Resource DatasetSeries", dcat),
        **_terms("bbox byteSize endpointDescription keyword spatialResolutionInMeters version", dcat),
        **_terms(
            "accessService accessURL catalog contactPoint compressFormat dataset distribution downloadURL"
            " endpointURL hasVersion landingPage mediaType packageFormat qualifiedRelation record service"
            " servesDataset theme themeTaxonomy",
            dcat,
            "@id",
        ),
        **_terms("title description identifier", dct),
        **_terms(
            "accessRights conformsTo creator hasPart isPartOf isReferencedBy isVersionOf language license"
            " publisher relation rights spatial subject temporal type",
            dct,
            "@id",
        ),
        **_terms("issued modified", dct),
    }


_PREFIX_CONTEXT = {name: _OTHER_PREFIXES[name] for name in _RDFA_PREFIXES.split()}
_BY_ADDRESS: Mapping[str, dict[str, Any]] = {
    "www.w3.org/ns/activitystreams": _activity_streams(),
    "www.w3.org/2013/json-ld-context/rdfa11": _PREFIX_CONTEXT,
    "www.w3.org/ns/dcat": _data_catalogue(),
    "w3c.github.io/dxwg/dcat/context": _data_catalogue(),
    "xmlns.com/foaf/context": {
        "foaf": PREFIXES["foaf"],
        "@vocab": PREFIXES["foaf"],
        **_terms("homepage img depiction knows weblog workplaceHomepage mbox", PREFIXES["foaf"], "@id"),
    },
}


def is_schema_org(url: str) -> bool:
    """Return whether an address is one of those at which schema.org publishes its context."""
    return _SCHEMA_ADDRESS.fullmatch(url.strip()) is not None


def context_of(url: str) -> dict[str, Any] | None:
    """Return the context that is published at an address. Returns None for one that does not come along."""
    if is_schema_org(url):
        return SCHEMA
    address = re.sub(r"\Ahttps?://", "", url.strip()).partition("#")[0].rstrip("/")
    return _BY_ADDRESS.get(re.sub(r"\.(?:json|jsonld)\Z", "", address))
