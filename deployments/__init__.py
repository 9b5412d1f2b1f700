"""Seer on Ray Serve: thin shims that put the pieces of `seer_core` behind HTTP and gRPC."""
