"""Networks and their weights: the shared decoder, vision towers, projector, loading."""
