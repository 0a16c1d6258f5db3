"""The reader: lists of articles, articles beside them, unread counts, marks and their undoing."""
