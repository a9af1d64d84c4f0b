from django.apps import AppConfig


class CatalogConfig(AppConfig):
    name = "fdegym.catalog"
    label = "catalog"
