"""Live runs are found without looking at those that are over."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0003_training"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("state__in", ["preparing", "open"])), fields=["state", "begun_at"], name="live_runs"
            ),
        ),
    ]
