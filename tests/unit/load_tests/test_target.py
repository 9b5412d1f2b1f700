"""Load tests stay on this machine."""

from __future__ import annotations

import pytest

from load_tests.errors import LoadTestError
from load_tests.target import Target


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_loopback_is_a_target(host: str) -> None:
    Target(url=f"http://{host}:8000", grpc=f"{host}:9000")


@pytest.mark.parametrize("host", ["10.0.0.1", "example.com", "0.0.0.0", "localhost.example.com"])
def test_any_other_host_is_refused_in_both_places(host: str) -> None:
    with pytest.raises(LoadTestError, match="loopback"):
        Target(url=f"http://{host}:8000", grpc="127.0.0.1:9000")
    with pytest.raises(LoadTestError, match="loopback"):
        Target(url="http://127.0.0.1:8000", grpc=f"{host}:9000")


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8000", "https://127.0.0.1:8000", "http://127.0.0.1:8000/v1", "http://127.0.0.1"]
)
def test_a_url_of_another_shape_is_refused(url: str) -> None:
    with pytest.raises(LoadTestError, match="--url must look like"):
        Target(url=url, grpc="127.0.0.1:9000")
