"""Every event of a log carries the site's signature; a start that failed gives its number to the next one."""

from __future__ import annotations

from django.conf import settings
from django.db import migrations, models

BEGUN = ["preparing", "open", "submitted", "graded", "void"]


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="run", name="one_run_per_attempt"),
        migrations.AddField(
            model_name="runevent",
            name="signature",
            field=models.CharField(blank=True, default="", max_length=64),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(
                condition=models.Q(("origin", "person"), ("state__in", BEGUN)),
                fields=("user", "scenario_id", "attempt"),
                name="one_run_per_attempt",
            ),
        ),
    ]
