"""The policy laboratory: replays started from its page or the API, each with an address of its own."""
