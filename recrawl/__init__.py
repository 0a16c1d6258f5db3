"""Sites that are fetched again: which pages have changed, with few requests (Kumagai and Yamana 2004)."""
