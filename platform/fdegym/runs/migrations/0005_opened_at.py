"""When the workspace of a run was handed out; of the runs so far, what their logs say."""

from django.db import migrations, models


def read_from_logs(apps, schema_editor):
    runs, events = apps.get_model("runs", "Run").objects, apps.get_model("runs", "RunEvent").objects
    moves = events.filter(kind="run.state").values_list("run_id", "payload", "at")
    for run_id, payload, at in moves.iterator(chunk_size=2000):
        if payload.get("to") == "open":
            runs.filter(pk=run_id).update(opened_at=at)


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0004_live_runs"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="opened_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.RunPython(read_from_logs, migrations.RunPython.noop),
    ]
