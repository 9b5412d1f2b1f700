"""The two chat forms behind the families' templates: LLaDA's headers and ChatML."""

from __future__ import annotations

from seer_core.preprocess.template import ChatTemplate

HEADERS = ChatTemplate(
    begin="<|startoftext|>",
    header="<|start_header_id|>",
    header_end="<|end_header_id|>",
    after_header="\n\n",
    turn_end="<|eot_id|>",
    trims=True,
    image_break="\n",
)
"""LLaDA's: a header with the role, a blank line, the trimmed content."""

CHATML = ChatTemplate(header="<|im_start|>", after_header="\n", turn_end="<|im_end|>", after_turn="\n")
"""Qwen's: the role on its own line, the content as it is."""
