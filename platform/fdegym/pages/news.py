"""What is new: the latest part of CHANGELOG.md, for the home page."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from django.conf import settings
from django.utils.safestring import SafeString

from fdegym.pages.markdown import to_html

_SECTION = re.compile(r"^## .*$", re.MULTILINE)


@functools.lru_cache(maxsize=4)
def _latest(path: Path, changed_ns: int) -> SafeString | None:
    text = path.read_text(encoding="utf-8")
    heads = list(_SECTION.finditer(text))
    if not heads:
        return None
    end = heads[1].start() if len(heads) > 1 else len(text)
    # its headings stand one level below the page's own
    return to_html(re.sub(r"^##", "###", text[heads[0].start() : end], flags=re.MULTILINE))


def latest_news() -> SafeString | None:
    """The newest section as HTML; None without a changelog."""
    path = Path(settings.ROOT) / "CHANGELOG.md"
    try:
        return _latest(path, path.stat().st_mtime_ns)
    except OSError:
        return None
