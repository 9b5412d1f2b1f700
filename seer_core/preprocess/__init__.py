"""From a caller's bytes and words to numbers: images, templates, tokens. Numpy and Pillow only, no torch."""
