from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "fdegym.runs"
    label = "runs"
