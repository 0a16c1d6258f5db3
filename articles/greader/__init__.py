"""The API of Google Reader, for reader apps on phones and desktops."""
