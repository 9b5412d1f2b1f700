"""Errors cross process borders whole."""

from __future__ import annotations

import pickle

from seer_core.errors import BadImage, QueueFull


def test_an_error_keeps_its_message_field_and_delay_through_pickle() -> None:
    error = pickle.loads(pickle.dumps(QueueFull("full", retry_after_s=2.5, field="messages")))
    assert (type(error), str(error), error.retry_after_s, error.field) == (QueueFull, "full", 2.5, "messages")
    assert str(pickle.loads(pickle.dumps(BadImage("no")))) == "no"
