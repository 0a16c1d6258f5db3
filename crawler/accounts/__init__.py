"""Accounts: sign-in and sign-up by django-allauth, invitations, roles, and links for new passwords."""
