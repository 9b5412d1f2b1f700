"""The shipped small model: its scenes, its tokenizer, its checkpoint folder. How it was trained is a tool."""

from __future__ import annotations

from pathlib import Path

CHECKPOINT = Path(__file__).parent / "checkpoint"
"""Folder of the embedded model, in LaViDa-LLaDA's layout."""
