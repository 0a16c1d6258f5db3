"""The policy laboratory: replays started from its page, each with an address of its own."""
