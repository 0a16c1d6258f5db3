"""Django's settings and the one place that documents what the environment can set.

Nothing here connects anywhere: a terminal imports this without a database. DATABASE_URL unset means the
embedded server's database once `manage.py run` made one; DATABASE_URL=none means no database at all.
"""

from __future__ import annotations

import math
import sys
from datetime import timedelta
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from crawler import environment
from crawler.isolation import lifeline, memory
from crawler.postgresql import place
from crawler.postgresql.credentials import Credentials

BASE_DIR = Path(__file__).resolve().parent.parent
# Templates and translations: within this package if it was installed from a wheel, beside it in a clone.
IS_INSTALLED = (Path(__file__).parent / "templates").is_dir()
SHARED_DIR = Path(__file__).resolve().parent if IS_INSTALLED else BASE_DIR
PROGRAM = "freshet" if IS_INSTALLED else "manage.py"

# --- Where things are -------------------------------------------------------------------------------

# Everything Freshet makes itself: the embedded cluster, secrets, collected static files.
_DATA_HOME = environment.text("XDG_DATA_HOME")
_DEFAULT_DATA_DIR = place.installed_data_dir(_DATA_HOME) if IS_INSTALLED else place.default_data_dir(BASE_DIR)
DATA_DIR = place.real_path(Path(environment.text("DATA_DIR", str(_DEFAULT_DATA_DIR))))
_EMBEDDED = Credentials.read(DATA_DIR)

# postgresql://user:password@host:port/name; empty: the embedded server; `none`: no database (terminals).
DATABASE_URL = environment.text("DATABASE_URL", _EMBEDDED.database_url if _EMBEDDED else "none")

# redis://, amqp:// or pgmq:// (PostgreSQL as broker). Empty: the embedded server, or with a DATABASE_URL
# given, queues in that database; then terminals hold its password, so name a broker if that matters.
CELERY_BROKER_URL = environment.broker(
    environment.text("DATABASE_URL"), _EMBEDDED.broker_url if _EMBEDDED else "memory://"
)

# --- Web --------------------------------------------------------------------------------------------

# Signs sessions and tokens. Unset: made once and kept in DATA_DIR, readable by its owner only.
SECRET_KEY = environment.text("SECRET_KEY") or environment.kept_secret(DATA_DIR / "secret_key")
# Host names that answer, comma-separated. While only local names are allowed the server listens on 127.0.0.1.
LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
ALLOWED_HOSTS = environment.words("ALLOWED_HOSTS", LOCAL_NAMES)
PORT = environment.integer("PORT", 8000, min_value=1, max_value=65_535)
# Address to listen on, such as 0.0.0.0 in a container. Empty: by ALLOWED_HOSTS.
LISTEN_ADDRESS = environment.text("LISTEN_ADDRESS")
# Work as if there were 512 MB of memory, one piece after another. On by itself below 1.5 GB.
SMALL = environment.switch("FRESHET_SMALL", False)
# A public demonstration: invented data, one reader for all visitors; nothing can be changed, or is fetched.
DEMO = environment.switch("FRESHET_DEMO", False)
# Where the web reaches this deployment: https://feeds.example.org, or https://example.org/feeds below another
# site. With it, feeds that name a WebSub hub are subscribed there; empty: hubs could not reach us and none is
# asked.
PUBLIC_URL, URL_PREFIX = environment.origin_and_path("PUBLIC_URL")
FORCE_SCRIPT_NAME = URL_PREFIX or None
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = LANGUAGE_COOKIE_PATH = f"{URL_PREFIX}/"

# The domain of the addresses for newsletters that people make for themselves: KEY@in.example.org. Its mail
# server hands each message to `manage.py receive_mail`, or a mail service sends it to /inbound/KEY/. Empty:
# there are none.
INBOUND_MAIL_DOMAIN = environment.text("INBOUND_MAIL_DOMAIN").lower().strip("@. ")

# Whether the server runs behind a TLS-terminating proxy that sets X-Forwarded-Proto and -For; it must if
# PUBLIC_URL is https. If yes, wrong passwords are counted by the last address in X-Forwarded-For, which the
# proxy wrote; if no, by the address that connects, so that everybody behind a proxy would count as one. Say
# no if there is no proxy: anybody could write the header.
BEHIND_TLS_PROXY = environment.switch("BEHIND_TLS_PROXY", PUBLIC_URL.startswith("https://"))

# What the processes write to stderr, beside the steps of `manage.py run`: warnings and errors, one line each.
# INFO adds the start and end of every task, tracebacks, and requests that were refused (4xx).
LOG_LEVEL = environment.choice("LOG_LEVEL", "WARNING", ("DEBUG", "INFO", "WARNING", "ERROR"))
# The form of these lines: text, or json (an object a line, with time, level, process, logger and message).
LOG_FORMAT = environment.choice("LOG_FORMAT", "text", ("text", "json"))
# The OpenTelemetry collector (http://host:4318) that gets traces of requests and tasks; empty: none are made.
# They name the addresses of pages, and need the packages of `freshet[traces]`, whose own variables hold too.
OTEL_EXPORTER_OTLP_ENDPOINT = environment.text("OTEL_EXPORTER_OTLP_ENDPOINT")
PROCESS_NAME = environment.text(lifeline.PROCESS_NAME, "freshet")

# `Authorization: Bearer ...` with this word reads /metrics; empty: only API tokens do.
METRICS_TOKEN = environment.text("METRICS_TOKEN")

# --- Crawling ---------------------------------------------------------------------------------------

# One tick: select, rank, lease, assign (seconds). An administrator's change of the periodic task `tick` holds
# instead.
FEED_TICK_SECONDS = environment.integer("FEED_TICK_SECONDS", 600, min_value=1)
# Politeness: no two retrievals of one feed closer than this (seconds).
FEED_MIN_GAP_SECONDS = environment.integer("FEED_MIN_GAP_SECONDS", 600)
# Retrievals per feed and hour, averaged over all feeds.
FEED_BUDGET = environment.number("FEED_BUDGET", 1.0)
# Name of the policy that ranks feeds in the normal phase.
FEED_POLICY = environment.choice(
    "FEED_POLICY", "freshness", ("freshness", "advarss", "round-robin", "advarss-training")
)
# Length of a feed's training phase (days), and the longest wait between retrievals in it (ticks).
FEED_TRAINING_DAYS = environment.number("FEED_TRAINING_DAYS", 28)
FEED_TRAINING_MAX_TICKS = environment.integer("FEED_TRAINING_MAX_TICKS", 5, min_value=1)
# How much a subscriber raises a feed's rank: its key is multiplied by 1 + this * subscribers.
FEED_AUDIENCE_WEIGHT = environment.number("FEED_AUDIENCE_WEIGHT", 0.1)
# Download the pages of new articles for their full text.
FEED_ARTICLE_PAGES = environment.switch("FEED_ARTICLE_PAGES", True)
# Look at the pages of new articles again, to keep what is edited after publication: up to an eighth more
# requests.
FEED_ARTICLE_EDITS = environment.switch("FEED_ARTICLE_EDITS", True)
# Bridges that make feeds of sites that have none, such as channels of Telegram: comma-separated, each kind
# (rsshub, rss-bridge) at most once, as in rsshub=https://hub.example. FETCH_ALLOWED_NETWORKS must
# allow one in a private network.
FEED_BRIDGES = environment.bridges("FEED_BRIDGES")
# Maximum number of hosts leased to terminals at once; raise it with the number of terminals.
CRAWL_HOSTS_IN_FLIGHT = environment.integer("CRAWL_HOSTS_IN_FLIGHT", 256, min_value=1)
# What a lease on a host allows for on top of the last request's deadline: the batch itself, queues, slow
# clocks (seconds). The work of a terminal that was killed comes back after deadline and slack.
CRAWL_LEASE_SLACK_SECONDS = environment.number("CRAWL_LEASE_SLACK_SECONDS", 30.0, min_value=1)

# How often running crawls are looked after: limits, time control, lost leases (seconds).
FRONTIER_TEND_SECONDS = environment.number("FRONTIER_TEND_SECONDS", 5.0, min_value=0.5)

# Feeds and the pages of articles go into the graph as they are stored.
PIPELINE_STORED = environment.switch("PIPELINE_STORED", True)
# Mail addresses of pages go into the graph as SHA-1 (foaf:mbox_sha1sum) instead of in plain.
PIPELINE_HASH_MAIL = environment.switch("PIPELINE_HASH_MAIL", False)
# RDFa, too; a page that has some takes a second.
PIPELINE_RDFA = environment.switch("PIPELINE_RDFA", True)
# Pictures and PDF files in crawls into the graph, too, for what EXIF and PDF say of them.
PIPELINE_FILES = environment.switch("PIPELINE_FILES", False)
# The graph store of another program that follows the graph, by the SPARQL 1.1 Graph Store HTTP Protocol: the
# address that takes ?graph=, and a login there, such as dba:secret.
SPARQL_MIRROR_URL = environment.web_address("SPARQL_MIRROR_URL", with_path=True)
SPARQL_MIRROR_LOGIN = environment.text("SPARQL_MIRROR_LOGIN")

# Special networks in which transformers behind HTTP (the admin's plug-ins) may stand, comma-separated CIDR.
PIPELINE_PLUGIN_NETWORKS = environment.networks("PIPELINE_PLUGIN_NETWORKS", ("127.0.0.0/8", "::1/128"))

# --- Fetching ---------------------------------------------------------------------------------------

# Special networks that may be fetched from all the same, comma-separated CIDR. Empty: private, loopback,
# link-local and other special addresses are refused.
FETCH_ALLOWED_NETWORKS = environment.networks("FETCH_ALLOWED_NETWORKS")
# What sites see; put a page or address in it where they can reach you.
FETCH_USER_AGENT = environment.text("FETCH_USER_AGENT", "Freshet/0.1 (adaptive feed reader)")
# One download with all its redirects (seconds), and the size of a body after decompression (bytes).
FETCH_DEADLINE_SECONDS = environment.number("FETCH_DEADLINE_SECONDS", 30.0, min_value=0.1)
FETCH_MAX_BYTES = environment.integer("FETCH_MAX_BYTES", 10 * 1024 * 1024, min_value=1024)
# From the end of one request to a host to the start of the next (seconds).
FETCH_HOST_SPACING_SECONDS = environment.number("FETCH_HOST_SPACING_SECONDS", 2.0)

# --- Retention (days; 0 keeps for ever) -------------------------------------------------------------

RETENTION_RETRIEVALS_DAYS = environment.integer("RETENTION_RETRIEVALS_DAYS", 90)
RETENTION_PAGE_HTML_DAYS = environment.integer("RETENTION_PAGE_HTML_DAYS", 365)
# Articles that somebody starred or labelled are kept.
RETENTION_ARTICLES_DAYS = environment.integer("RETENTION_ARTICLES_DAYS", 0)
# What each fetch of a watched page showed, and the changes that were found.
RETENTION_CHECKS_DAYS = environment.integer("RETENTION_CHECKS_DAYS", 365)
RETENTION_CHANGES_DAYS = environment.integer("RETENTION_CHANGES_DAYS", 0)
# Size of the directory of pictures on this machine; those not seen for the longest time go first.
PICTURES_MAX_MEGABYTES = environment.integer("PICTURES_MAX_MEGABYTES", 500)
# What subscribers were shown; what they opened and rated is kept.
RETENTION_SHOWN_DAYS = environment.integer("RETENTION_SHOWN_DAYS", 180)

# --- A language model of one's own ------------------------------------------------------------------

# The address of a language model that speaks OpenAI's chat completions, such as http://localhost:11434/v1 of
# Ollama, with or without /v1/chat/completions. Empty: there is none, and no page speaks of one. The texts of
# articles that people ask about are sent there, and nowhere else (docs/model.md).
MODEL_URL = environment.web_address("MODEL_URL", with_path=True)
# The key that it wants, if any.
MODEL_KEY = environment.text("MODEL_KEY")
# The model's name there, such as llama3.2, which every answer shows; needed where MODEL_URL is set.
MODEL_NAME = environment.text("MODEL_NAME")
if MODEL_URL and not MODEL_NAME:
    raise ImproperlyConfigured("MODEL_URL needs MODEL_NAME")
# Time for one answer (seconds).
MODEL_SECONDS = environment.integer("MODEL_SECONDS", 120, min_value=1, max_value=400)
# Answers that one person may have made in 24 hours; what was asked before costs none. 0: none at all.
MODEL_DAILY_ANSWERS = environment.integer("MODEL_DAILY_ANSWERS", 100)

# The address of an embeddings endpoint that speaks OpenAI's API, such as http://localhost:11434/v1 of Ollama,
# with or without /v1/embeddings: searches find by meaning, too, and articles show related ones. Empty: there
# is none. The title and the beginning of the text of every article are sent there, and the words of searches.
EMBEDDINGS_URL = environment.web_address("EMBEDDINGS_URL", with_path=True)
# The key that it wants, if any.
EMBEDDINGS_KEY = environment.text("EMBEDDINGS_KEY")
# The model's name there, such as nomic-embed-text; needed where EMBEDDINGS_URL is set. With another model all
# articles get new vectors.
EMBEDDINGS_MODEL = environment.text("EMBEDDINGS_MODEL")
if EMBEDDINGS_URL and not EMBEDDINGS_MODEL:
    raise ImproperlyConfigured("EMBEDDINGS_URL needs EMBEDDINGS_MODEL")

# --- Celery -----------------------------------------------------------------------------------------

# A task is acknowledged when done, so a killed worker's tasks run again: every task is idempotent.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Celery would end a process's whole pool of connections after each task, and with them what PostgreSQL had
# cached of the tables: half of the time of a check-in. `crawler.celery` gives connections back instead.
CELERY_DB_REUSE_MAX = sys.maxsize
# Seconds; the soft limit raises inside the task, the hard one ends its process.
CELERY_TASK_SOFT_TIME_LIMIT = environment.integer("CELERY_TASK_SOFT_TIME_LIMIT", 540, min_value=1)
CELERY_TASK_TIME_LIMIT = CELERY_TASK_SOFT_TIME_LIMIT + 30
# How long a stopping worker (SIGQUIT, or a second Ctrl-C) lets running tasks finish (seconds).
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = environment.number("CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT", 5.0)
# One task at a time in the worker's own process, or threads for terminals: a pool of processes, Celery's
# default, loses what a killed process held for as long as a lease lasts. More work at once is more workers.
CELERY_WORKER_POOL = "solo"
# A worker is replaced beyond this size (KiB): parsers of hostile bytes may leak.
# Default: two fifths of the memory, 250 to 600 MB.
CELERY_WORKER_MAX_MEMORY_PER_CHILD = environment.integer(
    "CELERY_WORKER_MAX_MEMORY_PER_CHILD", memory.share(2 / 5, 250, 600) // 1024
)
CELERY_BROKER_TRANSPORT_OPTIONS = environment.transport_options(
    CELERY_BROKER_URL, CELERY_TASK_TIME_LIMIT + 60
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_POOL_LIMIT = 4
# Who sends waits for a broker that is away: a minute, after which leases bring the work back.
CELERY_TASK_PUBLISH_RETRY_POLICY = {
    "max_retries": 40,
    "interval_start": 0.1,
    "interval_step": 0.2,
    "interval_max": 2.0,
}
# Queue names made for remote control are too long for pgmq; Freshet's own heartbeat tells who lives.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = not CELERY_BROKER_URL.startswith(("pgmq:", "memory:"))
CELERY_TASK_IGNORE_RESULT = True
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_DEFAULT_QUEUE = "later"
CELERY_TASK_ROUTES = {
    "feeds.tasks.tick": {"queue": "tick"},
    "crawler.engine.tasks.tend": {"queue": "tick"},
    # Behind the reports, each of which hands out, too: a tick shall not wait behind a hundred wishes.
    "crawler.engine.tasks.dispatch": {"queue": "store"},
    "crawler.terminals.tasks.fetch": {"queue": "fetch"},
    "crawler.engine.tasks.store": {"queue": "store"},
    "crawler.engine.tasks.pulse_answered": {"queue": "store"},
    "crawler.pipeline.tasks.detect": {"queue": "detect"},
    "crawler.pipeline.tasks.transform": {"queue": "transform"},
    "crawler.pipeline.tasks.index": {"queue": "index"},
    "crawler.pipeline.tasks.extract": {"queue": "extract"},
    "crawler.pipeline.tasks.lead_crawl": {"queue": "extract"},
    "crawler.pipeline.tasks.settle": {"queue": "store"},
    "recrawl.tasks.recrawl": {"queue": "recrawl"},
    "articles.enrichment.tasks.enrich": {"queue": "enrich"},
    "articles.interest.tasks.learn_crowd": {"queue": "enrich"},
    "articles.things.tasks.derive": {"queue": "extract"},
    "crawler.notices.tasks.*": {"queue": "notify"},
    "feeds.mail.tasks.*": {"queue": "notify"},
    "articles.saved.tasks.*": {"queue": "notify"},
    "articles.moving.tasks.*": {"queue": "notify"},
    "articles.modelled.tasks.*": {"queue": "model"},
    "articles.meaning.tasks.*": {"queue": "model"},
    "articles.tasks.reread": {"queue": "fetch"},
    "articles.tasks.take_reread": {"queue": "store"},
}
CELERY_BEAT_SCHEDULER = "crawler.engine.schedule:Scheduler"
# The scheduler writes this into its table at every start, so the row follows the setting. A tick that found
# no worker within three of its lengths is worthless. Within one it is not: behind a queue that is longer,
# each would be dropped in its turn, and none would ever run; one that comes soon after another does nothing.
CELERY_BEAT_SCHEDULE = {
    "tick": {
        "task": "feeds.tasks.tick",
        "schedule": FEED_TICK_SECONDS,
        "options": {"queue": "tick", "expire_seconds": 3 * FEED_TICK_SECONDS},
    },
    "tend": {
        "task": "crawler.engine.tasks.tend",
        "schedule": FRONTIER_TEND_SECONDS,
        "options": {"queue": "tick", "expire_seconds": math.ceil(3 * FRONTIER_TEND_SECONDS)},
    },
}

# --- Django -----------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "crawler.operation.apps.ProjectConfig",
    "crawler.engine",
    "crawler.terminals",
    "crawler.operation.site",
    "crawler.web",
    "crawler.frontier",
    "crawler.pipeline",
    "feeds",
    "feeds.laboratory",
    "feeds.websub",
    "feeds.mail",
    "articles",
    "articles.enrichment",
    "articles.things",
    "articles.greader",
    "articles.saved",
    "articles.moving",
    "articles.edits",
    "articles.modelled",
    "articles.meaning",
    "articles.interest",
    "recrawl",
    "crawler.operation.site.admin_config.GroupedAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",  # for templates of allauth
    "django.contrib.postgres",
    "rest_framework",
    "rest_framework.authtoken",
    "django_filters",
    "drf_spectacular",
    "django_celery_beat",
    "axes",
    "crawler.accounts",
    "crawler.notices",
    "crawler.assistants",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.idp.oidc",
]
MIDDLEWARE = [
    "crawler.web.request_ids.request_id",
    "django.middleware.security.SecurityMiddleware",
    # Before all that would look something up by what the request says, and in the reader's language.
    "crawler.web.languages.reader_language",
    "crawler.web.middleware.OnlyStorable",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "crawler.web.middleware.Compressed",
    "crawler.web.middleware.content_security_policy",
    "crawler.web.deadline.Deadline",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "crawler.accounts.proxy.proxy_sign_in",
    "crawler.accounts.demo.demonstration",
    "crawler.web.middleware.reader",
    # Every page is for people with an account, but for those that say otherwise (login_not_required).
    "crawler.web.middleware.ClosedPages",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "crawler.web.zones.reader_zone",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    # Last: in the place of a refused sign-in it answers that there were too many.
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "crawler.urls"
WSGI_APPLICATION = "crawler.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [SHARED_DIR / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "crawler.web.template_files.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "crawler.web.roles.may",
                "crawler.web.pages.program",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
# Codes of sign-ins and counts of attempts: whichever web server answers next must find them.
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "shared_cache"},
}
DATABASES = {"default": environment.database("DATABASE_URL", DATABASE_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("fr", "français"), ("es", "español"), ("ja", "日本語")]
LANGUAGE_COOKIE_NAME = "freshet-language"
LOCALE_PATHS = [SHARED_DIR / "locale"]
USE_I18N = True

STATIC_URL = f"{URL_PREFIX}/static/"
STATIC_ROOT = DATA_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
# axes first, since it refuses; an app password opens the API of Google Reader and nothing else.
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "articles.greader.backends.AppPasswordBackend",  # which nobody guesses, so that no closed name stops it
    "crawler.accounts.backends.ManyAddressesBackend",
    "crawler.accounts.backends.NameOrMailBackend",
]
# Five failures with one name from one address (page, admin or ClientLogin) close the door for 15 minutes.
# SIGN_IN_MAX_FAILURES failures with one name in that time, from however many addresses, close it for
# passwords; its owner gets in by a link (mail, or `manage.py account_link`).
# Of one address, whatever the names, crawler.web.attempts counts besides (MAX_SIGN_INS).
SIGN_IN_MAX_FAILURES = environment.integer("SIGN_IN_MAX_FAILURES", 50, min_value=5)
AXES_USERNAME_CALLABLE = "crawler.accounts.backends.name_in"
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_CLIENT_IP_CALLABLE = "crawler.web.attempts.client_address"
AXES_LOCKOUT_CALLABLE = "crawler.operation.site.views.locked_out"
# Of a failed attempt axes keeps the form, without these: the names that ClientLogin has for them, too.
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "Email", "Passwd"]
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "read"

# --- Accounts (django-allauth) ---------------------------------------------------------------------

# Who may make an account: closed (nobody, but for invitations) or open (anybody; with a mail server only once
# the mail address is confirmed).
SIGN_UP = environment.choice("SIGN_UP", "closed", ("closed", "open"))
# The header in which a reverse proxy names who has signed in at it (Remote-User), and the proxy's addresses.
# Anybody who reaches the server from there is believed. Empty: no header signs anybody in.
AUTH_PROXY_HEADER = environment.text("AUTH_PROXY_HEADER")
AUTH_PROXY_NETWORKS = environment.networks("AUTH_PROXY_NETWORKS", ("127.0.0.1/32", "::1/128"))
AUTH_PROXY_SIGN_UP = environment.switch("AUTH_PROXY_SIGN_UP", True)
# The mail server: smtp://user:password@host:587/?tls=True, and the sender. Empty: no mail is sent, and people
# who forgot their password are told to ask for a link.
EMAIL_URL = environment.text("EMAIL_URL")
environment.mail("EMAIL_URL", EMAIL_URL)  # a bad address ends the start
EMAIL_BACKEND = "crawler.engine.mailing.ChosenServer"
DEFAULT_FROM_EMAIL = SERVER_EMAIL = environment.text("MAIL_FROM", "Freshet <freshet@localhost>")
EMAIL_TIMEOUT = 20
# An identity provider that speaks OpenID Connect: the address below which its .well-known stands, the client
# that it knows, and the name on the button. With OIDC_SIGN_UP whoever it knows gets an account at the first
# sign-in.
OIDC_ISSUER = environment.web_address("OIDC_ISSUER", with_path=True)
OIDC_NAME = environment.text("OIDC_NAME", "your organisation") if OIDC_ISSUER else ""
if OIDC_ISSUER and not environment.text("OIDC_CLIENT_ID"):
    raise ImproperlyConfigured("OIDC_ISSUER needs OIDC_CLIENT_ID")
OIDC_SIGN_UP = environment.switch("OIDC_SIGN_UP", True)
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "APPS": [
            {
                "provider_id": "oidc",
                "name": OIDC_NAME,
                "client_id": environment.text("OIDC_CLIENT_ID"),
                "secret": environment.text("OIDC_CLIENT_SECRET"),
                "settings": {"server_url": OIDC_ISSUER},
            }
        ]
        if OIDC_ISSUER
        else [],
        "OAUTH_PKCE_ENABLED": True,
    }
}
SOCIALACCOUNT_ADAPTER = "crawler.accounts.adapter.SocialAccountAdapter"
ACCOUNT_ADAPTER = "crawler.accounts.adapter.AccountAdapter"
ACCOUNT_FORMS = {"login": "crawler.accounts.forms.SignInForm"}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*" if SIGN_UP == "open" and EMAIL_URL else "email", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if SIGN_UP == "open" and EMAIL_URL else "none"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 900
# Attempts to sign up a day from one address.
SIGN_UP_PER_ADDRESS = environment.integer("SIGN_UP_PER_ADDRESS", 50, min_value=1)
ACCOUNT_RATE_LIMITS = {"signup": f"{SIGN_UP_PER_ADDRESS}/d/ip", "login": False}
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if PUBLIC_URL.startswith("https://") else "http"
PASSWORD_RESET_TIMEOUT = 3 * 86_400
MFA_ADAPTER = "crawler.accounts.adapter.MfaAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Freshet"
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not PUBLIC_URL.startswith("https://")
# Whether assistants that speak MCP may sign in (OAuth) and act for the person who allows it. If not, /mcp and
# the addresses of the sign-in answer 404; tokens for programs stay.
ASSISTANTS_ENABLED = environment.switch("ASSISTANTS", True)
IDP_OIDC_ADAPTER = "crawler.accounts.assistants.adapter.AssistantAdapter"
IDP_OIDC_AUTH_METHODS = ["none"]  # assistants keep no secret; PKCE stands for it
IDP_OIDC_DCR_ENABLED = True
IDP_OIDC_DCR_REQUIRES_INITIAL_ACCESS_TOKEN = False
# Off: allauth would fetch addresses that strangers name, past the guards of crawler.fetching.
IDP_OIDC_CIMD_ENABLED = False
IDP_OIDC_ACCESS_TOKEN_EXPIRES_IN = 3600
IDP_OIDC_REFRESH_TOKEN_EXPIRES_IN = 90 * 86_400
if BEHIND_TLS_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SECURE_HSTS_SECONDS = 30 * 86_400
# Sound and film of articles come from anywhere once they are played; everything else is our own, pictures
# too (crawler.web.pictures), and nothing is inline.
CONTENT_SECURITY_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "font-src": "'self'",
    "img-src": "'self' data:",
    "media-src": "https: http:",
    "frame-src": "'self' https://www.youtube-nocookie.com https://player.vimeo.com",
    "connect-src": "'self'",
    "manifest-src": "'self'",
    "worker-src": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}

# What one person may take up, operators excepted; 0: as much as they like.
LIMIT_FEEDS = environment.integer("LIMIT_FEEDS", 5000)
LIMIT_SITES = environment.integer("LIMIT_SITES", 100)
LIMIT_REQUESTS_A_DAY = environment.integer("LIMIT_REQUESTS_A_DAY", 50_000)

REST_FRAMEWORK = {
    "DEFAULT_THROTTLE_CLASSES": ["crawler.web.throttles.DailyThrottle"],
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "crawler.web.authentication.CountedTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": [
        "crawler.web.parsers.JSONParser",
        "crawler.web.parsers.FormParser",
        "crawler.web.parsers.MultiPartParser",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "crawler.web.pagination.NumberedPages",
    "DEFAULT_FILTER_BACKENDS": [
        "django_filters.rest_framework.DjangoFilterBackend",
        "rest_framework.filters.SearchFilter",
        "crawler.web.pagination.OneOrder",
    ],
    # The name is a filter's; answers come in one format.
    "URL_FORMAT_OVERRIDE": None,
    "DEFAULT_SCHEMA_CLASS": "crawler.web.schema.DocumentedSchema",
    "EXCEPTION_HANDLER": "crawler.web.refusals.api_refusal",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Freshet",
    "DESCRIPTION": "Feeds, their visits, articles and personal feeds of this deployment.",
    "VERSION": "1.0.0",
    "SCHEMA_PATH_PREFIX": "/api/",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "crawler.web.schema.with_refusals",
    ],
    "ENUM_NAME_OVERRIDES": {
        "LoginKind": "crawler.engine.models.SiteLogin.Kind",
        "FeedKind": "crawler.reading.sources.kinds.FETCHED",
        "FeedStatus": "feeds.models.Feed.Status",
        "FeedPhase": "feeds.models.Feed.Phase",
        "RetrievalOutcome": "feeds.models.Retrieval.Outcome",
        "HubSubscriptionState": "feeds.websub.models.HubSubscription.State",
        "DocumentSource": "crawler.pipeline.models.Document.Source",
        "DocumentState": "crawler.pipeline.models.Document.State",
        "TopicKind": "articles.models.Topic.Kind",
        "MoveKind": "articles.moving.models.Move.Kind",
        "MoveState": "articles.moving.models.Move.State",
        "ChangeKind": "recrawl.models.Change.Kind",
        "SiteState": "recrawl.models.Site.State",
        "SiteKind": "recrawl.models.Site.Kind",
        "SourceKind": "recrawl.models.Source.Kind",
        "EnrichmentState": "articles.enrichment.models.Enrichment.State",
        "TokenScope": "crawler.web.scopes.SCOPE_CHOICES",
        "ModelTaskKind": "articles.modelled.kinds.NAMES",
        "ModelTaskState": "articles.modelled.models.ModelTask.State",
        "InterestEventKind": "articles.interest.models.Event.Kind",
    },
}

if LOG_FORMAT == "json":
    _FORMATTER: dict[str, object] = {"()": "crawler.telemetry.logs.JsonLine", "process": PROCESS_NAME}
else:
    _FORMATTER = {
        "()": "crawler.telemetry.logs.OneLine" if LOG_LEVEL in {"WARNING", "ERROR"} else "logging.Formatter",
        "fmt": f"%(asctime)s {PROCESS_NAME} %(levelname)s %(name)s: %(message)s",
        "datefmt": "%H:%M:%S",
    }
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": _FORMATTER},
    "filters": {
        "quiet": {"()": "crawler.telemetry.logs.NotWorthALine"},
        "refusals": {"()": "crawler.telemetry.logs.RefusalsInOneLine"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["quiet", "refusals"],
        }
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    # Django's own handlers would mail administrators; errors belong on stderr like the rest.
    "loggers": {
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "pgmq": {"level": "WARNING"},
        "waitress.queue": {"level": "ERROR"},  # it warns of every request that waits for a thread
        # Odd headers of strangers, and a database that is away, are told where they matter.
        "urllib3": {"level": "ERROR"},
        "psycopg.pool": {"level": "ERROR"},
        "axes": {"level": "WARNING"},
    },
}
