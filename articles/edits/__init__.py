"""Changes of articles after their publication: each text as it stood, and when to look again."""
