"""The API that Google Reader had, for readers on phones and desktops that speak it."""
