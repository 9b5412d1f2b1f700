"""The share of near-zero activations per position, the quantity Seer reads its boundary from."""

from seer_core.kernels.sparsity.reference import sparsity

__all__ = ["sparsity"]
