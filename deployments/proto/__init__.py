"""The gRPC contract. `seer.proto` is the source; the pb2 files beside it are generated from it and committed."""
