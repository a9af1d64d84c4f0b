"""Django's settings: one file for every deployment. What differs between them is the environment (``fdegym.env``)."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

import environ as django_environ
from csp.constants import NONCE, NONE, SELF

from fdegym import env
from fdegym.lib import logs

ENVIRONMENT = env.read_or_exit()
ROOT = env.ROOT
VAR = ENVIRONMENT.var

SECRET_KEY = ENVIRONMENT.secret_key
SECRET_KEY_FALLBACKS = list(ENVIRONMENT.old_keys)
DEBUG = ENVIRONMENT.debug
ALLOWED_HOSTS = list(ENVIRONMENT.allowed_hosts)
CSRF_TRUSTED_ORIGINS = list(ENVIRONMENT.trusted_origins)

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "servestatic.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "channels",
    "csp",
    "django_htmx",
    "allauth",
    "allauth.account",
    "axes",
    "fdegym.accounts",
    "fdegym.catalog",
    "fdegym.presence",
    "fdegym.runs",
    "fdegym.gateway",
    "workspaces",
    "stakeholders",
    "grading",
    "fdegym.delivery",
    "fdegym.leaderboard",
    "fdegym.authoring",
    "fdegym.pages",
    "fdegym.operations",
    "fdegym.checks.SiteConfig",
]

MIDDLEWARE = [
    "fdegym.middleware.ResponseHeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "fdegym.operations.requests.LogContextMiddleware",
    "fdegym.middleware.ViewerTimeZoneMiddleware",
    "fdegym.middleware.WordsForErrorsMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "fdegym.urls"
ASGI_APPLICATION = "fdegym.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ],
        },
    }
]

# ---- data ------------------------------------------------------------------------------------------------------------

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
if ENVIRONMENT.database_url:
    DATABASES = {"default": django_environ.Env.db_url_config(ENVIRONMENT.database_url)}  # type: ignore[no-untyped-call]
    # Options of the URL (sslmode, …) stay. A connection is tried before it is lent: a restarted server is noticed there,
    # and one that is away gives a clear page after seconds.
    DATABASES["default"].setdefault("OPTIONS", {})["pool"] = {"min_size": 1, "max_size": 10, "timeout": 5}
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    # A host whose network is cut says no farewell. Client and server notice the other's silence within a minute, not the
    # two hours that systems give it: until the server does, what that host had locked stays locked.
    _silence = {
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": 60_000,
        "options": "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3"
        " -c tcp_user_timeout=60000",
    }
    DATABASES["default"]["OPTIONS"] = _silence | DATABASES["default"]["OPTIONS"]
else:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": VAR / "fdegym.sqlite3",
            "OPTIONS": {
                # A writer waits its turn instead of failing half-way: the lock is taken when the transaction begins.
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
            },
            "TEST": {"NAME": VAR / "test.sqlite3"},
        }
    }

CACHES: dict[str, dict[str, object]]
if ENVIRONMENT.redis_url:
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": ENVIRONMENT.redis_url}}
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "fdegym.runs.hint_layer.HintLayer",
            "CONFIG": {"hosts": [ENVIRONMENT.redis_url]},
        }
    }
else:
    # beyond so many entries some that still count would be dropped: tickets, tokens of limits
    in_database = {"LOCATION": "cache", "OPTIONS": {"MAX_ENTRIES": 20_000}}
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", **in_database}}
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}

# ---- background work: the table of submissions is the queue; a message only wakes a worker ---------------------------

# Two queues: what needs the keeper or its files is done on their host, grading on any. A worker takes from both, or with
# `-Q grading` from that one alone.
CELERY_TASK_DEFAULT_QUEUE = "fdegym"
CELERY_TASK_QUEUES = {name: {"exchange": name, "routing_key": name} for name in ("fdegym", "grading")}
CELERY_TASK_ROUTES = {"grading.tasks.*": {"queue": "grading"}}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_DRAIN_S = ENVIRONMENT.drain_s
if ENVIRONMENT.redis_url:
    CELERY_BROKER_URL = ENVIRONMENT.broker_url
    # A message is a wake-up for work that the database holds: better lost than somebody kept waiting for the broker.
    CELERY_TASK_PUBLISH_RETRY = False
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {
        "socket_connect_timeout": 2,
        "socket_timeout": 30,
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0.2,
        "interval_max": 0.2,
    }
else:
    CELERY_BROKER_URL = "filesystem://localhost"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(VAR / "queue"),
        "data_folder_out": str(VAR / "queue"),
        "control_folder": str(VAR / "queue-control"),
    }
    for folder in ("queue", "queue-control"):
        (VAR / folder).mkdir(exist_ok=True)
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR / "beat-schedule")
CELERY_BEAT_SCHEDULE = {
    "take submissions that no message announced": {
        "task": "grading.tasks.sweep",
        "schedule": 10.0,
        "options": {"expires": 10},  # a worker that was away finds one sweep, not all it missed
    },
    "run trials that no message announced": {
        "task": "fdegym.delivery.tasks.try_systems",
        "schedule": 10.0,
        "options": {"expires": 10},
    },
    "remove what is kept no longer": {
        "task": "fdegym.delivery.tasks.remove_what_is_old",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "remove what no run owns": {
        "task": "fdegym.delivery.tasks.sweep_workspaces",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
}

# ---- people ----------------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
SIGNUP = ENVIRONMENT.signup
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "fdegym.accounts.adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_FORMS = {"signup": "fdegym.accounts.forms.SignupForm"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
# allauth's own would shut an account to everybody when somebody guesses, and a class out that sits behind one address:
# accounts.guessing and accounts.buckets do this instead
ACCOUNT_RATE_LIMITS = {"login": None, "login_failed": None, "signup": None}
EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"

# ---- security --------------------------------------------------------------------------------------------------------

AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_USERNAME_CALLABLE = "fdegym.accounts.guessing.name_of"
AXES_CLIENT_IP_CALLABLE = "fdegym.accounts.guessing.address_of"
AXES_LOCKOUT_CALLABLE = "fdegym.accounts.guessing.shut"
# what is kept of an attempt is name, address, browser and time, until the next one after it no longer counts
AXES_SENSITIVE_PARAMETERS = ["login", "password", "csrfmiddlewaretoken", "next", "username", "ip_address"]
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = ENVIRONMENT.secure_cookies
SESSION_COOKIE_AGE = 60 * 60 * 24 * 14
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if ENVIRONMENT.secure_cookies else None
# Of this host alone: what its operator does with others below the same name is not ours to decide.
SECURE_HSTS_SECONDS = ENVIRONMENT.hsts_days * 24 * 3600 if ENVIRONMENT.secure_cookies else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = False
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        # xterm.js puts its own style elements into the page
        "style-src": [SELF, "'unsafe-inline'"],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "worker-src": [SELF, "blob:"],
        "manifest-src": [SELF],
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 1024 * 1024

# ---- pages -----------------------------------------------------------------------------------------------------------

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-gb"
USE_I18N = False
STATIC_URL = "/static/"
STATIC_ROOT = VAR / "static"
STATICFILES_DIRS = [ROOT / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "servestatic.storage.CompressedManifestStaticFilesStorage"},
}
SERVESTATIC_USE_MANIFEST = not DEBUG

# ---- our own processes -----------------------------------------------------------------------------------------------

KEEPER_SOCKET = ENVIRONMENT.sockets / "keeper.sock"
WORKSPACES_PER_USER = ENVIRONMENT.workspaces_each
SANDBOX_DIR = VAR / "sandboxes"
SANDBOX_RUNTIME = ENVIRONMENT.runtime["name"]  # of workspaces and of deployed deliveries
DESK_DIR = ENVIRONMENT.sockets / "desk"
GATEWAY = ENVIRONMENT.gateway
GATEWAY_DIR = ENVIRONMENT.sockets / "gateway"
GATEWAY_BODIES = VAR / "gateway"
WORLD_CACHE = VAR / "worlds"
SUBMISSION_DIR = VAR / "submissions"
CACHE_DIR = VAR / "cache"
SCENARIO_DIRS = [ROOT / "scenarios", *ENVIRONMENT.scenario_dirs]
WORLD_SALT = ENVIRONMENT.world_salt
TRUST_ANCHORS = True  # admission's own processes measure what others read from anchors.json

logs.hide(
    *(SECRET_KEY, *SECRET_KEY_FALLBACKS, WORLD_SALT, ENVIRONMENT.database_url, ENVIRONMENT.redis_url),
    *(urlsplit(url).password for url in (ENVIRONMENT.database_url, ENVIRONMENT.redis_url)),
)
LOGGING = logs.configuration(ENVIRONMENT.log)
TELLS_OF_ITSELF = True  # a serving process writes that it lives, and what it counted; tests do without
