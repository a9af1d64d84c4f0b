"""One's own account: settings, privacy, export, deletion."""

from __future__ import annotations

import json

from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from fdegym.accounts.access import signed_in
from fdegym.accounts.buckets import EXPORTS
from fdegym.accounts.forms import EraseAccountForm, ProfileForm
from fdegym.accounts.models import User
from fdegym.accounts.services import erase_account
from fdegym.accounts.views import remember_theme_in
from fdegym.delivery.submit import abandon_run
from fdegym.lib.errors import RunStateConflict
from fdegym.pages.exports import as_csv, run_record
from fdegym.pages.outcomes import customers
from fdegym.pages.rows import rows_of
from fdegym.runs.access import runs_of
from fdegym.runs.models import RunState


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: HttpRequest) -> HttpResponse:
    user = signed_in(request)
    # the form works on a copy: a refused value must not show up elsewhere on the page
    form = ProfileForm(request.POST or None, instance=User.objects.get(pk=user.pk))
    if request.method == "POST" and form.is_valid():
        saved = form.save()
        messages.success(request, "Your profile is saved.")
        return remember_theme_in(redirect("profile"), saved.theme, request)
    return render(request, "pages/profile.html", {"form": form}, status=422 if form.is_bound else 200)


@login_required
@require_safe
def export_runs(request: HttpRequest, kind: str) -> HttpResponse:
    EXPORTS.take(signed_in(request).pk)
    rows = rows_of(runs_of(signed_in(request)), customers())
    if kind == "csv":
        answer = HttpResponse(as_csv(rows), content_type="text/csv; charset=utf-8")
    else:
        record = {
            "format": "fdegym runs 1",
            "exported_at": timezone.localtime().isoformat(timespec="seconds"),
            "username": signed_in(request).username,
            "runs": [run_record(row) for row in rows],
        }
        answer = HttpResponse(json.dumps(record, ensure_ascii=False, indent=1), content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="runs.{kind}"'
    return answer


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def erase(request: HttpRequest) -> HttpResponse:
    """Delete the account. Open runs end first, as they stand: if one cannot, nothing is deleted."""
    user = signed_in(request)
    live = [run for run in runs_of(user) if run.is_live]
    form = EraseAccountForm(request.POST or None, user=user)
    if request.method == "POST" and form.is_valid():
        if any(run.state == RunState.PREPARING for run in live):
            raise RunStateConflict("A run of yours is still being prepared. Wait a minute, then delete the account.")
        for run in live:
            abandon_run(run.id)
        logout(request)
        erase_account(user)
        messages.success(request, "Your account is deleted.")
        return redirect("home")
    context = {"form": form, "open_runs": len(live)}
    return render(request, "pages/profile_erase.html", context, status=422 if form.is_bound else 200)
