"""What machines ask: does it live, is it ready, what are its figures."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from fdegym.operations import metrics, readiness
from fdegym.operations.access import may_read_figures, may_see_details


@never_cache
def health(_request: HttpRequest) -> HttpResponse:
    """Whether the site answers; nothing else is asked, so that a busy database does not look like a dead process."""
    return HttpResponse("ok\n", content_type="text/plain")


@never_cache
@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """200 when everything is there, else 503; what is missing is for operators and for this machine itself."""
    found = readiness.look()
    status = 200 if all(checked.ok for checked in found) else 503
    answer: HttpResponse
    if may_see_details(request):
        said = {checked.name: checked.words or "ok" for checked in found}
        answer = JsonResponse({"ready": status == 200, "checks": said}, status=status, json_dumps_params={"indent": 2})
    else:
        answer = HttpResponse("ok\n" if status == 200 else "not ready\n", content_type="text/plain", status=status)
    # Django would log each answer of 503 as an error of ours; a balancer asks every second
    answer._has_been_logged = True  # type: ignore[attr-defined]
    return answer


@never_cache
@require_safe
def figures(request: HttpRequest) -> HttpResponse:
    """For everybody who may not read them there are none."""
    if not may_read_figures(request):
        raise Http404
    return HttpResponse(metrics.exposition(), content_type=metrics.CONTENT_TYPE)
