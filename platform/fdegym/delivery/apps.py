from django.apps import AppConfig


class DeliveryConfig(AppConfig):
    name = "fdegym.delivery"
    label = "delivery"
