"""``manage.py gateway``: answer the calls of workspaces and grades to language models, until told to stop."""

from __future__ import annotations

import asyncio
import resource
import signal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from fdegym.gateway.key import hide_this_process, take_key
from fdegym.gateway.places import configuration
from fdegym.gateway.providers import Provider, RecordingUnreadable, provider_of
from fdegym.gateway.server import Gateway
from fdegym.lib import logs
from fdegym.lib.errors import FdegymError
from fdegym.presence import keeping


class Command(BaseCommand):
    help = "Run the company's model gateway. The only process that holds the provider's key."

    def handle(self, *args: Any, **options: Any) -> None:
        hide_this_process()
        keeping.begin("gateway")
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # every run is a socket, every client another
        try:
            key = take_key()
            logs.hide(key)
            asyncio.run(_serve(key))
        except (FdegymError, RecordingUnreadable, OSError) as problem:
            raise CommandError(str(problem)) from problem


async def _serve(key: str) -> None:
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    provider: Provider = provider_of(configuration(), key)
    bodies = Path(settings.GATEWAY_BODIES) if configuration().keeps_bodies else None
    await Gateway(Path(settings.GATEWAY_DIR), configuration(), provider, bodies=bodies).run(stopping)
