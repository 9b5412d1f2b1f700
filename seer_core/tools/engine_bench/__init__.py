"""`seer bench engine`: the engine's ways to run rows of different lengths, taking turns in one process.

Nothing is re-exported, so that the command line reads `settings` without torch.
"""
