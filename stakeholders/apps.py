from django.apps import AppConfig


class StakeholdersConfig(AppConfig):
    """Scripted people: no table of their own, all they did is in the runs' logs."""

    name = "stakeholders"
