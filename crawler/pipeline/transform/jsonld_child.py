"""JSON-LD with contexts of any kind by PyLD, in a process of its own (see children.py).

Reads a line of JSON {"url", ...} and the document; writes N-Quads, or the reason on standard error.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from crawler.pipeline.transform.children import limit
from crawler.pipeline.transform.contexts import context_of


def main() -> int:
    """Convert the document. Returns 1, with the reason on standard error, where that fails."""
    request = json.loads(sys.stdin.buffer.readline())
    body = sys.stdin.buffer.read()
    from pyld import jsonld  # noqa: PLC0415 - before the limits, for it loads its parts from files

    limit(request, files=False)
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
        sys.stderr.write(_reason(error)[:300])
        return 1
    notes = [f"the context {url} is not fetched" for url in sorted(missing)]
    sys.stdout.buffer.write(json.dumps(notes[:20]).encode() + b"\n" + lines.encode("utf-8", "replace"))
    return 0


def _reason(error: BaseException) -> str:
    """Return the innermost cause in words."""
    while error.__cause__ is not None:
        error = error.__cause__
    code = getattr(error, "code", "")
    first = str(error).partition("\n")[0]
    return f"{code}: {first}" if code else f"{type(error).__name__}: {first}"


if __name__ == "__main__":
    sys.exit(main())
