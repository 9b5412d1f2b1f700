"""The one tree of errors.

    SeerError
    |- RequestError          the sender must change something
    |  |- InvalidRequest     a field, option or value is malformed, unknown or unsupported
    |  |  `- UnknownModel     this service has no model of that name
    |  |- BadImage           bytes that are no image, or one that may not be decoded
    |  |  `- ImageTooLarge   more bytes or pixels than the limits allow
    |  `- ContextLengthExceeded
    |- AdmissionError        nothing is wrong with the request; try again after `retry_after_s`
    |  |- QueueFull
    |  `- NotReady           starting or draining
    |- BudgetExceeded        the request's time budget ran out, or cannot be met
    |- EngineError           our fault
    |  |- PromptLost         the stored prompt embeddings are gone; one new probe repairs it
    |  `- ReplicaLost        the replica that ran the request died or did not answer
    `- ConfigError           what the operator set or points to is wrong
       |- WeightsError       missing, extra or misshapen tensors, unreadable files
       `- ProfileError      a calibrated profile is malformed or belongs to another checkpoint

Knows nothing of HTTP or gRPC: `deployments/errors.py` maps every leaf to both.
"""

from __future__ import annotations


class SeerError(Exception):
    """Root of every error this software raises on purpose.

    `field` names the request field or option at fault, if there is one.
    """

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions cross process borders; the default rebuilds them from positional arguments alone.
        return (_rebuild, (type(self), self.__dict__.copy()))

    def __str__(self) -> str:
        return self.message


def _rebuild(kind: type[SeerError], state: dict[str, object]) -> SeerError:
    error = kind.__new__(kind)
    Exception.__init__(error, state["message"])
    error.__dict__.update(state)
    return error


class RequestError(SeerError):
    """The sender must change something before trying again."""


class InvalidRequest(RequestError):
    """A field, option or value is malformed, unknown or unsupported."""


class UnknownModel(InvalidRequest):
    """This service has no model of that name."""


class BadImage(RequestError):
    """The bytes are no image that can be read."""


class ImageTooLarge(BadImage):
    """The image has more bytes or pixels than the limits allow."""


class ContextLengthExceeded(RequestError):
    """Prompt and canvas together are longer than the model's context."""


class AdmissionError(SeerError):
    """Refused now, welcome later: `retry_after_s` seconds from now."""

    def __init__(self, message: str, *, retry_after_s: float = 1.0, field: str | None = None) -> None:
        super().__init__(message, field=field)
        self.retry_after_s = retry_after_s


class QueueFull(AdmissionError):
    """The queue holds as much as it may."""


class NotReady(AdmissionError):
    """The service is starting or draining."""


class BudgetExceeded(SeerError):
    """The request's time budget ran out or cannot be met."""


class EngineError(SeerError):
    """Our fault."""


class PromptLost(EngineError):
    """The stored prompt embeddings are gone."""


class ReplicaLost(EngineError):
    """The replica that ran the request died or did not answer in time."""


class ConfigError(SeerError):
    """What the operator set, or points to, is wrong."""


class WeightsError(ConfigError):
    """A checkpoint has missing, extra or misshapen tensors, or files that cannot be read."""


class ProfileError(ConfigError):
    """A calibrated profile is malformed or belongs to another checkpoint."""
