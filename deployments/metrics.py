"""The counters and histograms of the deployments, all with the prefix `seer_`. A dashboard may only use these names."""

from __future__ import annotations

from ray.serve.metrics import Counter, Histogram

SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0]
ROWS = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]


class IngressMetrics:
    """What callers see."""

    def __init__(self) -> None:
        self._requests = Counter("seer_requests", description="Requests accepted for work.", tag_keys=("protocol",))
        self._errors = Counter("seer_errors", description="Requests that ended in an error.", tag_keys=("code",))
        self._retries = Counter("seer_retries", description="Tries repeated after a lost replica.")
        self._first = Histogram("seer_first_text_s", description="Time to the first text.", boundaries=SECONDS)
        self._whole = Histogram("seer_request_s", description="Time to the last text.", boundaries=SECONDS)

    def started(self, protocol: str) -> None:
        self._requests.inc(tags={"protocol": protocol})

    def failed(self, code: str) -> None:
        self._errors.inc(tags={"code": code})

    def retried(self) -> None:
        self._retries.inc()

    def first_text(self, seconds: float) -> None:
        self._first.observe(seconds)

    def finished(self, seconds: float) -> None:
        self._whole.observe(seconds)


class RouterMetrics:
    """What the queue does."""

    def __init__(self) -> None:
        self._wait = Histogram(
            "seer_queue_wait_s", description="Time in the queue.", boundaries=SECONDS, tag_keys=("bucket",)
        )
        self._rows = Histogram("seer_group_rows", description="Rows of a group.", boundaries=ROWS)

    def waited(self, bucket_tokens: int, seconds: float) -> None:
        self._wait.observe(seconds, tags={"bucket": str(bucket_tokens)})

    def grouped(self, rows: int) -> None:
        self._rows.observe(rows)


class WorkerMetrics:
    """What the engine does."""

    def __init__(self) -> None:
        self._steps = Counter("seer_steps", description="Denoising steps of finished rows.")
        self._regrown = Counter("seer_regrown", description="Canvas extensions of finished rows.")
        self._rows = Counter("seer_rows", description="Rows finished.")

    def finished(self, *, steps: int, regrown: int) -> None:
        self._rows.inc()
        if steps:
            self._steps.inc(steps)
        if regrown:
            self._regrown.inc(regrown)
