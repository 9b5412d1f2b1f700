"""Where prompt embeddings wait between Probe and Worker: Ray's object store, or no store at all without a cluster."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from seer_core.errors import PromptLost
from seer_core.prompt import EncodedPrompt


class PromptStore(Protocol):
    """Keeps encoded prompts by reference."""

    def put(self, prompt: EncodedPrompt) -> Any:
        """Store; the returned reference keeps the prompt alive."""

    async def get(self, ref: Any) -> EncodedPrompt:
        """The prompt. Raises PromptLost if its owner is gone or does not answer."""


class RayPromptStore:
    """Prompts in the object store of the process that put them."""

    def __init__(self, timeout_s: float = 10.0) -> None:
        self._timeout_s = timeout_s

    def put(self, prompt: EncodedPrompt) -> Any:
        import ray

        return ray.put(prompt)

    async def get(self, ref: Any) -> EncodedPrompt:
        import ray
        from ray.exceptions import GetTimeoutError, RayError

        try:
            prompt: EncodedPrompt = await asyncio.to_thread(ray.get, ref, timeout=self._timeout_s)
        except (RayError, GetTimeoutError) as error:
            raise PromptLost("the stored prompt is gone") from error
        return prompt


class InlinePromptStore:
    """The twin without a cluster: the reference is the prompt."""

    def put(self, prompt: EncodedPrompt) -> Any:
        return prompt

    async def get(self, ref: Any) -> EncodedPrompt:
        prompt: EncodedPrompt = ref
        return prompt


def prompt_store(local: bool) -> PromptStore:
    """`local` is Ray's local testing mode, which has no object store."""
    return InlinePromptStore() if local else RayPromptStore()
