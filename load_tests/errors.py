"""What can be wrong with a load test itself; what is wrong with the service is a result, not an error."""

from __future__ import annotations


class LoadTestError(Exception):
    """The test could not be run as asked. Its message is for the person who asked."""
