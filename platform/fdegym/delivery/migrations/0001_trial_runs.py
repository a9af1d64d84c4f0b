"""Trials that are being run, with their leases."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("runs", "0002_signed_events"),
    ]

    operations = [
        migrations.CreateModel(
            name="TrialRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("requested_seq", models.PositiveIntegerField()),
                ("client_id", models.CharField(max_length=100)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("running", "being run"), ("over", "over")],
                        default="waiting",
                        max_length=16,
                    ),
                ),
                ("copy_path", models.CharField(blank=True, default="", max_length=500)),
                ("copy_sha256", models.CharField(blank=True, default="", max_length=64)),
                ("lease_owner", models.CharField(blank=True, default="", max_length=120)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("not_before", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("progress", models.JSONField(blank=True, default=dict)),
                ("operator_detail", models.TextField(blank=True, default="")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="trials", to="runs.run"
                    ),
                ),
            ],
            options={
                "ordering": ["created_at", "id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "over"), _negated=True),
                        fields=["created_at"],
                        name="trials_to_run",
                    )
                ],
                "constraints": [models.UniqueConstraint(fields=("run", "requested_seq"), name="one_row_per_trial")],
            },
        ),
    ]
