"""Rules about articles: "when an article comes that ..., then mute it, mark it read, star it ..."."""
