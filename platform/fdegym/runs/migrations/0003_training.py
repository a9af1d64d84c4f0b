"""A run keeps from its beginning whether its scenario was there for training."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0002_signed_events")]

    operations = [
        migrations.AddField(model_name="run", name="training", field=models.BooleanField(default=False)),
    ]
