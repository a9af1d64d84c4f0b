"""Addresses of accounts, below ``account/``."""

from __future__ import annotations

from allauth.account import views as allauth_views
from django.urls import path

from fdegym.accounts import views

# The names are django-allauth's: its views look each other up by them. Only what this site offers is here.
urlpatterns = [
    path("sign-in/", views.sign_in, name="account_login"),
    path("sign-up/", views.sign_up, name="account_signup"),
    path("sign-out/", allauth_views.logout, name="account_logout"),
    path("password/", allauth_views.password_change, name="account_change_password"),
    path("inactive/", allauth_views.account_inactive, name="account_inactive"),
    path("theme/", views.theme, name="theme"),
]
