"""Sites whose pages are watched for changes. Nothing is here yet."""
