"""What networks choose: the function that a model trained on X_N0 has learned on X_N, and which interpolator it is.

A model is trained on some points of the cube and evaluated on all of them. What it has learned is compared with the
min-degree interpolators with respect to several bases. docs/bias.md has the definitions and what was found.
"""
