"""What subscribers follow, mark, read and have made: personal feeds, topics, reading list, account."""
