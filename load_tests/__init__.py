"""Load tests: a client of the service that knows nothing but its network faces."""
