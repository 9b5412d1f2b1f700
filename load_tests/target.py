"""Where the service is. Loopback only: this is a tool to measure one's own service, not to load someone else's."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from load_tests.errors import LoadTestError


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """`url` without a slash at its end, `grpc` as host:port. Raises LoadTestError beyond loopback."""

    url: str
    grpc: str

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme != "http" or parts.path or not parts.port:
            raise LoadTestError(f"--url must look like http://127.0.0.1:8000, not {self.url}")
        for host in (parts.hostname or "", urlsplit(f"//{self.grpc}").hostname or ""):
            if not is_loopback(host):
                raise LoadTestError(f"{host} is not on this machine; load tests stay on loopback")


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
