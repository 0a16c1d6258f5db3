"""Traces of requests and tasks for OpenTelemetry, sent to the collector of OTEL_EXPORTER_OTLP_ENDPOINT.

The packages are an extra of the installation (`freshet[traces]`) and read their own variables (`OTEL_...`).
Terminals and transformers send nothing, for they hold no secret such as a collector's password; their tasks
carry the trace on, so that it reaches from a request over the fetch to the storing.
"""

from __future__ import annotations

import importlib.util
import logging
import os

from django.conf import settings

from crawler.telemetry.version import version

log = logging.getLogger(__name__)

PACKAGES = (
    "opentelemetry.sdk",
    "opentelemetry.exporter.otlp.proto.http",
    "opentelemetry.instrumentation.django",
    "opentelemetry.instrumentation.celery",
)


def missing_packages() -> list[str]:
    """Return the packages for traces that are not installed; none if no collector is named."""
    if not settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        return []
    return [name for name in PACKAGES if not _is_installed(name)]


def begin(process: str) -> None:
    """Send the spans of this process from now on, if a collector is named and the packages are there.

    It starts a thread: call it in the process itself, not before it is forked.
    """
    if not settings.OTEL_EXPORTER_OTLP_ENDPOINT or settings.DATABASE_URL == "none":
        return
    if missing := missing_packages():
        log.warning("no traces are sent: %s is not installed (freshet[traces])", missing[0])
        return
    from opentelemetry import trace  # noqa: PLC0415 - an extra
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.instrumentation.celery import CeleryInstrumentor  # noqa: PLC0415
    from opentelemetry.instrumentation.django import DjangoInstrumentor  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    names = {
        "service.name": os.environ.get("OTEL_SERVICE_NAME", "freshet"),
        "service.version": version(),
        "service.instance.id": f"{process}-{os.getpid()}",
    }
    provider = TracerProvider(resource=Resource.create(names))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    DjangoInstrumentor().instrument()
    CeleryInstrumentor().instrument()  # type: ignore[no-untyped-call]


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
