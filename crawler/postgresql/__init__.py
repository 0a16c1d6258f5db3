"""An embedded PostgreSQL from a wheel, which needs no installation, and the message broker in PostgreSQL."""
