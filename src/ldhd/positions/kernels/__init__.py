"""Numerical kernels of the anchored embeddings: fast forms of their formulas, with backward passes by hand."""
