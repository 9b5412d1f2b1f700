"""Graphs: a step's operations captured once per shape and replayed, on the device or, for tests, in a recording.

Nothing is re-exported: `cuda` is imported where there is a device.
"""
