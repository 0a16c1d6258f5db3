"""JSON-LD with contexts of any kind by PyLD, in a process of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from pyld import jsonld

from crawler.isolation.calls import ProgramError, register
from crawler.pipeline.transform.children import LIMITS
from crawler.pipeline.transform.contexts import context_of


def run(request: dict[str, Any], body: bytes) -> bytes:
    """Return a line of JSON with notes and the N-Quads of the document in the body. Raises ProgramError."""
    missing: set[str] = set()

    def load(url: str, _: Any) -> dict[str, Any]:
        context = context_of(url)
        if context is None:
            if not url.startswith(("http://", "https://")):
                raise jsonld.JsonLdError("loading remote context failed", "jsonld.LoadDocumentError")
            missing.add(url[:200])
        return {
            "contentType": "application/ld+json",
            "contextUrl": None,
            "documentUrl": url,
            "document": {"@context": context or {}},
        }

    options = {"base": request["url"], "documentLoader": load, "format": "application/n-quads"}
    try:
        lines = jsonld.to_rdf(json.loads(body), options)
    except Exception as error:  # the library raises what its parts do, and its own errors in chains
        raise ProgramError("malformed", _reason(error)[:300]) from error
    notes = [f"the context {url} is not fetched" for url in sorted(missing)]
    return f"{json.dumps(notes[:20])}\n{lines}".encode("utf-8", "replace")


def _reason(error: BaseException) -> str:
    """Return the innermost cause in words."""
    while error.__cause__ is not None:
        error = error.__cause__
    code = getattr(error, "code", "")
    first = str(error).partition("\n")[0]
    return f"{code}: {first}" if code else f"{type(error).__name__}: {first}"


register("jsonld", run, replace(LIMITS, files=False))
