from django.apps import AppConfig


class OperationsConfig(AppConfig):
    name = "fdegym.operations"
    label = "operations"
