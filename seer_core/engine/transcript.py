"""Tokens as text that may be sent: what is out never changes, and no stop string or half character leaves early."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from seer_core.errors import EngineError

REPLACEMENT = "\ufffd"
"""What decoding puts for the bytes of an unfinished character."""

Decode = Callable[[Sequence[int]], str]


class Transcript:
    """The text of one answer as it grows."""

    def __init__(self, decode: Decode, stop: Sequence[str]) -> None:
        self._decode = decode
        self._stop = tuple(filter(None, stop))
        self.text = ""
        self.stopped = False

    def update(self, tokens: Sequence[int], *, final: bool) -> str:
        """Take the answer's tokens so far and return the text that became final.

        With `final` nothing more will come: no tail waits for a stop string any longer, and half a character is
        dropped. Sets `stopped` once a stop string is complete; the text is cut in front of it and stays so. Raises
        `EngineError` if the text no longer begins as sent.
        """
        if self.stopped:
            return ""
        text = self._decode(tokens).rstrip(REPLACEMENT)
        cut = self._first_stop(text)
        self.stopped = cut is not None
        text = text[:cut] if final or self.stopped else text[: len(text) - self._held(text)]
        return self._send(text)

    def tokens_of(self, tokens: Sequence[int]) -> tuple[int, ...]:
        """The shortest beginning of `tokens` that says all of `text`; all of them unless a stop string cut it."""
        if not self.stopped:
            return tuple(tokens)
        counts = range(len(tokens) + 1)
        return tuple(tokens[: next(n for n in counts if self._decode(tokens[:n]).startswith(self.text))])

    def _send(self, text: str) -> str:
        if not text.startswith(self.text):
            raise EngineError("the tokenizer changed text that had been final")
        new = text[len(self.text) :]
        self.text = text
        return new

    def _first_stop(self, text: str) -> int | None:
        """Where the stop string that is complete first begins. First to be complete: the cut must not depend on how
        many tokens a step happened to add."""
        found = [(text.find(stop) + len(stop), text.find(stop)) for stop in self._stop if stop in text]
        return min(found)[1] if found else None

    def _held(self, text: str) -> int:
        """Length of the longest tail that may still become a stop string."""
        longest = max(map(len, self._stop), default=0)
        tails = range(min(longest - 1, len(text)), 0, -1)
        return next((n for n in tails if any(stop.startswith(text[-n:]) for stop in self._stop)), 0)
