"""Hot inner loops, each a folder: the reference that defines it, and faster twins beside it."""
