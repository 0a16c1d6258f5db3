"""What is made of every article: keywords, category, summary, and the story that it belongs to."""
