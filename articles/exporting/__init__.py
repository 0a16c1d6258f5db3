"""Lists of articles and changes as files: formats, rows from the database, and answers that stream them."""
