"""Vision towers: pixels in, patch features out."""
