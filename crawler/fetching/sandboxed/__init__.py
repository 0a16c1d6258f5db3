"""Programs that handle bytes of the web on behalf of the web server, in separate processes.

The server forks them from a process that knows no secret and no database (`crawler.isolation.fork_server`).
One program fetches and reads nothing of the answer; those that read can open no socket
(`crawler.isolation.walls`).
"""
