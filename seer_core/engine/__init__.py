"""The engine: from an encoded prompt and a forecast to tokens. It never learns which family a model belongs to.

Nothing is re-exported, so that a process that only reads `config` needs no torch.
"""
