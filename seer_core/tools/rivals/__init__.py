"""Seer and its rivals on the same weights, in one process: the methods, DAEDAL's own loop, and the end-to-end table."""
