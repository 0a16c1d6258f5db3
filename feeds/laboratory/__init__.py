"""The policy laboratory: replays that people start from the page or the API and find again by address."""
