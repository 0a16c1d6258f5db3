"""Newsletters as sources: people's addresses for them, mailboxes that are looked at, what comes from both."""
