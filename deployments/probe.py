"""The Probe deployment: prompts to forecasts in micro-batches. A shim around `seer_core.probe.Probe` and a batcher."""

from __future__ import annotations

from collections.abc import Sequence

from deployments.batcher import Batcher
from deployments.job import Probed, ProbeJob
from deployments.parts import Parts
from deployments.prompt_store import prompt_store


class Probe:
    """Encodes prompts, foresees their lengths, and keeps the embeddings for the Worker."""

    def __init__(self, parts: Parts, *, max_batch: int, local: bool) -> None:
        self._forecaster = parts.forecaster()
        self._store = prompt_store(local)
        self._batcher: Batcher[ProbeJob, Probed] = Batcher(self._run, max_items=max_batch)

    async def forecast(self, job: ProbeJob) -> Probed:
        """The forecast of one request. Raises RequestError for options the profile cannot serve."""
        return await self._batcher.call(job)

    def _run(self, jobs: Sequence[ProbeJob]) -> list[Probed | Exception]:
        """All together; if that fails, each alone, so that one bad request fails only itself."""
        try:
            return list(self._together(jobs))
        except Exception as error:
            return [error] if len(jobs) == 1 else [result for job in jobs for result in self._run([job])]

    def _together(self, jobs: Sequence[ProbeJob]) -> list[Probed]:
        prompts = [self._forecaster.encode(job.prompt) for job in jobs]
        forecasts = self._forecaster.forecast(
            prompts, [job.canvas_tokens for job in jobs], [job.decoding for job in jobs]
        )
        return [
            Probed(forecast=forecast, prompt_ref=self._store.put(prompt), prompt_tokens=prompt.length_tokens)
            for forecast, prompt in zip(forecasts, prompts, strict=True)
        ]
