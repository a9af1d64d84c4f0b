from django.db import migrations, models


class Migration(migrations.Migration):
    """Answers are kept for a delivery: what one grading asked tells the next nothing."""

    dependencies = [("gateway", "0001_initial")]

    operations = [
        migrations.RemoveConstraint(model_name="answer", name="one_answer_per_request"),
        migrations.AddField("account", "delivery", models.CharField(default="", max_length=64)),
        migrations.AddField("answer", "delivery", models.CharField(default="", max_length=64)),
        migrations.AddConstraint(
            "answer",
            models.UniqueConstraint(
                fields=("scenario_id", "release", "delivery", "request_hash"), name="one_answer_per_request"
            ),
        ),
    ]
