"""What every answer carries, the viewer's time zone, words for our own errors."""

from __future__ import annotations

import logging
import zoneinfo
from collections.abc import Callable

from django.core.exceptions import RequestDataTooBig, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin

from fdegym.catalog.scenarios import for_visitors
from fdegym.lib.errors import FdegymError

logger = logging.getLogger(__name__)
TIME_ZONE_COOKIE = "tz"


#: Features that a page of ours never asks for; copying from a terminal is the one that it does.
DENIED_FEATURES = (
    *("accelerometer", "autoplay", "bluetooth", "camera", "clipboard-read", "display-capture", "encrypted-media"),
    *("fullscreen", "gamepad", "geolocation", "gyroscope", "hid", "idle-detection", "local-fonts", "magnetometer"),
    *("microphone", "midi", "payment", "picture-in-picture", "publickey-credentials-get", "screen-wake-lock"),
    *("serial", "storage-access", "usb", "web-share", "window-management", "xr-spatial-tracking"),
)
PERMISSIONS = ", ".join(["clipboard-write=(self)", *(f"{feature}=()" for feature in DENIED_FEATURES)])
#: For a download that a browser opens all the same: no scripts, no forms, no origin of ours.
DOWNLOAD_POLICY = "sandbox; default-src 'none'"


class ResponseHeadersMiddleware(MiddlewareMixin):
    """What every answer says beside what Django's and django-csp's middleware do. The outermost: nothing escapes it."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        # pages are a person's own: no cache between us and them keeps any (static files say for themselves)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        if response.headers.get("Content-Disposition", "").startswith("attachment"):
            response.headers["Content-Security-Policy"] = DOWNLOAD_POLICY
        return response


class ViewerTimeZoneMiddleware:
    """Pages show times in the zone of the profile, else of the browser (a cookie set by site.js), else UTC."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        name = getattr(request.user, "time_zone", "") or request.COOKIES.get(TIME_ZONE_COOKIE, "")
        try:
            zone = zoneinfo.ZoneInfo(name) if name else None
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            zone = None
        with timezone.override(zone):
            return self.get_response(request)


class WordsForErrorsMiddleware:
    """The one place where our errors become an answer: their own sentence, as a page or as JSON, never a traceback."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, FdegymError):
            return None
        exception = for_visitors(exception)
        if exception.http_status >= 500:
            logger.error("%s: %s", type(exception).__name__, exception)
        if "application/json" in request.headers.get("Accept", ""):
            return JsonResponse({"error": str(exception)}, status=exception.http_status)
        return render(request, "problem.html", {"problem": exception}, status=exception.http_status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's own refusals of a request, in words for a page that asked in JSON: what happened, that nothing changed."""
    if "application/json" not in request.headers.get("Accept", ""):
        return render(request, "400.html", status=400)
    words: dict[type[Exception], str] = {
        RequestDataTooBig: "That is more than can be sent at once. Nothing was changed.",
        TooManyFilesSent: "Those are more files than can be sent at once (100). Nothing was changed; send them in parts.",
    }
    return JsonResponse(
        {"error": words.get(type(exception), "The request was not readable; reload the page.")}, status=400
    )
