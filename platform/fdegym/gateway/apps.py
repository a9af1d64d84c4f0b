from django.apps import AppConfig


class GatewayConfig(AppConfig):
    name = "fdegym.gateway"
    label = "gateway"
