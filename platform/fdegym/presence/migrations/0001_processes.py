"""What each process of the site says of itself."""

import uuid

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Process",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=16)),
                ("host", models.CharField(blank=True, default="", max_length=120)),
                ("pid", models.PositiveIntegerField(default=0)),
                ("started_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("doing", models.CharField(blank=True, default="", max_length=200)),
                ("did_at", models.DateTimeField(blank=True, null=True)),
                ("counts", models.JSONField(default=list)),
            ],
            options={
                "ordering": ["kind", "host", "started_at"],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("kind", "past")), fields=("kind",), name="one_past")
                ],
            },
        ),
    ]
