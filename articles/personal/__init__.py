"""Pages of subscribers: subscriptions, marks, personal feeds, topics, reading list, account."""
