from django.apps import AppConfig


class DeliveryConfig(AppConfig):
    name = "fdegym.delivery"
    label = "delivery"

    def ready(self) -> None:
        """Every process that may wake a worker knows the site's broker, not only the worker."""
        from fdegym import celery  # noqa: F401
