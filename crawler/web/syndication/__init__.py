"""What Freshet publishes as feeds: one item model, a writer for each format, and the HTTP answer."""
