"""Addresses of this feature."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
