from django.apps import AppConfig


class PresenceConfig(AppConfig):
    name = "fdegym.presence"
    label = "presence"
