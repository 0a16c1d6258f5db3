"""The way out to the web: HTTP, a browser, and programs that fetch and read for the web server."""
