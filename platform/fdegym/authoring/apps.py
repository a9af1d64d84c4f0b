from django.apps import AppConfig


class AuthoringConfig(AppConfig):
    name = "fdegym.authoring"
    label = "authoring"
