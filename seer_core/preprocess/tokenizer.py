"""Text to ids and back, over a checkpoint's tokenizer. Text never turns into a control token."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tokenizers import AddedToken
from tokenizers import Tokenizer as Backend

from seer_core.errors import ConfigError
from seer_core.preprocess.tokenizer_file import read_backend


class Tokenizer:
    """A thin, strict view of a `tokenizers` back-end."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        # A user who writes "<|mdm_mask|>" means those characters, not a hole to fill.
        self._backend.encode_special_tokens = True
        self.longest = max(map(len, backend.get_vocab(with_added_tokens=True)), default=1)
        """No token stands for more characters than this."""

    @classmethod
    def load(cls, folder: Path) -> Tokenizer:
        """Read the tokenizer files of a folder; raises `ConfigError` where they are missing or malformed."""
        return cls(read_backend(folder))

    def __len__(self) -> int:
        return int(self._backend.get_vocab_size(with_added_tokens=True))

    def guard(self, *, names: Iterable[str] = (), ids: Iterable[int] = ()) -> None:
        """Never read the tokens of these names and ids out of text, even where the file calls them ordinary ones."""
        known = [self._backend.id_to_token(token) for token in ids]
        found = [name for name in (*names, *known) if name and self._backend.token_to_id(name) is not None]
        self._backend.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in sorted(found)])

    def encode(self, text: str) -> list[int]:
        """Ids of `text` as plain text: nothing added, no control token recognised."""
        ids: list[int] = self._backend.encode(text, add_special_tokens=False).ids
        return ids

    def control(self, name: str) -> int:
        """The id of a control token; raises `ConfigError` where the tokenizer has none of that name."""
        found = self._backend.token_to_id(name)
        if found is None:
            raise ConfigError(f"the tokenizer has no token {name!r}")
        return int(found)

    def decode(self, ids: Sequence[int]) -> str:
        """Text of `ids`, control tokens left out. An unfinished UTF-8 sequence shows as U+FFFD."""
        text: str = self._backend.decode(list(ids), skip_special_tokens=True)
        return text
