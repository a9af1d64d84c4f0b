import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("grading", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="SealedPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("content", models.BinaryField()),
                (
                    "submission",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="parts", to="grading.submission"
                    ),
                ),
            ],
            options={
                "ordering": ["submission", "number"],
                "constraints": [models.UniqueConstraint(fields=("submission", "number"), name="one_part_per_number")],
            },
        ),
    ]
