"""The grouping policy: which waiting requests run together next. Pure; knows no clock, no network and no tensor."""

from seer_core.router.config import RouterConfig
from seer_core.router.router import Router

__all__ = ["Router", "RouterConfig"]
