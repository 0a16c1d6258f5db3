"""The only way out to the web: HTTP, a browser, and programs that read on behalf of the web server."""
