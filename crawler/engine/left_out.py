"""Variables of the environment that `crawler.engine.chosen` does not know, each with the reason."""

from __future__ import annotations

ADDRESS = "It is an address, or belongs to one."
SECRET = "It is a secret."  # noqa: S105 - a reason
BEFORE_DATABASE = "It is read before the database is open."
NO_DATABASE = "Processes and machines that only fetch read it too, and have no database."
TRUST = "A choice could make somebody an owner who is none, or lock everybody out."
MACHINE = "It goes by the machine, and the machines of one Freshet may differ."

LEFT_OUT: dict[str, str] = {
    "ALLOWED_HOSTS": ADDRESS,
    "AUTH_PROXY_HEADER": TRUST,
    "AUTH_PROXY_NETWORKS": TRUST,
    "BEHIND_TLS_PROXY": TRUST,
    "CELERY_BROKER_URL": ADDRESS,
    "CELERY_TASK_SOFT_TIME_LIMIT": NO_DATABASE,
    "CELERY_WORKER_MAX_MEMORY_PER_CHILD": MACHINE,
    "CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT": NO_DATABASE,
    "DATABASE_URL": ADDRESS,
    "DATA_DIR": BEFORE_DATABASE,
    "EMBEDDINGS_KEY": SECRET,
    "EMBEDDINGS_MODEL": ADDRESS,
    "EMBEDDINGS_URL": ADDRESS,
    "FEED_BRIDGES": ADDRESS,
    "FETCH_ALLOWED_NETWORKS": ADDRESS,
    "FETCH_DEADLINE_SECONDS": NO_DATABASE,
    "FETCH_MAX_BYTES": NO_DATABASE,
    "FETCH_USER_AGENT": NO_DATABASE,
    "FRESHET_DEMO": BEFORE_DATABASE,
    "FRESHET_SMALL": MACHINE,
    "INBOUND_MAIL_DOMAIN": ADDRESS,
    "LISTEN_ADDRESS": ADDRESS,
    "LOG_FORMAT": BEFORE_DATABASE,
    "LOG_LEVEL": BEFORE_DATABASE,
    "METRICS_TOKEN": SECRET,
    "MODEL_KEY": SECRET,
    "MODEL_NAME": ADDRESS,
    "MODEL_URL": ADDRESS,
    "OIDC_CLIENT_ID": ADDRESS,
    "OIDC_CLIENT_SECRET": SECRET,
    "OIDC_ISSUER": ADDRESS,
    "OIDC_NAME": ADDRESS,
    "OTEL_EXPORTER_OTLP_ENDPOINT": ADDRESS,
    "PIPELINE_PLUGIN_NETWORKS": ADDRESS,
    "PORT": ADDRESS,
    "PUBLIC_URL": ADDRESS,
    "SECRET_KEY": SECRET,
    "SPARQL_MIRROR_LOGIN": SECRET,
    "SPARQL_MIRROR_URL": ADDRESS,
    "XDG_DATA_HOME": BEFORE_DATABASE,
}
"""The variables that operators cannot choose on pages: the reason of each."""

PLANNED: dict[str, str] = {
    "FEED_POLICY": "policy",
    "FEED_BUDGET": "budget",
    "FEED_AUDIENCE_WEIGHT": "audience_weight",
    "FEED_TRAINING_MAX_TICKS": "training_max_ticks",
}
"""The variables that are chosen as rules of planning (`manage.py planning`): the rule of each."""
